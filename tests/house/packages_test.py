# tools/install_packages with everything it calls replaced by scripts that only write down how they were called.
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "install_packages"


def section(name):
    """The packages of one section of packages.txt."""
    lines = [line.split("#")[0].strip() for line in (ROOT / "packages.txt").read_text().splitlines()]
    rest = lines[lines.index(f"[{name}]") + 1 :]
    end = next((i for i, line in enumerate(rest) if line.startswith("[")), len(rest))
    return [line for line in rest[:end] if line]


def run(sections, missing=(), root=True, sudo=False, debian=True):
    """(exit code, what was printed, the calls of apt-get and sudo) on a machine as described."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.touch()

        def script(name, body):
            path = Path(folder, name)
            path.write_text("#!/bin/sh\n" + body + "\n")
            path.chmod(0o755)

        for name in ("awk", "dirname", "env", "sh"):
            Path(folder, name).symlink_to(shutil.which(name))
        script("id", "echo " + ("0" if root else "1000"))
        script("apt-get", f'echo "apt-get $*" >> {log}')
        if sudo:
            script("sudo", f'echo "sudo $1 $2" >> {log}; exec "$@"')
        if debian:
            cases = "".join(f"*' {name}') exit 1;; " for name in missing)
            script("dpkg-query", f"case \" $*\" in {cases}*) echo installed;; esac")
        done = subprocess.run(
            [TOOL, *sections],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": folder},
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr, log.read_text().splitlines()


class Packages(unittest.TestCase):
    def test_nothing_is_touched_when_nothing_is_missing(self):
        self.assertEqual(run(["build"], root=False), (0, "", []))

    def test_only_what_is_missing_is_installed(self):
        code, _, calls = run(["build"], missing=["libfmt-dev", "cmake"])
        self.assertEqual(code, 0)
        self.assertEqual(calls[0], "apt-get update -qq")
        self.assertEqual(calls[1], "apt-get install -y -qq --no-install-recommends cmake libfmt-dev")
        self.assertEqual(len(calls), 2)

    def test_without_rights_one_line_says_what_to_run(self):
        code, output, calls = run(["build", "bench"], missing=["cmake", "python3-torch"], root=False)
        self.assertEqual(code, 1)
        self.assertEqual(calls, [])
        self.assertEqual(output.count("\n"), 1)
        self.assertIn("apt-get install -y --no-install-recommends cmake python3-torch\n", output)

    def test_sudo_is_used_where_it_is(self):
        code, _, calls = run(["format"], missing=["clang-format"], root=False, sudo=True)
        self.assertEqual(code, 0)
        self.assertEqual(calls[0], "sudo apt-get update")
        self.assertEqual(calls[-1], "apt-get install -y -qq --no-install-recommends clang-format")

    def test_an_unknown_section_is_an_error(self):
        self.assertEqual(run(["kitchen"])[0], 2)
        self.assertEqual(run([])[0], 2)

    def test_another_system_is_told_what_is_needed(self):
        code, output, calls = run(["bench"], debian=False)
        self.assertEqual((code, calls), (0, []))
        for package in section("bench"):
            self.assertIn(package, output)

    def test_the_tests_need_neither_the_peers_nor_the_formatter(self):
        for package in section("bench") + section("format") + section("tidy"):
            self.assertNotIn(package, section("build"))


if __name__ == "__main__":
    unittest.main()
