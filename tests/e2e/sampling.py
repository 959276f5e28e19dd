"""Recordings of samples with call stacks: as stock perf makes them, and our own."""
import collections
import os
import pathlib
import shutil

import harness

FRAME_POINTERS = ("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")
NO_FRAME_POINTERS = ("-fomit-frame-pointer",)
PARTS = {"seventy": 70, "twenty": 20, "ten": 10}
TOLERANCE = 3  # percentage points


def folded(path):
    """{stack, a tuple of functions from main on: time}, and the functions outside of main."""
    stacks, roots = collections.Counter(), collections.Counter()
    for line in pathlib.Path(path).read_text().splitlines():
        names, _, time = line.rpartition(" ")
        frames = names.split(";")[1:]  # the first is the thread
        if "main" in frames:
            index = frames.index("main")
            roots[tuple(frames[:index])] += int(time)
            stacks[tuple(frames[index:])] += int(time)
    return stacks, roots


def shares(stacks):
    """Percent of the time within main that each part takes."""
    total = sum(stacks.values())
    return {part: 100 * sum(time for stack, time in stacks.items() if part in stack) / total for part in PARTS}


class SamplingCase(harness.TestCase):
    def program(self, flags):
        name = "shares" + "".join(flags)
        return harness.compile_program(name, flags=flags, source=harness.PROGRAMS / "shares.c")

    def decode(self, recording):
        """Of its trace, what folded() tells."""
        trace, text = self.folder / "trace.fxt", self.folder / "trace.folded"
        finished = self.magic_trace("decode", "-o", trace, recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.judge_trace(trace)
        self.messages = finished.stderr.decode()
        finished = self.magic_trace("decode", "-format", "folded", "-o", text, recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        return folded(text)

    def assert_shares(self, stacks):
        found = shares(stacks)
        for part, expected in PARTS.items():
            self.assertAlmostEqual(found[part], expected, delta=TOLERANCE, msg=str(found))


class StockPerf(SamplingCase):
    def record(self, *options, command, output="perf.data"):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        finished = harness.run(["perf", "record", *options, "-o", self.folder / output, "--", *command],
                               cwd=self.folder)
        if finished.status != 0:
            self.skipTest(f"perf cannot record here: {finished.stderr.decode()}")
        return self.folder / output

    def test_shares(self):
        """perf record -g of a program that spends 70, 20 and 10 % in three functions: so says the trace"""
        recording = self.record("-e", "cpu-clock:u", "-F", "1999", "--call-graph", "fp",
                                command=[self.program(FRAME_POINTERS), "3000"])
        stacks, _ = self.decode(recording)
        self.assert_shares(stacks)

    def test_fp_and_dwarf(self):
        """with frame pointers, stacks that the kernel followed and those unwound from saved ones agree"""
        found = []
        for how in "fp", "dwarf":
            recording = self.record("-e", "cpu-clock:u", "-F", "1999", "--call-graph", how,
                                    command=[self.program(FRAME_POINTERS), "500", "4"])
            stacks, _ = self.decode(recording)
            self.assert_shares(stacks)
            found.append({stack for stack in stacks if stack[-1] == "work"})
        expected = {("main", "seventy", "work"), ("main", "twenty", "work"),
                    ("main", "ten", "deep", "deep", "deep", "deep", "work")}
        self.assertEqual(found[0], expected)
        self.assertEqual(found[1], expected)

    def test_no_frame_pointers(self):
        """without frame pointers, saved stacks are unwound to their end"""
        recording = self.record("-e", "cpu-clock:u", "-F", "1999", "--call-graph", "dwarf",
                                command=[self.program(NO_FRAME_POINTERS), "500", "10"])
        stacks, roots = self.decode(recording)
        self.assert_shares(stacks)
        self.assertIn(("main", "ten") + ("deep",) * 10 + ("work",), stacks)
        whole = sum(time for root, time in roots.items() if root[:1] == ("_start",))
        self.assertGreater(whole, 0.99 * sum(roots.values()), roots)

    def test_deep_stack(self):
        """of a stack deeper than what was saved, the callers are those of the sample before, or it is said"""
        recording = self.record("-e", "cpu-clock:u", "-F", "1999", "--call-graph", "dwarf,1024",
                                command=[self.program(NO_FRAME_POINTERS), "300", "200"])
        finished = self.magic_trace("decode", "-format", "folded", "-o", "cut.folded", recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"are not all known", finished.stderr)
        self.assertIn("[callers not saved];deep;deep", (self.folder / "cut.folded").read_text())

    def test_sleep(self):
        """spans do not stretch over sleep, with records of switches and without"""
        for options in [], ["--switch-events"]:
            recording = self.record("-e", "cpu-clock:u", "-F", "1999", "-g", *options,
                                    command=[self.program(FRAME_POINTERS), "200", "0", "10"])
            stacks, _ = self.decode(recording)
            self.assertLess(sum(stacks.values()), 260e6)  # nanoseconds; with the naps it would be 500
            self.assertGreater(sum(stacks.values()), 100e6)
            self.assert_shares(stacks)

    def test_kernel(self):
        """frames of the kernel are on top of those of the program that called it"""
        if os.geteuid() != 0:
            self.skipTest("only root may look into the kernel")
        recording = self.record("-e", "cpu-clock", "-F", "1999", "-g", command=["dd", "if=/dev/zero", "of=/dev/null",
                                                                               "bs=1M", "count=3000"])
        finished = self.magic_trace("decode", "-format", "folded", "-o", "kernel.folded", recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        text = (self.folder / "kernel.folded").read_text()
        self.assertRegex(text, r"read(@.*)?;(entry_SYSCALL_64_after_hwframe;do_syscall_64|\[kernel\])")

    def test_other_events(self):
        """samples of other events are marks on tracks of their own"""
        recording = self.record("-e", "cpu-clock:u", "-e", "page-faults:u", "-F", "1999", "-g",
                                command=[self.program(FRAME_POINTERS), "100"])
        self.decode(recording)
        report = self.magic_trace("report", "-tree", self.folder / "trace.fxt")
        self.assertIn(b"page-faults:u of shares", report.stdout)
        self.assertNotIn(b"cpu-clock:u of shares", report.stdout)

    def test_forms(self):
        """whole machine, per thread, compressed, through a pipe, without call stacks"""
        command = [self.program(FRAME_POINTERS), "100"]
        for options in (["-g", "-a"], ["-g", "--per-thread"], ["-g", "-z"], ["-g", "--threads"], []):
            with self.subTest(options=options):
                stacks, _ = self.decode(self.record("-e", "cpu-clock:u", "-F", "1999", *options, command=command,
                                                    output=f"form{''.join(options)}.data"))
                if "-g" in options:
                    self.assertTrue(("main", "seventy", "work") in stacks)
        finished = harness.run(["perf", "record", "-e", "cpu-clock:u", "-g", "-o", "-", "--", *command],
                               cwd=self.folder)
        decoded = self.magic_trace("decode", "-o", "piped.fxt", "-", input=finished.stdout)
        self.assertEqual(decoded.status, 0, decoded.stderr)
