#!/usr/bin/python3
"""The live oracle: compares what we computed with PyTorch, number by number.

compare.py FOLDER TOLERANCE: FOLDER/NAME/START/ are cases (tests/onnx/oracle_files.hpp). Every start must agree. Prints
one line per case; exit code 1 when one disagrees.
"""
import pathlib
import sys

from torch_case import Case


def judge(folder):
    case = Case(folder)
    theirs = case.run()
    worst, where = theirs.furthest(case.our_gradients())
    apart = abs(theirs.loss - case.told["value"]) / abs(theirs.loss)
    if not apart <= worst:
        worst, where = apart, "loss"
    for name, ours in case.our_outputs().items():
        apart = (ours - theirs.outputs[name]).norm().item() / theirs.outputs[name].norm().item()
        if not apart <= worst:
            worst, where = apart, name
    return worst, where


def main():
    failed = False
    for start in sorted(pathlib.Path(sys.argv[1]).glob("*/*")):
        worst, where = judge(start)
        good = worst <= float(sys.argv[2])
        failed |= not good
        print(f"{'agrees ' if good else 'DIFFERS'} {start.parent.name}, start {start.name}: {worst:.1e} at {where}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
