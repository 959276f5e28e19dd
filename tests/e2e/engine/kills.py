"""Sudden ends: of the program, and of magic-trace itself."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

import harness
from harness import wait_until
from watchdog import children_of, processor_seconds

UNKNOWN = b"will count as theirs"  # said when the kernel does not record when threads run
DOZES, DOZE_NS = 5, 20e6  # of tests/programs/dozing.c


class Started:
    """magic-trace in the background, running `endings wait`, and the pid of the program."""

    def __init__(self, test, program=None, options=()):
        self.directory = test.folder / "recording"
        self.trace = test.folder / "trace.fxt.gz"
        self.output = (test.folder / "output").open("wb")
        self.errors = (test.folder / "errors").open("wb")
        command = program or [harness.compile_program("endings"), "wait"]
        self.process = subprocess.Popen(
            [harness.Settings.binary, "run", "-o", self.trace, "-working-directory", self.directory,
             *(options or ("-snapshot-size", "64K")), "--", *command],
            stdout=self.output, stderr=self.errors, cwd=test.folder,
            env=harness.Settings.environment, start_new_session=True)
        self.program = None
        test.addCleanup(self.clean_up)
        wait_until(lambda: b"ready" in (test.folder / "output").read_bytes())
        self.program = wait_until(lambda: children_of(self.process.pid))[0]

    def clean_up(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.program and alive(self.program):
            os.kill(self.program, signal.SIGKILL)
        self.output.close()
        self.errors.close()

    def finish(self, test):
        """Waits for magic-trace and returns it like harness.run."""
        status = self.process.wait()
        finished = harness.Finished(status, (test.folder / "output").read_bytes(),
                                    (test.folder / "errors").read_bytes())
        test.assert_not_crashed(finished)
        return finished


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class Kills(harness.TestCase):
    def judge(self, traced, counts=None):
        self.assert_counts(traced, {"last_words": 10, "work": 1} if counts is None else counts)
        self.judge_recording(traced, unfinished=harness.LONGEST_BLOCK)

    def test_endings(self):
        """abort(), a fault, _exit and a return: decodable to the last block"""
        program = harness.compile_program("endings")
        for how in ("abort", "segv", "_exit", "exit"):
            traced = self.trace([program, how], "-full-execution")
            self.judge(traced)
            self.assert_same_as_untraced(traced, [program, how])

    def test_program_killed(self):
        """kill -9 of the program"""
        started = Started(self)
        os.kill(started.program, signal.SIGKILL)
        finished = started.finish(self)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"killed by signal 9", finished.stderr)
        traced = harness.Traced(finished, started.directory, started.trace)
        self.judge_recording(traced)
        self.assertGreater(self.spans(traced.trace)["last_words"], 10)

    def test_magic_trace_killed(self):
        """kill -9 of magic-trace: the program runs on unharmed, the recording can be decoded afterwards"""
        started = Started(self)
        os.kill(started.process.pid, signal.SIGKILL)
        started.process.wait()
        used = processor_seconds([started.program])
        wait_until(lambda: not alive(started.program) or processor_seconds([started.program]) > used + 0.1)
        self.assertTrue(alive(started.program), "the program died with magic-trace")
        os.kill(started.program, signal.SIGTERM)
        wait_until(lambda: not alive(started.program))
        finished = self.magic_trace("decode", started.directory, "-o", started.trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        traced = harness.Traced(finished, started.directory, started.trace)
        self.judge_recording(traced)
        self.assertGreater(self.spans(traced.trace)["last_words"], 10)

    def test_off_cpu_time_is_salvaged(self):
        """what a killed magic-trace knew of when threads were not running is in the recording"""
        for options in (("-snapshot-size", "64K"), ("-full-execution",)):
            with self.subTest(options=options):
                started = Started(self, [harness.compile_program("dozing")], options)
                if UNKNOWN in (self.folder / "errors").read_bytes():
                    self.skipTest("the kernel does not record context switches here")
                switches = started.directory / "translator" / "switches"
                slept = time.time()  # magic-trace has read what happened before when it writes the file again
                wait_until(lambda: switches.stat().st_mtime > slept + 0.1)
                os.kill(started.process.pid, signal.SIGKILL)
                started.process.wait()
                os.kill(started.program, signal.SIGKILL)
                wait_until(lambda: not alive(started.program))
                finished = self.magic_trace("decode", started.directory, "-o", started.trace)
                self.assertEqual(finished.status, 0, finished.stderr)
                self.assertNotIn(b"is unknown", self.magic_trace("report", "-top", "1", started.trace).stdout)
                spans = self.span_list(started.trace)
                off = [span for span in spans if span.name == "[not running]"]
                dozes = [span for span in spans if span.name == "doze"]
                self.assertEqual(len(dozes), DOZES)
                for doze in dozes:
                    slept = sum(span.end - span.begin for span in off if doze.begin <= span.begin and span.end <= doze.end)
                    self.assertGreater(slept, DOZE_NS / 2)  # the rest of it would be a busy machine
                if "-full-execution" not in options:  # what was lost there is an error for perf
                    self.judge_recording(harness.Traced(finished, started.directory, started.trace))
                shutil.rmtree(started.directory)

    def test_decode_while_the_program_runs(self):
        """after kill -9 of magic-trace the recording can be decoded while the program still runs"""
        started = Started(self)
        os.kill(started.process.pid, signal.SIGKILL)
        started.process.wait()
        finished = self.magic_trace("decode", started.directory, "-o", started.trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertTrue(alive(started.program))
        self.assertGreater(self.spans(started.trace)["last_words"], 10)
