"""run -only: calls of some functions are recorded, with all that they call, and everything else runs natively."""
import collections
import pathlib
import re
import shutil
import subprocess

import fxt_spans
import harness


class Selected(harness.TestCase):
    def record(self, words, *options, expect=0):
        """The spans of `selected WORDS`, whose output is as without tracing."""
        command = [harness.compile_program("selected"), *words.split()]
        traced = self.trace(command, *options, expect=expect)
        if not expect:
            self.assert_same_as_untraced(traced, command)
            traced.calls = self.spans(traced.trace)
        return traced

    def assert_calls(self, traced, **counts):
        self.assertEqual({name: traced.calls[name] for name in counts}, counts, traced.messages)

    def instructions(self, traced):
        return int(re.search(r"([\d,]+) instructions", traced.messages)[1].replace(",", ""))

    def test_calls(self):
        """calls of one function with what it calls, each a span of its own, in their caller; the rest is left out; judges agree"""
        traced = self.record("call compute call compute call", "-only", "chosen")
        self.assert_no_gaps(traced)
        self.assert_calls(traced, chosen=3, leaf=9, compute=0)
        self.assertEqual(traced.calls["[untraced]"], 2)
        self.assertLess(self.instructions(traced), 1000)
        self.assert_perf_agrees(traced)
        self.judge_instructions(traced)

    def test_judge_perf(self):
        """-decoder perf shows the same calls"""
        traced = self.record("call compute call", "-only", "chosen")
        again = self.folder / "perf.fxt.gz"
        finished = self.magic_trace("decode", traced.directory, "-decoder", "perf", "-o", again)
        self.assertEqual(finished.status, 0, finished.stderr)
        calls = self.spans(again)
        self.assertEqual((calls["chosen"], calls["leaf"], calls["[untraced]"]), (2, 6, 1))

    def test_several(self):
        """several names, a pattern; a selected function within another's call"""
        self.assert_calls(self.record("call kernel compute", "-only", "chosen,asks"), chosen=1, asks=1, leaf=4, compute=0)
        self.assert_calls(self.record("call kernel compute", "-only", "ch*sen,as?s"), chosen=1, asks=1, leaf=4, compute=0)

    def test_clones(self):
        """a plain name means the function alone, not its clones and parts"""
        for name in ("request", "wait_for"):
            traced = self.trace([harness.compile_program("cloned_names")], "-only", name)
            self.assertEqual({span: count for span, count in self.spans(traced.trace).items() if name in span},
                             {f"{name}(int)": 1}, traced.messages)

    def test_system_calls(self):
        """a system call within the call is recorded; those before and after are not, and work"""
        traced = self.record("kernel spawn kernel", "-only", "asks")
        self.assert_no_gaps(traced)
        self.assert_calls(traced, asks=2, leaf=2)
        self.assertEqual(traced.calls["[syscall]"], 2)

    def test_left_by_longjmp(self):
        """a call that is left by longjmp is over where that leads: what runs there is not recorded"""
        traced = self.record("jump compute jump compute call", "-only", "leaves,chosen")
        self.assert_no_gaps(traced)
        self.assert_calls(traced, leaves=2, chosen=1, compute=0)

    def test_left_calls(self):
        """calls that are left by exceptions and longjmp, directly or from a function between: each one is a span, in its callers, and what
        runs after it is not recorded"""
        if not shutil.which("g++"):
            self.skipTest("g++ is not installed")
        command = [harness.compile_program("left_calls", ["-Wl,--no-as-needed", "-lstdc++"], harness.PROGRAMS / "left_calls.cpp")]
        for options in ([], ["-full-execution", "-multi-thread"]):
            with self.subTest(options=options):
                traced = self.trace(command, "-only", "chosen", *options)
                self.assert_same_as_untraced(traced, command)
                spans = [span for span in fxt_spans.read_whole(traced.trace).spans if span.name == "chosen(int)"]
                self.assertEqual(len(spans), 300)
                stacks = collections.Counter(span.stack[-2] for span in spans)
                self.assertEqual(stacks, {"main": 150, "between(int)": 150})
                self.assertEqual(self.spans(traced.trace)["compute()"], 0)
                self.assert_no_gaps(traced)
                self.judge_instructions(traced)

    def test_signals(self):
        """signals arrive while it runs natively; their handler is selected; masks do not block what brings calls into the cache"""
        traced = self.record("signals thread call fault call", "-only", "chosen,leaf", "-multi-thread")
        self.assert_calls(traced, chosen=52, leaf=157)

    def parts(self, traced, caller, part):
        """How many calls of `part` are in calls of `caller`."""
        return sum(span.name == part and len(span.stack) > 1 and span.stack[-2] == caller for span in fxt_spans.read_whole(traced.trace).spans)

    def test_fibers(self):
        """calls that change to other stacks before they return, next to each other and in two threads: all parts, each in its call"""
        program = harness.compile_program("selected_fibers")
        for way in ("one", "moving", "leave"):
            for options in ([], ["-full-execution"]):
                with self.subTest(way=way, options=options):
                    traced = self.trace([program, way], "-only", "chosen", "-multi-thread", *options)
                    self.assert_same_as_untraced(traced, [program, way])
                    self.assertEqual(self.parts(traced, "chosen", "leaf"), 60, traced.messages)
                    self.assertIn("changed to another stack", traced.messages)
                    self.assertNotIn("Give -multi-thread", traced.messages)

    def test_moved_stack(self):
        """a stack is moved within a selected call, while a signal is handled on a stack further up: all parts of all calls"""
        program = harness.compile_program("selected_moved_stack")
        traced = self.trace([program], "-only", "chosen", "-multi-thread", "-full-execution")
        self.assert_same_as_untraced(traced, [program])
        self.assertEqual(self.parts(traced, "chosen", "leaf"), 4, traced.messages)

    def test_goroutines(self):
        """calls that wait on channels and go on in other threads: all parts. One that is preempted in a part is shown in two threads"""
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        program = self.folder / "goroutines"
        subprocess.run(["go", "build", "-o", program, harness.PROGRAMS / "selected_goroutines.go"], check=True, capture_output=True)
        traced = self.trace([program], "-only", "main.chosen", "-multi-thread", "-full-execution")
        self.assert_same_as_untraced(traced, [program])
        parts = self.parts(traced, "main.chosen", "main.part")
        self.assertTrue(480 <= parts < 490, f"{parts} {traced.messages}")

    def test_threads(self):
        """another thread's calls are recorded with -multi-thread"""
        self.assert_calls(self.record("thread call compute call", "-only", "chosen"), chosen=1, leaf=3)
        self.assert_calls(self.record("thread call compute call", "-only", "chosen", "-multi-thread"), chosen=2, leaf=6)

    def test_children(self):
        """forked, vforked and executed children go their way: natively, or with -follow recorded likewise"""
        words = "call fork call vfork call spawn exec call compute"
        self.assert_calls(self.record(words, "-only", "chosen"), chosen=1, leaf=3)
        self.assert_calls(self.record(words, "-only", "chosen", "-follow"), chosen=4, leaf=12, compute=0)

    def test_library(self):
        """all functions of a library: of one that the program needs, and of one that it loads later, by its path"""
        # It has called main.
        self.assert_calls(self.record("call kernel", "-only", "libc"), main=1, chosen=1, asks=1)
        path = next((line.split()[-1] for line in subprocess.check_output(["/sbin/ldconfig", "-p"], text=True).split("\n")
                     if line.split()[:1] == ["libz.so.1"] and "x86-64" in line), None)
        if path:
            self.assert_calls(self.record("library compute library", "-only", path), compressBound=2, compute=0)

    def test_changed_code(self):
        """code that the program writes to has no breakpoints any more, and runs"""
        traced = self.record("call patches compute call", "-only", "chosen")
        self.assertGreaterEqual(traced.calls["chosen"], 1)
        self.assert_calls(traced, compute=0)

    def test_trigger(self):
        """a trigger within a selected call takes a snapshot, and the program goes on natively, with its code as it was"""
        traced = self.record("call compute kernel compute call", "-only", "chosen,asks", "-trigger", "asks", "-immediate-stop")
        self.assert_calls(traced, chosen=1, compute=0)

    def test_trigger_outside(self):
        """-trigger with a function that runs between the calls: the message says why it was not hit"""
        traced = self.trace([harness.compile_program("recursion")], "-engine", "translator", "-only", "is_even", "-trigger", "fib")
        self.assertIn("[ fib was not hit within the calls that -only names, where alone it counts; ", traced.messages)

    def test_let_go(self):
        """when the recording is over there are no breakpoints in the program"""
        program = harness.compile_program("selected")
        recorder = self.start_until_ready(self.folder / "recording", "-only", "chosen", "-trigger", "chosen", "-immediate-stop",
                                          command=[program, "call", "pause", "call"])
        pid = int(pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()[0])
        symbols = subprocess.check_output(["nm", program], text=True)
        address = int(re.search(r"^(\w+) T chosen$", symbols, re.MULTILINE)[1], 16)
        base = next(int(line.split("-")[0], 16) for line in pathlib.Path(f"/proc/{pid}/maps").read_text().split("\n")
                    if line.endswith("selected"))
        with open(f"/proc/{pid}/mem", "rb") as memory, open(program, "rb") as file:
            memory.seek(base + address)
            file.seek(address)
            self.assertEqual(memory.read(4), file.read(4))
        recorder.stdin.write(b"\n")
        recorder.stdin.close()
        self.assertEqual(recorder.stdout.read(), b"12\n")

    def test_refusals(self):
        """unknown names, and what does not go together: before the program runs"""
        program = harness.compile_program("selected")
        for options, why in ((["-only", "nowhere"], b"nowhere, given to -only, is neither a function"),
                             (["-only", "/no/such/library.so"], b"/no/such/library.so"),
                             (["-only", "chosen", "-record-from", "leaf"], b"do not go together"),
                             (["-only", "chosen", "-engine", "qemu"], b"-engine translator")):
            finished = self.magic_trace("run", *options, program, "call")
            self.assertNotEqual(finished.status, 0)
            self.assertIn(why, finished.stderr)
            self.assertEqual(finished.stdout, b"")
