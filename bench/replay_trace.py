#!/usr/bin/env python3
"""Turns request traces into the lines that disk_replay reads, in order of time.

    bench/replay_trace.py DIR WORKLOAD | disk_replay ...

DIR holds claude_code_NNNN.json.gz (one agent session each, 64-token blocks) and mooncake_*_trace.jsonl.gz (512-token
blocks). WORKLOAD is one of

    agents     all sessions, a new one begins every five minutes
    chat       the Mooncake conversation trace
    synthetic  the Mooncake synthetic trace
    oneshot    the conversation trace, each prompt made unique: nothing ever comes back
    mixed      agents and oneshot: eight prompts that never come back for each of an agent

A line: seconds, seconds of service, tokens of the prompt, of the answer, of the system prompt, tokens of a block, then
the blocks' ids as KEEP:id,id,...: the first KEEP are those of the line before with the same STREAM. Blocks of the answer
follow those of the prompt; their ids are taken from the next request that goes on from it, and are unique otherwise.
"""
import glob
import gzip
import itertools
import json
import sys

UNIQUE = itertools.count(1 << 60)
DECODE_TOKENS_PER_S = 50


def with_answers(requests):
    """Appends the answer's blocks: looks ahead for the next request that extends the prompt."""
    later = {}  # path of a prompt's whole blocks, as a hash -> blocks of the latest such request seen from behind
    for r in reversed(requests):
        block, ids = r["block"], r["ids"]
        whole = r["in"] // block
        count = (r["in"] + r["out"]) // block - whole
        path = hash(tuple(ids[:whole]))
        known = later.get(path, [])[whole:whole + count]
        r["answer"] = known if len(known) == count else [next(UNIQUE) for _ in range(count)]
        for position in r["cuts"]:
            later[hash(tuple(ids[:position]))] = ids
        r["ids"] = ids[:whole]
    return requests


def agents(folder):
    merged = []
    for number, name in enumerate(sorted(glob.glob(f"{folder}/claude_code_*.json.gz"))):
        with gzip.open(name) as file:
            session = json.load(file)
        rows = sorted((r for r in session["requests"] if r.get("hash_ids")), key=lambda r: r["t"])
        ends = sorted({r["in"] // 64 for r in rows})
        requests = []
        for r in rows:
            whole = min(r["in"] // 64, len(r["hash_ids"]))
            ids = [(number << 32) + i for i in r["hash_ids"][:whole]]
            requests.append({"t": number * 300 + r["t"], "service": r.get("api_time") or 1.0, "in": whole * 64 + 1,
                             "out": r["out"], "system": session["tool_tokens"] + session["system_tokens"],
                             "block": 64, "ids": ids, "stream": number, "cuts": [e for e in ends if e <= whole]})
        merged += with_answers(requests)
    return merged


def mooncake(folder, name, unique=False, stream=1 << 20):
    requests = []
    with gzip.open(f"{folder}/mooncake_{name}_trace.jsonl.gz", "rt") as file:
        for r in map(json.loads, file):
            whole = r["input_length"] // 512
            ids = [next(UNIQUE) if unique else (1 << 50) + i for i in r["hash_ids"][:whole]]
            requests.append({"t": r["timestamp"] / 1e3, "service": r["output_length"] / DECODE_TOKENS_PER_S,
                             "in": whole * 512 + 1, "out": r["output_length"], "system": 0, "block": 512, "ids": ids,
                             "stream": stream, "cuts": range(1, whole + 1)})
    return with_answers(requests)


def workload(folder, name):
    if name == "agents":
        return agents(folder)
    if name in ("chat", "oneshot"):
        return mooncake(folder, "conversation", unique=name == "oneshot")
    if name == "synthetic":
        return mooncake(folder, "synthetic")
    if name == "mixed":
        talking = sorted(agents(folder), key=lambda r: r["t"])
        once = itertools.cycle(mooncake(folder, "conversation", unique=True))
        result = []
        for r in talking:
            result.append(r)
            for k, other in enumerate(itertools.islice(once, 8)):
                fresh = [next(UNIQUE) for _ in other["ids"] + other["answer"]]
                whole = len(other["ids"])
                result.append({**other, "t": r["t"] + k * 0.5, "ids": fresh[:whole], "answer": fresh[whole:]})
        return result
    sys.exit(f"{name}: not a workload. Take agents, chat, synthetic, oneshot or mixed.")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    before = {}
    for r in sorted(workload(sys.argv[1], sys.argv[2]), key=lambda r: r["t"]):
        ids = r["ids"] + r["answer"]
        last = before.get(r["stream"], [])
        keep = next((i for i, (a, b) in enumerate(zip(ids, last)) if a != b), min(len(ids), len(last)))
        before[r["stream"]] = ids
        print(f'{r["t"]:.3f} {r["service"]:.2f} {r["in"]} {r["out"]} {r["system"]} {r["block"]} {r["stream"]} '
              f'{keep}:{",".join(map(str, ids[keep:]))}')


if __name__ == "__main__":
    main()
