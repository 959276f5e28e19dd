"""Memory that decoding takes, per flow event, and that reports take."""
import re
import subprocess
import sys

import harness
from harness import Settings

MOST_BYTES = 40  # per flow event, for decoding and writing
MOST_OF_REPORT = 200 << 20  # bytes; what each stack as a list of its frames would take is 1.6 GB and more
DEPTH = 40000
# A process counts the memory of the one that started it as its own, up to its exec (getrusage(2)): so this small one starts it.
MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Memory(harness.TestCase):
    def peak_of(self, arguments, stdout=None):
        """Largest resident size of magic-trace, bytes."""
        finished = subprocess.run([sys.executable, "-c", MEASURE, Settings.binary, *map(str, arguments)], stdout=stdout,
                                  stderr=subprocess.PIPE, env=Settings.environment, check=False)
        text, _, kilobytes = finished.stderr.decode().rstrip("\n").rpartition("\n")
        self.assertEqual(finished.returncode, 0, text)
        return int(kilobytes) * 1024, text

    def test_bytes_per_event(self):
        """decoding and writing takes at most 40 bytes more per flow event (two per call)"""
        if Settings.quick:
            self.skipTest("a sanitizer's memory is not the program's")
        program = harness.compile_program("calls", source=self.make_program())
        peaks = []
        for calls in (100000, 3000000):
            traced = self.trace([program, str(calls)], "-full-execution", "-no-decode")
            peak, text = self.peak_of(["decode", traced.directory, "-o", "/dev/null"])
            spans = int(re.search(r"\[ ([\d,]+) calls in", text).group(1).replace(",", ""))
            # The recording is mapped and read once; its pages are the kernel's to reclaim, not memory we hold.
            peaks.append((2 * spans, peak - (traced.directory / "perf.data").stat().st_size))
        (few, small), (many, large) = peaks
        per_event = (large - small) / (many - few)
        print(f"      {per_event:.1f} bytes per flow event")
        self.assertLessEqual(per_event, MOST_BYTES)

    def test_reports_of_a_deep_recursion(self):
        """reports of a small trace whose stacks are 40,000 deep take little memory"""
        if Settings.quick:
            self.skipTest("a sanitizer's memory is not the program's")
        source = self.folder / "deep.c"
        source.write_text("static volatile int sink;\n"
                          "__attribute__((noinline)) static void down(int n) { sink = n; if (n > 0) down(n - 1); sink = n; }\n"
                          f"int main(void) {{ for (int i = 0; i < 5; i++) down({DEPTH} + i); return 0; }}\n")
        program = harness.compile_program("deep", source=source, flags=["-fno-optimize-sibling-calls"])
        trace = self.folder / "deep.fxt.gz"
        recorded = self.magic_trace("run", "-full-execution", "-o", trace, program)
        self.assertEqual(recorded.status, 0, recorded.stderr)
        self.assertLess(trace.stat().st_size, 4 << 20)
        for arguments in ([], ["-tree"], ["-folded"], ["-json"], ["-json", "-tree"]):
            with self.subTest(arguments=arguments):
                output = self.folder / "report"
                with open(output, "wb") as report:
                    peak, _ = self.peak_of(["report", trace, *arguments], stdout=report)
                with open(output, "rb") as report:
                    self.assertIn(b"down", report.read(1 << 20))
                self.assertLess(peak, MOST_OF_REPORT)

    def make_program(self):
        source = self.folder / "calls.c"
        source.write_text("#include <stdlib.h>\n"
                          "static volatile int sink;\n"
                          "static void leaf(int i) { sink = i; }\n"
                          "int main(int argc, char **argv)\n"
                          "{ for (int i = 0; i < atoi(argv[argc - 1]); i++) leaf(i); return 0; }\n")
        return source
