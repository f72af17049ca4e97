#!/usr/bin/env python3
"""Prefill and decode without reuse: cairn's engine against llama-bench, in turn, in one run.

    bench/plain.py --model build/bench/qwen35-0.8b.gguf

Both are built from the same llama.cpp and run with the same model, threads, batch sizes and flash attention. Prints the
median of each and the ratio cairn / llama-bench of the medians of the rounds.
"""

import argparse
import json
import statistics
import subprocess
import sys


def cairn(arguments, cache):
    command = [f"{arguments.bin}/plain", "-m", arguments.model, "-t", str(arguments.threads), "-p", str(arguments.prompt),
               "-n", str(arguments.generate), "-r", str(arguments.repetitions)] + (["--cache"] if cache else [])
    rates = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return statistics.median(rates["prefill"]), statistics.median(rates["decode"])


def llama_bench(arguments):
    command = [f"{arguments.bin}/llama-bench", "-m", arguments.model, "-t", str(arguments.threads), "-p",
               str(arguments.prompt), "-n", str(arguments.generate), "-r", str(arguments.repetitions), "-fa", "1", "-o",
               "json"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    prefill = next(statistics.median(row["samples_ts"]) for row in rows if row["n_prompt"] > 0)
    decode = next(statistics.median(row["samples_ts"]) for row in rows if row["n_gen"] > 0)
    return prefill, decode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    programs = {
        "llama-bench": lambda: llama_bench(arguments),
        "cairn, no cache": lambda: cairn(arguments, cache=False),
        "cairn, nothing to reuse": lambda: cairn(arguments, cache=True),
    }
    results = {name: [] for name in programs}
    for turn in range(arguments.rounds):
        for name, run in programs.items():
            print(f"round {turn + 1} of {arguments.rounds}: {name}", file=sys.stderr)
            results[name].append(run())

    base = results["llama-bench"]
    print(f"{'':26} {'prefill t/s':>12} {'ratio':>6} {'decode t/s':>12} {'ratio':>6}")
    for name, rounds in results.items():
        cells = []
        for kind in (0, 1):
            ratio = statistics.median(mine[kind] / theirs[kind] for mine, theirs in zip(rounds, base))
            cells += [f"{statistics.median(r[kind] for r in rounds):12.1f}", f"{ratio:6.3f}"]
        print(f"{name:26} {' '.join(cells)}")


if __name__ == "__main__":
    main()
