#!/usr/bin/env python3
"""Which part of a restored state do the answers depend on?

A prefix ends at some cut. What follows it is computed with the state at the cut intact, or with one part of it lost:
the delta nets' (zero state, empty convolution window), the attention's (no keys and values from before the cut), or both.
An answer counts as right when every token after the cut is predicted right. Also printed: how far the logits move, which
shows a lost state even where the answer stays right.

Needs PyTorch.
"""
import argparse
import random

import torch

import model
from corpus import Facts, answer, ask, handbook
from tokenizer import DEFAULT_PATH, Tokenizer

CUTS = ["end of the handbook", "middle of the question", "end of the question", "middle of the answer",
        "before the value"]
PARTS = {"": "intact", "recurrent": "recurrent state lost", "kv": "K/V lost", "all": "both lost"}
QUESTIONS = 12  # per handbook


class Amnesia:
    """Makes the layers of a model forget what lies before `cut`, as far as `lost` says."""

    def __init__(self):
        self.cut, self.lost = 0, ""
        delta, attention = model.DeltaNet.forward, model.Attention.forward
        model.DeltaNet.forward = lambda layer, x: self.run(delta, layer, x, ("recurrent", "all"))
        model.Attention.forward = lambda layer, x: self.run(attention, layer, x, ("kv", "all"))  # rope is relative

    def run(self, forward, layer, x, when):
        if self.lost not in when:
            return forward(layer, x)
        return torch.cat([forward(layer, x[:, :self.cut]), forward(layer, x[:, self.cut:])], 1)


def cuts_of(tokenizer, prefix, question, subject, answer_begin):
    """The position of each cut, in the order of CUTS."""
    begin = len(prefix) + 1 + len(tokenizer.encode("user\n"))
    size = len(tokenizer.encode(question))
    value = answer_begin + len(subject)
    return dict(zip(CUTS, [len(prefix), begin + size // 2, begin + size, answer_begin + len(subject) // 2, value]))


def score_question(net, amnesia, ids, answer_span, cuts, score):
    begin, end = answer_span
    target = torch.tensor([ids])
    with torch.no_grad():
        for name, cut in cuts.items():
            amnesia.cut = cut
            reference = None
            for part in PARTS:
                amnesia.lost = part
                logits = net(target)[0]
                reference = logits if reference is None else reference
                first = max(begin - 1, cut)  # predictions of tokens behind the cut
                row = score[name, part]
                row[0] += logits[first:end - 1].argmax(-1).tolist() == ids[first + 1:end]
                row[1] += 1
                row[2] = max(row[2], (logits[cut:end - 1] - reference[cut:end - 1]).abs().max().item())
    amnesia.lost = ""


def show(score):
    print(f"{'prefix ends at':<26}" + "".join(f"{title:>24}" for title in PARTS.values()))
    for name in CUTS:
        cells = []
        for part in PARTS:
            right, asked, moved = score[name, part]
            cells.append(f"{100 * right / asked:.1f}%" + (f" (moved {moved:5.2f})" if part else ""))
        print(f"{name:<26}" + "".join(f"{cell:>24}" for cell in cells))
    print(f"{score[CUTS[0], ''][1]} questions each; moved: the largest change of a logit behind the cut")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="what train.py wrote")
    parser.add_argument("--facts", type=int, default=60, help="in a handbook (default: %(default)s)")
    parser.add_argument("--handbooks", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=31337, help="(default: %(default)s)")
    parser.add_argument("--tokenizer", default=DEFAULT_PATH, help="(default: %(default)s)")
    args = parser.parse_args()

    torch.set_num_threads(1)
    net, tokenizer, amnesia = model.load(args.checkpoint), Tokenizer(args.tokenizer), Amnesia()
    score = {(name, part): [0, 0, 0.0] for name in CUTS for part in PARTS}  # right, asked, moved
    rng = random.Random(args.seed)
    for _ in range(args.handbooks):
        text, stated = handbook(rng, Facts(rng, 0.0), args.facts, 0.1)
        system = "You answer questions about the handbook.\n\n" + text
        prefix = tokenizer.encode_chat([("system", system, None)])[0]
        for relation, key, value in rng.sample(stated, QUESTIONS):
            question, expected = ask(rng, relation, key), answer(relation, key, value)
            turn, _, spans = tokenizer.encode_chat([("user", question, None), ("assistant", expected, relation)])
            begin, end = len(prefix) + spans[0][0], len(prefix) + spans[0][1]
            subject = tokenizer.encode(expected.split(" is ")[0] + " is")
            cuts = cuts_of(tokenizer, prefix, question, subject, begin)
            score_question(net, amnesia, prefix + turn, (begin, end), cuts, score)
    show(score)


if __name__ == "__main__":
    main()
