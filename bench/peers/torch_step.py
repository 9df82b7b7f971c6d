#!/usr/bin/env python3
"""The same networks in PyTorch, as a contestant of `isobar bench`.

Speaks the line protocol of isobar/bench/contestant.hpp: "ready NAME", then "step N" is answered with N times in
seconds, "memory" with the peak resident bytes.
"""
import argparse
import resource
import sys
import time

import torch
from torch import nn


def cosmoflow(size=128, channels=4, width=32, layers=5, outputs=4, dropout=0.5):
    """MLPerf-HPC CosmoFlow; see isobar/zoo/cosmoflow.cpp."""
    parts, c = [], channels
    for i in range(layers):
        parts += [nn.Conv3d(c, width << i, 3, padding=1), nn.LeakyReLU(0.3), nn.MaxPool3d(2)]
        c = width << i
    side = size >> layers
    parts += [nn.Flatten(), nn.Linear(c * side**3, 128), nn.LeakyReLU(0.3), nn.Dropout(dropout),
              nn.Linear(128, 64), nn.LeakyReLU(0.3), nn.Dropout(dropout), nn.Linear(64, outputs), nn.Tanh()]
    return nn.Sequential(*parts), lambda y: 1.2 * y, nn.MSELoss(), (channels, size, size, size), outputs


def cosmoflow_sc18(size=128, channels=1, outputs=3, dropout=0.5):
    """CosmoFlow of SC18; see isobar/zoo/cosmoflow_sc18.cpp."""
    parts, c, side = [], channels, size
    for kernel, filters, stride, pool in [(3, 16, 1, True), (4, 32, 1, True), (4, 64, 1, True), (3, 128, 2, False),
                                          (3, 256, 1, False), (2, 256, 1, False), (2, 256, 1, False)]:
        parts += [nn.Conv3d(c, filters, kernel, stride), nn.LeakyReLU(0.01)]
        side, c = (side - kernel) // stride + 1, filters
        if pool:
            parts.append(nn.AvgPool3d(2))
            side //= 2
    parts += [nn.Flatten(), nn.Dropout(dropout), nn.Linear(c * side**3, 2048), nn.LeakyReLU(0.01), nn.Dropout(dropout),
              nn.Linear(2048, 256), nn.LeakyReLU(0.01), nn.Dropout(dropout), nn.Linear(256, outputs)]
    return nn.Sequential(*parts), lambda y: y, nn.L1Loss(), (channels, size, size, size), outputs


NETWORKS = {"cosmoflow": cosmoflow, "cosmoflow_sc18": cosmoflow_sc18}


def add_options(parser, threads):
    """What is trained, and how."""
    parser.add_argument("--model", choices=sorted(NETWORKS), required=True)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--layout", choices=["plain", "channels_last"], default="plain")


def prepared(args):
    """The network, what follows it, its loss, and a batch of noise, in the layout asked for."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    network, head, loss_of, shape, outputs = NETWORKS[args.model](size=args.size)
    x, y = torch.rand(args.batch, *shape), torch.rand(args.batch, outputs)
    if args.layout == "channels_last":
        network = network.to(memory_format=torch.channels_last_3d)
        x = x.to(memory_format=torch.channels_last_3d)
    return network, head, loss_of, x, y


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, torch.get_num_threads())
    args = parser.parse_args()

    network, head, loss_of, x, y = prepared(args)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001, momentum=0.9)
    network.train()

    def step():
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(head(network(x)), y)
        loss.backward()
        optimizer.step()
        loss.item()
        return time.perf_counter() - begin

    parameters = sum(p.numel() for p in network.parameters())
    print(f"ready torch {torch.__version__} {args.layout} {parameters}", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words and words[0] == "step":
            print(" ".join(f"{step():.9f}" for _ in range(int(words[1]))), flush=True)
        elif words and words[0] == "memory":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
        else:
            sys.exit(f"torch_step: '{line.strip()}' is neither 'step N' nor 'memory'")


if __name__ == "__main__":
    main()
