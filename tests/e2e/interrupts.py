"""Ctrl-C and other signals to magic-trace."""
import os
import signal
import subprocess
import sys
import time

import harness
from kills import Started, alive, wait_until

# Ignores the first interrupt and says so.
STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


class Interrupts(harness.TestCase):
    def test_interrupt(self):
        """Ctrl-C takes the snapshot and passes the signal on"""
        started = Started(self)
        os.kill(started.process.pid, signal.SIGINT)
        finished = started.finish(self)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertFalse(alive(started.program))
        self.assertIn(b"[ Snapshot taken. ]", finished.stderr)
        self.assertGreater(self.spans(started.trace)["last_words"], 10)

    def test_interrupt_of_the_group(self):
        """Ctrl-C at a terminal reaches program and magic-trace, the program once"""
        started = Started(self, program=[sys.executable, "-c", STUBBORN])
        os.killpg(started.process.pid, signal.SIGINT)
        wait_until(lambda: b"interrupted" in (self.folder / "output").read_bytes())
        time.sleep(0.5)
        os.kill(started.program, signal.SIGTERM)
        finished = started.finish(self)
        self.assertEqual(finished.status, 0, finished.stderr)

    def test_second_interrupt(self):
        """a second Ctrl-C stops at once, leaves no orphan and still makes the trace"""
        started = Started(self, program=[sys.executable, "-c", STUBBORN])
        os.kill(started.process.pid, signal.SIGINT)
        wait_until(lambda: b"interrupted" in (self.folder / "output").read_bytes())
        os.kill(started.process.pid, signal.SIGINT)
        finished = started.finish(self)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertFalse(alive(started.program))
        self.judge_trace(started.trace)

    def test_terminate(self):
        """SIGTERM is passed on, and the trace is made"""
        started = Started(self)
        os.kill(started.process.pid, signal.SIGTERM)
        finished = started.finish(self)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"killed by signal 15", finished.stderr)
        self.assertGreater(self.spans(started.trace)["last_words"], 10)

    def test_untouched_environment(self):
        """the program's environment, folder, group, open files and signal mask are those of magic-trace"""
        script = ("env | grep -v -e ^_= -e ^SHLVL= | sort; pwd; ulimit -a; ls /proc/self/fd | wc -l; umask;"
                  " grep -e Sig -e Shd /proc/self/status")
        command = ["sh", "-c", script]
        traced = self.trace(command)
        untraced = subprocess.run(command, stdout=subprocess.PIPE, cwd=self.folder, check=True,
                                  env=harness.Settings.environment)
        self.assertEqual(traced.stdout.decode(), untraced.stdout.decode())

    def test_standard_input(self):
        """standard input is the program's own"""
        traced = self.trace(["cat"], input=b"from standard input\n")
        self.assertEqual(traced.stdout, b"from standard input\n")
