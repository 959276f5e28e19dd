#!/usr/bin/env python3
"""Gives up processes that make no progress: the only limit of the tests, and one that no load of the machine reaches.

    tests/watchdog.py COMMAND...    runs it; its exit status, or 1 and the reason when it was given up

A watchdog looks at a process and at all that descend from it, twice a second. What counts is not the time of day but

- the time that they use on processors, and
- the time in which all of them sleep: none is running, waits for a processor (state R of proc(5)) or for a disk (D).

Whoever waits for a processor or for others to leave one, as on a machine with many more programs than processors, is
given all the time it needs.
"""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

LOOK_SECONDS = 0.5
MOST_ASLEEP = 180      # seconds
MOST_PROCESSOR = 1800  # seconds; the longest single step of a test takes some 100
TICKS = os.sysconf("SC_CLK_TCK")


def read_stat(path):
    """(name, fields from the state on) of a stat file of proc(5); None when its process is gone."""
    try:
        start, _, fields = path.read_text(errors="replace").rpartition(")")
    except OSError:
        return None
    return start.partition("(")[2], fields.split()


def read_line(path):
    """Of a file of proc(5); empty when its process is gone or it may not be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def files_of_tasks(pid, name):
    """Of all threads; none when the process has ended meanwhile."""
    try:
        return list(pathlib.Path(f"/proc/{pid}/task").glob(f"*/{name}"))
    except OSError:
        return []


def children_of(pid):
    """Pids of the children of a process that were not waited for yet."""
    found = []
    for children in files_of_tasks(pid, "children"):
        try:
            found += [int(word) for word in children.read_text().split()]
        except OSError:
            continue
    return found


def family_of(pid):
    """The process and all that descend from it, parents first."""
    family = [pid]
    for member in family:
        family += children_of(member)
    return family


def processor_seconds(pids):
    """What these processes have used, and all that they have waited for."""
    stats = [read_stat(pathlib.Path(f"/proc/{pid}/stat")) for pid in pids]
    return sum(int(ticks) for stat in stats if stat for ticks in stat[1][11:15]) / TICKS


class Watchdog:
    """Watches the process `root` and its descendants from a thread of its own. `bark` is called there with the reason when
    they make no progress, and again when that did not help."""

    def __init__(self, root, bark):
        self.root = root
        self.bark = bark
        self.thread = None
        self.ended = threading.Event()
        self.begin()

    def begin(self):
        """Something new begins: what was used before does not count."""
        self.asleep = self.used = 0.0
        self.seen = processor_seconds(family_of(self.root))

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.ended.set()
        self.thread.join()

    def watch(self):
        while not self.ended.wait(LOOK_SECONDS):
            family = self.look()
            if self.asleep > MOST_ASLEEP or self.used > MOST_PROCESSOR:
                self.bark(f"no progress: {self.used:.0f} s of processors used, all asleep for {self.asleep:.0f} s\n"
                          + "".join(map(self.describe, family)))
                self.begin()

    def look(self):
        family = family_of(self.root)
        used = processor_seconds(family)
        # What descendants used that others waited for is lost when those end: less than before is no news.
        self.used += max(0.0, used - self.seen)
        self.seen = used
        if not any(state in "RD" for member in family for state in self.states(member)):
            self.asleep += LOOK_SECONDS
        return family

    def states(self, pid):
        """Of all its threads but the one that looks."""
        for task in files_of_tasks(pid, "stat"):
            stat = read_stat(task)
            if stat and task.parent.name != str(self.thread.native_id):
                yield stat[1][0]

    def describe(self, pid):
        """The process, and of each of its threads the state, where in the kernel it waits, and its system call."""
        stat = read_stat(pathlib.Path(f"/proc/{pid}/stat"))
        if not stat:
            return ""
        tasks = [task.parent for task in files_of_tasks(pid, "stat") if task.parent.name != str(self.thread.native_id)]
        threads = (f"{read_stat(task / 'stat')[1][0]} {read_line(task / 'wchan')} {read_line(task / 'syscall')}"
                   for task in tasks if read_stat(task / "stat"))
        return f"  {pid} {stat[0]} ({'; '.join(threads)})\n"

    def kill_descendants(self):
        for pid in family_of(self.root)[1:]:
            kill(pid)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class GivenUp(Exception):
    """The command made no progress."""


def run(command, **options):
    """subprocess.run, whose command is killed with all that descend from it when it makes no progress: GivenUp."""
    reasons = []
    with subprocess.Popen(command, **options) as process:
        def bark(reason):
            reasons.append(reason)
            for pid in family_of(process.pid):
                kill(pid)

        with Watchdog(process.pid, bark):
            output, errors = process.communicate()
    if reasons:
        raise GivenUp(f"{pathlib.Path(str(command[0])).name}: {reasons[0]}")
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def default_signals():
    """Programs that this process starts find signals as a terminal would give them: what it was started with ignored
    (by nohup, or as a background job of a shell) it still ignores, but by a handler, which execve(2) resets."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def main():
    default_signals()
    try:
        status = run(sys.argv[1:]).returncode
    except GivenUp as reason:
        print(reason, file=sys.stderr)
        return 1
    if status < 0:  # it ended by a signal: so do we, and whoever started us sees what it would have seen
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    sys.exit(main())
