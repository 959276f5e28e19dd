"""A stripped Go program is traced as the same one with its symbols: names, lines and inlined functions come from the table of
Go's own runtime."""
import os
import re
import shutil
import subprocess
import unittest

import fxt_spans
import harness
from harness import Settings

SOURCE = harness.PROGRAMS / "go_requests.go"
LOOP = SOURCE.read_text().splitlines().index("\tfor i := 0; i < n; i++ {") + 1
ROW = re.compile(r"^ +(\d+) .* (main\.\S+(?: \[inlined\])?)$", re.MULTILINE)


def build(name, *options):
    program = Settings.work / "programs" / name
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        made = program.with_name(f"{name}.{os.getpid()}")  # other tests build it, too
        cache = Settings.environment.get("GOCACHE", str(Settings.work / "go"))
        subprocess.run(["go", "build", *options, "-o", made, SOURCE], check=True,
                       env={**Settings.environment, "GOCACHE": cache})
        made.rename(program)
    return str(program)


def build_all():
    """With symbols and debug information, without, and as distributions build it."""
    return (build("go_requests"), build("go_requests_stripped", "-ldflags", "-s -w"),
            build("go_requests_pie", "-buildmode=pie", "-ldflags", "-s -w"))


@unittest.skipUnless(shutil.which("go"), "go is not installed")
class GoStripped(harness.TestCase):
    def report(self, trace, *options):
        finished = self.magic_trace("report", *options, trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        return finished.stdout.decode()

    def calls_of_main(self, trace):
        """Of functions that no thread leaves half way: main.main and its goroutine go on in any thread."""
        calls = {name: int(count) for count, name in ROW.findall(self.report(trace))}
        return {name: count for name, count in calls.items() if not name.startswith("main.main")}

    def stacks_of_handler(self, trace):
        """From main's outermost function on; also those that took no time, but not those in which it waited for a processor."""
        finished = self.magic_trace("query", "-csv", trace, "SELECT path FROM stacks WHERE path LIKE '%main.main%main.handler%'")
        self.assertEqual(finished.status, 0, finished.stderr)
        return {path[path.index("main.main"):] for path in finished.stdout.decode().splitlines()[1:]
                if not path.endswith(fxt_spans.NOT_RUNNING)}

    def test_reports(self):
        """the reports of a Go program are the same when it is stripped"""
        found = []
        for program in build_all():
            trace = self.trace([program], "-full-execution", "-multi-thread").trace
            found.append((self.calls_of_main(trace), self.stacks_of_handler(trace)))
        calls = found[0][0]
        self.assertEqual((calls["main.handler"], calls["main.small [inlined]"], calls["main.(*square).area"]), (20, 760, 1))
        self.assertIn("main.main.func1;main.handler", {stack.partition(";main.middle")[0] for stack in found[0][1]})
        self.assertEqual(found[1], found[0])
        self.assertEqual(found[2], found[0])

    def test_triggers(self):
        """functions, inlined functions and lines of a stripped Go program are triggers"""
        program = build_all()[1]
        for place in ("main.handler", "main.main.func1", "main.small", f"go_requests.go:{LOOP}"):
            with self.subTest(place):
                traced = self.trace([program], "-multi-thread", "-trigger", place)
                self.assertIn("Snapshot taken", traced.messages)
        missing = self.magic_trace("run", "-trigger", "main.hanlder", program)
        self.assertEqual(missing.status, 1)
        self.assertIn(b"Did you mean main.handler?", missing.stderr)

    def test_arguments(self):
        """arguments of a stripped Go program: its types are not known, and that is said"""
        traced = self.trace([build_all()[1]], "-full-execution", "-multi-thread", "-args", "main.handler")
        self.assertIn("There is no debug information", traced.messages)

