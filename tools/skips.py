# Which tests may be skipped, and where: the lines of tests/may_skip.txt, and whether their conditions hold here.
# A line is `TEST: CONDITION  # why`; TEST as ctest names it, with * for anything, CONDITION terms joined by "or".
import os
import re
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path


def succeeds(*command):
    if not shutil.which(command[0]):
        return False
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def cannot_mount(_):
    """Neither as root nor in a user namespace; tests/small_disk.hpp tries the same way."""
    mount = ["sh", "-c", 'mount -t tmpfs none "$PWD"']
    return not succeeds("unshare", "-m", *mount) and not succeeds("unshare", "-Umc", "--keep-caps", *mount)


def no_cpu(_, *flags):
    lines = re.findall(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return not lines or not set(flags) <= set(lines[0].split())


def no_data(root, name):
    """Public files are in shared/data beside the tree, or beside a folder that contains it."""
    return not any((folder / "shared" / "data" / name).is_dir() for folder in (root, *root.parents))


def no_python(_, *modules):
    """Debian's Python, which has the packages of packages.txt."""
    return not succeeds("/usr/bin/python3", "-c", "import " + ", ".join(modules))


def variable(_, name):
    return name in os.environ


# The words a term begins with: (what it is, how many words follow at least, and at most).
TERMS = {
    "cannot mount": (cannot_mount, 0, 0),
    "no cpu": (no_cpu, 1, 9),
    "no data": (no_data, 1, 1),
    "no python": (no_python, 1, 9),
    "variable": (variable, 1, 1),
}


def parse_term(text):
    for words, (meaning, fewest, most) in TERMS.items():
        if text == words or text.startswith(words + " "):
            arguments = text[len(words) :].split()
            if fewest <= len(arguments) <= most:
                return meaning, arguments
    known = ", ".join(f"'{words}{' ...' if most else ''}'" for words, (_, _, most) in TERMS.items())
    raise ValueError(f"'{text}' is no condition; there are {known}")


def read_rules(path):
    """[(pattern, condition as written, its terms)]; a ValueError names an invalid line."""
    rules = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        rule, _, why = line.partition("#")
        if not rule.strip():
            continue
        pattern, colon, condition = (part.strip() for part in rule.partition(":"))
        try:
            if not colon or not why.strip():
                raise ValueError("a line is 'TEST: CONDITION  # why'")
            if not re.search(r"\w\.\S*\w", pattern):
                raise ValueError(f"'{pattern}' names no test")
            terms = [parse_term(term.strip()) for term in re.split(r"\bor\b", condition)]
        except ValueError as error:
            raise ValueError(f"{path.name}:{number}: {error}") from None
        rules.append((pattern, condition, terms))
    return rules


def allowed(rules, name, root):
    """(the condition that allows this skip, "") or ("", what is wrong with it)."""
    named = [rule for rule in rules if fnmatchcase(name, rule[0])]
    for _, condition, terms in named:
        if any(meaning(root, *arguments) for meaning, arguments in terms):
            return condition, ""
    if not named:
        return "", "tests/may_skip.txt does not list it"
    conditions = " or ".join(condition for _, condition, _ in named)
    return "", f"tests/may_skip.txt allows that only where this holds, which it does not here: {conditions}"
