"""decode -decoder perf: stock perf decodes the packets, and the spans are those of our own decoder.

Compared span by span, for every thread: the names, the nesting, and the order of the beginnings, without exception; and
both times of each span. perf stamps a branch with the time of the newest timing packet, so its clock stands still
between such packets. Two times agree when at most one moment of perf's clock lies between them, or SLACK nanoseconds:
our own decoder gives the branches between two such moments distinct times, and gives the time of a packet to the
last branch that it decided, where perf gives it to the first. The translator knows the time every STAMP_DISTANCE only,
and both decoders estimate what lies between, each in its own way.

What perf does not report, and why the spans are still alike here:
- Calls in progress after a PSB, and the instruction at which a ring begins: magic-trace reads these packets itself at
  the beginning of each ring, also when it begins again. After other PSBs they matter only after decode errors, which
  these recordings have none of.
- Branches that were not taken, and 64-bit or 32-bit: read from the code.
"""
import bisect
import collections
import os
import re
import shutil
import stat

import damage
import fxt_spans
import harness
from harness import Settings

TRUTH = harness.TESTS / "truth" / "programs"
# Times were rounded.
SLACK = 2
STAMP_DISTANCE = 640  # ns
MOMENTS = 1


def spans_in_order(path):
    """Thread -> [[depth, name, begin, end]] in the order in which they begin, also where they share a time. Without pauses, which
    lie elsewhere in the code where times are less exact."""
    records = fxt_spans.Records(path)
    threads, active = collections.defaultdict(list), collections.defaultdict(list)
    for kind, header, time, thread, _ in records.events():
        name = records.text(header >> 48)
        if kind == fxt_spans.EVENT_BEGIN:
            depth = sum(span[1] not in fxt_spans.NOT_RUNNING for span in active[thread])
            active[thread].append([depth, name, time, None])
            if name not in fxt_spans.NOT_RUNNING:
                threads[thread].append(active[thread][-1])
        elif kind == fxt_spans.EVENT_END:
            active[thread].pop()[3] = time
    return threads


class PerfDecoder(harness.TestCase):
    SLACK = STAMP_DISTANCE + SLACK

    def setUp(self):
        super().setUp()
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")

    def decode(self, decoder, recording, *arguments, expect=0, **options):
        """Path of the trace, and what was said."""
        trace = self.folder / f"{decoder}.fxt"
        finished = self.magic_trace("decode", "-decoder", decoder, "-o", trace, *arguments, recording, **options)
        messages = finished.stderr.decode(errors="replace")
        self.assertEqual(finished.status, expect, messages)
        return trace, messages

    def record(self, command, *options, **process):
        traced = self.trace(command, "-no-decode", *options, **process)
        return traced.directory

    def moments(self, recording):
        """Thread -> the times of perf's clock in it, since the first."""
        finished = harness.run(["perf", "script", "-i", recording / "perf.data", "--ns", "--itrace=b", "-F",
                                "pid,tid,time"])
        self.assertEqual(finished.status, 0, finished.stderr)
        threads = collections.defaultdict(set)
        for pid, tid, seconds, nanoseconds in re.findall(rb"^ *(\d+)/(\d+) +(\d+)\.(\d+):", finished.stdout, re.MULTILINE):
            threads[int(pid), int(tid)].add(int(seconds) * 10**9 + int(nanoseconds))
        first = min(min(times) for times in threads.values())
        return {thread: sorted(time - first for time in times) for thread, times in threads.items()}

    def assert_same_time(self, left, right, moments, what):
        earlier, later = sorted((left, right))
        between = bisect.bisect_left(moments, later - self.SLACK) - bisect.bisect_right(moments, earlier + self.SLACK)
        self.assertLessEqual(between, MOMENTS, f"{what}: {left} and {right} ns have {between} moments of perf between them")

    def compare(self, recording, times=True):
        """Number of spans."""
        native, native_messages = self.decode("native", recording)
        perf, perf_messages = self.decode("perf", recording)
        self.judge_trace(perf)
        expected, actual = spans_in_order(native), spans_in_order(perf)
        self.assertEqual(set(actual), set(expected))
        for thread, spans in expected.items():
            for number, (one, other) in enumerate(zip(spans, actual[thread])):
                self.assertEqual(other[:2], one[:2], f"span {number} of thread {thread}")
            self.assertEqual(len(actual[thread]), len(spans))
        self.assert_same_words(native_messages, perf_messages)
        if times:
            moments = self.moments(recording)
            for thread, spans in expected.items():
                for one, other in zip(spans, actual[thread]):
                    for at in (2, 3):
                        self.assert_same_time(one[at], other[at], moments[thread], f"{one[1]} of thread {thread}")
        return sum(map(len, expected.values()))

    def assert_same_words(self, native, perf):
        """Calls, threads, instructions, gaps: all that is said but for the length of the trace and its name."""
        def words(messages):
            lines = re.findall(r"^\[ (?!The trace is in ).*\b(?:calls?|gaps?|repaired)\b.*$", messages, re.MULTILINE)
            return [re.sub(r" over \S+ \S+:", ":", line) for line in lines]
        self.assertEqual(words(perf), words(native))

    def check(self, command, *options, **process):
        self.assertGreater(self.compare(self.record(command, "-full-execution", *options, **process)), 100)

    def compile_truth(self, name):
        source = next(TRUTH.glob(f"*/{name}"))
        compiler = {".c": ["gcc", "-w", "-pthread"], ".cpp": ["g++", "-w", "-std=c++20", "-pthread"],
                    ".ml": ["ocamlopt", "-I", "+unix", "unix.cmxa"]}[source.suffix]
        if not shutil.which(compiler[0]):
            self.skipTest(f"{compiler[0]} is not installed")
        shutil.copy(source, self.folder)
        program = self.folder / source.stem
        finished = harness.run([*compiler, "-g", "-o", program, self.folder / name])
        self.assertEqual(finished.status, 0, finished.stderr)
        return program


class DenseTimes(PerfDecoder):
    """Recordings of qemu, whose packets have a time for every few branches."""
    ENGINE = "qemu"
    SLACK = SLACK

    def test_dense_threads(self):
        """four threads, emulated: times agree to the nanosecond"""
        self.check([harness.compile_program("threads")], "-multi-thread")

    def test_dense_exceptions(self):
        """C++ exceptions, emulated: times agree to the nanosecond"""
        self.check([self.compile_truth("catch_base_class.cpp")])


class Programs(PerfDecoder):
    """Ten recordings, and more."""

    def test_recursion(self):
        """recursion: what filters by symbol name lose"""
        self.check([harness.compile_program("recursion")])

    def test_callbacks(self):
        """qsort with callbacks, and calls through a table"""
        self.check([harness.compile_program("callbacks")])

    def test_threads(self):
        """four threads"""
        self.check([harness.compile_program("threads")], "-multi-thread")

    def test_signals(self):
        """signals, and faults with siglongjmp out of the handler"""
        self.check([harness.compile_program("signals")])

    def test_longjmp(self):
        """longjmp out of many frames"""
        self.check([harness.compile_program("longjmp")])

    def test_processes(self):
        """fork, vfork and exec"""
        self.check([harness.compile_program("processes")], "-follow")

    def test_generated_code(self):
        """code that is in no file"""
        self.check([harness.compile_program("generated_code")])

    def test_exceptions(self):
        """C++ exceptions, caught and thrown again"""
        self.check([self.compile_truth("catch_base_class.cpp")])

    def test_fibers(self):
        """fibers, and longjmp between them"""
        self.check([self.compile_truth("fiber_longjmp.c")])

    def test_ocaml(self):
        """OCaml exceptions, whose handlers only the code shows"""
        self.check([self.compile_truth("raise_kinds.ml")])

    def test_gzip(self):
        """gzip"""
        self.check(["gzip", "-nc", "/bin/true"])

    def test_python(self):
        """python3, from its beginning to its end"""
        if Settings.quick:
            self.skipTest("takes long")
        self.check(["/usr/bin/python3", "-S", "-E", "-c", "print(sum(range(1000)))"])

    def test_ring(self):
        """the end of a run alone: the callers that the recorder wrote, from a ring that was overwritten"""
        recording = self.record([harness.compile_program("deep_snapshot")], "-snapshot-size", "64K")
        self.assertGreater(self.compare(recording, times=False), 100)

    def test_rings_of_programs_that_were_replaced(self):
        """a ring that was overwritten begins again in the middle, after exec: with callchain snapshots, too"""
        recording = self.record(["sh", "-c", "sort /etc/passwd; ls /usr/lib; exec true"], "-follow", "-multi-thread",
                                "-snapshot-size", "8K")
        self.assertGreater(self.compare(recording, times=False), 100)

    # Where perf finds its way, and where it does not

    def test_moved_recording(self):
        """a recording that was moved, of a program that is gone"""
        program = self.folder / "program"
        shutil.copy(harness.compile_program("recursion"), program)
        recording = self.record([program], "-full-execution")
        program.unlink()
        moved = recording.rename(self.folder / "moved")
        self.assertGreater(self.compare(moved, times=False), 100)

    def test_temporary_folder(self):
        """the folder in which perf finds the images is removed"""
        recording = self.record([harness.compile_program("longjmp")])
        temporary = self.folder / "temporary"
        temporary.mkdir()
        self.decode("perf", recording, env=Settings.environment | {"TMPDIR": str(temporary)})
        self.assertEqual(list(temporary.iterdir()), [])
        temporary.rmdir()
        _, messages = self.decode("perf", recording, expect=1, env=Settings.environment | {"TMPDIR": str(temporary)})
        self.assertIn("set TMPDIR", messages)

    def fake_perf(self, script):
        """The environment in which `perf` is this shell script; $perf is the real one."""
        folder = self.folder / "bin"
        folder.mkdir()
        path = folder / "perf"
        path.write_text(f"#!/bin/sh\nperf={shutil.which('perf')}\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Settings.environment | {"PATH": f"{folder}:{os.environ['PATH']}"}

    def test_older_perf(self):
        """a perf that knows no filters prints text, of which the same calls are made"""
        version = re.search(rb"(\d+)\.(\d+)", harness.run(["perf", "--version"]).stdout)
        if version and (int(version[1]), int(version[2])) >= (6, 12):
            self.skipTest("this perf takes code from debug files below --symfs: that older one does not")
        recording = self.record([harness.compile_program("longjmp")], "-full-execution")
        environment = self.fake_perf('case "$*" in *--list-dlfilters*|*--dlfilter*) exit 129;; esac\nexec $perf "$@"')
        trace, messages = self.decode("perf", recording, env=environment)
        self.assertIn("before Linux 5.14", messages)
        self.assertIn("of text", messages)
        native, _ = self.decode("native", recording)
        names = {"main", "attempt", "dive"}
        calls = [[name for spans in spans_in_order(path).values() for _, name, _, _ in spans if name in names]
                 for path in (native, trace)]
        self.assertEqual(calls[1], calls[0])
        self.assertGreater(len(calls[0]), 100)

    def test_no_perf(self):
        """without perf: what to install"""
        recording = self.record(["/bin/true"])
        _, messages = self.decode("perf", recording, expect=1, env=Settings.environment | {"PATH": str(self.folder)})
        self.assertIn("apt-get install linux-perf", messages)
        self.assertFalse((self.folder / "perf.fxt").exists())

    def test_failing_perf(self):
        """a perf that fails: its own words"""
        recording = self.record(["/bin/true"])
        environment = self.fake_perf('case "$*" in *--list*) exit 0;; esac\necho no such luck >&2; exit 3')
        _, messages = self.decode("perf", recording, expect=1, env=environment)
        self.assertIn("failed with status 3:\nno such luck", messages)

    def test_perf_that_ends_early(self):
        """a perf that is killed: what came before is shown, and it is said"""
        recording = self.record([harness.compile_program("longjmp")], "-full-execution")
        environment = self.fake_perf('case "$*" in *--list*) exit 0;; esac\n$perf "$@" | head -c 100000; kill -9 $$')
        trace, messages = self.decode("perf", recording, expect=1, env=environment)
        self.assertIn("was killed by signal 9", messages)
        self.assertGreater(sum(self.spans(trace).values()), 100)

    def test_damaged_recording(self):
        """damaged packets: gaps, and a trace that is well formed"""
        recording = self.record([harness.compile_program("longjmp")], "-full-execution")
        data = recording / "perf.data"
        content = bytearray(data.read_bytes())
        begin, size = damage.find_packets(content)
        for offset in range(begin + size // 2, begin + size, size // 10):
            content[offset] ^= 0xff
        data.write_bytes(content)
        trace, messages = self.decode("perf", recording)
        self.assertRegex(messages, r"\d+ gaps? in the trace")
        self.judge_trace(trace)

    def test_unknown_decoder(self):
        """-decoder knows two words"""
        finished = self.magic_trace("decode", "-decoder", "libipt", "recording")
        self.assertEqual(finished.status, 2)
        self.assertIn(b"-decoder is native or perf", finished.stderr)
