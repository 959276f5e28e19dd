"""Recordings from real Intel PT hardware, which are not part of this repository: they lie in shared/captures beside it,
or beside a folder above it."""
import harness

PLACES = [folder / "shared" / "captures" for folder in harness.TESTS.parents[1:]]
CAPTURES = next((place for place in PLACES if place.is_dir()), PLACES[0])


class Captures(harness.TestCase):
    def test_foreign_recording(self):
        """a recording by perf on a Skylake: decoded as far as its missing programs allow, and they are named"""
        path = CAPTURES / "perf_data_converter" / "perf.data.intel_pt-4.14"
        if not path.exists():
            self.skipTest(f"{path} is not there")
        output = self.folder / "foreign.fxt"
        finished = self.magic_trace("decode", path, "-o", output)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"/usr/bin/coreutils", finished.stderr)
        judged = self.judge_trace(output)
        self.assertGreater(judged["spans"], 0)
        # The samples beside Intel PT, and whose they are.
        self.assertGreater(judged["instants"]["cycles"], 10)
        names = {thread["name"]: thread["pid"] for thread in judged["threads"]}
        self.assertEqual(names["echo"], names["cycles of echo (3174)"])
        self.assertEqual(self.magic_trace("report", "-tree", output).status, 0)
