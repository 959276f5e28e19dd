"""doctor -check-hardware, by the engine that works everywhere: it passes on what is right and fails on what is wrong."""
import pathlib
import re

import harness


class HardwareCheck(harness.TestCase):
    def check(self, *arguments, **keywords):
        finished = self.magic_trace("doctor", "-check-hardware", *arguments, **keywords)
        lines = finished.stdout.decode().splitlines()
        return finished, {match[2]: (match[1], match[3]) for match in
                          (re.match(r"(pass|FAIL|skip)  (.{18})  (.*)", line) for line in lines)
                          if match}, lines

    def test_the_emulator(self):
        """with the emulator everything that it can do passes, and nothing is left"""
        if b"__asan_init" in pathlib.Path(harness.Settings.binary).read_bytes():
            self.skipTest("the recorded program is magic-trace itself, and sanitizers do not run under qemu")
        before = set(self.folder.iterdir())
        finished, verdicts, lines = self.check("-engine", "qemu", env=dict(harness.Settings.environment, TMPDIR=str(self.folder)))
        verdicts = {what.strip(): verdict for what, verdict in verdicts.items()}
        self.assertEqual(finished.status, 0, finished.stdout + finished.stderr)
        self.assertEqual({what for what, verdict in verdicts.items() if verdict[0] == "pass"},
                         {"a whole run", "a ring that wraps", "several threads", "hits of a trigger", "stopping at once",
                          "times"}, lines)
        self.assertEqual({what for what, verdict in verdicts.items() if verdict[0] == "skip"},
                         {"the kernel", "a running process"}, lines)
        self.assertIn("all 35421 calls, no errors", verdicts["a whole run"][1])
        self.assertIn("100 of 100 hits", verdicts["hits of a trigger"][1])
        self.assertEqual(lines[-1], "6 passed, 0 failed, 2 skipped")
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_an_engine_that_records_no_branches(self):
        """samples are no trace of every call: that fails, and says how many calls are missing"""
        finished, verdicts, lines = self.check("-engine", "sample")
        if finished.status != 1 or not verdicts:
            self.skipTest(f"no sampling here: {finished.stderr.decode()}")
        self.assertEqual(verdicts["a whole run       "][0], "FAIL", lines)
        self.assertIn("of 35421 calls are in the trace", verdicts["a whole run       "][1])

    def test_what_does_not_work_here(self):
        """an engine that does not work here, or does not exist, is named; options that make no sense"""
        finished, _, _ = self.check("-engine", "no-such")
        self.assertNotEqual(finished.status, 0)
        self.assertIn(b"no-such", finished.stderr)
        finished = self.magic_trace("doctor", "-engine", "qemu")
        self.assertEqual(finished.status, 2, finished.stderr)
        finished = self.magic_trace("doctor", "extra")
        self.assertEqual(finished.status, 2, finished.stderr)
