#!/usr/bin/python3
"""The soak: runs are killed, stopped, frozen and starved at random moments, for minutes, and must lose nothing.

Every scenario prints its figures; any problem ends the soak with exit code 1. Emulated hosts and full disks need root."""
import argparse
import os
import sys
import tempfile
import time

import disk
import restart
import survive
from runs import Tally

SCENARIOS = {
    "killed": restart.killed,
    "ranks": restart.other_ranks,
    "crew": survive.one_host,
    "hosts": survive.four_hosts,
    "openmpi": survive.open_mpi,
    "frozen": survive.frozen,
    "launcher": survive.launcher_killed,
    "disk": disk.full,
}
NEED_ROOT = ("hosts", "disk")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/isobar")
    parser.add_argument("--only", default=",".join(SCENARIOS), help="scenarios, comma between: %(default)s")
    parser.add_argument("--kills", type=int, default=100, help="of every scenario that counts them")
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args()
    settings.program = os.path.abspath(settings.program)
    problems = []
    for name in settings.only.split(","):
        if name not in SCENARIOS:
            sys.exit(f"soak: unknown scenario '{name}'; known are {', '.join(SCENARIOS)}")
        if name in NEED_ROOT and os.geteuid() != 0:
            print(f"{name}: left out, needs root", flush=True)
            continue
        print(f"{name}: {(SCENARIOS[name].__doc__ or '').strip()}", flush=True)
        begin, tally = time.monotonic(), Tally()
        with tempfile.TemporaryDirectory(prefix="isobar-soak-") as folder:
            settings.folder = folder
            SCENARIOS[name](settings, tally)
        print(f"  {'failed' if tally.problems else 'passed'} after {time.monotonic() - begin:.0f} s", flush=True)
        problems += tally.problems
    sys.exit(f"soak: {len(problems)} problems" if problems else 0)


if __name__ == "__main__":
    main()
