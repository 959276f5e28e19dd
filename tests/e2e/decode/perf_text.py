"""Text by perf script: the same calls, the same nesting as in the trace of the recording that perf printed.

Text has less than a recording (perf names functions by other aliases and most PLT slots not at all), so names
are compared for the functions of the program itself, which are those that it counts.
"""
import random
import re
import shutil
import subprocess

import harness

FIELDS = "pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period"
BRANCH = re.compile(rb" *\d+/\d+ .* [0-9a-f]+ (\S+)\+0x[0-9a-f]+ \(.*\) => +[0-9a-f]+ (\S+)\+0x[0-9a-f]+ \(.*\)$")


def without_branches_inside_functions(text):
    """What the dlfilter of Jane Street's magic-trace leaves."""
    def stays(line):
        match = BRANCH.match(line)
        return not (match and match[1] == match[2] and re.search(rb" (jcc|jmp) ", line))
    return b"".join(line + b"\n" for line in text.splitlines() if stays(line))


class PerfText(harness.TestCase):
    def setUp(self):
        super().setUp()
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")

    def perf_script(self, traced, fields=FIELDS):
        finished = harness.run(["perf", "script", "-i", traced.directory / "perf.data", "--ns",
                                "--itrace=bep", "-F", fields])
        self.assertEqual(finished.status, 0, finished.stderr)
        return finished.stdout

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def decode(self, *arguments, expect=0, **options):
        trace = self.folder / "text.fxt"
        finished = self.magic_trace("decode", "-o", trace, *arguments, **options)
        self.assertEqual(finished.status, expect, finished.stderr.decode())
        return trace, finished.stderr.decode()

    def nesting(self, trace, names):
        """(thread, depth among those of `names`, name) of each span of `names`, in the order of their beginnings."""
        finished = self.magic_trace("report", "-tree", trace)
        self.assertEqual(finished.status, 0, finished.stderr.decode())
        spans, thread, open_at = [], None, []
        for line in finished.stdout.decode().splitlines():
            header = re.match(r"thread .*\(tid (\d+)\)", line)
            if header:
                thread, open_at = header[1], []
            row = re.match(r".{31}( *)(\S+)", line)
            if not row or row[2] not in names:
                continue
            while open_at and open_at[-1] >= len(row[1]):
                open_at.pop()
            spans.append((thread, len(open_at), row[2]))
            open_at.append(len(row[1]))
        return spans

    def record(self, program, *options):
        traced = self.trace([harness.compile_program(program)], "-full-execution", *options)
        return traced, harness.counts_in(traced.stdout + traced.stderr)

    def assert_same_calls(self, traced, counts, trace):
        self.assert_counts(traced, counts, self.spans(trace))
        expected = self.nesting(traced.trace, counts)
        self.assertTrue(expected)
        self.assertEqual(self.nesting(trace, counts), expected)

    def check(self, program, *options):
        traced, counts = self.record(program, *options)
        text = self.perf_script(traced)
        trace, messages = self.decode(self.file("text", text))
        self.assert_same_calls(traced, counts, trace)
        self.assertIn("of text", messages)
        self.assertNotIn("Skipped", messages)
        self.assertNotIn("repaired", messages)
        return traced, counts, text

    def test_recursion(self):
        """fib(20): the calls and the nesting of the recording; also from text without branches inside functions"""
        traced, counts, text = self.check("recursion")
        filtered = without_branches_inside_functions(text)
        self.assertLess(len(filtered), len(text))
        trace, _ = self.decode(self.file("filtered", filtered))
        self.assert_same_calls(traced, counts, trace)

    def test_callbacks(self):
        """qsort with callbacks, and calls through a table"""
        self.check("callbacks")

    def test_longjmp(self):
        """longjmp out of many frames; also with fewer fields"""
        traced, counts, _ = self.check("longjmp")
        for fields in ("pid,tid,time,flags,ip,addr,sym,symoff", "pid,tid,time,flags,ip,addr,sym,event",
                       "comm,tid,cpu,time,flags,ip,addr,sym,symoff,dso,event"):
            trace, _ = self.decode(self.file("fields", self.perf_script(traced, fields)))
            self.assert_same_calls(traced, counts, trace)

    def test_threads(self):
        """four threads"""
        self.check("threads", "-multi-thread")

    def test_signals(self):
        """signals, and faults with siglongjmp out of the handler; without the conditional jumps, which are many"""
        traced, counts = self.record("signals")
        path = self.folder / "text"
        command = (f"perf script -i {traced.directory}/perf.data --ns --itrace=bep -F {FIELDS}"
                   f" | grep -v ' jcc ' > {path}")
        subprocess.run(command, shell=True, check=True)
        trace, _ = self.decode(path)
        self.assert_same_calls(traced, counts, trace)

    def test_processes(self):
        """fork, vfork and exec: each process, and each program in it"""
        traced = self.trace([harness.compile_program("processes")], "-full-execution", "-follow")
        trace, _ = self.decode(self.file("text", self.perf_script(traced)))
        # The callers of a child's first function are in the recording, but perf does not print them.
        names = set(self.spans(traced.trace)) & {"work", "status_of", "forked"}
        self.assertIn("work", names)
        self.assertEqual(self.nesting(trace, names), self.nesting(traced.trace, names))

    def test_inputs(self):
        """standard input, a pipe, report, -filter and folded stacks"""
        traced, counts = self.record("longjmp")
        text = self.perf_script(traced)
        trace, _ = self.decode("-", input=text)
        self.assert_same_calls(traced, counts, trace)
        path = self.file("text", text)
        trace, _ = self.decode("/dev/stdin", stdin=subprocess.Popen(["cat", path], stdout=subprocess.PIPE).stdout)
        self.assert_same_calls(traced, counts, trace)
        name = max(counts, key=counts.get)
        for arguments in (["report", path], ["report", "-tree", path], ["report", "-folded", path]):
            finished = self.magic_trace(*arguments)
            self.assertEqual(finished.status, 0, finished.stderr.decode())
            self.assertIn(name.encode(), finished.stdout)
        trace, _ = self.decode(path, "-filter", f"({name} main)")
        self.assertIn(name, self.spans(trace))
        trace, messages = self.decode(path, "-format", "folded")
        self.assertIn("folded", messages)
        self.assertIn(name, trace.read_text())

    def test_unknown_lines(self):
        """events that are not shown and lines that are none are counted, with the first of them"""
        text = (b" 1/1 1.0: 1 branches:u: call 4010 main+0x10 (/p) => 5000 f+0x0 (/p)\n"
                b" 1/1 1.1: 1 ptwrite: IP: 0 payload: 0x1 4010 main+0x10 (/p)\n"
                b"what is this\n"
                b" 1/1 1.2: 1 branches:u: return 5010 f+0x10 (/p) => 4015 main+0x15 (/p)\n")
        trace, messages = self.decode(self.file("text", text))
        self.assertEqual(dict(self.spans(trace)), {"main": 1, "f": 1})
        self.assertIn("1 unreadable line (the first: line 3)", messages)
        self.assertIn("1 record of events that are not shown (the first: ptwrite)", messages)

    def test_no_text(self):
        """what is no text is refused with what to do"""
        _, messages = self.decode(self.file("text", b"hello\n"), expect=1)
        self.assertIn("perf script", messages)
        _, messages = self.decode("-", input=b"hello\n", expect=1)
        self.assertIn("standard input", messages)
        self.assertIn("perf script", messages)
        _, messages = self.decode(self.folder / "none", expect=1)
        self.assertIn("No such file", messages)
        self.assertFalse((self.folder / "text.fxt").exists())

    def test_damaged_text(self):
        """lines cut, doubled, joined, bytes flipped: a trace that is well formed, or a message"""
        traced, _ = self.record("longjmp")
        lines = self.perf_script(traced).splitlines(keepends=True)[-600:]
        seeded = random.Random(7)
        for number in range(10 if harness.Settings.quick else 30):
            damaged = list(lines)
            for _ in range(seeded.randint(1, 40)):
                at = seeded.randrange(len(damaged))
                line = bytearray(damaged[at])
                way = seeded.randrange(4)
                if way == 0 and line:
                    line[seeded.randrange(len(line))] ^= 1 << seeded.randrange(8)
                elif way == 1:
                    line = line[:seeded.randint(0, len(line))]
                elif way == 2:
                    line *= 2
                else:
                    line = line.rstrip(b"\n")
                damaged[at] = bytes(line)
            path = self.file(f"damaged{number}", b"".join(damaged))
            trace, _ = self.decode(path)
            self.judge_trace(trace)
