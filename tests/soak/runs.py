"""What the scenarios share: a small recipe, processes of a launch, the numbers in a run's checkpoints, and luck with a seed."""
import glob
import hashlib
import json
import os
import signal
import subprocess
import time

import h5py

# Dropout, slots of Adam, several epochs and evaluations: what a checkpoint must hold is in use.
RECIPE = """model = "cosmoflow(size={size}, width=4, layers=2)"
optimizer = "adam(lr=0.001)"
strategy = "sync"
folder = "{folder}"
[data]
train = "noise(shape=[{size}, {size}, {size}, 4], targets=4, count=64)"
test = "noise(shape=[{size}, {size}, {size}, 4], targets=4, count=16, seed=9)"
batch = 8
[train]
epochs = {epochs}
deterministic = {deterministic}
[checkpoint]
every_steps = {every}
keep = {keep}
background = {background}
[report]
page = false
pictures = false
"""


def write_recipe(path, folder, epochs=20, every=5, keep=2, deterministic=True, background=True, size=8):
    with open(path, "w") as out:
        out.write(RECIPE.format(folder=folder, epochs=epochs, every=every, keep=keep, size=size,
                                deterministic=str(deterministic).lower(), background=str(background).lower()))
    return path


def digest(file):
    """Of every number a checkpoint holds, weights and slots alike."""
    sums = hashlib.sha256()

    def add(name, item):
        if isinstance(item, h5py.Dataset) and name.split("/")[0] in ("weights", "slots"):
            sums.update(name.encode())
            sums.update(item[()].tobytes())

    with h5py.File(file, "r") as opened:
        opened.visititems(add)
    return sums.hexdigest()


def checkpoints(folder):
    """Steps and files of a run's checkpoints, the oldest first."""
    return sorted((int(file[-12:-3].split("_")[-1]), file)
                  for file in glob.glob(os.path.join(folder, "checkpoints", "step_*.h5")))


def last_step(folder):
    """Of the last step that a run has told of."""
    last = 0
    try:
        with open(os.path.join(folder, "metrics.jsonl")) as lines:
            for line in lines:
                try:
                    last = max(last, json.loads(line).get("step", 0))
                except ValueError:
                    break
    except OSError:
        pass
    return last


def last_end(folder):
    """How the last session of a run ended, as it told: "finished" or "interrupted"; None if it told nothing."""
    try:
        with open(os.path.join(folder, "metrics.jsonl")) as lines:
            last = json.loads(lines.readlines()[-1])
    except (OSError, IndexError, ValueError):
        return None
    return last.get("reason") if last.get("kind") == "end" else None


class Launch:
    """A command in a session of its own; every process of it carries a mark in its environment."""

    def __init__(self, words, output, environment=None):
        self.mark = f"ISOBAR_SOAK={output}-{time.monotonic_ns()}"
        name, value = self.mark.split("=", 1)
        self.output = output
        self.begin = time.monotonic()
        with open(output, "w") as out:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                            start_new_session=True, env=dict(environment or os.environ, **{name: value}))

    def processes(self):
        """Process number and environment of all that are alive."""
        found = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    variables = file.read().decode(errors="replace").split("\0")
                with open(f"/proc/{entry}/stat") as file:
                    state = file.read().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if self.mark in variables and state != "Z":
                found[int(entry)] = variables
        return found

    def rank(self, number):
        """The process that computes as a rank: the youngest of those that say they are it, since shields are older."""
        names = (f"PMI_RANK={number}", f"OMPI_COMM_WORLD_RANK={number}")
        found = []
        for process, variables in self.processes().items():
            try:
                with open(f"/proc/{process}/comm") as file:
                    program = file.read().strip()
            except OSError:
                continue
            if program.startswith("isobar") and "witness" not in program and any(name in variables for name in names):
                found.append(process)
        return max(found, default=None)

    def running(self):
        return self.process.poll() is None

    def wait(self, seconds):
        """Its exit code; None when it still runs."""
        try:
            return self.process.wait(timeout=max(0, seconds))
        except subprocess.TimeoutExpired:
            return None

    def kill_all(self):
        for process in list(self.processes()) + [self.process.pid]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        for _ in range(200):
            if not self.processes():
                return
            time.sleep(0.02)

    def text(self):
        with open(self.output, errors="replace") as file:
            return file.read()


class Tally:
    """What a scenario found: problems end the soak with exit code 1, figures are printed."""

    def __init__(self):
        self.problems, self.figures = [], []

    def problem(self, text):
        print(f"  PROBLEM: {text}", flush=True)
        self.problems.append(text)

    def figure(self, text):
        print(f"  {text}", flush=True)
        self.figures.append(text)
