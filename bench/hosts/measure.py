#!/usr/bin/python3
"""What exchanging gradients costs between emulated hosts at 1 Gbit/s: sums against their formulas, and what of an
exchange a training step hides. Prints the table of docs/ranks.md. Needs root; about three minutes."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

from hosts import Hosts

LINK = 125e6  # bytes a second at 1 Gbit/s


def seconds_of_sum(hosts, program, algorithm, size, per_host=1, count=None, rounds=9, dealt=False):
    words, environment = hosts.launch(per_host, count, dealt)
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "record.jsonl")
        subprocess.run(words + [program, "bench", "sums", "--algorithm", algorithm, "--bytes", str(size), "--rounds",
                                str(rounds), "--record", record],
                       env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        # MPICH may hang in MPI_Finalize over TCP, and hydra then complains of ranks that left: what counts is written.
        with open(record) as lines:
            return json.loads(lines.readline())["entries"][0]["seconds"]["median"]


def compare_flat(hosts, program):
    """2 hosts x 2 ranks, in both orders ranks may come in: hierarchical, which knows hosts, against those that do not."""
    size = 25_000_000
    for order, dealt in (("neighbours share a host", False), ("ranks dealt out to hosts", True)):
        flat = {name: seconds_of_sum(hosts, program, name, size, 2, 2, dealt=dealt)
                for name in ("ring", "recursive_doubling", "halving_doubling")}
        nested = seconds_of_sum(hosts, program, "hierarchical", size, 2, 2, dealt=dealt)
        for name, seconds in flat.items():
            print(f"| {name}, 2 hosts x 2 ranks, 25 MB, {order} | {seconds * 1e3:.0f} ms | "
                  f"hierarchical is {seconds / nested:.2f} times as fast |")
        print(f"| hierarchical, the same | {nested * 1e3:.0f} ms | "
              f"{2 * size / 2 / LINK * 1e3:.0f} ms: every host sends and gets all bytes once |", flush=True)


def hidden_share(hosts, program, strategy, model, rounds=5, split="none"):
    """Seconds of a step, of its exchange, and the share of the exchange that no rank waits for; with a split, of the
    messages of the model that two hosts share."""
    words, environment = hosts.launch(1, 2)
    contestant = subprocess.Popen(words + [program, "bench", "--serve", "--model", model, "--threads", "1",
                                           "--exchange", strategy, "--split", split],
                                  env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    exchange = "exchange" if split == "none" else "messages"

    def ask(question):
        contestant.stdin.write(question + "\n")
        contestant.stdin.flush()
        return [float(word) for word in contestant.stdout.readline().split()]

    contestant.stdout.readline()
    ask("step 2")
    ask(exchange)
    shares, steps, exchanges = [], [], []
    for _ in range(rounds):
        steps.append(ask("step 4")[0])
        waited, busy, _, _ = ask(exchange)
        exchanges.append(busy / 4)
        shares.append(1 - waited / busy)
    contestant.stdin.close()
    contestant.wait(timeout=60)
    return statistics.median(steps), statistics.median(exchanges), statistics.median(shares)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/release/bin/isobar")
    parser.add_argument("--model", default="cosmoflow(size=64)")
    parser.add_argument("--split-model", default="cosmoflow(size=128)")
    parser.add_argument("--delay", type=int, default=0, help="microseconds added to every message, one way")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    print("| what | measured | expected |\n|---|---|---|")
    with Hosts(4, delay=args.delay) as hosts:
        size, ranks = 28_000_000, 4
        formula = 2 * (ranks - 1) / ranks * size / LINK
        ring = seconds_of_sum(hosts, program, "ring", size)
        print(f"| ring, 4 hosts, 28 MB | {ring * 1e3:.0f} ms | formula {formula * 1e3:.0f} ms: "
              f"{ring / formula:.2f} of it |", flush=True)
        compare_flat(hosts, program)
        for strategy in ("sync", "lagged(k=1)"):
            step, exchange, share = hidden_share(hosts, program, strategy, args.model)
            print(f"| {strategy}, {args.model}, 2 hosts | step {step * 1e3:.0f} ms, exchange {exchange * 1e3:.0f} ms | "
                  f"{share * 100:.0f} % of the exchange hidden |", flush=True)
        split = "spatial(depth=2)"
        step, messages, share = hidden_share(hosts, program, "sync", args.split_model, split=split)
        print(f"| {split}, {args.split_model}, one sample on 2 hosts | step {step * 1e3:.0f} ms, messages "
              f"{messages * 1e3:.0f} ms | {share * 100:.0f} % of the messages hidden |", flush=True)


if __name__ == "__main__":
    main()
