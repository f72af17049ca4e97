#!/usr/bin/env python3
"""Trains the demo model on random handbooks. The schedule follows wall time, so a run ends after --minutes.

The loss is the cross entropy of what an assistant writes, and of nothing else. Short chats come first; the next length is
unlocked when nearly all answers at the present one are exactly right, or after a share of the time. The gradients of the
worker processes are averaged in shared memory: one process per core is faster here than one process with threads.

Needs PyTorch.
"""
import os
import sys

if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
    # Once more from the start with an allocator that keeps its pages: no page faults for every tensor.
    os.environ.update(MALLOC_MMAP_THRESHOLD_="8000000000", MALLOC_TRIM_THRESHOLD_="8000000000",
                      MALLOC_TOP_PAD_="268435456", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    os.execv(sys.executable, [sys.executable] + sys.argv)

import argparse
import math
import random
import time
from collections import defaultdict, namedtuple

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F

import model
from corpus import chat
from tokenizer import DEFAULT_PATH, Tokenizer

# `after`: the share of the time after which a stage is unlocked anyhow; `accuracy`: of the stage before, which unlocks it.
Stage = namedtuple("Stage", "length batch facts after accuracy")
STAGES = [
    Stage(96, 24, (1, 2), 0.0, 0),
    Stage(192, 12, (2, 7), 0.06, .82),
    Stage(384, 6, (3, 20), 0.16, .86),
    Stage(768, 4, (5, 45), 0.2, .86),
    Stage(1536, 2, (10, 105), 0.45, .88),
    Stage(2304, 2, (20, 165), 0.68, .90),
]


def make_batch(tokenizer, rng, stage, workers, few):
    """Returns (ids, weights, spans); a span is (row, begin, end, info) of an answer that fits."""
    length, batch, (low, high) = STAGES[stage].length, STAGES[stage].batch // workers, STAGES[stage].facts
    ids = torch.full((batch, length + 1), tokenizer.end_of_text)
    weights = torch.zeros(batch, length + 1)
    spans = []
    for row in range(batch):
        facts = 0 if rng.random() < .01 else round(math.exp(rng.uniform(math.log(low), math.log(high + 1))))
        chat_ids, chat_weights, chat_spans = tokenizer.encode_chat(chat(rng, facts, 24, small_talk=0.04, few=few))
        chat_ids, chat_weights = chat_ids[:length + 1], chat_weights[:length + 1]
        ids[row, :len(chat_ids)] = torch.tensor(chat_ids)
        weights[row, :len(chat_weights)] = torch.tensor(chat_weights, dtype=torch.float)
        spans += [(row, begin, end, info) for begin, end, info in chat_spans if end <= length + 1]
    return ids, weights, spans


class Shared:
    """What the workers share: gradients, counts of right answers, and what the first one decided for this step."""

    def __init__(self, workers, parameters):
        self.workers = workers
        self.gradients = torch.zeros(workers, parameters).share_memory_()
        self.answers = torch.zeros(workers, 2).share_memory_()  # exactly right, all
        self.decision = torch.zeros(3).share_memory_()          # learning rate, stage, stop
        self.barrier = mp.get_context("fork").Barrier(workers)


class Curriculum:
    """Decides learning rate and stage of each step; in the first worker only."""

    def __init__(self, args, rng):
        self.args, self.rng = args, rng
        self.start = time.time()
        self.stage = args.stage
        self.accuracy = defaultdict(float)  # running, per stage

    def decide(self, step):
        args = self.args
        progress = (time.time() - self.start) / (60 * args.minutes)
        while self.stage + 1 < len(STAGES) and (self.accuracy[self.stage] > STAGES[self.stage + 1].accuracy
                                                or progress > STAGES[self.stage + 1].after):
            self.stage += 1
            print(f"--- step {step}: stage {self.stage}, length {STAGES[self.stage].length}", flush=True)
        rate = args.lr * min(1, (step + 1) / args.warmup) * min(1, max(0.02, (1 - progress) / 0.7))
        stage = self.stage if self.rng.random() < .7 else self.rng.randint(0, self.stage)
        return torch.tensor([rate, stage, float(progress >= 1 or step >= args.steps)])

    def learn(self, stage, right, total):
        if total:
            self.accuracy[stage] += 0.04 * (right / total - self.accuracy[stage])


class Log:
    """Means over fifty steps, printed by the first worker."""

    def __init__(self):
        self.start, self.tokens, self.values = time.time(), 0, defaultdict(list)

    def add(self, loss, norm, answers):
        for right, info in answers:
            self.values[info].append(right)
        self.values["loss"].append(loss)
        self.values["norm"].append(norm)

    def show(self, step, rate, curriculum):
        mean = {name: sum(v) / len(v) for name, v in sorted(self.values.items())}
        relations = " ".join(f"{name}:{100 * v:.0f}" for name, v in mean.items() if name not in ("loss", "norm"))
        elapsed = time.time() - self.start
        accuracy = [round(curriculum.accuracy[i], 3) for i in range(curriculum.stage + 1)]
        print(f"{step} {elapsed / 60:.1f}min lr {rate:.1e} {self.tokens / elapsed:.0f}tok/s loss {mean['loss']:.4f} "
              f"norm {mean['norm']:.2f} acc {accuracy} | {relations}", flush=True)
        self.values.clear()


def make_optimizer(parameters, rate):
    matrices = [p for p in parameters if p.ndim == 2]
    others = [p for p in parameters if p.ndim != 2]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}],
                             lr=rate, betas=(0.9, 0.98), foreach=True)


def backward(net, batch):
    """Computes the gradients of a batch. Returns the loss and a list of (exactly right, info) of its answers."""
    ids, weights, spans = batch
    x, y, w = ids[:, :-1], ids[:, 1:], weights[:, 1:]
    selected = w > 0
    logits = F.linear(net.hidden(x)[selected], net.embd.weight)
    loss = F.cross_entropy(logits, y[selected])
    for parameter in net.parameters():
        parameter.grad = None
    loss.backward()
    right = torch.ones_like(w, dtype=torch.bool)
    right[selected] = logits.argmax(-1) == y[selected]
    return loss.item(), [(bool(right[row, begin - 1:end - 1].all()), info) for row, begin, end, info in spans]


def apply_gradients(parameters, optimizer, gradient, rate):
    """One step with the averaged gradient, clipped to norm 1. Returns the norm before that."""
    norm = float(gradient.norm())
    gradient *= min(1.0, 1.0 / (norm + 1e-6))
    offset = 0
    for parameter in parameters:
        parameter.grad.copy_(gradient[offset:offset + parameter.numel()].view_as(parameter))
        offset += parameter.numel()
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    return norm


def worker(rank, args, net, tokenizer, shared):
    torch.set_num_threads(1)
    rng = random.Random(args.seed * 100 + rank)
    parameters = list(net.parameters())
    optimizer = make_optimizer(parameters, args.lr)
    curriculum, log, saved_at, step = Curriculum(args, rng), Log(), time.time(), 0
    while True:
        if rank == 0:
            shared.decision[:] = curriculum.decide(step)
        shared.barrier.wait()
        rate, stage, stop = shared.decision.tolist()
        stage = int(stage)
        if stop:
            break
        batch = make_batch(tokenizer, rng, stage, shared.workers, args.few)
        loss, answers = backward(net, batch)
        torch.cat([p.grad.flatten() for p in parameters], out=shared.gradients[rank])
        facts = [right for right, info in answers if info not in ("talk", "absent")]
        shared.answers[rank] = torch.tensor([float(sum(facts)), float(len(facts))])
        shared.barrier.wait()

        norm = apply_gradients(parameters, optimizer, shared.gradients.mean(0), rate)
        step += 1
        if rank:
            continue
        log.tokens += (batch[0].numel() - batch[0].shape[0]) * shared.workers
        curriculum.learn(stage, *shared.answers.sum(0).tolist())
        log.add(loss, norm, answers)
        if step % 50 == 0:
            log.show(step, rate, curriculum)
        if time.time() - saved_at > 120:
            model.save(net, args.out, step=step)
            saved_at = time.time()
    if rank == 0:
        model.save(net, args.out, step=step)
        print(f"done: {step} steps, {log.tokens} tokens, {(time.time() - log.start) / 60:.1f} minutes", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=50, help="wall time of the run (default: %(default)s)")
    parser.add_argument("--out", default="checkpoint.pt", help="checkpoint to write (default: %(default)s)")
    parser.add_argument("--init", default="", help="checkpoint to continue from")
    parser.add_argument("--stage", type=int, default=0, help="first stage of the curriculum (default: %(default)s)")
    parser.add_argument("--lr", type=float, default=2.5e-3, help="highest learning rate (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=60, help="steps until the highest rate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=10 ** 9, help="end after so many steps")
    parser.add_argument("--plain-init", action="store_true", help="plain random start: recall then takes far longer")
    parser.add_argument("--few", type=float, default=0.6,
                        help="share of handbooks with few relations, the hard negatives (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes, one per core (default: %(default)s)")
    parser.add_argument("--config", default="", help="another shape, such as n_layer=4,interval=2")
    parser.add_argument("--tokenizer", default=DEFAULT_PATH, help="(default: %(default)s)")
    return parser.parse_args()


def main():
    args = parse_arguments()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # before the fork
    tokenizer = Tokenizer(args.tokenizer)
    if args.init:
        net = model.load(args.init).train()
    else:
        pairs = (pair.split("=") for pair in args.config.split(",") if pair)
        shape = {name: type(getattr(model.Config, name))(value) for name, value in pairs}
        net = model.Model(model.Config(n_vocab=len(tokenizer.tokens), **shape), mimetic=not args.plain_init)
    parameters = sum(p.numel() for p in net.parameters())
    print(f"{parameters / 1e6:.2f}M parameters", flush=True)
    shared = Shared(args.workers, parameters)
    others = [mp.get_context("fork").Process(target=worker, args=(rank, args, net, tokenizer, shared))
              for rank in range(1, args.workers)]
    for other in others:
        other.start()
    worker(0, args, net, tokenizer, shared)
    for other in others:
        other.join()


if __name__ == "__main__":
    main()
