#!/usr/bin/python3
"""The networks of torch_networks.py on several processes, as a contestant of `isobar bench ranks`.

With --exchange ddp gradients are averaged by DistributedDataParallel over Gloo, with none every process trains alone.
The time of a step is that of the slowest process over the whole row of steps asked for, divided by their number.
"""
import argparse
import multiprocessing
import resource
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch_networks import add_options, optimizer_of, prepared


def work(rank, args, meeting, pipe):
    task, x, y = prepared(args)
    network = task.network
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=args.ranks)
    if args.exchange == "ddp":
        network = torch.nn.parallel.DistributedDataParallel(network, gradient_as_bucket_view=True)
    optimizer = optimizer_of(network, args.rate)
    network.train()

    def step():
        optimizer.zero_grad(set_to_none=args.exchange == "none")
        loss = task.loss(network(x), y, x)
        loss.backward()
        optimizer.step()
        loss.item()

    pipe.send(f"torch {torch.__version__} {args.exchange} {args.layout}")
    while True:
        question = pipe.recv()
        if question is None:
            break
        if question == "memory":
            pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
            continue
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(question):
            step()
        pipe.send(time.perf_counter() - begin)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, threads=1)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--exchange", choices=["ddp", "none"], default="ddp")
    args = parser.parse_args()

    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        pipes, processes = [], []
        for rank in range(args.ranks):
            ours, theirs = context.Pipe()
            pipes.append(ours)
            processes.append(context.Process(target=work, args=(rank, args, folder + "/meeting", theirs), daemon=True))
            processes[-1].start()

        def ask(question):
            for pipe in pipes:
                pipe.send(question)
            return [pipe.recv() for pipe in pipes]

        print("ready " + [pipe.recv() for pipe in pipes][0], flush=True)
        for line in sys.stdin:
            words = line.split()
            if words and words[0] == "step":
                count = int(words[1])
                print(" ".join([f"{max(ask(count)) / count:.9f}"] * count), flush=True)
            elif words and words[0] == "memory":
                print(max(ask("memory")), flush=True)
        for pipe in pipes:
            pipe.send(None)
        for process in processes:
            process.join()


if __name__ == "__main__":
    main()
