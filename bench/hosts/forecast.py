#!/usr/bin/python3
"""Forecasts held against reality: training on 1 to 4 emulated hosts at two bandwidths. isobar-sim is calibrated with the
runs on 1 and 2 ranks and forecasts the steps of 3 and 4. Prints the table of docs/forecast.md. Needs root; some minutes."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from hosts import Hosts

RECIPE = """model = "{model}"
optimizer = "adam(lr=1e-4)"
strategy = "{strategy}"

[data]
train = "noise(shape=[{size}, {size}, {size}, 4], targets=4, count={samples})"
test = "noise(shape=[{size}, {size}, {size}, 4], targets=4, count=1)"
batch = 0
batch_per_rank = 1
readers = 1

[train]
epochs = 1

[report]
trace_steps = 6
"""

PLATFORM = """summary = "hosts emulated on one machine"
nodes = 4
shared_cores = {cores}

[node]
gflops = 100
cores = 1
memory_gb_s = 8
sum_gb_s = 4
inside_gb_s = 8
inside_us = 2

[network]
kind = "crossbar"
link_gb_s = {link}
latency_us = 100
message_us = 20
core_s_per_gb = 3
efficiency = 0.97
"""


def step_seconds(folder):
    with open(os.path.join(folder, "timing.jsonl")) as lines:
        rows = [json.loads(line) for line in lines]
    return statistics.median([row["seconds"] for row in rows if "step" in row and "seconds" in row][3:])


def measure(hosts, program, folder, ranks, recipe):
    words, environment = hosts.launch(1, ranks)
    run = os.path.join(folder, f"ranks{ranks}")
    result = subprocess.run(words + [program, "train", recipe, "--set", f"folder={run}", "--quiet", "--threads", "1"],
                            env=environment, capture_output=True, text=True, timeout=300)
    # MPICH may hang in MPI_Finalize over TCP, and hydra then complains of ranks that left: what counts is written.
    if not os.path.exists(os.path.join(run, "timing.jsonl")):
        sys.exit(f"training on {ranks} hosts failed: {result.stderr or result.stdout}")
    return run


def forecast(simulator, folder, runs, platform, strategy, ranks):
    out = os.path.join(folder, "forecast")
    subprocess.run([simulator, "forecast", "--calibrate", *runs, "--platform", platform, "--strategy", strategy, "--ranks",
                    ",".join(map(str, ranks)), "--out", out, "--quiet", "--no-losses"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(out, "forecast.json")) as text:
        return {row["ranks"]: row["step_seconds"] for row in json.load(text)["rows"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/release/bin/isobar")
    parser.add_argument("--simulator", default="build/release/bin/isobar-sim")
    parser.add_argument("--size", type=int, default=64, help="cells along an edge of the network's input")
    parser.add_argument("--strategy", default="sync(algorithm=ring)")
    parser.add_argument("--megabits", type=int, nargs="+", default=[1000, 300])
    parser.add_argument("--samples", type=int, default=60, help="of the one epoch; 4 ranks take a quarter as many steps")
    parser.add_argument("--keep", help="folder for the runs (default: removed)")
    args = parser.parse_args()
    program, simulator = os.path.abspath(args.program), os.path.abspath(args.simulator)
    print("| link | ranks | measured | forecast | error |\n|---|---|---|---|---|")
    worst = 0
    with tempfile.TemporaryDirectory() as temporary:
        for megabits in args.megabits:
            folder = os.path.join(args.keep or temporary, str(megabits))
            os.makedirs(folder, exist_ok=True)
            recipe, platform = os.path.join(folder, "recipe.toml"), os.path.join(folder, "platform.toml")
            with open(recipe, "w") as text:
                text.write(RECIPE.format(model=f"cosmoflow(size={args.size})", size=args.size, strategy=args.strategy,
                                         samples=args.samples))
            with open(platform, "w") as text:
                text.write(PLATFORM.format(cores=len(os.sched_getaffinity(0)), link=megabits / 8e3))
            with Hosts(4, bits_per_second=megabits * 1e6) as hosts:
                runs = {ranks: measure(hosts, program, folder, ranks, recipe) for ranks in (1, 2, 3, 4)}
            told = forecast(simulator, folder, [runs[1], runs[2]], platform, args.strategy, [3, 4])
            for ranks in (1, 2):
                print(f"| {megabits} Mbit/s | {ranks} | {step_seconds(runs[ranks]) * 1e3:.0f} ms | calibrated with | |")
            for ranks in (3, 4):
                measured = step_seconds(runs[ranks])
                error = told[ranks] / measured - 1
                worst = max(worst, abs(error))
                print(f"| {megabits} Mbit/s | {ranks} | {measured * 1e3:.0f} ms | {told[ranks] * 1e3:.0f} ms | "
                      f"{100 * error:+.1f} % |", flush=True)
    print(f"worst: {100 * worst:.1f} %")


if __name__ == "__main__":
    main()
