"""The translator against the processor itself: random programs write the same natively and under it, and the branches of
programs are those that single-stepping sees. tests/random_programs/run and tests/judge/stepped.py do more of both."""
import sys

import harness
from harness import Settings

sys.path.insert(0, str(harness.TESTS / "judge"))
sys.path.insert(0, str(harness.TESTS / "truth"))
import stepped  # noqa: E402  (found through the path just set)
import truth_programs  # noqa: E402  (the same)

# Of tests/truth/programs: each moves control in ways of its own.
PROGRAMS = ["retpoline", "computed_goto", "tail_calls"]
RANDOM_PROGRAMS = 40
FIRST_SEED = 1


class BranchSequences(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.makers = Settings.judges.parent / "random_programs"
        if not (self.makers / "random_program").exists():
            self.skipTest("Zydis is not installed")

    def test_random_programs(self):
        """random programs: registers, flags and memory as natively, branches as single-stepping sees them"""
        finished = harness.run([harness.TESTS / "random_programs/run", "--binary", Settings.binary, "--build",
                                Settings.judges.parent.parent, "--work", self.folder, "--seed", FIRST_SEED, "--count",
                                RANDOM_PROGRAMS // 4 if Settings.quick else RANDOM_PROGRAMS])
        self.assertEqual(finished.status, 0, finished.stdout.decode() + finished.stderr.decode())

    def test_programs(self):
        """programs whose control moves in unusual ways: branches as single-stepping sees them"""
        for name in PROGRAMS[:1] if Settings.quick else PROGRAMS:
            with self.subTest(name):
                source = truth_programs.source_named(f"{name}.c")
                folder = self.folder / name
                folder.mkdir()
                program = truth_programs.build(next(iter(truth_programs.variants_of(source))), folder)
                count, difference = stepped.compare(Settings.binary, Settings.judges / "step_judge", [program], folder)
                self.assertGreater(count, 1000)
                self.assertEqual(difference, "")
