"""Spans per function equal the program's own counts, exactly; traces are well formed; all judges agree."""
import shutil
import subprocess

import harness


class Counts(harness.TestCase):
    OPTIONS = ["-engine", "qemu", "-full-execution"]

    def check(self, command, *options, from_stderr=False):
        """Traces, compares with the program's own COUNT lines and with an untraced run, asks all judges."""
        traced = self.trace(command, *self.OPTIONS, *options)
        spans = self.spans(traced.trace)
        counts = harness.counts_in(traced.stdout + (traced.stderr if from_stderr else b""))
        self.assertTrue(counts, "the program printed no counts")
        self.assert_counts(traced, counts, spans)
        self.assert_same_as_untraced(traced, command)
        self.judge_recording(traced, "bei")
        self.assert_no_gaps(traced)
        return traced, spans

    def test_recursion(self):
        """fib(20) and mutual recursion"""
        _, spans = self.check([harness.compile_program("recursion")])
        self.assertEqual(spans["fib"], 21891)

    def test_perf_dump(self):
        """`perf report -D` reads a recording to its end without complaint"""
        traced = self.trace([harness.compile_program("recursion")], *self.OPTIONS)
        finished = harness.run(["perf", "report", "-D", "-i", traced.directory / "perf.data"])
        self.assertEqual((finished.status, finished.stderr), (0, b""))
        self.assertIn(b"PERF_RECORD_AUXTRACE", finished.stdout)

    def test_callbacks(self):
        """qsort with 533 comparisons, and calls through a table"""
        _, spans = self.check([harness.compile_program("callbacks")])
        self.assertEqual(spans["compare"], 533)

    def test_longjmp(self):
        """longjmp out of many frames"""
        self.check([harness.compile_program("longjmp")])

    def test_signals(self):
        """signals sent, by timer, and faults with siglongjmp out of the handler"""
        self.check([harness.compile_program("signals")], from_stderr=True)

    def test_dynamic_library(self):
        """a library loaded, unloaded and loaded again"""
        library = harness.compile_program("library", ["-shared", "-fPIC"])
        traced, _ = self.check([harness.compile_program("dynamic_library"), library])
        categories = self.judge_trace(traced.trace)["categories"]
        self.assertIn("main", categories[""])
        self.assertIn("library_run", categories["library"])
        self.assertIn("[syscall]", categories["special"])
        self.assertNotIn("main", categories["library"])
        self.assertNotIn("library_run", categories[""])

    def test_threads(self):
        """four threads with -multi-thread"""
        traced, _ = self.check([harness.compile_program("threads")], "-multi-thread")
        threads = self.judge_trace(traced.trace)["threads"]
        self.assertEqual(len(threads), 5)

    def test_one_thread(self):
        """without -multi-thread one thread is traced, and the summary says what would show the others"""
        traced = self.trace([harness.compile_program("threads")], *self.OPTIONS)
        spans = self.spans(traced.trace)
        self.assertEqual(spans["main"], 1)
        self.assertEqual(spans["descend"], 0)
        self.assertRegex(traced.messages, r"(?i)ran untraced: .*-multi-thread")

    def test_generated_code(self):
        """code written at run time, and overwritten in place"""
        self.check([harness.compile_program("generated_code")])

    def test_moved_recording(self):
        """a recording that was moved, and the perf.data in it, still find the code that was in no file"""
        traced = self.trace([harness.compile_program("generated_code")], *self.OPTIONS)
        moved = traced.directory.rename(self.folder / "moved")
        for recording in (moved, moved / "perf.data"):
            finished = self.magic_trace("decode", recording)
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertNotIn(b"in the trace (", finished.stderr)

    def test_odd_instructions(self):
        """calls across a page boundary, rep, call to the next instruction, blocks of 1000 instructions"""
        command = [harness.compile_program("odd_instructions")]
        self.check(command)

    def test_static(self):
        """a statically linked program"""
        program = harness.compile_program("recursion_static", ["-static"],
                                          harness.PROGRAMS / "recursion.c")
        self.check([program])

    def test_not_relocatable(self):
        """a program that is not position independent"""
        program = harness.compile_program("callbacks_no_pie", ["-no-pie"],
                                          harness.PROGRAMS / "callbacks.c")
        self.check([program])

    def test_optimized(self):
        """tail calls and inlined functions of an optimized program do not unbalance the stack"""
        program = harness.compile_program("recursion_optimized", ["-O2"],
                                          harness.PROGRAMS / "recursion.c")
        traced = self.trace([program], *self.OPTIONS)
        self.assertEqual(self.spans(traced.trace)["main"], 1)
        self.judge_recording(traced)
        self.assert_no_gaps(traced)

    def test_stripped(self):
        """a program without symbols still decodes without error"""
        program = harness.compile_program("recursion")
        stripped = self.folder / "stripped"
        shutil.copy(program, stripped)
        subprocess.run(["strip", stripped], check=True)
        traced = self.trace([stripped], *self.OPTIONS)
        self.judge_trace(traced.trace)
        self.assert_no_gaps(traced)
