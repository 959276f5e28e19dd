"""The tutorial's commands do what it says."""
import os
import pathlib
import pty
import re
import shutil
import socket
import unittest

import harness
import watchdog
from harness import Settings

ROOT = harness.TESTS.parent

# Picks the last line that FZF_CHOOSE, a regular expression, matches.
FAKE_FZF = """#!/bin/sh
grep -E -- "$FZF_CHOOSE" | tail -n 1
"""
# What is chosen in the blocks marked `sh terminal`, in their order.
CHOICES = ["rebuild_table", r"[0-9]+ +\./server 1000000000$"]

# What the ptrace engine says on some virtual machines; its example is left out there.
NO_BREAKPOINTS = "hardware breakpoints never fire on this machine"


class Tutorial(harness.TestCase):
    def at_a_terminal(self, script, environment):
        """Runs `script` with a terminal of its own; returns what that showed and the exit status."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "-e", "-c", script], environment)
        shown = bytearray()
        while True:
            try:
                block = os.read(terminal, 65536)
            except OSError:
                break
            if not block:
                break
            shown += block
        os.close(terminal)
        return shown.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def run_block(self, script, environment):
        for _ in range(10):
            finished = harness.run(["bash", "-e", "-c", script], cwd=self.folder, env=environment)
            self.assertEqual(finished.status, 0, (script, finished.stderr.decode()))
            self.assert_not_crashed(finished)
            # On a busy machine, a request during which something else ran is as slow, and rightly caught.
            timed = re.search(r"-thresh .* -o (\S+)", script)
            if not timed or self.spans(self.folder / timed[1])["rebuild_entry"] == 256:
                break
        return finished.stdout.decode()

    def run_with_redis(self, kind, count):
        """What the blocks marked `sh KIND`, which begin a redis server, print together."""
        text = (ROOT / "docs" / "tutorial.md").read_text()
        blocks = re.findall(rf"^```sh {kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), count)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        commands = self.folder / "bin"
        commands.mkdir()
        (commands / "magic-trace").symlink_to(pathlib.Path(Settings.binary))
        environment = {**Settings.environment, "PATH": f"{commands}:{os.environ['PATH']}"}
        # A server that is left running when a command fails would hold the test's pipes.
        script = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n" + "".join(blocks).replace("7799", port)
        try:
            finished = harness.run(["bash", "-e", "-c", script], cwd=self.folder, env=environment)
        except watchdog.GivenUp as reason:
            logs = "".join(f"{log.name}:\n{log.read_text()}" for log in sorted(self.folder.glob("*.log")))
            raise AssertionError(f"{reason}{logs}") from None
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assert_not_crashed(finished)
        return finished.stdout.decode()

    @unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
    def test_redis(self):
        """the slow command among 1,300 of a redis server, by one command"""
        shown = self.run_with_redis("redis", 2)
        self.assertRegex(shown, r"\Acall: 1300 calls, median .*\n.*; the longest, call#801, took ")
        self.assertRegex(shown, r"\n 9\d\.\d %  .* keysCommand: only in the slow call ")

    @unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
    def test_redis_that_runs(self):
        """the slow command of a redis server that runs already"""
        shown = self.run_with_redis("attach", 3)
        self.assertRegex(shown, r"\n +\S+ ms +\S+ \S+  call#401 in thread redis-server")
        self.assertRegex(shown, r"\n *\d+\.\d %  .* keysCommand: only in the slow call ")

    def run_all_blocks(self):
        """The output of all commands together."""
        binary = pathlib.Path(Settings.binary)
        commands = self.folder / "bin"
        commands.mkdir()
        (commands / "magic-trace").symlink_to(binary)
        (commands / "fzf").write_text(FAKE_FZF)
        (commands / "fzf").chmod(0o755)
        environment = {**Settings.environment, "PATH": f"{commands}:{os.environ['PATH']}", "SOURCE": str(ROOT)}
        text = (ROOT / "docs" / "tutorial.md").read_text()
        blocks = re.findall(r"^```sh( terminal)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 8)
        choices = iter(CHOICES)
        output = []
        for terminal, block in blocks:
            script = block.replace("$SOURCE/build", str(binary.parent))
            if terminal:
                shown, status = self.at_a_terminal(script, {**environment, "FZF_CHOOSE": next(choices)})
                if NO_BREAKPOINTS not in shown:
                    self.assertEqual(status, 0, (block, shown))
            else:
                shown = self.run_block(script, environment)
            output.append(shown)
        self.assertEqual(list(choices), [])
        return "".join(output)

    def test_commands(self):
        """every command of docs/tutorial.md, in order"""
        output = self.run_all_blocks()
        self.assertIn("rebuild_table: only in ", output)
        self.assertIn("hit magic_trace_stop_indicator", output)
        for trace in ("slow", "cycle", "threads"):
            self.assertEqual(self.spans(self.folder / f"{trace}.fxt.gz")["rebuild_entry"], 256, trace)
        self.assertEqual(self.spans(self.folder / "chosen.fxt.gz")["hit rebuild_table"], 1)
        self.assertEqual(self.spans(self.folder / "entries.fxt.gz")["rebuild_entry"], 256)
        self.assertEqual(self.spans(self.folder / "all.fxt.gz")["hit magic_trace_stop_indicator"], 100)
        attached = self.spans(self.folder / "attached.fxt.gz")
        self.assertGreaterEqual((attached["handle_request"], attached["look_up"]), (1, 10))
        if NO_BREAKPOINTS not in output:
            picked = self.spans(self.folder / "picked.fxt.gz")
            self.assertEqual((picked["handle_request"], picked["look_up"]), (1, 10))
        requests = self.span_list(self.folder / "requests.fxt.gz")
        self.assertEqual(sum(span.name == "handle_request" for span in requests), 100)
