#!/usr/bin/python3
"""Makes the golden files: losses and gradients by PyTorch, in double precision, that every `make test` compares with.

make_golden.py --program build/release/oracle_cases [--only NAME ...]

tests/onnx/golden/networks/NAME.json and operators/NAME.json hold, of every tensor, its norm and four projections
(summary.py). A network is held at three starts of its weights. Where an activation lies so near a kink that rounding
decides its side, a gradient in single precision may rightly be another; where a sum nearly cancels, rounding is what is
left of it. So starts are searched, from seed 1 on, of which the gradients do not sway: all computed numbers, forward and
backward, are displaced by NOISE times the size of their neighbours (about five roundings of single precision), DRAWS times
anew, and `sway` in the file is how far that moved any gradient, relative to its norm. The calmest of the seeds tried are
taken; none above STEADY is.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import torch

from summary import summary
from torch_case import Case

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
STARTS = 3  # of every network
NOISE, DRAWS = 3e-7, 12
CALM, STEADY = 5e-6, 4e-5
ENOUGH, LAST = 30, 300  # seeds: so many are tried for calm starts, and so many for steady ones
BLOCK = 6


def sway(case, result, limit):
    """How far the noise of rounding may move a gradient, relative to its norm; beyond the limit, how far it did once."""
    most = 0.0
    for draw in range(DRAWS):
        most = max(most, result.furthest(case.run(NOISE, draw + 1).gradients)[0])
        if most > limit:
            break
    return most


def rounded(numbers):
    """Ten digits: more than single precision can be compared to."""
    return [float(f"{n:.10g}") + 0.0 for n in numbers]  # no -0


def entry(case, result):
    told = {"loss": rounded([result.loss])[0], "given": {k: rounded(v) for k, v in case.told["given"].items()}}
    if result.outputs:
        told["outputs"] = {name: rounded(summary(v.numpy())) for name, v in result.outputs.items()}
    told["gradients"] = {name: rounded(summary(g.numpy() * (not result.only_rounding(name))))
                         for name, g in result.gradients.items()}
    return told


def write(program, *words):
    subprocess.run([str(program), *map(str, words)], check=True)


def folders(root):
    return sorted((p for p in root.iterdir() if p.is_dir()), key=lambda p: int(p.name))


class Row:
    """One row of tests/zoo/shrunken.hpp and the calmest starts of it so far."""

    def __init__(self, spec):
        self.spec, self.starts, self.tried = spec, [], 0

    def worst(self):
        return self.starts[-1]["sway"] if len(self.starts) == STARTS else STEADY

    def done(self):
        full = len(self.starts) == STARTS
        return full and (self.worst() <= CALM or self.tried >= ENOUGH)

    def offer(self, seed, case):
        self.tried += 1
        result = case.run()
        moved = sway(case, result, self.worst())
        if moved <= self.worst():
            self.starts.append({"seed": seed, "sway": float(f"{moved:.2g}"), **entry(case, result)})
            self.starts = sorted(self.starts, key=lambda s: s["sway"])[:STARTS]


def network(program, name):
    """All rows of a network, with STARTS starts each."""
    rows, first = {}, 1
    while first <= LAST and not (rows and all(row.done() for row in rows.values())):
        with tempfile.TemporaryDirectory() as scratch:
            write(program, scratch, "networks", name, first, first + BLOCK - 1)
            for folder in folders(pathlib.Path(scratch)):
                for start in folders(folder):
                    row = rows.get(folder.name)
                    if row and row.done():
                        break
                    case = Case(start)
                    row = rows.setdefault(folder.name, Row(case.told["spec"]))
                    row.offer(int(start.name), case)
        first += BLOCK
    for row in rows.values():
        seeds = ", ".join(f"{s['seed']} ({s['sway']:.0e})" for s in row.starts)
        print(f"{row.spec}: starts {seeds} of {row.tried}", flush=True)
        if len(row.starts) < STARTS:
            sys.exit(f"make_golden.py: {row.spec} has fewer than {STARTS} steady starts up to seed {LAST}")
    return [{"spec": row.spec, "seeds_tried": row.tried, "starts": sorted(row.starts, key=lambda s: s["seed"])}
            for row in rows.values()]


def operator(program, name):
    cases = []
    with tempfile.TemporaryDirectory() as scratch:
        write(program, scratch, "operators", name)
        for problem in folders(pathlib.Path(scratch)):
            case = Case(problem / "1")
            cases.append({"spec": case.told["spec"], "starts": [{"seed": 1, **entry(case, case.run())}]})
    print(f"{name}: {len(cases)} problems", flush=True)
    return cases


def text(tree, depth=0):
    """JSON with one line for every list of numbers."""
    if isinstance(tree, dict):
        lines = [f"{json.dumps(key)}: {text(value, depth + 1)}" for key, value in tree.items()]
        brackets = "{}"
    elif isinstance(tree, list) and any(isinstance(v, (dict, list)) for v in tree):
        lines = [text(value, depth + 1) for value in tree]
        brackets = "[]"
    else:
        return json.dumps(tree)
    inner = ",\n".join(" " * (depth + 1) + line for line in lines)
    return f"{brackets[0]}\n{inner}\n{' ' * depth}{brackets[1]}" if lines else brackets


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--program", required=True, type=pathlib.Path, help="oracle_cases, of the build to ask")
    options.add_argument("--only", nargs="+", help="names of networks and operators; by default all")
    given = options.parse_args()
    families = {family: subprocess.run([str(given.program), "names", family], check=True, stdout=subprocess.PIPE,
                                       universal_newlines=True).stdout.split() for family in ("networks", "operators")}
    unknown = set(given.only or []) - set(families["networks"] + families["operators"])
    if unknown:
        sys.exit(f"make_golden.py: no network and no operator is called {', '.join(sorted(unknown))}")
    for family, make in (("networks", network), ("operators", operator)):
        folder = GOLDEN / family
        folder.mkdir(parents=True, exist_ok=True)
        for name in families[family]:
            if given.only and name not in given.only:
                continue
            made = {"made_with": f"PyTorch {torch.__version__.split('+')[0]}", "cases": make(given.program, name)}
            (folder / f"{name}.json").write_text(text(made) + "\n")
        for file in folder.glob("*.json"):
            if file.stem not in families[family]:
                file.unlink()


if __name__ == "__main__":
    main()
