"""Ranks killed with -9 under `isobar run`: the others go on in place, and no finished step is lost."""
import json
import os
import random
import shutil
import signal
import statistics
import sys
import time

from restart import finish, reference
from runs import Launch, checkpoints, digest, last_step, write_recipe

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "hosts"))

RANKS, SPARES, EPOCHS = 4, 1, 150


def read_log(path):
    """What the launcher noted, one object a line; the last may be torn."""
    events = []
    if os.path.exists(path):
        with open(path) as lines:
            for line in lines:
                try:
                    events.append(json.loads(line))
                except ValueError:
                    break
    return events


class Supervised:
    """One run under the launcher."""

    def __init__(self, settings, name, program, more=(), environment=None, epochs=EPOCHS):
        self.folder = os.path.join(settings.folder, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.log = os.path.join(settings.folder, f"{name}.jsonl")
        if os.path.exists(self.log):
            os.remove(self.log)
        recipe = write_recipe(os.path.join(settings.folder, f"{name}.toml"), self.folder, epochs=epochs, every=50)
        self.launch = Launch([program, "run", "-n", str(RANKS), "--spares", str(SPARES), "--log", self.log, *more, "--",
                              "train", recipe, "--threads", "1", "--quiet"],
                             os.path.join(settings.folder, f"{name}.out"), environment)

    def wait_for_step(self, step, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.launch.running():
            if last_step(self.folder) >= step:
                return True
            time.sleep(0.02)
        return False

    def kill(self, luck, sent=signal.SIGKILL):
        """Hits some rank; how many were hit."""
        alive = [process for process in map(self.launch.rank, range(RANKS + SPARES)) if process]
        if len(alive) < 2:
            return 0
        try:
            os.kill(luck.choice(alive), sent)
        except ProcessLookupError:  # it has just ended
            return 0
        return 1

    def recoveries(self):
        return [event for event in read_log(self.log) if event["event"] == "recovered"]


def many_kills(settings, tally, program, what, kills, more=(), environment=None):
    luck = random.Random(settings.seed)
    digests, _ = reference(settings, tally, 1, epochs=EPOCHS, every=50)
    if not digests:
        return
    end, done, runs, seconds, relaunched = max(digests), 0, 0, [], 0
    while done < kills:
        run = Supervised(settings, "crew", program, more, environment)
        runs += 1
        if not run.wait_for_step(luck.randint(1, 200)):
            tally.problem(f"{what}, run {runs}: no step was reached\n{run.launch.text()}")
            run.launch.kill_all()
            break
        # At most as many as leave one of those that began: with them all the state in memory is gone.
        wanted = luck.randint(1, RANKS - 1)
        for _ in range(wanted):
            done += run.kill(luck)
            # Some within 50 ms.
            time.sleep(luck.uniform(0, 0.05) if luck.random() < 0.4 else luck.uniform(0.2, 1.0))
        if not finish(run.launch, tally, f"{what}, run {runs}"):
            continue
        for event in read_log(run.log):
            if event["event"] == "recovered":
                seconds.append(event["recovery_seconds"])
                # A step that only the dead rank had finished is done again.
                if event["finished_after"] not in (event["finished_before"], event["finished_before"] + 1):
                    tally.problem(f"{what}, run {runs}: step {event['finished_before']} was finished before a death, "
                                  f"{event['finished_after']} after it")
            relaunched += event["event"] == "relaunch"
        last = dict(checkpoints(run.folder)).get(end)
        if last is None or digest(last) != digests[end]:
            tally.problem(f"{what}, run {runs}: the last weights are not those of an undisturbed run")
    if seconds:
        tally.figure(f"{what}: {done} kills in {runs} runs, {len(seconds)} recoveries in place, {relaunched} relaunches; from the "
                     f"death to the next finished step: median {statistics.median(seconds) * 1e3:.0f} ms, "
                     f"most {max(seconds) * 1e3:.0f} ms")


def one_host(settings, tally):
    many_kills(settings, tally, settings.program, "MPICH, one host", settings.kills)


def open_mpi(settings, tally):
    many_kills(settings, tally, settings.program + "-openmpi", "Open MPI, one host", settings.kills // 2)


def four_hosts(settings, tally):
    from hosts import AGENT, BRIDGE, NETWORK, Hosts
    with Hosts(4) as hosts:
        names = ",".join(f"{NETWORK}.{i}:2" for i in range(1, hosts.count + 1))
        launcher = (f"mpiexec.hydra -disable-auto-cleanup -launcher ssh -launcher-exec {AGENT} -hosts {names} -localhost "
                    f"{NETWORK}.254 -iface {BRIDGE} -n {{}}")
        environment = dict(os.environ, UCX_TLS="tcp,self", UCX_NET_DEVICES="eth0")
        many_kills(settings, tally, settings.program, "MPICH, 4 emulated hosts", settings.kills,
                   ["--launcher", launcher, "--address", f"{NETWORK}.254"], environment)


def frozen(settings, tally):
    luck = random.Random(settings.seed)
    run = Supervised(settings, "frozen", settings.program, ["--freeze", "3"], epochs=400)
    if run.wait_for_step(10):
        run.kill(luck, signal.SIGSTOP)
    if finish(run.launch, tally, "a run with a rank that stood still"):
        if not run.recoveries():
            tally.problem("a rank that stood still was not given up")
        tally.figure("a rank that stood still was given up after 3 s, and the run ended well")


def launcher_killed(settings, tally):
    run = Supervised(settings, "orphans", settings.program, epochs=100000)
    if not run.wait_for_step(10):
        tally.problem(f"the run did not begin\n{run.launch.text()}")
    os.kill(run.launch.process.pid, signal.SIGKILL)
    begin = time.monotonic()
    while run.launch.processes() and time.monotonic() < begin + 30:
        time.sleep(0.05)
    seconds = time.monotonic() - begin
    if seconds > 15:
        tally.problem(f"ranks were there {seconds:.0f} s after their launcher was killed")
        run.launch.kill_all()
    if not checkpoints(run.folder):
        tally.problem("ranks whose launcher was killed left no checkpoint")
    tally.figure(f"ranks ended by themselves {seconds:.1f} s after their launcher was killed, with a checkpoint of step "
                 f"{max([step for step, _ in checkpoints(run.folder)], default=0)}")
