"""A disk that is full from a random moment on: the run goes to its end, and the checkpoints before are whole."""
import os
import random
import shutil
import subprocess
import time

from restart import finish, reference, words_of
from runs import Launch, checkpoints, digest, last_step, write_recipe


def full(settings, tally):
    """The disk fills up at a random moment of the run: KILLS / 5 times, at least twice."""
    luck = random.Random(settings.seed)
    digests, seconds = reference(settings, tally, 1, every=5, epochs=100)
    if not digests:
        return
    disk = os.path.join(settings.folder, "disk")
    os.makedirs(disk, exist_ok=True)
    points = max(2, settings.kills // 5)
    warnings = []
    for point in range(points):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", disk], check=True)
        try:
            folder = os.path.join(disk, "run")
            recipe = write_recipe(os.path.join(settings.folder, "disk.toml"), folder, every=5, epochs=100)
            launch = Launch(words_of(settings, 1, recipe), os.path.join(settings.folder, "disk.out"))
            while launch.running() and last_step(folder) < 1:
                time.sleep(0.01)
            time.sleep(luck.uniform(0, 0.7) * seconds)
            ballast = os.path.join(disk, "ballast")
            try:
                with open(ballast, "wb", buffering=0) as out:
                    while launch.running():
                        out.write(b"\0" * 65536)
            except OSError:
                pass
            before = {step: digest(file) for step, file in checkpoints(folder)}
            code = launch.wait(120)
            text = launch.text()
            warnings.append(text.count("No space left"))
            if code not in (0, 1):
                tally.problem(f"point {point}: the run ended with {code}\n{text}")
                launch.kill_all()
            if "panic" in text or not checkpoints(folder) and before:
                tally.problem(f"point {point}: a checkpoint was lost\n{text}")
            for step, file in checkpoints(folder):
                if digest(file) != digests.get(step):
                    tally.problem(f"point {point}: the checkpoint of step {step} is not whole")
        finally:
            subprocess.run(["umount", "-l", disk], check=False)
    shutil.rmtree(disk, ignore_errors=True)
    tally.figure(f"{points} runs on a disk that filled up at a random moment: all ran to their end, checkpoints intact; warnings "
                 f"per run: {min(warnings)} to {max(warnings)}")
