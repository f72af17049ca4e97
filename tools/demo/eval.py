#!/usr/bin/env python3
"""Exact-match accuracy of the demo model on handbooks it has not seen, through a server's /v1/chat/completions.

Starts the server, asks at temperature 0, stops it. Any server that takes llama-server's flags will do, cairn among them:

    eval.py --server "build/bin/cairn serve" --model models/demo.gguf
    eval.py --server "llama-server --jinja" --model models/demo.gguf

The handbooks come from a seed that training does not use.
"""
import argparse
import json
import random
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from pathlib import Path

from corpus import Facts, answer, ask, handbook
from tokenizer import Tokenizer
from words import NOT_FOUND, OFF_TOPIC, SMALL_TALK

HERE = Path(__file__).resolve().parent
LENGTHS = [250, 500, 1000, 1500, 2000, 3000, 4000]  # tokens of a handbook, about
TOKENS_PER_FACT = 11
INSTRUCTION = "You answer questions about the handbook.\n\n"


class Server:
    """A server process, from the `with` to its end, and a client of it."""

    def __init__(self, args):
        self.port, self.log_path = args.port, args.log
        self.command = [*shlex.split(args.server), "-m", str(args.model), "--port", str(args.port), "-c", "8192",
                        "-np", "1", "-t", str(args.threads)]
        self.seconds = []  # wall time of every question
        self.process = None

    def __enter__(self):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                sys.exit(f"port {self.port} is in use: another server would answer the questions")
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT)
        self.wait_until_ready()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait_until_ready(self):
        for _ in range(120):
            if self.process.poll() is not None:
                sys.exit(f"the server ended: see {self.log_path}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.5)
        self.__exit__()
        sys.exit(f"the server was not ready within a minute: see {self.log_path}")

    def reply(self, messages):
        body = json.dumps({"messages": messages, "temperature": 0, "max_tokens": 48}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/chat/completions", body,
                                         {"Content-Type": "application/json"})
        start = time.time()
        with urllib.request.urlopen(request, timeout=60) as response:
            text = json.load(response)["choices"][0]["message"]["content"]
        self.seconds.append(time.time() - start)
        return text


class Score:
    """Right answers, and the wrong ones with what was expected."""

    def __init__(self):
        self.by_relation, self.wrong = defaultdict(list), []

    def add(self, where, relation, question, expected, got):
        self.by_relation[relation].append(got == expected)
        if got != expected:
            self.wrong.append((where, question, expected, got))
        return got == expected


def percent(rights):
    return f"{100 * sum(rights) / max(1, len(rights)):.1f}%"


def ask_about_handbooks(server, args, score):
    tokenizer, rng, table = Tokenizer(), random.Random(args.seed), []
    for length in LENGTHS:
        stated_right, absent_right, sizes = [], [], []
        for _ in range(args.handbooks):
            facts = Facts(rng, args.made_up)
            text, stated = handbook(rng, facts, max(4, round(length / TOKENS_PER_FACT)), 0.1)
            system = INSTRUCTION + text
            sizes.append(len(tokenizer.encode(system)))
            asked = [(ask(rng, relation, key), answer(relation, key, value), relation)
                     for relation, key, value in rng.sample(stated, min(len(stated), args.questions - 3))]
            asked += [(ask(rng, relation, key), answer(relation, key), "absent")
                      for relation, key in (facts.absent() for _ in range(3))]
            for question, expected, relation in asked:
                got = server.reply([{"role": "system", "content": system}, {"role": "user", "content": question}])
                right = score.add(length, relation, question, expected, got)
                (absent_right if relation == "absent" else stated_right).append(right)
        size = round(sum(sizes) / len(sizes))
        table.append({"tokens": size, "stated": len(stated_right), "stated_right": sum(stated_right),
                      "absent": len(absent_right), "absent_right": sum(absent_right)})
        print(f"{size:5} tokens: {len(stated_right):3} stated facts {percent(stated_right)} right, "
              f"{len(absent_right):2} absent ones {percent(absent_right)}", flush=True)
    return table


def ask_small_talk(server, score):
    rng, rights = random.Random(0), []
    text, _ = handbook(rng, Facts(rng, 0), 30, 0.1)
    for said, expected in SMALL_TALK + [(OFF_TOPIC, NOT_FOUND)]:
        for question in said:
            for start in ([{"role": "system", "content": text}], []):
                got = server.reply(start + [{"role": "user", "content": question}])
                rights.append(score.add("talk", "talk", question, expected, got))
    print(f"small talk: {percent(rights)} of {len(rights)} right")


def ask_demo_questions(server):
    text = INSTRUCTION + (HERE / "handbook.txt").read_text(encoding="utf-8").strip()
    rows = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
    wrong = [row["question"] for row in rows
             if server.reply([{"role": "system", "content": text}, {"role": "user", "content": row["question"]}])
             != row["answer"]]
    print(f"handbook.txt: {len(rows) - len(wrong)} of {len(rows)} right; wrong: {wrong}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="build/bin/cairn serve", help="command to start (default: %(default)s)")
    parser.add_argument("--model", type=Path, required=True, help="GGUF file")
    parser.add_argument("--port", type=int, default=18111, help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument("--log", default="server.log", help="what the server prints (default: %(default)s)")
    parser.add_argument("--handbooks", type=int, default=4, help="per length (default: %(default)s)")
    parser.add_argument("--questions", type=int, default=16, help="per handbook (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=987654, help="(default: %(default)s)")
    parser.add_argument("--made-up", type=float, default=0.0, help="share of made-up names (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    return parser.parse_args()


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server is stopped
    score = Score()
    with Server(args) as server:
        table = ask_about_handbooks(server, args, score)
        ask_small_talk(server, score)
        ask_demo_questions(server)
        seconds = sorted(server.seconds)
    print("by relation:", " ".join(f"{name}:{percent(v)}({len(v)})" for name, v in sorted(score.by_relation.items())))
    for wrong in score.wrong[:25]:
        print("  wrong:", wrong)
    print(f"{len(seconds)} questions: median {1e3 * seconds[len(seconds) // 2]:.0f} ms, slowest {seconds[-1]:.2f} s")
    if args.json:
        by_relation = {name: [sum(v), len(v)] for name, v in score.by_relation.items()}
        args.json.write_text(json.dumps({"table": table, "by_relation": by_relation, "wrong": score.wrong}, indent=1),
                             encoding="utf-8")


if __name__ == "__main__":
    main()
