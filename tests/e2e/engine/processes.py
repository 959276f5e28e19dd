"""Children: traced with -follow, left alone and reported without."""
import os
import shutil
import signal
import subprocess

import harness
from harness import wait_until
from perf_engine import has_perf

# Each lives for up to 4 ms. Whoever waits without success for one is ended by SIGALRM.
KILLED_CHILDREN = """
import signal, subprocess, time
signal.alarm(60)
for i in range(200):
    child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    end = time.perf_counter() + i % 20 * 0.0002
    while time.perf_counter() < end:
        pass
    child.kill()
    assert child.wait() == -9
print("done")
"""


def unchanging(output):
    """Without the lines of /proc/PID/status that differ from process to process."""
    keep = ("Uid", "Gid", "SigBlk", "SigIgn", "Cap", "Umask", "Groups", "NoNewPrivs", "Seccomp:")
    lines = output.decode().splitlines()
    return [line for line in lines if ":" not in line or line.startswith(keep)]


class Processes(harness.TestCase):
    def test_without_follow(self):
        """without -follow children run untraced and unchanged, and the summary names the option that would show them"""
        command = [harness.compile_program("processes")]
        traced = self.trace(command, "-full-execution")
        self.assert_same_as_untraced(traced, command)
        self.assertEqual(self.spans(traced.trace)["work"], 0)
        self.assertRegex(traced.messages, r"(?i)ran untraced: .*-follow")
        self.judge_recording(traced)

    def test_with_follow(self):
        """with -follow forked and executed children are traced too"""
        command = [harness.compile_program("processes")]
        traced = self.trace(command, "-full-execution", "-follow")
        self.assert_same_as_untraced(traced, command)
        self.assertEqual(self.spans(traced.trace)["work"], 4 + 5)
        self.assertGreaterEqual(len({thread["pid"] for thread in
                                     self.judge_trace(traced.trace)["threads"]}), 3)
        self.judge_recording(traced)
        self.assert_no_gaps(traced)

    def test_other_user(self):
        """what is executed as another user, who cannot open the recording, is traced too, and unchanged"""
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root starts programs as another user")
        command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                   "sh", "-c", "trap 'echo got it' USR1; kill -USR1 $$; id -u; ls /proc/self/fd; exec cat /proc/self/status"]
        traced = self.trace(command, "-full-execution", "-follow", "-multi-thread", "-engine", "translator")
        usual = harness.run(command)
        self.assertEqual(traced.status, usual.status)
        self.assertEqual(unchanging(traced.stdout), unchanging(usual.stdout))
        self.assertNotRegex(traced.messages, "(?i)untraced")
        self.assertLessEqual({"id", "ls", "cat"}, {thread["name"] for thread in self.judge_trace(traced.trace)["threads"]})
        self.judge_instructions(traced)

    def test_scripts(self):
        """a chain of #! scripts with arguments, in a pipeline"""
        inner = self.folder / "inner"
        inner.write_text("#!/bin/sh -e\necho \"inner $0 $# $1\"\n")
        outer = self.folder / "outer"
        outer.write_text(f"#!{inner} first\nnot read\n")
        main = self.folder / "main script"
        main.write_text("#!/bin/bash\nset -o pipefail\n"
                        f"\"{outer}\" a b | tr a-z A-Z | cat\nprintf '%s\\n' \"$@\"\nexit 3\n")
        for script in (inner, outer, main):
            script.chmod(0o755)
        command = [main, "x y", ""]
        for options in ([], ["-follow", "-multi-thread"]):
            traced = self.trace(command, "-full-execution", *options)
            self.assert_same_as_untraced(traced, command)
            self.judge_recording(traced)
            self.judge_trace(traced.trace)

    def test_exec_ends_the_old_program(self):
        """what a process ran up to its execve decodes with the code that it had then"""
        command = ["bash", "-c", "for i in 1 2 3 4 5 6 7 8; do (exec /bin/true); (exec /bin/echo $i); done"]
        traced = self.trace(command, "-full-execution", "-follow", "-clock", "instructions")
        self.assert_same_as_untraced(traced, command)
        self.judge_recording(traced)
        self.assert_no_gaps(traced)

    def test_killed_at_exec(self):
        """children that are killed around their execve: their parent learns of it"""
        command = ["/usr/bin/python3", "-c", KILLED_CHILDREN]
        traced = self.trace(command, "-follow", "-engine", "translator")
        self.assert_same_as_untraced(traced, command)

    def start_outliving(self, *engine):
        """magic-trace that records a child whose parent has ended, when it has said so."""
        self.go, self.done, messages = (self.folder / name for name in ("go", "done", "messages"))
        command = [harness.compile_program("outliving"), self.go, self.done]
        with messages.open("wb") as stream:
            recorder = subprocess.Popen(
                [harness.Settings.binary, "run", "-full-execution", "-follow", *(engine or ("-engine", "translator")), "-working-directory",
                 self.folder / "recording", "-o", self.folder / "t.fxt", *command],
                stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=harness.Settings.environment)
        self.addCleanup(recorder.wait)
        self.addCleanup(self.go.touch)
        wait_until(lambda: b"started meanwhile is still recorded" in messages.read_bytes() or recorder.poll() is not None)
        self.assertIsNone(recorder.poll(), messages.read_text())
        return recorder

    def test_outlived_program(self):
        """a child that lives on when the program has ended is recorded until its end"""
        recorder = self.start_outliving()
        self.assertFalse(self.done.exists())
        self.go.touch()
        self.assertEqual(recorder.wait(), 0, (self.folder / "messages").read_text())
        self.assertTrue(self.done.exists())
        # Of its parent, of itself, and of its own child, which has done that.
        self.assertEqual(len(self.judge_trace(self.folder / "t.fxt")["threads"]), 3)
        self.assertEqual(self.spans(self.folder / "t.fxt")["call_generated"], 1 + 48)

    def test_outlived_program_of_kernel_events(self):
        """so it is by the kernel's events and by perf"""
        engines = [("-sampling", "-engine", "sample")] + [("-sampling", "-engine", "perf")] * has_perf()
        for engine in engines:
            for interrupted in (False, True):
                with self.subTest(engine=engine, interrupted=interrupted):
                    recorder = self.start_outliving(*engine, "-no-decode")
                    self.assertFalse(self.done.exists())
                    if interrupted:
                        recorder.send_signal(signal.SIGINT)
                    else:
                        self.go.touch()
                    self.assertEqual(recorder.wait(), 0, (self.folder / "messages").read_text())
                    self.assertEqual(self.done.exists(), not interrupted)
                    self.go.touch()
                    wait_until(self.done.exists)
                    for left in (self.go, self.done):
                        left.unlink()
                    shutil.rmtree(self.folder / "recording")

    def test_child_of_the_last_moment(self):
        """a child that has hardly begun when the program ends is recorded, and what it executes"""
        for _ in range(10):
            traced = self.trace(["sh", "-c", "/bin/true &"], "-full-execution", "-follow", "-engine", "translator")
            self.assertIn("true", {thread["name"] for thread in self.judge_trace(traced.trace)["threads"]}, traced.messages)

    def test_outliving_child(self):
        """Ctrl-C ends the recording of a child that lives on; it writes nothing into the recording's folder any more"""
        recorder = self.start_outliving()
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, (self.folder / "messages").read_text())
        directory = self.folder / "recording"
        before = sorted((folder, sorted(files)) for folder, _, files in os.walk(directory))
        self.assertFalse(self.done.exists())
        self.go.touch()
        wait_until(self.done.exists)
        self.assertEqual(sorted((folder, sorted(files)) for folder, _, files in os.walk(directory)), before)
