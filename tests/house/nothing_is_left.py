#!/usr/bin/python3
"""Fails if tests have left anything outside their own folders: in the home or the folder for temporary files that
CTest gave them. Says what was left, and removes it, so that it does not count in the next run."""
import os
import shutil
import sys


def left_in(place):
    found = []
    for name in ("home", "tmp"):
        for folder, folders, files in os.walk(os.path.join(place, name)):
            found += [os.path.join(folder, each) for each in files]
            found += [os.path.join(folder, each) for each in folders
                      if not os.listdir(os.path.join(folder, each))]
    return sorted(found)


def forget_interrupted(place):
    """Removes what was there when these tests began: an earlier run was ended before it could."""
    started = os.path.join(place, "started")
    if not os.path.exists(started):
        return
    for name in ("home", "tmp"):
        for each in os.scandir(os.path.join(place, name)):
            if each.stat(follow_symlinks=False).st_mtime < os.path.getmtime(started):
                shutil.rmtree(each.path, ignore_errors=True) if each.is_dir(follow_symlinks=False) else os.remove(each.path)


def main():
    place = os.environ.get("ISOBAR_PLACE_OF_TESTS", "")
    if not os.path.isabs(place) or not os.path.isdir(os.path.join(place, "home")):
        print(f"ISOBAR_PLACE_OF_TESTS is '{place}': run this as a test, by ctest, which sets it to a folder")
        return 1
    forget_interrupted(place)
    left = left_in(place)
    for path in left[:50]:
        print(f"a test has left {path}; it may write in a folder of its own only, and removes that (tests/main.cpp)")
    for name in ("home", "tmp"):
        shutil.rmtree(os.path.join(place, name), ignore_errors=True)
        os.makedirs(os.path.join(place, name), exist_ok=True)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
