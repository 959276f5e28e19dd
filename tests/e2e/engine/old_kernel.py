"""Linux 4.14: what the kernel has learned since then does not exist for magic-trace and the programs (tests/programs/old_kernel.c)."""
import ctypes
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import harness
from harness import Settings, read_until, wait_until
from kills import Started, alive
from viewer import Served

# Says which signal it got from whom, and ends.
WAITS_FOR_SIGNAL = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print("ready", flush=True)
info = signal.sigwaitinfo([signal.SIGUSR1])
print(info.si_signo, info.si_pid, flush=True)
"""


def sleeps(pid):
    """How often its first thread has given up the processor."""
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1])


def wait_for_sleeps(pid, count):
    """`busy` sleeps after each request."""
    target = sleeps(pid) + count
    wait_until(lambda: sleeps(pid) >= target)


class OldKernel(harness.TestCase):
    def setUp(self):
        super().setUp()
        binary, Settings.binary = Settings.binary, str(self.folder / "magic-trace")
        self.addCleanup(setattr, Settings, "binary", binary)
        command = shlex.join([harness.compile_program("old_kernel"), binary])
        with open(Settings.binary, "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nexec {command} "$@"\n')
        os.chmod(Settings.binary, 0o755)

    def test_run(self):
        """run traces every call, report and view show them"""
        program = [harness.compile_program("recursion")]
        traced = self.trace(program, "-full-execution")
        self.assert_same_as_untraced(traced, program)
        self.assert_counts(traced, harness.counts_in(traced.stdout))
        self.judge_recording(traced)
        report = self.magic_trace("report", traced.trace)
        self.assertEqual(report.status, 0, report.stderr)
        self.assertIn(b"fib", report.stdout)
        served = Served(self, ["view", traced.trace])
        self.addCleanup(served.process.kill)
        self.assertIn(b"<html", served.get("/"))
        served.end()

    def test_follow(self):
        """-follow: what programs execute is traced, too, and those that cannot be are named"""
        program = harness.compile_program("recursion")
        command = ["sh", "-c", f"{program}; {program}; exit 3"]
        traced = self.trace(command, "-full-execution", "-follow")
        self.assert_same_as_untraced(traced, command)
        self.assert_counts(traced, {name: 2 * count for name, count in harness.counts_in(harness.run([program]).stdout).items()})
        self.assertNotIn("ntraced", traced.messages)
        alone = self.trace(command, "-full-execution")
        self.assertIn("-follow", alone.messages)

    def attach(self, process, trace, *options):
        recorder = subprocess.Popen([Settings.binary, "attach", "-engine", "translator", "-pid", str(process.pid), "-multi-thread",
                                     "-o", trace, *options], cwd=self.folder, stderr=subprocess.PIPE)
        self.addCleanup(recorder.stderr.close)
        read_until(recorder.stderr, b"Attached")
        return recorder

    def test_attach(self):
        """attach records until a trigger, Ctrl-C, or the end of the program, which goes on meanwhile as ever"""
        process = subprocess.Popen([harness.compile_program("busy"), "3"], stdout=subprocess.PIPE)
        self.addCleanup(process.kill)
        process.stdout.readline()
        for how, options, signalled in (("trigger", ["-trigger", "request"], None), ("interrupt", [], signal.SIGINT),
                                        ("end", [], signal.SIGTERM)):
            trace = self.folder / f"{how}.fxt"
            recorder = self.attach(process, trace, *options)
            if signalled:
                wait_for_sleeps(process.pid, 20)
                (process if how == "end" else recorder).send_signal(signalled)
            messages = recorder.communicate()[1]
            self.assertEqual(recorder.returncode, 0, messages)
            self.assertGreaterEqual(self.spans(trace)["request"], 1)
        self.assertEqual(process.communicate()[0], b"0 faults in many requests\n")

    def test_signals(self):
        """Ctrl-C takes the snapshot; a signal of sigqueue to magic-trace reaches the program with its sender's pid"""
        started = Started(self)
        os.kill(started.process.pid, signal.SIGINT)
        self.assertEqual(started.finish(self).status, 0)
        self.assertFalse(alive(started.program))
        started = Started(self, [sys.executable, "-c", WAITS_FOR_SIGNAL])
        self.assertEqual(ctypes.CDLL(None).sigqueue(started.process.pid, int(signal.SIGUSR1), None), 0)
        finished = started.finish(self)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"ready\n%d %d\n" % (signal.SIGUSR1, os.getpid()), finished.stdout)

    def test_samples(self):
        """-sampling of a program, and of a process that runs, until it ends"""
        if b"will use the sample engine" not in self.magic_trace("doctor").stdout:
            self.skipTest("this machine takes no samples")
        trace = self.folder / "run.fxt"
        finished = self.magic_trace("run", "-sampling", "-o", trace, harness.compile_program("busy"), "1", "1")
        self.assertEqual(finished.status, 0, finished.stderr)
        self.judge_trace(trace)
        process = subprocess.Popen([harness.compile_program("busy"), "1"], stdout=subprocess.PIPE)
        self.addCleanup(process.kill)
        process.stdout.readline()
        recorder = subprocess.Popen([Settings.binary, "attach", "-sampling", "-pid", str(process.pid), "-o", trace],
                                    cwd=self.folder, stderr=subprocess.PIPE)
        read_until(recorder.stderr, b"Attached")
        process.send_signal(signal.SIGTERM)
        process.communicate()
        messages = recorder.communicate()[1]
        self.assertEqual(recorder.returncode, 0, messages)
        self.judge_trace(trace)
