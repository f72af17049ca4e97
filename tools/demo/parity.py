#!/usr/bin/env python3
"""Compares the logits of PyTorch, in double precision, with those of libllama, and the two tokenizers.

Needs PyTorch, numpy and the program `parity` (parity.cpp says how to build it). The GGUF file and the checkpoint must hold
the same weights.
"""
import argparse
import random
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch

import model
from corpus import chat
from tokenizer import DEFAULT_PATH, Tokenizer

# facts, turns, tokens per batch, type of the K/V cache
CASES = [(4, 2, 512, "f32"), (20, 3, 512, "f32"), (60, 4, 512, "f32"), (60, 4, 97, "f32"), (20, 3, 1, "f32"),
         (60, 4, 512, "f16")]


def logits_of_libllama(args, folder, ids, text, batch, kv):
    (folder / "ids").write_text(" ".join(map(str, ids)), encoding="utf-8")
    (folder / "text").write_text(text, encoding="utf-8")
    command = [args.program, args.gguf, folder / "ids", folder / "text", folder / "logits", str(batch), kv]
    print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    return np.fromfile(folder / "logits", np.float32).reshape(len(ids), -1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="what train.py wrote")
    parser.add_argument("gguf", help="what export_gguf.py wrote")
    parser.add_argument("--program", default="./parity", help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=77, help="(default: %(default)s)")
    parser.add_argument("--tokenizer", default=DEFAULT_PATH, help="(default: %(default)s)")
    args = parser.parse_args()

    torch.set_default_dtype(torch.float64)
    net, tokenizer, rng = model.load(args.checkpoint).double(), Tokenizer(args.tokenizer), random.Random(args.seed)
    with tempfile.TemporaryDirectory() as name:
        for facts, turns, batch, kv in CASES:
            ids = tokenizer.encode_chat(chat(rng, facts, turns))[0]
            got = logits_of_libllama(args, Path(name), ids, tokenizer.decode(ids), batch, kv)
            with torch.no_grad():
                expected = net(torch.tensor([ids]))[0].float().numpy()
            difference = np.abs(got - expected)
            same = 100 * (got.argmax(1) == expected.argmax(1)).mean()
            print(f"  {len(ids)} tokens, batches of {batch}, {kv} K/V: difference at most {difference.max():.2e}, mean "
                  f"{difference.mean():.2e}, standard deviation of the logits {expected.std():.2f}, same best token "
                  f"{same:.2f}%")


if __name__ == "__main__":
    main()
