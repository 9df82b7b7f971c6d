#!/usr/bin/python3
"""The networks of torch_networks.py as a contestant of `isobar bench`.

Speaks the line protocol of isobar/bench/contestant.hpp: "ready NAME", then "step N" is answered with N times in
seconds, "forward N" with those of the network alone, "memory" with the peak resident bytes.
"""
import argparse
import math
import resource
import sys
import time

import torch
from torch_networks import add_options, optimizer_of, prepared


class Steps:
    """What can be timed of a Task."""

    def __init__(self, args):
        self.task, self.x, self.y = prepared(args)
        self.optimizer = optimizer_of(self.task.network, args.rate)

    def step(self):
        self.task.network.train()
        begin = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.task.loss(self.task.network(self.x), self.y, self.x)
        loss.backward()
        self.optimizer.step()
        value = loss.item()
        seconds = time.perf_counter() - begin
        if not math.isfinite(value):
            sys.exit(f"torch_step: the loss is {value}")
        return seconds

    def forward(self):
        self.task.network.eval()
        with torch.inference_mode():
            begin = time.perf_counter()
            self.task.network(self.x)
            return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, torch.get_num_threads())
    args = parser.parse_args()
    steps = Steps(args)
    asked = {"step": steps.step, "forward": steps.forward}
    print(f"ready torch {torch.__version__} {args.layout}", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words and words[0] in asked:
            print(" ".join(f"{asked[words[0]]():.9f}" for _ in range(int(words[1]))), flush=True)
        elif words and words[0] == "memory":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
        else:
            sys.exit(f"torch_step: '{line.strip()}' is none of 'step N', 'forward N' and 'memory'")


if __name__ == "__main__":
    main()
