"""attach: a running process is stepped from a trigger on, and then runs on unchanged."""
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import time

import harness
from harness import Settings, read_until, wait_until

ROUNDS = int(os.environ.get("MAGIC_TRACE_ATTACH_ROUNDS", "20"))


def statuses(pid):
    """The status files of proc(5) of all its threads but those that end meanwhile."""
    found = []
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            found.append(status.read_text())
        except OSError:  # before it was opened, or then (ESRCH)
            continue
    return found


def tracers(pid):
    """The tracers of all its threads: 0 for none."""
    return {int(text.split("TracerPid:")[1].split()[0]) for text in statuses(pid)}


def sleeps(pid):
    """Whether its first thread waits in clock_nanosleep (230)."""
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith("230 ")


def wait_for_whole_sleeps(process, count=3):
    """Until it has begun and ended so many."""
    for _ in range(count):
        wait_until(lambda: not sleeps(process.pid))
        wait_until(lambda: sleeps(process.pid))
    wait_until(lambda: not sleeps(process.pid))


def stops(pid):
    """How often its first thread has stopped or slept: once for each step under ptrace."""
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0])


def states(pid):
    return {text.split("State:")[1].split()[0] for text in statuses(pid)}


class Attach(harness.TestCase):
    def start(self, *arguments, program="busy"):
        process = subprocess.Popen([harness.compile_program(program), *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def assert_unharmed(self, process):
        """Nobody traces it, no thread is stopped, and its results are right when it ends."""
        # A thread that nobody traces any more may not have been woken yet.
        wait_until(lambda: tracers(process.pid) == {0} and not states(process.pid) & {"T", "t"})
        self.assertFalse(states(process.pid) & {"T", "t"})
        process.send_signal(signal.SIGTERM)
        output = process.stdout.read()
        self.assertEqual(process.wait(), 0, output)
        self.assertEqual(output, b"0 faults in many requests\n")

    def attach(self, process, *options, expect=0, **more):
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        trace = directory.with_suffix(".fxt")
        finished = self.magic_trace("attach", "-engine", "ptrace", "-pid", process.pid, "-working-directory", directory, "-o", trace,
                                    *options, **more)
        self.assertEqual(finished.status, expect, finished.stderr)
        return harness.Traced(finished, directory, trace)

    @harness.needs_breakpoints
    def test_one_call(self):
        """the next call of the trigger, until it returns; perf agrees; the process goes on"""
        process = self.start("1")
        traced = self.attach(process, "-trigger", "request")
        spans = self.spans(traced.trace)
        self.assertEqual((spans["request"], spans["part"], spans["hit request"]), (1, 3, 1))
        self.assertIn("[ Attached. Press Ctrl-C to stop recording. ]", traced.messages)
        self.assertIn("[ Snapshot taken. ]", traced.messages)
        self.assert_perf_agrees(traced)
        self.judge_instructions(traced)
        self.assert_unharmed(process)

    @harness.needs_breakpoints
    def test_same_as_soft(self):
        """a stepped call is what the qemu engine shows of the same function"""
        process = self.start("1")
        stepped = self.attach(process, "-trigger", "request")
        self.assert_unharmed(process)
        emulated = self.trace([harness.compile_program("busy"), "1", "1"], "-trigger", "pause_a_little",
                              "-immediate-stop")

        def first_request(spans):
            request = next(span for span in spans if span.name == "request")
            return [span.name for span in spans if request.begin <= span.begin and span.end <= request.end
                    and span.name in ("request", "part")]

        def by_begin(trace):
            return sorted(self.span_list(trace), key=lambda span: (span.begin, -span.end))

        self.assertEqual(first_request(by_begin(stepped.trace)), first_request(by_begin(emulated.trace)))

    @harness.needs_breakpoints
    def test_other_threads(self):
        """hits in any thread, with -multi-thread; several calls with -multi-snapshot until Ctrl-C"""
        process = self.start("4")
        traced = self.attach(process, "-trigger", "request", "-multi-thread")
        self.assertEqual(self.spans(traced.trace)["request"], 1)
        started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid), "-trigger", "part",
                                    "-multi-thread", "-multi-snapshot", "-o", self.folder / "many.fxt"],
                                   stderr=subprocess.PIPE)
        for _ in range(20):
            read_until(started.stderr, b"Snapshot taken")
        started.send_signal(signal.SIGINT)
        rest = started.communicate()[1]
        self.assertEqual(started.returncode, 0, rest)
        spans = self.spans(self.folder / "many.fxt")
        self.assertGreaterEqual(spans["part"], 20)
        self.assert_unharmed(process)

    @harness.needs_breakpoints
    def test_what_a_call_may_contain(self):
        """signals, fork, the vDSO, rep instructions, recursion and threads in the stepped call; all judges agree"""
        process = self.start(program="stepped")
        for _ in range(3):
            traced = self.attach(process, "-trigger", "everything", "-snapshot-size", "16M")
            spans = self.spans(traced.trace)
            for name, count in (("everything", 1), ("with_signal", 1), ("handle", 1), ("with_child", 1),
                                ("with_clock", 1), ("with_string", 1), ("recursive", 6), ("with_thread", 1)):
                self.assertEqual(spans[name], count, name)
            self.assert_no_gaps(traced)
            self.assert_perf_agrees(traced)
            self.judge_instructions(traced)
        wait_until(lambda: tracers(process.pid) == {0})
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"all right\n")
        self.assertEqual(process.wait(), 0)

    @harness.needs_breakpoints
    def test_exec(self):
        """the stepped call executes another program: the trace ends there, the program runs"""
        process = self.start("exec", program="stepped")
        traced = self.attach(process, "-trigger", "become")
        self.assertEqual(self.spans(traced.trace)["become"], 1)
        self.assertEqual(process.wait(), 0)

    def test_without_trigger(self):
        """without a trigger what runs from now on, system calls in their real length, until Ctrl-C"""
        process = self.start("1")
        started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid), "-o",
                                    self.folder / "t.fxt"], stderr=subprocess.PIPE)
        wait_until(lambda: tracers(process.pid) != {0})
        wait_for_whole_sleeps(process)
        started.send_signal(signal.SIGINT)
        messages = started.communicate()[1]
        self.assertEqual(started.returncode, 0, messages)
        waits = [span.end - span.begin for span in self.span_list(self.folder / "t.fxt")
                 if span.name == "[syscall]"]
        self.assertTrue(waits)
        self.assertGreater(max(waits), 200_000)
        self.assert_unharmed(process)

    def test_interrupted_between_branches(self):
        """Ctrl-C wherever it comes, here mostly right after a conditional branch: perf and libipt read all that was stepped"""
        process = subprocess.Popen([harness.compile_program("branchy"), "1000000000000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for round in range(8):
            directory = self.folder / f"interrupted{round}"
            started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid),
                                        "-working-directory", directory, "-o", directory.with_suffix(".fxt")],
                                       stderr=subprocess.PIPE)
            before = stops(process.pid)
            wait_until(lambda: stops(process.pid) > before + 100)
            started.send_signal(signal.SIGINT)
            messages = started.communicate()[1]
            self.assertEqual(started.returncode, 0, messages)
            traced = harness.Traced(harness.Finished(0, b"", messages), directory, directory.with_suffix(".fxt"))
            self.assert_no_gaps(traced)
            self.assert_perf_agrees(traced)
            self.judge_instructions(traced)

    @harness.needs_breakpoints
    def test_no_hit(self):
        """Ctrl-C before any hit: said, and nothing was disturbed"""
        process = self.start("2")
        started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid), "-trigger", "main", "-o",
                                    self.folder / "t.fxt"], stderr=subprocess.PIPE)
        wait_until(lambda: tracers(process.pid) != {0})
        started.send_signal(signal.SIGINT)
        messages = started.communicate()[1]
        self.assertEqual(started.returncode, 1, messages)
        self.assertIn(b"main was not called", messages)
        self.assert_unharmed(process)

    @harness.needs_breakpoints
    def test_process_ends(self):
        """the end of the process is noticed at once"""
        process = self.start("2")
        started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid), "-trigger", "main"],
                                   stderr=subprocess.PIPE, cwd=self.folder)
        read_until(started.stderr, b"Attached.")
        process.send_signal(signal.SIGTERM)
        messages = started.communicate()[1]
        self.assertEqual(started.returncode, 1, messages)
        self.assertIn(b"main was not called", messages)
        self.assertEqual(process.wait(), 0)

    @harness.needs_breakpoints
    def test_trigger_of_one_of_two(self):
        """a trigger that only one of the processes has is watched there, in whichever order they are named"""
        process = self.start("1")
        other = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        for pids in (f"{process.pid},{other.pid}", f"{other.pid},{process.pid}"):
            finished = self.magic_trace("attach", "-engine", "ptrace", "-pid", pids, "-trigger", "request", "-o", self.folder / "t.fxt")
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertIn(f"request is not mapped in process {other.pid}: only", finished.stderr.decode())
            self.assertEqual(self.spans(self.folder / "t.fxt")["request"], 1)
        self.assertIsNone(other.poll())
        self.assert_unharmed(process)

    @harness.needs_breakpoints
    def test_errors(self):
        """no such process, a process that is traced already, duplicates, operands"""
        finished = self.magic_trace("attach", "-engine", "ptrace", "-pid", "999999999")
        self.assertEqual(finished.status, 1)
        self.assertIn(b"there is none", finished.stderr)
        for arguments in (["-pid", "1,1"], ["-pid", "x"], ["-pid", "1", "./program"]):
            self.assertEqual(self.magic_trace("attach", *arguments).status, 2)
        process = self.start("1")
        first = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid), "-trigger", "main"],
                                 stderr=subprocess.DEVNULL, cwd=self.folder)
        wait_until(lambda: tracers(process.pid) != {0})
        finished = self.magic_trace("attach", "-engine", "ptrace", "-pid", process.pid, "-trigger", "main")
        self.assertEqual(finished.status, 1)
        self.assertIn(b"traces it already", finished.stderr)
        first.kill()
        first.wait()
        self.assert_unharmed(process)

    @harness.needs_breakpoints
    def test_nothing_left(self):
        """no trap flag, no changed signal mask, no pending trap, no wait cut short"""
        process = self.start(program="sensitive")
        for trigger in ("push_flags", "pop_flags", "push_flags"):
            self.attach(process, "-trigger", trigger)
        for options in (["-trigger", "work_deaf"], []):
            started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid),
                                        "-multi-thread", *options, "-o", self.folder / "t.fxt"], stderr=subprocess.PIPE, cwd=self.folder)
            wait_until(lambda: tracers(process.pid) != {0})
            wait_for_whole_sleeps(process)
            started.send_signal(signal.SIGINT)
            messages = started.communicate()[1]
            self.assertEqual(started.returncode, 1 if options else 0, messages)
            self.assertEqual(b"blocks SIGTRAP" in messages, bool(options), messages)
        wait_until(lambda: tracers(process.pid) == {0})
        process.send_signal(signal.SIGTERM)
        output = process.stdout.read()
        self.assertEqual((process.wait(), output),
                         (0, b"0 trap flags, 0 waits cut short, 0 masks changed\n"))

    @harness.needs_breakpoints
    def test_again_and_again(self):
        """attached to and let go many times, magic-trace being killed in between: the results stay right"""
        process = self.start("4")
        chance = random.Random(1)
        for number in range(ROUNDS):
            options = ["-multi-thread", "-multi-snapshot"] if number % 2 else ["-multi-thread"]
            trigger = [] if number % 5 == 4 else ["-trigger", ("request", "part", "pause_a_little")[number % 3]]
            started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid),
                                        *trigger, *(options if trigger else ["-multi-thread"]), "-o",
                                        self.folder / "t.fxt"],
                                       stderr=subprocess.DEVNULL, cwd=self.folder)
            time.sleep(chance.uniform(0.005, 0.12))
            if number % 3:
                started.kill()
            else:
                started.send_signal(signal.SIGINT)
            started.wait()
            wait_until(lambda: tracers(process.pid) == {0})
            self.assertIsNone(process.poll(), f"round {number}")
        self.assert_unharmed(process)

    def processes_of_mine(self):
        """Those that have a path in this test's folder among their arguments."""
        found = []
        for arguments in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if str(self.folder).encode() in arguments.read_bytes():
                    found.append(arguments.parent.name)
        return found

    def test_killed_at_its_beginning(self):
        """magic-trace is killed in its first moments, again and again: none of its processes is left"""
        process = self.start("4")
        chance = random.Random(2)
        for _ in range(ROUNDS):
            started = subprocess.Popen([Settings.binary, "attach", "-engine", "ptrace", "-pid", str(process.pid), "-trigger", "request",
                                        "-o", self.folder / "t.fxt"], stderr=subprocess.DEVNULL, cwd=self.folder)
            time.sleep(chance.uniform(0.001, 0.03))
            started.kill()
            started.wait()
        wait_until(lambda: not self.processes_of_mine())
        self.assert_unharmed(process)
