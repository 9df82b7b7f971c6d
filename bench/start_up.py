#!/usr/bin/python3
"""Seconds from starting `isobar train` with cifar10_quick to its first finished step, against PyTorch's.

    bench/start_up.py --isobar build/release/bin/isobar [--archive cifar10.tar.gz] [--cold] [--runs 5]

The data is a tar archive of JPEG files as examples/recipes/cifar10_quick.toml expects it, or, without --archive, binary
files of noise that are made here. The peer imports torch and trains one batch of noise: it reads no data at all. Both
take turns. --cold empties the caches of the system before every start, which takes the rights for it.
"""
import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PEER = """
import torch
from torch import nn
torch.set_num_threads({threads})
pool = lambda kind: kind(3, 2, ceil_mode=True)
net = nn.Sequential(nn.Conv2d(3, 32, 5, padding=2), pool(nn.MaxPool2d), nn.ReLU(), nn.Conv2d(32, 32, 5, padding=2),
                    nn.ReLU(), pool(nn.AvgPool2d), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), pool(nn.AvgPool2d),
                    nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))
rule = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
nn.functional.cross_entropy(net(torch.rand(100, 3, 32, 32)), torch.randint(10, (100,))).backward()
rule.step()
print("step", flush=True)
"""


def make_noise(folder, train, test):
    """CIFAR-10's binary files, filled with noise."""
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
    for name in names:
        with open(os.path.join(folder, name), "wb") as out:
            for _ in range(test if name.startswith("test") else train // 5):
                out.write(bytes([os.urandom(1)[0] % 10]) + os.urandom(3072))


def empty_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as out:
        out.write("3")


def isobar_start(args, scratch, data):
    run = os.path.join(scratch, "run")
    shutil.rmtree(run, ignore_errors=True)
    begin = time.monotonic()
    process = subprocess.Popen([args.isobar, "train", args.recipe, "--set", f'folder="{run}"'] + data,
                               stdout=subprocess.DEVNULL)
    metrics = os.path.join(run, "metrics.jsonl")  # written within 50 ms: that is counted too
    while process.poll() is None and not (os.path.exists(metrics) and os.path.getsize(metrics) > 0):
        time.sleep(0.001)
    seconds = time.monotonic() - begin
    if process.poll() is not None:
        sys.exit("isobar ended before its first step")
    process.send_signal(signal.SIGKILL)
    process.wait()
    return seconds


def torch_start(threads):
    begin = time.monotonic()
    subprocess.run(["/usr/bin/python3", "-c", PEER.format(threads=threads)], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isobar", default="build/release/bin/isobar")
    parser.add_argument("--recipe", default="examples/recipes/cifar10_quick.toml")
    parser.add_argument("--archive", help="of JPEG files, below train/ and test/")
    parser.add_argument("--samples", type=int, default=50000, help="of noise, without --archive")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if args.archive:
            kind, path = "images", os.path.abspath(args.archive)
        else:
            kind, path = "cifar10", scratch
            make_noise(scratch, args.samples, args.samples // 5)
        data = []
        for part in ("train", "test"):
            data += ["--set", f'data.{part}="{kind}(path=\'{path}\', part={part})"']
        ours, theirs = [], []
        for _ in range(args.runs):
            if args.cold:
                empty_caches()
            ours.append(isobar_start(args, scratch, data))
            if args.alone:
                continue
            if args.cold:
                empty_caches()
            theirs.append(torch_start(os.cpu_count()))
    for name, seconds in (("isobar", ours), ("torch", theirs)):
        if seconds:
            print(f"{name}: median {statistics.median(seconds):.3f} s of {len(seconds)}: " +
                  " ".join(f"{s:.3f}" for s in seconds))
    if theirs:
        print(f"isobar takes {statistics.median(ours) / statistics.median(theirs):.2f} of PyTorch's time")


if __name__ == "__main__":
    main()
