"""Runs killed with -9 at random moments and resumed; runs stopped and resumed on another number of ranks."""
import contextlib
import os
import random
import shutil
import signal
import time

from runs import Launch, checkpoints, digest, last_end, last_step, write_recipe

EVERY = 20
LONGEST = 120  # seconds a small run may take, on a busy machine


def words_of(settings, ranks, recipe, more=()):
    launcher = ["mpiexec.mpich", "-n", str(ranks)] if ranks > 1 else []
    return launcher + [settings.program, "train", recipe, "--threads", "1", "--quiet", *more]


def finish(launch, tally, what):
    code = launch.wait(LONGEST)
    if code != 0:
        tally.problem(f"{what} ended with {code}:\n{launch.text()}")
        launch.kill_all()
    return code == 0


def reference(settings, tally, ranks, **recipe):
    """The same run without any disturbance: digests by step, and how long it took."""
    folder = os.path.join(settings.folder, "reference")
    path = write_recipe(os.path.join(settings.folder, "reference.toml"), folder, keep=100000, background=False, **recipe)
    launch = Launch(words_of(settings, ranks, path), os.path.join(settings.folder, "reference.out"))
    if not finish(launch, tally, "the undisturbed run"):
        return None, 0
    seconds = time.monotonic() - launch.begin
    return {step: digest(file) for step, file in checkpoints(folder)}, seconds


def expect_right(folder, digests, tally, what):
    """Whatever lies under the name of a checkpoint is what the undisturbed run had at that step."""
    for step, file in checkpoints(folder):
        if digest(file) != digests.get(step):
            tally.problem(f"{what}: {os.path.basename(file)} is not what the undisturbed run had")


def killed(settings, tally):
    """One rank or all are killed, up to three times in a run; the resumed run must end as the undisturbed one did."""
    luck = random.Random(settings.seed)
    setting = {"every": EVERY, "deterministic": False, "size": 16}  # 20 steps take longer than to write a checkpoint
    digests, seconds = reference(settings, tally, 2, **setting)
    if not digests:
        return
    end = max(digests)
    lost, kills, runs = [], 0, 0
    while kills < settings.kills:
        folder = os.path.join(settings.folder, "killed")
        shutil.rmtree(folder, ignore_errors=True)
        recipe = write_recipe(os.path.join(settings.folder, "killed.toml"), folder, **setting)
        output = os.path.join(settings.folder, "killed.out")
        deaths = luck.randint(1, 3)
        for attempt in range(deaths + 1):
            there = checkpoints(folder)
            more = ["--resume"] if there else ["--overwrite"]
            launch = Launch(words_of(settings, 2, recipe, more), output)
            if attempt == deaths:
                finish(launch, tally, f"run {runs} after {deaths} kills")
                break
            if launch.wait(luck.uniform(0.05, 0.8) * seconds) is not None:
                break  # it was faster
            before = last_step(folder)
            victim = launch.rank(luck.randrange(2)) if luck.random() < 0.7 else None
            if victim:
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(victim, signal.SIGKILL)
                if launch.wait(20) is None:
                    tally.problem(f"run {runs}: ranks were still there 20 s after one was killed")
            launch.kill_all()
            kills += 1
            expect_right(folder, digests, tally, f"run {runs}, kill {kills}")
            newest = max([step for step, _ in checkpoints(folder)], default=0)
            lost.append(before - newest)
        runs += 1
        expect_right(folder, digests, tally, f"run {runs}")
        if end not in dict(checkpoints(folder)):
            tally.problem(f"run {runs} has no checkpoint of its last step {end}: {checkpoints(folder)}")
    # One interval, and one more where a checkpoint was still being written when the next one was due.
    if max(lost) > 2 * EVERY:
        tally.problem(f"{max(lost)} steps were lost; checkpoints are due every {EVERY}")
    tally.figure(f"{kills} kills in {runs} runs of {end} steps: all ended with the same bits; steps to be done again: "
                 f"median {sorted(lost)[len(lost) // 2]}, most {max(lost)} (checkpoints every {EVERY})")


def other_ranks(settings, tally):
    """Runs are stopped by a signal and resumed on 1, 2 or 4 ranks, until one reaches its end."""
    luck = random.Random(settings.seed)
    digests, seconds = reference(settings, tally, 1, every=EVERY)
    if not digests:
        return
    end, chains = max(digests), 0
    for chain in range(max(1, settings.kills // 10)):
        folder = os.path.join(settings.folder, "ranks")
        shutil.rmtree(folder, ignore_errors=True)
        recipe = write_recipe(os.path.join(settings.folder, "ranks.toml"), folder, every=EVERY)
        trail = []
        while True:
            ranks = luck.choice((1, 2, 4))
            trail.append(ranks)
            more = ["--resume"] if checkpoints(folder) else ["--overwrite"]
            before = last_step(folder)
            launch = Launch(words_of(settings, ranks, recipe, more), os.path.join(settings.folder, "ranks.out"))
            # Ranks that only start do not catch signals yet.
            while launch.running() and last_step(folder) in (0, before) and time.monotonic() - launch.begin < LONGEST:
                launch.wait(0.02)
            code = launch.wait(luck.uniform(0, 0.6) * seconds)
            stopped = code is None
            if stopped:
                os.killpg(launch.process.pid, signal.SIGTERM)
                code = launch.wait(LONGEST)
            # MPICH's launcher, when it has got the signal too, ends with 0 now and then, whatever the ranks' code is.
            if code not in ((0, 130) if stopped else (0,)):
                tally.problem(f"chain {trail} ended with {code}:\n{launch.text()}")
                launch.kill_all()
                break
            expect_right_or_between(folder, digests, tally, trail)
            if last_end(folder) == "finished":
                chains += 1
                break
            if not stopped:
                tally.problem(f"chain {trail} ended with {code} before its end:\n{launch.text()}")
                break
        if dict(checkpoints(folder)).get(end) is None:
            tally.problem(f"chain {trail} did not reach step {end}")
    tally.figure(f"{chains} runs stopped and resumed on 1, 2 and 4 ranks in turn: the bits of one rank alone")


def expect_right_or_between(folder, digests, tally, trail):
    """A checkpoint made by a signal lies between those the undisturbed run wrote."""
    for step, file in checkpoints(folder):
        if step in digests and digest(file) != digests[step]:
            tally.problem(f"chain {trail}: step {step} is not what one rank alone had")
