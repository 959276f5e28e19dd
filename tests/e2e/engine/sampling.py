"""Recordings of samples with call stacks: as stock perf makes them, and our own."""
import collections
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess

import harness
from bad_input import small_disk
from harness import Settings, wait_until
from watchdog import children_of, processor_seconds

FRAME_POINTERS = ("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")
NO_FRAME_POINTERS = ("-fomit-frame-pointer",)
PARTS = {"seventy": 70, "twenty": 20, "ten": 10}
TOLERANCE = 1  # percentage points, of what is no chance
DEVIATIONS = 5  # standard deviations, of what is
NAP = 30_000_000  # nanoseconds; of tests/programs/shares.c
SWITCH_RECORD = 40  # bytes in perf.data: a header, and sample_id_all's fields


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
    """Percent of the time within main that each part takes; page faults, which some machines take long for, left out."""
    total = sum(time for stack, time in stacks.items() if "touch_new_pages" not in stack)
    return {part: 100 * sum(time for stack, time in stacks.items() if part in stack) / total for part in PARTS}


def without_callers(stacks):
    """What the kernel follows before a function has set its frame pointer: its caller is missing. Whether a sample falls
    there is chance."""
    return {stack[:-2] + stack[-1:] for stack in stacks}


def end_process(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class SamplingCase(harness.TestCase):
    def program(self, flags):
        name = "shares" + "".join(flags)
        return harness.compile_program(name, flags=flags, source=harness.PROGRAMS / "shares.c")

    def decode(self, recording):
        """What folded() gives for its trace."""
        trace, text = self.folder / "trace.fxt", self.folder / "trace.folded"
        finished = self.magic_trace("decode", "-stats", "-o", trace, recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.judge_trace(trace)
        self.samples = json.loads(finished.stdout)["samples"]
        finished = self.magic_trace("decode", "-format", "folded", "-o", text, recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        return folded(text)

    def assert_shares(self, stacks):
        """Of the recording decoded last. How many samples there are is up to the machine: a busy one misses most."""
        found = shares(stacks)
        for part, expected in PARTS.items():
            deviation = math.sqrt(expected * (100 - expected) / self.samples)
            self.assertAlmostEqual(found[part], expected, delta=TOLERANCE + DEVIATIONS * deviation,
                                   msg=f"{found} by {self.samples} samples")


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
                                    command=[self.program(FRAME_POINTERS), "2000", "4"])
            stacks, _ = self.decode(recording)
            self.assert_shares(stacks)
            found.append({stack for stack in stacks if stack[-1] == "work"})
        expected = {("main", "seventy", "work"), ("main", "twenty", "work"),
                    ("main", "ten", "deep", "deep", "deep", "deep", "work")}
        self.assertEqual(found[0] - without_callers(expected), expected)
        self.assertEqual(found[1], expected)

    def test_no_frame_pointers(self):
        """without frame pointers, saved stacks are unwound to their end"""
        recording = self.record("-e", "cpu-clock:u", "-F", "1999", "--call-graph", "dwarf",
                                command=[self.program(NO_FRAME_POINTERS), "2000", "10"])
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
                                    command=[self.program(FRAME_POINTERS), "1500", "0", "20"])
            stacks, _ = self.decode(recording)
            spans = self.span_list(self.folder / "trace.fxt")
            whole = max(span.end for span in spans) - min(span.begin for span in spans)
            self.assertLess(sum(stacks.values()), whole - 20 * NAP * 0.9)
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
        self.assertRegex(text, r"(read(@.*)?|__internal_syscall_cancel);(entry_SYSCALL_64_after_hwframe;do_syscall_64|\[kernel\])")

    def test_other_events(self):
        """samples of other events are marks on tracks of their own"""
        recording = self.record("-e", "cpu-clock:u", "-e", "page-faults:u", "-F", "1999", "-g",
                                command=[self.program(FRAME_POINTERS), "100"])
        self.decode(recording)
        report = self.magic_trace("report", "-tree", self.folder / "trace.fxt")
        self.assertIn(b"page-faults:u of shares", report.stdout)
        self.assertNotIn(b"cpu-clock:u of shares", report.stdout)

    def test_dump(self):
        """there are no packets and branches to be printed, which is said; counts and filters work"""
        recording = self.record("-e", "cpu-clock:u", "-F", "1999", "-g", command=[self.program(FRAME_POINTERS), "200"])
        for what, words in ("-packets", b"no Intel PT recording"), ("-branches", b"samples of call stacks"):
            dumped = self.magic_trace("dump", what, recording)
            self.assertEqual(dumped.status, 1)
            self.assertIn(words, dumped.stderr)
        finished = self.magic_trace("decode", "-stats", "-filter", "(twenty ten)", "-o", "part.fxt", recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertGreater(json.loads(finished.stdout)["samples"], 0)
        spans = self.spans(self.folder / "part.fxt")
        self.assertIn("twenty", spans)
        self.assertFalse(spans.get("ten"))

    def test_forms(self):
        """whole machine, per thread, compressed, through a pipe, without call stacks"""
        command = [self.program(FRAME_POINTERS), "100"]
        for options in (["-g", "-a"], ["-g", "--per-thread"], ["-g", "-z"], ["-g", "--threads"], []):
            with self.subTest(options=options):
                stacks, _ = self.decode(self.record("-e", "cpu-clock:u", "-F", "1999", *options, command=command,
                                                    output=f"form{''.join(options)}.data"))
                if "-g" in options:
                    self.assertTrue(("main", "seventy", "work") in stacks)
                if "--per-thread" in options:  # without times
                    self.assert_shares(stacks)
        finished = harness.run(["perf", "record", "-e", "cpu-clock:u", "-g", "-o", "-", "--", *command],
                               cwd=self.folder)
        decoded = self.magic_trace("decode", "-o", "piped.fxt", "-", input=finished.stdout)
        self.assertEqual(decoded.status, 0, decoded.stderr)


class Engine(SamplingCase):
    """Our own: magic-trace run -sampling, attach -sampling."""

    OFTEN = ("-timer-resolution", "(Sample ((freq 1999)))")

    def sample(self, command, *options, mode="fp"):
        return self.trace(command, "-sampling", "-callgraph-mode", mode, *self.OFTEN, *options)

    def test_shares(self):
        """run -sampling of a program that spends 70, 20 and 10 % in three functions: so says the trace"""
        traced = self.sample([self.program(FRAME_POINTERS), "3000"], "-full-execution")
        stacks, _ = self.decode(traced.directory)
        self.assert_shares(stacks)
        self.assertEqual(traced.session()["engine"], "sample")
        self.assertEqual(traced.session()["callgraph"], "fp")

    def test_modes(self):
        """-callgraph-mode fp and dwarf agree with frame pointers; without, dwarf has whole stacks"""
        expected = {("main", "seventy", "work"), ("main", "twenty", "work"),
                    ("main", "ten", "deep", "deep", "deep", "deep", "work")}
        for mode, flags in ("fp", FRAME_POINTERS), ("dwarf", FRAME_POINTERS), ("dwarf", NO_FRAME_POINTERS):
            with self.subTest(mode=mode, flags=flags):
                traced = self.sample([self.program(flags), "2000", "4"], "-full-execution", mode=mode)
                stacks, roots = self.decode(traced.directory)
                self.assert_shares(stacks)
                chance = without_callers(expected) if mode == "fp" else set()
                self.assertEqual({stack for stack in stacks if stack[-1] == "work"} - chance, expected)
                if mode == "dwarf":
                    whole = sum(time for root, time in roots.items() if root[:1] == ("_start",))
                    self.assertGreater(whole, 0.99 * sum(roots.values()), roots)

    def test_perf_reads_it(self):
        """stock perf reads our recordings of samples"""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        traced = self.sample([self.program(FRAME_POINTERS), "200"], "-events", "page-faults")
        text = harness.run(["perf", "script", "-i", traced.directory / "perf.data"])
        self.assertEqual(text.status, 0, text.stderr)
        self.assertIn(b"seventy", text.stdout)
        self.assertIn(b"page-faults:u", text.stdout)
        self.assertNotIn(b"rror", text.stderr)

    def test_snapshot(self):
        """without -full-execution the last samples are kept, as many as -snapshot-size says"""
        traced = self.sample([self.program(FRAME_POINTERS), "1500"], "-snapshot-size", "64K")
        self.assertLess((traced.directory / "perf.data").stat().st_size, 160 << 10)
        self.decode(traced.directory)
        self.assertGreater(self.samples, 0)

    def test_events(self):
        """-events adds tracks of marks"""
        traced = self.sample([self.program(FRAME_POINTERS), "200", "0", "5"], "-events",
                             "page-faults,context-switches")
        report = self.magic_trace("report", "-tree", traced.trace).stdout
        self.assertIn(b"page-faults:u of shares", report)
        self.assertIn(b"context-switches:u of shares", report)

    def test_kernel(self):
        """-trace-include-kernel: its functions by name, on top of what called it"""
        if os.geteuid() != 0:
            self.skipTest("only root may look into the kernel")
        traced = self.sample(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=3000"], "-trace-include-kernel")
        finished = self.magic_trace("decode", "-format", "folded", "-o", "kernel.folded", traced.directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn("entry_SYSCALL_64_after_hwframe;do_syscall_64",
                      (self.folder / "kernel.folded").read_text())

    def test_threads_and_children(self):
        """-multi-thread and -follow: all threads, all processes"""
        program = self.program(FRAME_POINTERS)
        traced = self.sample(["sh", "-c", f"{program} 100 & {program} 100; wait"], "-follow", "-full-execution")
        threads = self.judge_trace(traced.trace)["threads"]
        shares_of = [thread for thread in threads if thread["spans"].get("seventy")]
        self.assertEqual(len(shares_of), 2)
        traced = self.sample([harness.compile_program("spinning"), "4", "100"], "-multi-thread", "-full-execution",
                             "-timer-resolution", "Normal")
        threads = self.judge_trace(traced.trace)["threads"]
        self.assertEqual(len([thread for thread in threads if thread["spans"].get("spin")]), 4)
        alone = self.sample(["sh", "-c", f"{program} 100; {program} 100"], "-full-execution")
        self.assertFalse(self.spans(alone.trace).get("seventy"))

    def test_no_sample(self):
        """a program that ends before the first sample: an empty trace, and what to do is said"""
        traced = self.sample([shutil.which("true")], "-full-execution", "-timer-resolution", "(Sample((freq 1)))")
        self.assertIn("no sample was taken", traced.messages)
        self.assertEqual(self.judge_trace(traced.trace)["spans"], 0)

    def attach(self, milliseconds, naps, *options):
        """Attaches to shares, which begins to work when that is done, and goes on unharmed to its end."""
        process = subprocess.Popen([self.program(FRAME_POINTERS), milliseconds, "0", naps, "wait"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        started = subprocess.Popen([Settings.binary, "attach", "-pid", str(process.pid), "-sampling", "-callgraph-mode", "fp",
                                    *options, "-working-directory", "attached", "-o", "attached.fxt"],
                                   stderr=subprocess.PIPE, cwd=self.folder, env=Settings.environment)
        messages = harness.read_until(started.stderr, b"Attached.")
        process.stdin.write(b"\n")
        process.stdin.close()
        messages += started.communicate()[1]
        self.assert_not_crashed(harness.Finished(started.returncode, b"", messages))
        self.assertEqual(started.returncode, 0, messages)
        self.assertEqual(process.stdout.read(), b"done\n")
        stacks, _ = self.decode(self.folder / "attached")
        return stacks, messages

    @harness.needs_breakpoints
    def test_attach(self):
        """attach -sampling: the past of a running process, up to the trigger; it goes on unharmed"""
        stacks, messages = self.attach("600", "3", "-trigger", "napping")
        self.assertIn(b"Snapshot taken.", messages)
        self.assertIn("seventy", self.spans(self.folder / "attached.fxt"))
        session = json.loads((self.folder / "attached" / "session.json").read_text())
        self.assertEqual(len(session["hits"]), 1)
        self.assertTrue(stacks)

    def test_attach_until_the_end(self):
        """attach -sampling without a trigger: until the process ends"""
        stacks, _ = self.attach("2500", "0", "-full-execution")
        self.assert_shares(stacks)

    def test_damage(self):
        """a damaged recording of saved stacks is decoded as far as it goes, or refused; never worse"""
        traced = self.sample([self.program(NO_FRAME_POINTERS), "30", "5"], "-full-execution", mode="dwarf")
        whole = (traced.directory / "perf.data").read_bytes()
        chance = random.Random(6)
        damaged = self.folder / "damaged.data"
        for number in range(8 if Settings.quick else 20):
            contents = bytearray(whole)
            for _ in range(chance.choice([1, 20, 500])):
                contents[chance.randrange(104, len(contents))] = chance.choice([0, 1, 0x7F, 0xFF, chance.randrange(256)])
            if number % 4 == 0:
                del contents[chance.randrange(len(contents)):]
            damaged.write_bytes(contents)
            self.magic_trace("decode", "-format", "folded", "-o", "damaged.folded", damaged)

    @harness.needs_breakpoints
    def test_early_trigger(self):
        """a function that the program, or a library, runs once and before all others is not missed"""
        library = harness.compile_program("library", ["-shared", "-fPIC"])
        program = harness.compile_program("early_call", ["-Wl,--no-as-needed", library, f"-Wl,-rpath,{pathlib.Path(library).parent}"])
        for trigger in ("main", "library_run", "_start"):
            for _ in range(3):
                finished = self.magic_trace("run", "-sampling", "-trigger", trigger, "-no-decode", "-working-directory",
                                            self.folder / "early", "-forward-exit-status", program)
                self.assertEqual(finished.status, 0, finished.stderr)
                self.assertIn(b"[ Snapshot taken. ]", finished.stderr, trigger)
                self.assertIn(b"COUNT library_run 1", finished.stdout)

    def test_samples_are_no_calls(self):
        """what is shown of samples says so: no counts of calls, no lengths of calls; in the trace's report as in the recording's"""
        traced = self.trace([self.program(FRAME_POINTERS), "300"], "-sampling")
        self.assertIn("[ These are samples, not calls: ", traced.messages)
        self.assertNotRegex(traced.messages, r"[0-9] calls?\b")
        for operand in (traced.trace, traced.directory):
            text = self.magic_trace("report", operand).stdout.decode()
            self.assertIn("Note: these are samples, not calls.", text)
            self.assertRegex(text, r"(?m)^ +spans +total +self +self%")
            self.assertNotRegex(text, r"[0-9] calls? in")
            tree = self.magic_trace("report", "-tree", operand).stdout.decode()
            self.assertIn("Samples, not calls: ", tree)
            self.assertRegex(tree, r"(?m)^ +offset +duration +samples$")
            row = next(line for line in text.splitlines() if line.endswith(" main")).split()
            self.assertEqual(row[-5:-1], ["-"] * 4, "the length of a call is not known")
        finished = self.magic_trace("export", "-format", "csv", "-output", "-", traced.trace)
        self.assertIn(b"\nsamples,", finished.stdout)
        self.assertNotIn(b"\ncall,", finished.stdout)
        exported = self.folder / "exported.json"
        self.assertEqual(self.magic_trace("export", "-format", "chrome", "-o", exported, traced.trace).status, 0)
        self.assertEqual(json.loads(exported.read_text())["otherData"]["spans"], "of samples, not calls")

    def start(self, *options):
        """The engine in the background on a program that runs until it is killed, its folder and the program's pid."""
        directory = self.folder / f"killed{len(list(self.folder.glob('killed*')))}"
        started = subprocess.Popen([Settings.binary, "run", "-sampling", "-no-decode", "-working-directory", directory, *options,
                                    harness.compile_program("spinning"), "1", "600000"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder)
        self.addCleanup(started.stderr.close)
        program = wait_until(lambda: [pid for pid in children_of(started.pid)
                                      if pathlib.Path(f"/proc/{pid}/comm").read_text() == "spinning\n"])[0]
        self.addCleanup(end_process, program)
        used = processor_seconds([program])
        wait_until(lambda: processor_seconds([program]) > used + 0.1)
        return started, directory, program

    def test_killed(self):
        """kill -9 of magic-trace while it samples: the program runs on, the samples until then are decoded"""
        for options in ((), ("-full-execution",), ("-multi-thread",)):
            started, directory, program = self.start(*options)
            finished = self.magic_trace("decode", "-o", self.folder / "early.fxt", directory)
            self.assertEqual(finished.status, 1, "it is still being recorded")
            started.kill()
            started.wait()
            wait_until(lambda: (directory / "perf.data").exists())
            used = processor_seconds([program])
            wait_until(lambda: processor_seconds([program]) > used + 0.02)
            finished = self.magic_trace("decode", "-stats", "-o", self.folder / "t.fxt", directory)
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertGreater(json.loads(finished.stdout)["samples"], 10)

    def test_disk_full(self):
        """a full disk ends the recording, not the program; what was sampled until then is decoded"""
        with small_disk(self.folder / "disk", "4m") as disk:
            finished = self.magic_trace("run", "-sampling", "-full-execution", "-callgraph-mode", "dwarf", "-working-directory",
                                        disk / "r", "-o", self.folder / "t.fxt", self.program(FRAME_POINTERS), "3000")
            # Who is first depends on the scheduler: the recorder's look at what is free, or the write that fails.
            if finished.status == 0:
                self.assertIn(b"so that the disk", finished.stderr)
            else:
                self.assertEqual(finished.status, 1, finished.stderr)
                self.assertRegex(finished.stderr, b"the disk is full|No space left on device")
                self.assertIn(f"magic-trace decode {disk / 'r'}".encode(), finished.stderr)
            finished = self.magic_trace("decode", "-stats", "-o", self.folder / "t.fxt", disk / "r")
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertGreater(json.loads(finished.stdout)["samples"], 10)

    @harness.needs_breakpoints
    def test_several_snapshots(self):
        """-multi-snapshot: what one snapshot took is not taken again"""
        traced = self.sample([self.program(FRAME_POINTERS), "2000", "0", "4"], "-trigger", "napping", "-multi-snapshot")
        self.assertEqual(len(traced.session()["hits"]), 4)
        stacks, _ = self.decode(traced.directory)
        self.assert_shares(stacks)
        if not shutil.which("perf"):
            self.skipTest("perf, which lists the samples and switches, is not installed")
        data = traced.directory / "perf.data"
        times = harness.run(["perf", "script", "-F", "tid,time", "--ns", "-G", "-i", data]).stdout.splitlines()
        self.assertEqual(len(set(times)), len(times))
        # Without the records of context switches, of which a busy machine has many.
        switches = harness.run(["perf", "script", "--show-switch-events", "-i", data]).stdout.count(b"PERF_RECORD_SWITCH")
        self.assertLess(data.stat().st_size - switches * SWITCH_RECORD, 1 << 20)

    def test_refusals(self):
        """what cannot be is said, with what to do"""
        finished = self.magic_trace("run", "-sampling", "-callgraph-mode", "lbr", "true")
        if finished.status == 0:
            self.skipTest("this machine remembers calls")
        self.assertIn(b"-callgraph-mode dwarf", finished.stderr)
        finished = self.magic_trace("attach", "-pid", "999999999", "-sampling")
        self.assertNotEqual(finished.status, 0)
        self.assertIn(b"999999999", finished.stderr)
        finished = self.magic_trace("run", "-sampling", "-no-decode", "-working-directory", "gone", "./no-such-program")
        self.assertNotEqual(finished.status, 0)
        self.assertFalse(list(self.folder.glob("gone/perf.data*")))
