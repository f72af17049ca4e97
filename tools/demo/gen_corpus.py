#!/usr/bin/env python3
"""Makes the demo's data from seeds: the tokenizer, sample chats, the handbook with its questions.

Needs nothing but Python. The same seed gives the same bytes: `gen_corpus.py demo` writes the handbook.txt and
questions.json that stand beside this file and that are compiled into cairn.
"""
import argparse
import json
import random
from pathlib import Path

from corpus import Facts, answer, ask, chat, handbook
from tokenizer import learn
from words import NOT_FOUND, OFF_TOPIC, SMALL_TALK

HERE = Path(__file__).resolve().parent


def write_tokenizer(args):
    print(learn(args.out))


def print_sample(args):
    for role, text, info in chat(random.Random(args.seed), args.facts, args.turns):
        print(f"[{role}] {text}   <{info}>" if info else f"[{role}] {text}")


def questions_on(rng, facts, stated, count):
    """`count` questions, ten of them on facts the handbook does not state, and one for each kind of small talk."""
    rows = [{"question": ask(rng, relation, key), "answer": answer(relation, key, value), "relation": relation}
            for relation, key, value in rng.sample(stated, count - 10)]
    for _ in range(10):
        relation, key = facts.absent()
        rows.append({"question": ask(rng, relation, key), "answer": answer(relation, key), "relation": "absent"})
    for said, reply in SMALL_TALK + [(OFF_TOPIC, NOT_FOUND)]:
        rows.append({"question": said[0], "answer": reply, "relation": "talk"})
    return rows


def write_demo(args):
    rng = random.Random(args.seed)
    facts = Facts(rng, made_up=0.0)
    text, stated = handbook(rng, facts, args.facts, filler=0.1)
    rows = questions_on(rng, facts, stated, args.questions)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "handbook.txt").write_text(text + "\n", encoding="utf-8")
    (args.out / "questions.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(f"handbook.txt: {len(stated)} facts, {len(text)} characters; questions.json: {len(rows)} questions")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("tokenizer", help="learn the merges and write them")
    command.add_argument("--out", type=Path, required=True, help="file to write")
    command.set_defaults(run=write_tokenizer)

    command = commands.add_parser("sample", help="print a random chat")
    command.add_argument("--facts", type=int, default=12, help="facts in the handbook (default: %(default)s)")
    command.add_argument("--turns", type=int, default=4, help="questions asked (default: %(default)s)")
    command.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    command.set_defaults(run=print_sample)

    command = commands.add_parser("demo", help="write handbook.txt and questions.json")
    command.add_argument("--out", type=Path, default=HERE, help="folder to write to (default: %(default)s)")
    command.add_argument("--facts", type=int, default=235, help="facts in the handbook (default: %(default)s)")
    command.add_argument("--questions", type=int, default=80, help="questions on facts (default: %(default)s)")
    command.add_argument("--seed", type=int, default=2024, help="(default: %(default)s)")
    command.set_defaults(run=write_demo)

    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
