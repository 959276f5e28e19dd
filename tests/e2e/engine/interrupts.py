"""Ctrl-C and other signals to magic-trace."""
import os
import pty
import re
import signal
import subprocess
import sys

import harness
from harness import Settings
from harness import wait_until
from kills import Started, alive

# Ignores the first interrupt and says so.
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"interrupted\\n"))
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


def without_library_signals(text):
    """Signals 32 and 33 are the C library's own (SIGCANCEL, SIGSETXID): posix_spawn, by which make starts us, ignores
    them, a first pthread_create, as in qemu, handles them, and no program can notice."""
    own = 1 << 31 | 1 << 32
    return re.sub(r"^(Sig\w+:\s+)([0-9a-f]{16})$", lambda match: f"{match[1]}{int(match[2], 16) & ~own:016x}", text,
                  flags=re.MULTILINE)


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

    def test_interrupt_at_a_terminal(self):
        """Ctrl-C typed at a terminal reaches the program once"""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(Settings.binary, ["magic-trace", "run", "-snapshot-size", "64K", "-o",
                                        str(self.folder / "trace.fxt.gz"), sys.executable, "-c", STUBBORN],
                      Settings.environment)
        seen = bytearray()

        def read_until(text):
            while text not in seen:
                seen.extend(os.read(terminal, 4096))

        read_until(b"ready")
        os.write(terminal, b"\x03")
        read_until(b"interrupted")
        # Two at once count as one, and this is said a second after the first.
        read_until(b"Press Ctrl-C again")
        self.assertEqual(seen.count(b"interrupted"), 1, seen.decode())
        os.write(terminal, b"\x03")
        read_until(b"The trace is in")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)
        self.judge_trace(self.folder / "trace.fxt.gz")

    def test_second_interrupt(self):
        """a second Ctrl-C stops at once, leaves no orphan and still makes the trace"""
        started = Started(self, program=[sys.executable, "-c", STUBBORN])
        os.kill(started.process.pid, signal.SIGINT)
        wait_until(lambda: b"interrupted" in (self.folder / "output").read_bytes())
        wait_until(lambda: b"Press Ctrl-C again" in (self.folder / "errors").read_bytes())  # two at once count as one
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
                  " grep -e Sig[PBIC] -e Shd /proc/self/status")
        command = ["sh", "-c", script]
        traced = self.trace(command)
        untraced = subprocess.run(command, stdout=subprocess.PIPE, cwd=self.folder, check=True,
                                  env=Settings.environment)
        self.assertEqual(without_library_signals(traced.stdout.decode()),
                         without_library_signals(untraced.stdout.decode()))

    def test_standard_input(self):
        """standard input is the program's own"""
        traced = self.trace(["cat"], input=b"from standard input\n")
        self.assertEqual(traced.stdout, b"from standard input\n")
