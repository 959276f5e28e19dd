#!/usr/bin/env python3
"""Compares the branches that the translator records with those that single-stepping sees (step_judge).

    tests/judge/stepped.py [--build DIR] [--work DIR] [--seconds N] [COMMAND [ARGUMENT ...]]

Without COMMAND: the programs of tests/truth/programs in C and C++, each in its first variant; N seconds (default 60) at most
are spent on stepping through one. Prints a line for each; exit status 1 when a sequence differs. Only the first thread
of the first process is compared, of programs that do the same each time they run.

Both runs are without address space randomization. What differs for good reasons is left out: the runtime's memory moves what the
kernel places after it, by whole pages, so that glibc's list of
libraries, which it sorts by address, may be in another order; registering rseq fails under the translator, so glibc is asked not to.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "truth"))
import truth_programs  # noqa: E402  (found through the path just set)

PAGE = 4096
SHIFTS = 6  # distances by which things may have moved
WINDOW, AGREEMENT = 300, 16  # of branches: so far ahead is searched for so many that are the same
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0",
               "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


class TooLong(Exception):
    """Single-stepping does not come to the end of the program in time."""


def stepped_branches(stepper, command, folder, seconds):
    output = folder / "stepped"
    try:
        subprocess.run([stepper, output, *command], stdin=subprocess.DEVNULL, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as expired:
        raise TooLong from expired
    return [tuple(int(word, 16) for word in line.split()) for line in output.read_text().splitlines()]


def recorded_branches(binary, command, folder):
    """Of the first thread; a decode error is a branch from nowhere to nowhere."""
    recording = folder / "recording"
    shutil.rmtree(recording, ignore_errors=True)
    subprocess.run(["setarch", "-R", binary, "run", "-engine", "translator", "-full-execution", "-no-decode",
                    "-working-directory", recording, "--", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=ENVIRONMENT, cwd=folder, check=True)
    dump = subprocess.run([binary, "dump", "-branches", recording], stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.split() for line in dump.stdout.splitlines()]
    first = [line for line in lines if line[:2] == lines[0][:2]]
    return [(int(line[2], 16), int(line[3], 16)) for line in first if line[4] not in ("start", "end")]


def is_same(true, ours, shifts):
    """Whether two branches are the same one, when what they lie in may have moved."""
    for place, our_place in zip(true, ours):
        shift = our_place - place
        if shift not in shifts:
            if shift % PAGE or len(shifts) > SHIFTS:
                return False
            shifts.add(shift)
    return True


def go_on(stepped, recorded, i, j, shifts):
    """After a difference at `i` and `j`: where both are the same again for a while, the nearest such place; None: nowhere."""
    for distance in range(1, 2 * WINDOW):
        for skipped in range(max(0, distance - WINDOW), min(distance, WINDOW) + 1):
            k, l = i + skipped, j + distance - skipped
            trial = set(shifts)
            if all(is_same(*pair, trial) for pair in zip(stepped[k:k + AGREEMENT], recorded[l:l + AGREEMENT])) \
                    and min(len(stepped) - k, len(recorded) - l) >= AGREEMENT:
                return k, l
    return None


def differences(stepped, recorded):
    """Tuples: number of the branch, how many are skipped in each sequence until they agree again (None: never)."""
    shifts, i, j = {0}, 0, 0
    while i < len(stepped) and j < len(recorded):
        if is_same(stepped[i], recorded[j], shifts):
            i, j = i + 1, j + 1
            continue
        found = go_on(stepped, recorded, i, j, shifts)
        if not found:
            yield i, None, None
            return
        yield i, found[0] - i, found[1] - j
        i, j = found
    if i < len(stepped) or j < len(recorded):
        yield i, len(stepped) - i, len(recorded) - j


def describe(stepped, recorded):
    """In words; empty: no difference."""
    lines = []
    for number, true, ours in differences(stepped, recorded):
        after = f"after {stepped[number - 1][0]:x} -> {stepped[number - 1][1]:x}" if number else "at the beginning"
        lines.append(f"branch {number}, {after}: " + ("never the same again" if true is None else f"{true} branches are {ours} others"))
    return "; ".join(lines[:6]) + (f"; and {len(lines) - 6} more" if len(lines) > 6 else "")


def compare(binary, stepper, command, folder, seconds=None):
    """How many branches the command takes, and what differs first."""
    stepped = stepped_branches(stepper, command, folder, seconds)
    return len(stepped), describe(stepped, recorded_branches(binary, command, folder))


def truth_commands(folder):
    for source in truth_programs.sources_in(truth_programs.PROGRAMS):
        if source.suffix in (".c", ".cpp"):
            built = folder / source.stem
            built.mkdir()
            try:
                yield source.stem, [truth_programs.build(next(iter(truth_programs.variants_of(source))), built)]
            except (truth_programs.Failed, truth_programs.Skipped) as why:
                print(f"{source.stem}: not built: {str(why).splitlines()[0]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=TESTS.parent / "build")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    settings = parser.parse_args()
    build, differing, branches, programs = settings.build.resolve(), 0, 0, 0
    with tempfile.TemporaryDirectory(dir=settings.work) as work:
        folder = pathlib.Path(work)
        commands = [(" ".join(settings.command), [shutil.which(settings.command[0]), *settings.command[1:]])] \
            if settings.command else truth_commands(folder)
        for name, command in commands:
            try:
                count, difference = compare(build / "magic-trace", build / "tests/judge/step_judge", command, folder, settings.seconds)
            except TooLong:
                print(f"{name}: single-stepping takes too long", flush=True)
                continue
            print(f"{name}: {difference or f'{count} branches, the same'}", flush=True)
            differing += bool(difference)
            branches += count
            programs += 1
    print(f"{programs} programs, {branches} branches, {differing} programs differ")
    return 1 if differing or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
