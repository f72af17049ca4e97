#!/usr/bin/env python3
"""agent_workload: an agent session of a public trace as a workload of `cairn bench`, with seeded words for its texts.

usage: agent_workload.py TRACE.json.gz > bench/workloads/agent.json

TRACE is one of kv-cache-tester's sessions (github.com/callanjfox/kv-cache-tester, traces/, Apache-2.0): lengths and hashes
of blocks, no text. Every length is divided by 16, which turns tokens into words of a context about a twelfth as long.
What a request adds to the one before and to its answer is the message of the user, which stands for a tool's result; the
trace must be a session that is only appended to.
"""
import gzip
import json
import pathlib
import sys

TOKENS_PER_WORD = 16
FEWEST_WORDS = 4


def words(tokens):
    return max(FEWEST_WORDS, round(tokens / TOKENS_PER_WORD))


def main():
    path = pathlib.Path(sys.argv[1])
    trace = json.loads(gzip.decompress(path.read_bytes()))
    system_tokens = trace["tool_tokens"] + trace["system_tokens"]
    steps, behind = [], system_tokens
    for number, request in enumerate(trace["requests"], 1):
        step = {"user": {"words": words(request["in"] - behind), "seed": f"message {number}"},
                "max_tokens": words(request["out"])}
        if number == 1:
            step = {"system": {"words": words(system_tokens), "seed": "system"}, **step}
        steps.append("        " + json.dumps(step))
        behind = request["in"] + request["out"]
    about = (f"An agent's session of {len(steps)} requests: lengths of {path.name.split('.')[0]} from github "
             "callanjfox/kv-cache-tester, traces/ (Apache-2.0), divided by 16 by bench/agent_workload.py.")
    print('{\n  "name": "agent",\n  "about": ' + json.dumps(about) + ',\n  "stages": [\n    {"conversations": [\n'
          '      {"name": "agent", "steps": [\n' + ",\n".join(steps) + "]}]}\n  ]\n}")


if __name__ == "__main__":
    main()
