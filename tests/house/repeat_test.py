# Shows what tools/repeat_tests reports, with a script as ctest: which tests failed how often, that a run without
# results is an error, and that an interruption ends the load on the cores.
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "repeat_tests"

# Test "rare" fails in the second run, "often" in all, "skipped" is skipped; each run adds a line to the file "runs".
CTEST = f"""#!{sys.executable}
import pathlib, sys, time
runs = pathlib.Path("runs")
runs.write_text((runs.read_text() if runs.exists() else "") + " ".join(sys.argv[1:]) + "\\n")
number = runs.read_text().count("\\n")
kind = pathlib.Path("kind").read_text()
if kind == "hangs": time.sleep(600)
if kind == "nothing": sys.exit("no such preset")
failing = {{"rare": number == 2, "often": True}} if kind == "fails" else {{}}
cases = "".join(
    f'<testcase name="{{name}}" status="{{"fail" if failing.get(name) else "run"}}">'
    f'<system-out>{{name}} says {{number}}</system-out></testcase>' for name in ("rare", "often", "good"))
cases += '<testcase name="skipped" status="notrun"/>'
pathlib.Path(sys.argv[sys.argv.index("--output-junit") + 1]).write_text(f"<testsuite>{{cases}}</testsuite>")
sys.exit(8 if any(failing.values()) else 0)
"""


class Repeat(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = Path(self.place.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "ctest").write_text(CTEST)
        (self.folder / "bin" / "ctest").chmod(0o755)

    def tearDown(self):
        self.place.cleanup()

    def start(self, kind, *options):
        (self.folder / "kind").write_text(kind)
        environment = {**os.environ, "CTEST": str(self.folder / "bin" / "ctest")}
        return subprocess.Popen([SCRIPT, *options], cwd=self.folder, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_to_its_end(self, kind, *options):
        process = self.start(kind, *options)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    def test_what_failed_even_once_is_told_with_how_often(self):
        code, output = self.run_to_its_end("fails", "--times", "3", "--", "-R", "some")
        self.assertNotEqual(code, 0)
        self.assertIn("run 2 of 3: 1 passed, 2 failed, 1 skipped", output)
        self.assertIn("  3 of 3: often\n", output)
        self.assertIn("  1 of 3: rare\n", output)
        self.assertNotIn("of 3: good", output)
        self.assertEqual((self.folder / "build/release/repeat/rare.2.txt").read_text(), "rare says 2")
        self.assertIn("--preset release", (self.folder / "runs").read_text())
        self.assertIn("-R some", (self.folder / "runs").read_text())

    def test_a_suite_that_passes_says_so(self):
        code, output = self.run_to_its_end("passes", "--times", "2", "--busy", "alternate", "--preset", "dev")
        self.assertEqual(code, 0, output)
        self.assertIn("run 1 of 2: 3 passed", output)
        self.assertIn("run 2 of 2, all cores busy: 3 passed", output)
        self.assertIn("no test failed in 2 runs", output)

    def test_a_run_without_results_is_an_error(self):
        code, output = self.run_to_its_end("nothing")
        self.assertNotEqual(code, 0)
        self.assertIn("no such preset", output)

    def children(self, process):
        text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        return [int(word) for word in text.split()]

    def alive(self, pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_an_interruption_or_a_death_ends_all_it_has_started(self):
        for how, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)):
            with self.subTest(how):
                process = self.start("hangs", "--busy", "all")
                wanted = len(os.sched_getaffinity(0)) + 1
                end = time.monotonic() + 60
                while len(children := self.children(process)) < wanted and time.monotonic() < end:
                    time.sleep(0.05)
                self.assertEqual(len(children), wanted, "the load and ctest")
                process.send_signal(how)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, code)
                load = [pid for pid in children if how != signal.SIGKILL or pid != children[-1]]
                while any(map(self.alive, load)) and time.monotonic() < end:
                    time.sleep(0.05)
                self.assertFalse(any(map(self.alive, load)))
                if how == signal.SIGKILL:
                    os.kill(children[-1], signal.SIGKILL)  # ctest, because no process is left to end it


if __name__ == "__main__":
    unittest.main()
