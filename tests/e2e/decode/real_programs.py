"""Real programs: no decode error by perf, by libipt and by us, instruction counts equal, and the program's own
output and exit status untouched."""
import hashlib
import json
import shutil
import sys

import harness
from harness import Settings

MOST_CALLS_JUDGED = 300000

PYTHON_THREADS = """
import threading, hashlib, json
results = {}
def work(n):
    data = b"x" * 1000
    for i in range(ROUNDS):
        data = hashlib.sha256(data + bytes([i % 256, n])).digest()
    results[n] = json.loads(json.dumps({"n": n, "d": data.hex()}))["d"]
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(results.items()))
"""

PIPELINE = """#!/bin/bash
set -o pipefail
seq 1 500 | sort -r | head -20 | ./upper | tr '\\n' ' '
for i in 1 2 3; do ./upper <<< "line $i"; done
exit 4
"""

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int value; };
int sum(struct node *n) { int s = 0; for (; n; n = n->next) s += n->value; return s; }
int main(int argc, char **argv) { struct node a = {0, argc}; printf("%d %s\\n", sum(&a), argv[0]); return 0; }
"""


class RealPrograms(harness.TestCase):
    def check(self, command, *options, full=True, **process):
        options = ("-full-execution", *options) if full else options
        traced = self.trace(command, *options, **process)
        self.assert_same_as_untraced(traced, command, **process)
        self.assert_no_gaps(traced)
        self.judge_trace_or_its_end(traced, command, *options, **process)
        self.judge_recording(traced)
        return traced

    def judge_trace_or_its_end(self, traced, command, *options, **process):
        """The checker of traces takes some 10 us per call: of a long run it gets the end, traced once more."""
        if self.calls(traced) > MOST_CALLS_JUDGED:
            snapshot = [option for option in options if option != "-full-execution"]
            traced = self.trace(command, "-snapshot-size", "64K", *snapshot, **process)
        return self.judge_trace(traced.trace)

    def make_input(self, megabytes):
        """Text that compresses like text."""
        path = self.folder / "input"
        words = [hashlib.md5(str(i).encode()).hexdigest()[:2 + i % 9] for i in range(5000)]
        content, i = [], 0
        size = 0
        while size < megabytes * 1000000:
            i = (i * 1103515245 + 12345) % (1 << 31)
            word = words[i % 4999 if i % 3 else i % 97]
            content.append(word)
            size += len(word) + 1
        path.write_text(" ".join(content))
        return path

    def test_ls(self):
        """ls -lR /usr/include"""
        self.check(["ls", "-lR", "/usr/include/linux" if Settings.quick else "/usr/include"])

    def test_gzip(self):
        """gzip of 2 MB: 13 MB of packets"""
        self.check(["gzip", "-nc", self.make_input(0.25 if Settings.quick else 2)])

    def test_xz(self):
        """xz -T2"""
        megabytes, block = (0.25, "64KiB") if Settings.quick else (1, "250KiB")
        self.check(["xz", "-T2", f"--block-size={block}", "-1c", self.make_input(megabytes)],
                   "-multi-thread")

    def test_python(self):
        """python3 with four threads"""
        rounds = "300" if Settings.quick else "1500"
        self.check([sys.executable, "-S", "-c", PYTHON_THREADS.replace("ROUNDS", rounds)],
                   "-multi-thread")

    def test_pipeline(self):
        """a bash pipeline of #! scripts, with -follow"""
        for name, content in (("upper", "#!/bin/sh\nexec tr a-z A-Z\n"), ("main", PIPELINE)):
            (self.folder / name).write_text(content)
            (self.folder / name).chmod(0o755)
        self.check([self.folder / "main"], "-follow", cwd=self.folder)

    def test_compiler(self):
        """cc -c of a C file: driver, cc1 and as"""
        source = self.folder / "source.c"
        source.write_text(SOURCE)
        output = self.folder / "object.o"
        command = ["cc", "-O1", "-c", source, "-o", output]
        traced = self.trace(command, "-follow", "-multi-thread", "-full-execution")
        compiled = output.read_bytes()
        self.assert_same_as_untraced(traced, command)
        self.assertEqual(output.read_bytes(), compiled)
        self.assert_no_gaps(traced)
        judged = self.judge_trace_or_its_end(traced, command, "-follow", "-multi-thread")
        self.assertGreaterEqual(len({thread["pid"] for thread in judged["threads"]}), 3)
        self.judge_recording(traced)

    def check_runtime(self, name, command):
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        if Settings.quick:
            self.skipTest("takes minutes in a sanitizer build")
        traced = self.trace(command, "-multi-thread", "-snapshot-size", "256K")
        self.assertEqual(traced.stdout, harness.run(command).stdout)
        self.assertNotRegex(traced.messages, r"\([1-9][0-9,]* decode error")
        self.judge_trace(traced.trace)
        self.assert_perf_agrees(traced)

    def test_node(self):
        """node: code compiled at run time, no decode error"""
        self.check_runtime("node", ["node", "-e", "let s = 0; for (let i = 0; i < 3e5; i++) s += i % 7;"
                                    "console.log(s)"])

    def test_java(self):
        """java: code compiled at run time, no decode error"""
        self.check_runtime("java", ["java", "-XX:+UseSerialGC", "-version"])

    def test_java_stacks(self):
        """java: interpreted and compiled methods that call each other nest as deeply as they do, with names and without"""
        if not shutil.which("java"):
            self.skipTest("java is not installed")
        if Settings.quick:
            self.skipTest("takes minutes in a sanitizer build")
        for names in ([], ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]):
            command = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *names, "-version"]
            traced = self.trace(command, "-multi-thread", "-full-execution")
            deepest = self.magic_trace("query", "-json", traced.trace, "SELECT max(depth) AS depth FROM calls")
            self.assertLess(json.loads(deepest.stdout)[0]["depth"], 200, "of OpenJDK 17 they are 77 deep")
