# tools/install_packages with everything it calls replaced by scripts that only record how they were called.
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
    begin = next(i for i, line in enumerate(lines) if line.strip("[]").split()[:1] == [name] and line.startswith("["))
    rest = lines[begin + 1 :]
    end = next((i for i, line in enumerate(rest) if line.startswith("[")), len(rest))
    return [line for line in rest[:end] if line]


# Like Debian's update-alternatives: the choice is in a file "chosen", and installing Open MPI changes it.
ALTERNATIVES = """
case $1 in
  --get-selections) [ ! -s {chosen} ] || echo "mpirun auto $(read x < {chosen}; echo $x)" ;;
  --list) echo /usr/bin/mpirun.mpich; echo /usr/bin/mpirun.openmpi ;;
  --quiet) echo "update-alternatives $*" >> {log}; echo $4 > {chosen} ;;
esac"""
APT = """
echo "apt-get $*" >> {log}
echo "much that nobody reads"
case "$*" in *openmpi-bin*) echo /usr/bin/mpirun.openmpi > {chosen} ;; *" mpich"*) echo /usr/bin/mpirun.mpich > {chosen} ;; esac
case "$*" in install*) exit {code} ;; esac"""


def run(sections, missing=(), root=True, sudo=False, debian=True, programs=(), apt_code=0, mpirun=""):
    """(exit code, what was printed, the calls of apt-get, sudo and update-alternatives) on a machine as described."""
    with tempfile.TemporaryDirectory() as folder:
        log, chosen = Path(folder, "log"), Path(folder, "chosen")
        log.touch()
        chosen.write_text(mpirun and mpirun + "\n")

        def script(name, body):
            path = Path(folder, name)
            path.write_text("#!/bin/sh\n" + body + "\n")
            path.chmod(0o755)

        for name in ("awk", "cat", "dirname", "env", "mktemp", "rm", "sh"):
            Path(folder, name).symlink_to(shutil.which(name))
        script("id", "echo " + ("0" if root else "1000"))
        script("apt-get", APT.format(log=log, chosen=chosen, code=apt_code))
        script("update-alternatives", ALTERNATIVES.format(log=log, chosen=chosen))
        for name in programs:
            script(name, "exit 1")
        if sudo:
            script("sudo", f'echo "sudo $1 $2" >> {log}; exec "$@"')
        if debian:
            cases = "".join(f"*' {name}') exit 1;; " for name in missing)
            script("dpkg-query", f"case \" $*\" in {cases}*) echo installed;; esac")
        done = subprocess.run(
            [TOOL, *sections],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": folder, "TMPDIR": folder},
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

    def test_one_line_tells_of_the_progress(self):
        self.assertEqual(run(["build"], missing=["libfmt-dev", "cmake"])[1], "Installing 2 packages ... done\n")
        self.assertEqual(run(["test", "mpi"], missing=["mpich"])[1], "Installing 1 package ... done\n")

    def test_what_apt_says_is_shown_when_it_fails(self):
        code, output, _ = run(["build"], missing=["cmake"], apt_code=100)
        self.assertEqual(code, 1)
        self.assertIn("Installing 1 package ... failed:\nmuch that nobody reads\n", output)
        self.assertIn("could not install cmake\n", output)

    def test_an_mpi_of_any_kind_is_enough(self):
        mpi = section("mpi")
        self.assertEqual(run(["mpi"], missing=mpi)[2][-1], "apt-get install -y -qq --no-install-recommends " + " ".join(mpi))
        self.assertEqual(run(["mpi"], missing=mpi, programs=["mpicc"]), (0, "", []))
        self.assertEqual(run(["mpi"], missing=mpi, programs=["mpicxx"]), (0, "", []))

    def test_open_mpi_does_not_take_over_mpiexec(self):
        back = "update-alternatives --quiet --set mpirun /usr/bin/mpirun.mpich"
        self.assertEqual(run(["openmpi"], missing=["openmpi-bin"], mpirun="/usr/bin/mpirun.mpich")[2][-1], back)
        self.assertEqual(run(["mpi", "openmpi"], missing=["mpich", "openmpi-bin"])[2][-1], back)
        calls = run(["mpi", "openmpi"], missing=["mpich", "openmpi-bin"], mpirun="/opt/mpirun")[2]
        self.assertEqual(calls[-1], "update-alternatives --quiet --set mpirun /opt/mpirun")
        calls = run(["test"], missing=["chromium"], mpirun="/usr/bin/mpirun.openmpi")[2]
        self.assertNotIn("update-alternatives", " ".join(calls))

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

    def test_the_program_needs_one_mpi_and_nothing_for_tests_or_forecasts(self):
        program = section("build") + section("mpi")
        for package in ("libopenmpi-dev", "libsimgrid-dev", "libgtest-dev", "chromium", "libonnx-testdata"):
            self.assertNotIn(package, program)
        for package in section("bench") + section("format") + section("tidy"):
            self.assertNotIn(package, program + section("test"))


if __name__ == "__main__":
    unittest.main()
