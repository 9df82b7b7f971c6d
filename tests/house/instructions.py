#!/usr/bin/python3
# Only functions compiled for x86-64-v4, whose names say so, may contain AVX-512 code: any other could run on a
# processor without it. Checks the disassembly of the given files.
import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# Registers of AVX-512: 512 bits long, masks, or numbers 16 to 31 of the shorter ones.
WIDE = re.compile(r"%(?:zmm\d|k[0-7]\b|[xy]mm(?:1[6-9]|2\d|3[01])\b)")
# A name of namespace v4, or a function run_v4, as mangled: its length, then the letters.
ALLOWED = re.compile(r"(?<!\d)(?:2v4|6run_v4)")


def misplaced(lines):
    """Functions with AVX-512 code that should not have it, and how many may have it."""
    found, rightful, name = {}, set(), ""
    for line in lines:
        if function := FUNCTION.match(line):
            name = function[1]
        elif WIDE.search(line):
            if ALLOWED.search(name):
                rightful.add(name)
            else:
                found.setdefault(name, line.strip())
    return found, len(rightful)


def main(files):
    failed = False
    for file in files:
        with subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", file], stdout=subprocess.PIPE, text=True) as dump:
            found, rightful = misplaced(dump.stdout)
        if dump.returncode != 0:
            sys.exit(f"objdump cannot read {file}")
        for name, line in sorted(found.items()):
            print(f"{file}: {name} has AVX-512 code outside of v4: {line}")
        print(f"{file}: {rightful} functions for x86-64-v4, {len(found)} misplaced")
        failed = failed or bool(found) or rightful == 0
    sys.exit(1 if failed else 0)


main(sys.argv[1:])
