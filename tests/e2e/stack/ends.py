"""The last moments of a thread: the instruction that killed it, the wait that it did not return from."""
import os
import pathlib
import re
import signal
import subprocess
import time

import harness
from harness import wait_until
from watchdog import children_of

WAITED_SECONDS = 1  # at least; before something ends a thread that waits for much longer


def sleeps(pid):
    """Whether the traced program waits in clock_nanosleep (230)."""
    try:
        return pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith("230 ")
    except OSError:
        return False


class Faults(harness.TestCase):
    # How it dies: signal, function that the mark names (None: no code is there), and spans that are open then.
    DEATHS = {
        "middle": ("SIGSEGV", "middle", ["die", "middle"]),
        "copying": ("SIGSEGV", r"__mem\w+|\S*libc\S*", ["die", "copying"]),
        "illegal": ("SIGILL", "illegal", ["die", "illegal"]),
        "dividing": ("SIGFPE", "dividing", ["die", "dividing"]),
        "trapping": ("SIGTRAP", "trapping", ["die", "trapping"]),
        "aborting": ("SIGABRT", r".+", ["die", "aborting"]),
        "null": ("SIGSEGV", None, ["die", "jumping"]),
        "wild": ("SIGSEGV", None, ["die", "jumping"]),
        "bus": ("SIGBUS", "reading_beyond_a_file", ["die", "reading_beyond_a_file"]),
        "deep": ("SIGSEGV", "middle", ["die"] + ["deep"] * 301 + ["middle"]),
        "raise": ("SIGQUIT", r".+", ["die"]),
    }

    def tree(self, traced):
        finished = self.magic_trace("report", "-tree", traced.trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        return finished.stdout.decode().splitlines()

    def death(self, traced):
        """The mark at the end of the tree, and the names of the spans that are open then, outermost first."""
        lines = self.tree(traced)
        self.assertIn("-- killed by ", lines[-1])
        found = [re.search(r"(\S+)  \[still open when the trace ends\]", line) for line in lines]
        return lines[-1], [match[1] for match in found if match]

    def assert_death(self, traced, how):
        number, function, stack = self.DEATHS[how]
        mark, names = self.death(traced)
        place = rf" in (?:{function})( \(.+:\d+\))?" if function else ""
        self.assertRegex(mark, rf"-- killed by {number} at 0x[0-9a-f]+{place} --$")
        open_here = [name for name in names if name in stack]
        if open_here != stack:
            self.fail("\n".join([f"{stack} should be open at the mark:"] + self.tree(traced)[-12:]))
        deaths = traced.session()["deaths"]
        self.assertEqual(len(deaths), 1)
        self.assertEqual(deaths[0]["signal"], getattr(signal, number))

    def test_one_thread(self):
        """a signal that nobody handles: the stack, the instruction and its line"""
        program = harness.compile_program("faults")
        for how in self.DEATHS:
            with self.subTest(how):
                traced = self.trace([program, how], "-full-execution")
                self.assert_death(traced, how)
                self.assert_same_as_untraced(traced, [program, how])
                self.judge_recording(traced, unfinished=1)

    def test_another_thread(self):
        """the same in a second thread"""
        program = harness.compile_program("faults")
        for how in ("middle", "copying", "aborting", "null", "deep"):
            with self.subTest(how):
                traced = self.trace([program, how, "thread"], "-multi-thread")
                self.assert_death(traced, how)
                death = traced.session()["deaths"][0]
                self.assertNotEqual(death["pid"], death["tid"])
                ends = {tid: max(span.end for span in self.span_list(traced.trace) if span.tid == tid)
                        for tid in (death["pid"], death["tid"])}
                # Where both end at one time, 1 ns less was seen, in 1 of 90 recordings; why is not known.
                self.assertGreaterEqual(ends[death["pid"]] + 1, ends[death["tid"]], "main waits for it until then")
                self.assert_perf_agrees(traced)

    def test_the_instruction(self):
        """the last branch that perf shows ends at the instruction that the mark names, and its line is right"""
        program = harness.compile_program("faults")
        source = (harness.PROGRAMS / "faults.c").read_text().splitlines()
        traced = self.trace([program, "middle"])
        mark, _ = self.death(traced)
        address, line = re.search(r"at 0x([0-9a-f]+) in middle \(.+:(\d+)\)", mark).groups()
        self.assertIn("*nowhere = 1;", source[int(line) - 1])
        branches = subprocess.run(["perf", "script", "--itrace=b", "-F", "ip,addr", "-i",
                                   traced.directory / "perf.data"], capture_output=True, check=True)
        self.assertIn(address, branches.stdout.decode().splitlines()[-1])

    def test_stack_overflow(self):
        """recursion without end: every frame, and the instruction that had no stack left"""
        program = harness.compile_program("faults")
        for options in ([], ["thread"]):
            traced = self.trace([program, "endless", *options], "-multi-thread", "-full-execution")
            mark, names = self.death(traced)
            self.assertRegex(mark, r"killed by SIGSEGV at 0x[0-9a-f]+ in endless \(.+:\d+\)")
            frames = 8 << 20 >> 14  # of the default stack
            self.assertGreater(names.count("endless"), frames * 9 // 10)
            self.assert_perf_agrees(traced)

    def test_stripped(self):
        """without symbols the mark still names the place in the file"""
        program = self.folder / "stripped"
        subprocess.run(["strip", "-o", program, harness.compile_program("faults")], check=True)
        traced = self.trace([program, "middle"])
        mark, _ = self.death(traced)
        self.assertRegex(mark, r"killed by SIGSEGV at 0x[0-9a-f]+ in stripped\+0x[0-9a-f]+ --$")

    def test_same_every_time(self):
        """with the instruction clock the death, too, is the same in every run"""
        program = harness.compile_program("faults")
        first, second = (self.trace([program, "middle"], "-clock", "instructions") for _ in range(2))
        self.assertEqual(first.session()["deaths"], second.session()["deaths"])
        self.assertEqual(self.tree(first), self.tree(second))

    def test_decoded_later(self):
        """the recording alone is enough for the mark"""
        traced = self.trace([harness.compile_program("faults"), "deep"])
        finished = self.magic_trace("decode", traced.directory, "-o", self.folder / "again.fxt")
        self.assertEqual(finished.status, 0, finished.stderr)
        again = harness.Traced(finished, traced.directory, self.folder / "again.fxt")
        self.assertEqual(self.death(again), self.death(traced))


class Waits(harness.TestCase):
    def start(self, command, *options):
        """magic-trace in the background."""
        self.directory, self.trace_file = self.folder / "recording", self.folder / "trace.fxt.gz"
        process = subprocess.Popen(
            [harness.Settings.binary, "run", "-o", self.trace_file, "-working-directory", self.directory, *options,
             "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.Settings.environment,
            start_new_session=True)

        def clean_up():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

        self.addCleanup(clean_up)
        return process

    def sleeping_child(self, pid):
        """The child of `pid` that waits in its sleep."""
        def find():
            return [child for child in children_of(pid) if sleeps(child)]
        return wait_until(find)[0]

    def finish(self, process):
        output, errors = process.communicate()
        finished = harness.Finished(process.returncode, output, errors)
        self.assert_not_crashed(finished)
        self.assertEqual(finished.status, 0, errors)
        traced = harness.Traced(finished, self.directory, self.trace_file)
        self.assert_perf_agrees(traced)
        return traced

    def seconds_of(self, name, pid):
        """Lengths of the spans of `name` in process `pid`."""
        return [(span.end - span.begin) / 1e9 for span in self.span_list(self.trace_file)
                if span.name == name and span.pid == pid]

    def assert_waited(self, pid, least, most):
        longest = max(self.seconds_of("[syscall]", pid))
        self.assertGreaterEqual(longest, least)
        self.assertLessEqual(longest, most)

    def test_interrupted(self):
        """Ctrl-C while the program waits: the wait lasts until then"""
        began = time.monotonic()
        process = self.start(["sleep", "3000"])
        program = self.sleeping_child(process.pid)
        time.sleep(WAITED_SECONDS)
        os.kill(process.pid, signal.SIGINT)
        self.finish(process)
        self.assert_waited(program, WAITED_SECONDS, time.monotonic() - began)

    def test_killed(self):
        """kill -9 while the program waits: the wait lasts until that is noticed"""
        began = time.monotonic()
        process = self.start(["sleep", "3000"])
        program = self.sleeping_child(process.pid)
        time.sleep(WAITED_SECONDS)
        os.kill(program, signal.SIGKILL)
        self.finish(process)
        self.assert_waited(program, WAITED_SECONDS, time.monotonic() - began)

    def test_killed_child(self):
        """kill -9 of a child that waits: it ends when its parent is notified, not when the parent ends"""
        process = self.start(["bash", "-c", "sleep 3000; sleep 3"], "-follow")
        # magic-trace has had other children before: it asks qemu for its version.
        shell, child = wait_until(lambda: [(shell, child) for shell in children_of(process.pid)
                                           for child in children_of(shell) if sleeps(child)])[0]
        time.sleep(WAITED_SECONDS)
        os.kill(child, signal.SIGKILL)
        self.finish(process)
        longest = max(self.seconds_of("[syscall]", child))
        self.assertGreaterEqual(longest, WAITED_SECONDS)
        rest = max(self.seconds_of("[syscall]", shell))
        self.assertGreaterEqual(rest, 2)  # of the second child's 3 seconds: that may begin before the shell begins to wait
        ends = {pid: max(span.end for span in self.span_list(self.trace_file) if span.pid == pid)
                for pid in (child, shell)}
        self.assertGreaterEqual(ends[shell] - ends[child], 3e9)

    def test_instruction_clock(self):
        """with the instruction clock nothing passes while a thread waits"""
        process = self.start(["sleep", "3000"], "-clock", "instructions")
        self.sleeping_child(process.pid)
        os.kill(process.pid, signal.SIGINT)
        self.finish(process)
        self.assertLess(max(span.end for span in self.span_list(self.trace_file)), 1e9)
