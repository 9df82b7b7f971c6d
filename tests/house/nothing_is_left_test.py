# Shows that nothing_is_left.py can fail: it names what is left in the home or the temporary folder, and cleans up.
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parent / "nothing_is_left.py"


def run(place):
    done = subprocess.run([sys.executable, "-B", SCRIPT], env={**os.environ, "ISOBAR_PLACE_OF_TESTS": str(place)},
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


class NothingIsLeft(unittest.TestCase):
    def test_what_is_left_is_named_once(self):
        for name in ("home/.cache/isobar/peaks.json", "tmp/isobar-test-abc/folder/x", "tmp/empty/"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                for part in ("home", "tmp"):
                    Path(folder, part).mkdir()
                self.assertEqual(run(folder), (0, ""))
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.mkdir() if name.endswith("/") else path.write_text("x")
                code, output = run(folder)
                self.assertEqual(code, 1)
                self.assertIn(f"a test has left {path};", output)
                self.assertEqual(run(folder), (0, ""), "the next run is judged by itself")

    def test_without_a_place_it_fails(self):
        self.assertEqual(run("")[0], 1)
        self.assertEqual(run("/no/such/place")[0], 1)


if __name__ == "__main__":
    unittest.main()
