"""The pt engine, fed with real packets: recordings of the qemu engine are played to it by a kernel that stands in for
one with Intel PT (tests/unit/engine/pt/replay.c). What it records decodes to the same, or to the end of it."""
import re

import harness
from harness import Settings

AREA = 4096


class PtEngine(harness.TestCase):
    def record(self, *options):
        return self.trace([harness.compile_program("recursion")], "-full-execution", *options)

    def replay(self, traced, size, skip, *more):
        directory = self.folder / f"replay{len(list(self.folder.glob('replay*')))}"
        directory.mkdir()
        program = Settings.judges.parent / "unit/engine/pt_replay"
        finished = harness.run([program, traced.directory, directory, size, skip, *more])
        self.assertEqual(finished.status, 0, finished.stderr)
        return directory

    def branches(self, directory):
        """Without the thread, which is another in a replay."""
        finished = self.magic_trace("dump", "-branches", directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        return re.sub(rb"^tid \d+ ", b"", finished.stdout, flags=re.MULTILINE).splitlines()

    def tree(self, directory):
        """The calls with their times, without the lines that name the recorder and the thread."""
        finished = self.magic_trace("report", "-tree", directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        head, calls = finished.stdout.split(b"duration  call\n", 1)
        self.assertIn(b"recursion", head)
        return calls

    def test_everything(self):
        """what is kept whole decodes to the same calls at the same times, and perf sees no error in it"""
        traced = self.record()
        for directory in (self.replay(traced, 1 << 20, 0), self.replay(traced, 1 << 20, 12345, "full")):
            self.assertTrue(self.branches(directory) == self.branches(traced.directory))
            self.assertTrue(self.tree(directory) == self.tree(traced.directory))
            self.assert_perf_agrees(harness.Traced((0, b"", b""), directory, None))

    def test_wrapped(self):
        """wherever the area ends, what is left decodes to the end of what was"""
        traced = self.record("-clock", "instructions")  # the same packets in every run
        whole = self.branches(traced.directory)
        longest = 0
        for skip in [*range(0, AREA, 256 if Settings.quick else 97), 1, 2, 7, 8, AREA - 1]:
            end = self.branches(self.replay(traced, AREA, skip))
            self.assertGreater(len(end), 0, f"skip {skip}")  # how many follow the first PSB depends on where it is
            self.assertLess(len(end), len(whole))
            self.assertTrue(end == whole[-len(end):], f"skip {skip}")
            longest = max(longest, len(end))
        self.assertGreater(longest, 100)
