"""Times: the emulator's translation is left out of them, effects follow their causes, instruction time
repeats."""
import json
import shutil
import statistics
import struct
import time

import fxt_spans
import harness
import twice_programs
from harness import Settings


class Clocks(harness.TestCase):
    ENGINE = "qemu"
    # How much longer than natively a first call is at most, compared with the second: of the median of all kinds of work, of each.
    FIRST_TO_SECOND = 1.3, 2
    EARLY = 0  # effects that are shown before their causes, of 400 that pass through memory alone, at most
    EARLY_OVER_FUTEX = 0

    def first_to_second(self, program, *options):
        traced = self.trace([program], "-full-execution", *options)
        ratio = twice_programs.first_to_second(self.span_list(traced.trace))
        self.assertIsNotNone(ratio, "not every function was called twice")
        return ratio

    def native_first_to_second(self, source):
        program = harness.compile_program(f"{source.stem}_timed", ["-O1", "-DTIMED"], source)
        return statistics.median(twice_programs.first_to_second_natively(harness.run([program]).stdout) for _ in range(5))

    def test_first_call(self):
        """of 200 functions called twice: what their translation takes is left out of the first call"""
        programs, native = {}, {}
        for kind in twice_programs.KINDS:
            source = self.folder / f"twice_{kind.__name__}.c"
            twice_programs.write(kind, source)
            programs[kind.__name__] = harness.compile_program(source.stem, ["-O1"], source)
            native[kind.__name__] = self.native_first_to_second(source)
        # Three runs, one kind after the other, so that what else the machine does for a moment does not decide.
        runs = [{name: self.first_to_second(program) for name, program in programs.items()} for _ in range(3)]
        ratios = {}
        for name, program in programs.items():
            traced = statistics.median(run[name] for run in runs)
            raw = self.first_to_second(program, "-clock", "host")
            print(f"      {name}: first to second call {traced:.2f}, natively {native[name]:.2f}, on the raw host clock {raw:.1f}", flush=True)
            ratios[name] = traced / native[name]
        # One kind alone swings between 0.7 and 1.6 on a busy machine (bench/run shows each); all of them together
        # do not, and translation left in would be ten times these limits.
        of_all, of_each = self.FIRST_TO_SECOND
        self.assertLessEqual(statistics.median(ratios.values()), of_all)
        self.assertEqual({name: ratio for name, ratio in ratios.items() if not 0.25 <= ratio <= of_each}, {})

    def early_effects(self, over, *options, judged=False):
        """The hand-overs, of 400, that ended before they began. `judged`: others must be able to read the recording."""
        program = harness.compile_program("ping_pong")
        traced = self.trace([program, over], "-full-execution", "-multi-thread", *options)
        if judged:
            self.assert_no_gaps(traced)
            self.judge_recording(traced)
        calls = {}
        for span in self.span_list(traced.trace):
            calls.setdefault(span.name, []).append(span)
        early = []
        for cause, effect in (("serve", "catch_served"), ("reply", "catch_replied")):
            self.assertEqual(len(calls[cause]), 200)
            self.assertEqual(len(calls[effect]), 200)
            early += [f"turn {turn}: {effect} ended before {cause} began"
                      for turn, (sent, received) in enumerate(zip(calls[cause], calls[effect]))
                      if received.end < sent.begin]
        return early

    def test_pipe(self):
        """ping-pong over a pipe: no effect precedes its cause"""
        self.assertEqual(self.early_effects("pipe"), [])

    def test_futex(self):
        """ping-pong over a futex: no effect precedes its cause, also when the thread that is woken did not have to sleep"""
        for options in (), ("-clock", "host"):
            early = self.early_effects("futex", *options, judged=not options)
            self.assertLessEqual(len(early), self.EARLY_OVER_FUTEX, early)

    def test_memory(self):
        """ping-pong through an atomic counter that the other thread polls: no effect precedes its cause"""
        for options in (), ("-clock", "host"):
            early = self.early_effects("memory", *options, judged=not options)
            self.assertLessEqual(len(early), self.EARLY, early)

    def test_sleep(self):
        """a blocking system call keeps its real length"""
        began = time.monotonic_ns()
        traced = self.trace(["sleep", "0.2"], "-full-execution")
        most = time.monotonic_ns() - began
        waits = [span.end - span.begin for span in self.span_list(traced.trace)
                 if span.name == "[syscall]"]
        self.assertGreater(max(waits), 195e6)
        self.assertLess(max(waits), most)

    def wall_clock(self, recording):
        """Of the trace that decode makes; None when it carries none."""
        output = self.folder / "wall_clock.fxt"
        self.assertEqual(self.magic_trace("decode", recording, "-o", output).status, 0)
        return self.judge_trace(output)["wall_clock_ns"]

    def test_wall_clock(self):
        """the trace says at what time of day it begins, except when its clock is instructions"""
        traced = self.trace([harness.compile_program("recursion")])
        session = traced.session()
        wall_clock = self.wall_clock(traced.directory)
        self.assertGreater(wall_clock, session["wall_clock_ns"])
        self.assertEqual(self.wall_clock(traced.directory / "perf.data"), wall_clock)
        session["wall_clock_ns"] += 10**17
        session["wall_clock_at"] += 10**6
        (traced.directory / "session.json").write_text(json.dumps(session))
        self.assertEqual(self.wall_clock(traced.directory), wall_clock + 10**17 - 10**6)
        (traced.directory / "session.json").unlink()
        self.assertIsNone(self.wall_clock(traced.directory))
        self.assertIsNone(self.wall_clock(self.trace(["true"], "-clock", "instructions").directory))


class ClocksTranslated(Clocks):
    """Translated code is new to the processor, too, when it runs for the first time; and times between stamps are estimates."""
    ENGINE = "translator"
    FIRST_TO_SECOND = 8, 15
    # What lies between two stamps is estimated: a thread that loses its processor between a store and its system call.
    EARLY = 200  # 1 to 39 were seen
    EARLY_OVER_FUTEX = 40  # 0 to 3 were seen


    def test_brief_calls(self):
        """calls of a fraction of a nanosecond take no more of the time than the program measured itself in the same run"""
        program = harness.compile_program("brief_calls", ["-O2"])
        # By the clock that the program reads: the default one leaves out what the recorder costs. A snapshot costs it no waiting.
        traced = self.trace([program], "-clock", "host")
        numbers = struct.unpack(f"<{len(traced.stdout) // 8}Q", traced.stdout)
        spans = self.span_list(traced.trace)
        lengths = {name: [span.end - span.begin for span in spans if span.name == name]
                   for name in ("brief_calls", "plain_work", "eighth")}
        self.assertEqual([len(lengths["brief_calls"]), len(lengths["plain_work"])], [len(numbers) // 2] * 2)
        self.assertGreater(lengths["eighth"].count(0), len(lengths["eighth"]) / 10)
        measured, shown = ([100 * brief / (brief + plain) for brief, plain in pairs]
                           for pairs in (zip(numbers[::2], numbers[1::2]), zip(lengths["brief_calls"], lengths["plain_work"])))
        # Turn by turn: in one of ten a page fault of the recorder's buffer takes longer than the turn, and where in it is an estimate.
        self.assertLess(statistics.median(abs(one - other) for one, other in zip(measured, shown)), 3)


class Instructions(harness.TestCase):
    ENGINE = "qemu"

    def test_instructions_of_threads(self):
        """with -clock instructions threads and children begin when they are begun, and decode from there"""
        for program in ("threads", "processes"):
            command = [harness.compile_program(program)]
            traced = self.trace(command, "-clock", "instructions", "-full-execution", "-multi-thread", "-follow")
            self.assert_same_as_untraced(traced, command)
            self.assert_no_gaps(traced)
            self.assert_perf_agrees(traced)
            self.judge_instructions(traced)

    def test_instructions_repeat(self):
        """two runs with -clock instructions give the same trace, byte for byte"""
        programs = [[harness.compile_program("recursion")], [harness.compile_program("longjmp")]]
        if not Settings.quick:
            programs.append(["ls", "/usr/include/linux"])
        for command in programs:
            traces = []
            for _ in range(2):
                # The same place both times: the trace names it.
                output = self.folder / "same.fxt"
                finished = self.magic_trace("run", "-clock", "instructions", "-full-execution", "-o",
                                            output, *command)
                self.assertEqual(finished.status, 0, finished.stderr)
                traces.append(output.read_bytes())
            self.assertEqual(traces[0], traces[1], command)


class InstructionsTranslated(Instructions):
    ENGINE = "translator"

    def test_exceptions_repeat(self):
        """five runs of C++ exceptions with -clock instructions are the same to the instruction, however their code was translated"""
        if not shutil.which("g++"):
            self.skipTest("g++ is not installed")
        program = harness.compile_program("many_throws", ["-Wl,--no-as-needed", "-lstdc++"],
                                          harness.PROGRAMS / "many_throws.cpp")
        traces = set()
        for _ in range(5):
            output = self.folder / "same.fxt"
            finished = self.magic_trace("run", "-clock", "instructions", "-full-execution", "-o", output, program)
            self.assertEqual(finished.status, 0, finished.stderr)
            spans = fxt_spans.read_whole(output).spans
            traces.add(tuple((span.begin - spans[0].begin, span.end - span.begin, span.stack) for span in spans))
        self.assertEqual(len(traces), 1)
