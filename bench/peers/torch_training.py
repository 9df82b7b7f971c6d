#!/usr/bin/python3
"""A whole training in PyTorch from the HDF5 files of `isobar bench training`, epoch by epoch.

Speaks the line protocol of isobar/cli/bench_training.hpp: "epoch" is answered with seconds of training, seconds of
evaluation and the metric on the test set. Files are channels-last, and so stays what is read from them.
"""
import argparse
import resource
import sys
import time

import h5py
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch_networks import make_task


class Samples(Dataset):
    """Every sample read when it is asked for; a worker opens the file for itself."""

    def __init__(self, path, classes):
        self.path, self.classes, self.file = path, classes, None
        with h5py.File(path, "r") as file:
            self.count, self.axes = len(file["x"]), file["x"].ndim

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        x, y = torch.from_numpy(self.file["x"][index]), torch.from_numpy(self.file["y"][index])
        return x, y.long()[0] if self.classes else y


def start_as_isobar(network, spec):
    """Weights from the law isobar/zoo has for this network, so that both learn alike."""
    for layer in network.modules():
        if isinstance(layer, (nn.Conv2d, nn.Conv3d, nn.Linear)):
            if spec.startswith("hep"):
                nn.init.kaiming_normal_(layer.weight)
            else:
                nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--model", "--train", "--test"):
        parser.add_argument(option, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--metric", choices=["accuracy", "loss"], required=True)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    task = make_task(args.model)
    start_as_isobar(task.network, args.model)
    classes = args.metric == "accuracy"
    options = dict(batch_size=args.batch, num_workers=args.workers, persistent_workers=args.workers > 0)
    train = DataLoader(Samples(args.train, classes), shuffle=True, **options)
    test = DataLoader(Samples(args.test, classes), **options)
    layouts = {4: torch.channels_last, 5: torch.channels_last_3d}
    task.network = task.network.to(memory_format=layouts[train.dataset.axes])
    optimizer = torch.optim.SGD(task.network.parameters(), lr=args.rate, momentum=0.9)

    def train_epoch():
        task.network.train()
        for x, y in train:
            x = x.movedim(-1, 1)
            optimizer.zero_grad(set_to_none=True)
            task.loss(task.network(x), y, x).backward()
            optimizer.step()

    @torch.inference_mode()
    def evaluate():
        task.network.eval()
        total = 0.0
        for x, y in test:
            x = x.movedim(-1, 1)
            p = task.network(x)
            total += (p.argmax(1) == y).sum().item() if classes else task.loss(p, y, x).item() * len(y)
        return total / len(test.dataset)

    print(f"ready torch {torch.__version__} channels_last, {args.workers} workers", flush=True)
    for line in sys.stdin:
        if line.strip() == "memory":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
            continue
        if line.strip() != "epoch":
            sys.exit(f"torch_training: '{line.strip()}' is neither 'epoch' nor 'memory'")
        begin = time.perf_counter()
        train_epoch()
        middle = time.perf_counter()
        value = evaluate()
        print(f"{middle - begin:.9f} {time.perf_counter() - middle:.9f} {value:.9f}", flush=True)


if __name__ == "__main__":
    main()
