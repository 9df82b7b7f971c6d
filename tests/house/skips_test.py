# tools/run_tests with a ctest that only prints and writes what ctest and GoogleTest would: which skips it reports, and
# which of them fail the run.
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.sax.saxutils import escape

TOOL = Path(__file__).parents[2] / "tools" / "run_tests"
sys.path.insert(0, str(TOOL.parent))
import skips  # noqa: E402
CLOSING = "100% tests passed, 0 tests failed out of 7"
RULES = """# comment
room.Suite.Allowed: no cpu no_such_flag  # why
room.Suite.Elsewhere: no cpu no_such_flag or variable ISOBAR_TEST_OF_SKIPS  # why
room.Suite.NotHere: variable ISOBAR_TEST_OF_SKIPS  # why
"""


def gtest(*tests, end=True):
    """What GoogleTest prints for tests given as (name, result: "" passed, "!" failed, else the reason of a skip)."""
    lines = ["Note: this is a filter", f"[==========] Running {len(tests)} tests from 1 test suite."]
    for name, fate in tests:
        lines.append(f"[ RUN      ] {name}")
        if fate == "!":
            lines += ["x_test.cpp:3: Failure", f"[  FAILED  ] {name} (0 ms)"]
        elif fate:
            lines += ["noise", "tests/x_test.cpp:12: Skipped", fate, f"half a line[  SKIPPED ] {name} (0 ms)"]
        else:
            lines.append(f"[       OK ] {name} (0 ms)")
    if end:
        lines.append(f"[==========] {len(tests)} tests from 1 test suite ran. (0 ms total)")
        lines += [f"[  SKIPPED ] {name}" for name, fate in tests if fate not in ("", "!")]
    return "\n".join(lines) + "\n"


def entry(name, output, status="run"):
    """A test in ctest's report; status "notrun" is what it calls a skip."""
    skipped = '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>' if status == "notrun" else ""
    return f'<testcase name="{name}" status="{status}">{skipped}<system-out>{escape(output)}</system-out></testcase>'


def run(*entries, rules=RULES, code=0, report=None, variables=()):
    """(exit code, what run_tests printed) if ctest reports these entries."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "report").write_text(report or f"<testsuite>{''.join(entries)}</testsuite>")
        Path(folder, "rules").write_text(rules)
        script = Path(folder, "ctest")
        script.write_text(
            f'#!/bin/sh\necho "called with $*"\necho "{CLOSING}"\necho "Total Test time (real) = 1 sec"\n'
            'while [ "$1" != --output-junit ]; do shift; done\n'
            + ("" if report == "none" else f'cp "{folder}/report" "$2"\n')
            + f"exit {code}\n"
        )
        script.chmod(0o755)
        done = subprocess.run(
            [TOOL, "--may-skip", Path(folder, "rules"), "--preset", "some", "-j", "2"],
            capture_output=True,
            text=True,
            env={**os.environ, "CTEST": str(script), **dict(variables)},
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


class Skips(unittest.TestCase):
    def test_nothing_skipped_is_said_too(self):
        code, output = run(entry("room.Suite.One", gtest(("Suite.One", ""))), entry("house.layers", ""))
        self.assertEqual(code, 0)
        self.assertIn("called with --preset some -j 2 --output-junit", output)
        self.assertTrue(output.endswith(f"\nSkipped 0 of 2 tests\n{CLOSING}\n"), output)

    def test_an_allowed_skip_is_told_with_its_reason(self):
        one = gtest(("Suite.Allowed", "needs a thing\nand another"))
        code, output = run(entry("room.Suite.Allowed", one, "notrun"), entry("room.Suite.One", gtest(("Suite.One", ""))))
        self.assertEqual(code, 0, output)
        told = "  room.Suite.Allowed: needs a thing and another (no cpu no_such_flag)"
        self.assertIn(f"\nSkipped 1 of 2 tests:\n{told}\n{CLOSING}\n", output)
        self.assertNotIn("FAILED", output)

    def test_skips_are_found_in_an_entry_of_many_tests(self):
        many = gtest(("Suite.A", ""), ("Suite.Allowed", "why"), ("Suite.B", ""), ("Suite.Unlisted", "whim"))
        for status in ("run", "notrun"):
            code, output = run(entry("room.Suite", many, status))
            self.assertEqual(code, 1)
            self.assertIn("Skipped 2 of 4 tests:", output)
            self.assertIn("room.Suite.Unlisted: whim", output)
            self.assertIn("FAILED: room.Suite.Unlisted was skipped, and tests/may_skip.txt does not list it", output)
            self.assertEqual(output.count("FAILED"), 1)

    def test_a_skip_that_is_allowed_elsewhere_fails(self):
        for name, variables, expected in (
            ("NotHere", {}, 1),
            ("NotHere", {"ISOBAR_TEST_OF_SKIPS": "1"}, 0),
            ("Elsewhere", {}, 0),
        ):
            skipped = entry(f"room.Suite.{name}", gtest((f"Suite.{name}", "why")), "notrun")
            code, output = run(skipped, variables=variables)
            self.assertEqual(code, expected, output)
            self.assertEqual("which it does not here: variable ISOBAR_TEST_OF_SKIPS" in output, bool(expected))

    def test_failures_that_ctest_takes_for_skips_fail(self):
        failed = gtest(("Suite.Allowed", "why"), ("Suite.B", "!"))
        broken_off = gtest(("Suite.Allowed", "why"), ("Suite.B", ""), end=False)
        for output in (failed, broken_off):
            code, output = run(entry("room.Suite", output, "notrun"))
            self.assertEqual(code, 1)
            self.assertIn("FAILED: room.Suite failed, which ctest takes for a skip", output)

    def test_what_runs_nothing_or_is_disabled_fails(self):
        code, output = run(entry("room.Suite", gtest()))
        self.assertEqual((code, "FAILED: room.Suite ran no test" in output), (1, True), output)
        code, output = run(entry("room.Suite.Off", "Disabled", "disabled"))
        self.assertEqual((code, "room.Suite.Off: it is disabled" in output), (1, True), output)
        code, output = run(entry("room.Suite", gtest(("Suite.A", "")) + "[ DISABLED ] Suite.DISABLED_B\n"))
        self.assertEqual((code, "room.Suite.DISABLED_B: it is disabled" in output), (1, True), output)
        code, output = run(entry("room.script", "some output", "notrun"))
        self.assertEqual((code, "room.script: SKIP_REGULAR_EXPRESSION_MATCHED" in output), (1, True), output)

    def test_the_gist_of_failures_is_shown_at_the_end(self):
        noise = "\n".join(f"noise {i}" for i in range(100))
        code, output = run(
            entry("room.Suite.Bad", f"{noise}\n{gtest(('Suite.Bad', '!'))}", "fail"),
            entry("room.Suite.Race", f"{noise}\nWARNING: ThreadSanitizer: data race\n  here\n", "fail"),
            entry("room.script", f"{noise}\n", "fail"),
            entry("room.Suite.Good", gtest(("Suite.Good", ""))),
            code=8,
        )
        self.assertEqual(code, 8)
        self.assertIn("\nroom.Suite.Bad failed:\n  x_test.cpp:3: Failure\n  [  FAILED  ] Suite.Bad (0 ms)\n", output)
        self.assertIn("\nroom.Suite.Race failed:\n  WARNING: ThreadSanitizer: data race\n    here\n", output)
        self.assertIn("\nroom.script failed:\n  noise 85\n", output)
        self.assertNotIn("noise 84", output)
        self.assertNotIn("Good failed", output)

    def test_the_code_of_ctest_is_kept(self):
        self.assertEqual(run(entry("room.A.B", gtest(("A.B", "!"))), code=8)[0], 8)
        code, output = run(report="none")
        self.assertEqual((code, "wrote no report" in output), (1, True), output)
        code, output = run(report="<testsuite><")
        self.assertEqual((code, "cannot be read" in output), (1, True), output)

    def test_a_line_of_the_list_that_is_none_is_named(self):
        for line, words in (
            ("room.A.B: no cpu avx2", "a line is 'TEST: CONDITION  # why'"),
            ("room.A.B  # why", "a line is 'TEST: CONDITION  # why'"),
            ("*: no cpu avx2  # why", "'*' names no test"),
            ("room.A.B: no cpu  # why", "'no cpu' is no condition; there are"),
            ("room.A.B: cannot mount it  # why", "'cannot mount it' is no condition"),
            ("room.A.B: variable X or whim  # why", "'whim' is no condition"),
        ):
            code, output = run(rules=f"\n{line}\n")
            self.assertEqual(code, 1)
            self.assertIn("rules:2: ", output)
            self.assertIn(words, output)

class Conditions(unittest.TestCase):
    def test_each_holds_or_not_as_the_machine_is(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder, "a", "tree")
            Path(folder, "shared", "data", "some").mkdir(parents=True)
            tree.mkdir(parents=True)
            self.assertFalse(skips.no_data(tree, "some"))
            self.assertTrue(skips.no_data(tree, "other"))
            before = os.environ["PATH"]
            for code in (0, 1):
                script = Path(folder, "unshare")
                script.write_text(f"#!/bin/sh\nexit {code}\n")
                script.chmod(0o755)
                os.environ["PATH"] = f"{folder}:{before}"
                self.assertEqual(skips.cannot_mount(tree), code == 1)
                os.environ["PATH"] = before
        self.assertFalse(skips.no_cpu(None, "fpu"))
        self.assertTrue(skips.no_cpu(None, "fpu", "no_such_flag"))
        self.assertFalse(skips.no_python(None, "sys", "re"))
        self.assertTrue(skips.no_python(None, "sys", "no_such_module"))


if __name__ == "__main__":
    unittest.main()
