"""Time means something: translation is not the program's time, effects follow their causes, instruction time
repeats."""
import json
import statistics

import harness
from harness import Settings

FUNCTIONS = 200


def twice_program(folder):
    """200 functions, each with its own code of different length, called twice with the same work."""
    lines = ["#include <stdio.h>", "static volatile unsigned sink;"]
    for i in range(FUNCTIONS):
        # Straight code, a loop and a branch: as different as 200 real functions are.
        steps = "\n".join(f"    value = value * {1103515245 + 2 * i}u + {j}u; value ^= value >> {1 + j % 15};"
                          for j in range(3 + i % 20))
        lines.append(f"__attribute__((noinline)) static void f{i}(unsigned value)\n{{\n"
                     f"    for (int round = 0; round < {1 + i % 13}; round++) {{\n{steps}\n"
                     f"        if (value & {1 << i % 8}) value += round;\n    }}\n    sink = value;\n}}")
    calls = "\n".join(f"    f{i}(7);" for i in range(FUNCTIONS))
    lines.append(f"static void all(void)\n{{\n{calls}\n}}")
    lines.append("int main(void)\n{\n    all();\n    all();\n    printf(\"%u\\n\", sink);\n    return 0;\n}")
    source = folder / "twice.c"
    source.write_text("\n".join(lines) + "\n")
    return source


class Clocks(harness.TestCase):
    def twice_ratios(self, *options):
        program = harness.compile_program("twice", ["-O1"], twice_program(self.folder))
        traced = self.trace([program], "-full-execution", *options)
        lengths = {}
        for span in self.span_list(traced.trace):
            if span.name[0] == "f" and span.name[1:].isdigit():
                lengths.setdefault(span.name, []).append(span.end - span.begin)
        self.assertEqual(len(lengths), FUNCTIONS)
        self.assertEqual({len(calls) for calls in lengths.values()}, {2})
        # Half a nanosecond more on both: two calls within one tick are equal, not infinitely different.
        return [(first + 0.5) / (second + 0.5) for first, second in lengths.values()]

    def test_first_call(self):
        """of 200 functions called twice the first call takes at most 1.3 times the second (median)"""
        ratio = statistics.median(self.twice_ratios())
        raw = statistics.median(self.twice_ratios("-clock", "host"))
        print(f"      first to second call: default clock {ratio:.2f}, raw host clock {raw:.2f}")
        self.assertLessEqual(ratio, 1.3)
        self.assertGreaterEqual(ratio, 1 / 1.3)

    def check_ping_pong(self, over):
        program = harness.compile_program("ping_pong")
        traced = self.trace([program, over], "-full-execution", "-multi-thread")
        calls = {}
        for span in self.span_list(traced.trace):
            calls.setdefault(span.name, []).append(span)
        for cause, effect in (("serve", "catch_served"), ("reply", "catch_replied")):
            self.assertEqual(len(calls[cause]), 200)
            self.assertEqual(len(calls[effect]), 200)
            for turn, (sent, received) in enumerate(zip(calls[cause], calls[effect])):
                self.assertGreaterEqual(received.end, sent.begin,
                                        f"turn {turn}: {effect} ended before {cause} began")

    def test_pipe(self):
        """ping-pong over a pipe: no effect precedes its cause"""
        self.check_ping_pong("pipe")

    def test_futex(self):
        """ping-pong over a futex: no effect precedes its cause"""
        self.check_ping_pong("futex")

    def test_sleep(self):
        """a blocking system call keeps its real length"""
        traced = self.trace(["sleep", "0.2"], "-full-execution")
        waits = [span.end - span.begin for span in self.span_list(traced.trace)
                 if span.name == "[syscall]"]
        self.assertGreater(max(waits), 195e6)
        self.assertLess(max(waits), 400e6)

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
