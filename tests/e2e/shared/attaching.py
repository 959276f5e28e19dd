"""What tests of attaching with the translator share."""
import os
import pathlib
import random
import signal
import subprocess
import time

import harness
from attach import states, tracers
from harness import Settings, read_until, wait_until


def maps(pid):
    """What is mapped, without the heaps and stacks that grow."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return sorted(" ".join(line.split()[1:]) for line in lines if "arena" in line or "rwxp" in line)


def state_of_signals(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return [line for line in text.splitlines() if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]


def sleeps_of_threads(pid):
    """{thread: how often it has slept}, of a process whose threads stay."""
    return {status.parent.name: int(status.read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0])
            for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status")}


def is_free(pid, own=()):
    """Nobody traces it, no thread is stopped, and nothing of the translator is left, only its `own` mappings."""
    try:
        return tracers(pid) == {0} and not states(pid) & {"T", "t"} and maps(pid) == list(own)
    except FileNotFoundError:
        return False  # a thread that has ended meanwhile


class TestCase(harness.TestCase):
    def start(self, program, *arguments, flags=(), **more):
        return self.start_command([harness.compile_program(program, flags), *map(str, arguments)], **more)

    def start_command(self, command, **more):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(process.stdout.readline().startswith(b"ready"))
        return process

    def command(self, process, directory, *options):
        return [str(word) for word in
                [Settings.binary, "attach", "-engine", "translator", "-pid", process.pid, "-working-directory", directory,
                 *options]]

    def attach(self, process, *options, expect=0):
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        trace = directory.with_suffix(".fxt")
        finished = self.magic_trace(*self.command(process, directory, "-o", trace, *options)[1:])
        self.assertEqual(finished.status, expect, finished.stderr)
        return harness.Traced(finished, directory, trace)

    def record_for_a_moment(self, process, *options, sleeps=0):
        """Until Ctrl-C, which comes when it is attached and a little later, or when each thread has slept `sleeps` times."""
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        trace = directory.with_suffix(".fxt")
        recorder = subprocess.Popen(self.command(process, directory, "-o", trace, *options), stderr=subprocess.PIPE)
        read = read_until(recorder.stderr, b"Attached")
        if sleeps:
            before = sleeps_of_threads(process.pid)
            wait_until(lambda: all(slept >= before[tid] + sleeps for tid, slept in sleeps_of_threads(process.pid).items()))
        else:
            time.sleep(0.05 + random.random() / 10)
        recorder.send_signal(signal.SIGINT)
        rest = recorder.communicate()[1]
        self.assertEqual(recorder.returncode, 0, rest)
        return harness.Traced((0, b"", (read or b"") + rest), directory, trace)

    def record_between(self, process, happen, *options):
        """From when it is attached to until happen() has returned."""
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        trace = directory.with_suffix(".fxt")
        recorder = subprocess.Popen(self.command(process, directory, "-o", trace, *options), stderr=subprocess.PIPE)
        read = read_until(recorder.stderr, b"Attached")
        happen()
        recorder.send_signal(signal.SIGINT)
        rest = recorder.communicate()[1]
        self.assertEqual(recorder.returncode, 0, rest)
        return harness.Traced((0, b"", (read or b"") + rest), directory, trace)

    def assert_free(self, process, own=()):
        wait_until(lambda: is_free(process.pid, own))
