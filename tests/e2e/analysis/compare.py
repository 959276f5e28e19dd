"""`compare` names what changed between two builds, and all differences add up."""
import json
import shlex
import shutil

import harness

# Number of the change in changes.c: kind and function of the first cause.
CAUSES = {1: ("self", "hash"), 4: ("only-b", "audit"), 5: ("only-b", "sort_by_insertion"),
          6: ("self", "search_all"), 7: ("calls", "depth_of"), 8: ("calls", "hash"),
          9: ("only-a", "log_query"), 10: ("calls", "sort")}


class Compare(harness.TestCase):
    def trace_build(self, change):
        """All builds run under one path, as the next one takes the place of the last."""
        built = harness.compile_program(f"changes{change}", [f"-DCHANGE={change}"], harness.PROGRAMS / "changes.c")
        program = self.folder / "database"
        shutil.copy(built, program)
        return self.trace([program], "-full-execution", "-clock", "instructions").trace

    def compare(self, *arguments):
        finished = self.magic_trace("compare", "-json", "-paths", *arguments)
        self.assertEqual(finished.status, 0, finished.stderr)
        compared = json.loads(finished.stdout)
        self.assertEqual(compared["difference_ns"], compared["b"]["ns"] - compared["a"]["ns"])
        for rows in (compared["functions"], compared["paths"]):
            self.assertEqual(sum(row["self_difference_ns"] for row in rows), compared["difference_ns"])
            for letter in "ab":
                self.assertEqual(sum(row[f"self_{letter}_ns"] for row in rows), compared[letter]["ns"])
        self.assertAlmostEqual(sum(cause["difference_ns"] for cause in compared["causes"]), compared["difference_ns"],
                               delta=len(compared["causes"]))
        return compared

    def test_changes(self):
        """longer code, new, other and lost functions, more calls, deeper recursion"""
        first = self.trace_build(0)
        for change, (kind, function) in CAUSES.items():
            with self.subTest(change):
                compared = self.compare(first, self.trace_build(change))
                cause = compared["causes"][0]
                self.assertEqual((cause["kind"], cause["function"]), (kind, function))
                if cause["command"]:
                    shown = self.magic_trace(*shlex.split(cause["command"])[1:])
                    self.assertIn(function.encode(), shown.stdout)

    def test_same(self):
        """a build against itself, renamed and moved functions"""
        first = self.trace_build(0)
        for change in (0, 2, 3):
            compared = self.compare(first, self.trace_build(change))
            self.assertEqual((compared["difference_ns"], compared["causes"]), (0, []), change)
            self.assertFalse(compared["divergence"]["found"])
            renamed = [{"a": "check_row", "b": "validate_row"}] if change == 2 else []
            self.assertEqual(compared["renamed"], renamed)
            moved = {"function": "pack_row", "a": "changes.c", "b": "packing.c"}
            self.assertEqual(moved in compared["moved"], change == 3)

    def test_parts(self):
        """two calls and two ranges of one trace, and where they part"""
        program = harness.compile_program("slow_calls")
        traced = self.trace([program, "rehash"], "-full-execution", "-clock", "instructions")
        compared = self.compare("handle_request#3", "handle_request#272", traced.trace)
        self.assertEqual(compared["causes"][0]["function"], "rehash")
        divergence = compared["divergence"]
        self.assertEqual(divergence["b"]["function"], "rehash")
        self.assertEqual(divergence["b"]["stack"], ["handle_request", "request_rehash", "insert"])
        self.assertIsNone(divergence["a"]["function"])
        text = self.magic_trace("compare", "handle_request#3", "handle_request#272", traced.trace).stdout.decode()
        self.assertRegex(text, r"rehash: only in B, 1 call, ")
        self.assertRegex(text, r"B: insert \(slow_calls.c:\d+\) calls rehash \(slow_calls.c:\d+\) at ")
        halves = self.compare("..100us", "100us..200us", traced.trace)
        self.assertEqual(halves["a"]["ns"], halves["b"]["ns"])

    def parting_branch(self, *arguments):
        """What is said of the first branch that differs, and the text of the lines where it is on both sides."""
        finished = self.magic_trace("compare", "-json", "-branch", *arguments)
        self.assertEqual(finished.status, 0, finished.stderr)
        branch = json.loads(finished.stdout)["branch"]
        lines = (harness.PROGRAMS / "parting.c").read_text().splitlines()
        places = [branch[side]["from"] for side in "ab" if branch[side]["kind"]]
        return branch, [lines[place["line"] - 1].strip() for place in places]

    def test_branch(self):
        """-branch: a condition, an indirect call, more turns of a loop, the same, of calls and of recordings"""
        program = harness.compile_program("parting")
        first, second = (self.trace([program, *more], "-full-execution").directory for more in ([], ["more"]))
        same, _ = self.parting_branch("parse#2", "parse#3", first)
        self.assertEqual((same["found"], same["a"]["kind"], same["b"]["kind"]), (False, None, None))
        self.assertGreater(same["common_branches"], 20)
        kinds = {"parse#9": ("if (*c == '!')", "conditional"), "parse#13": ("return operations[mode](sum);", "call"),
                 "parse#16": ("for (const char *c = text; *c; c++) {", "conditional")}
        for other, (line, kind) in kinds.items():
            with self.subTest(other):
                branch, lines = self.parting_branch("parse#2", other, first)
                self.assertTrue(branch["found"])
                self.assertEqual(lines, [line] * 2)
                sides = [branch[side]["kind"] for side in "ab"]
                self.assertEqual(sorted(sides), ["call"] * 2 if kind == "call" else ["not-taken", "taken"])
        branch, lines = self.parting_branch("parse#2", "parse#13", first)
        self.assertEqual([branch[side]["to"]["function"] for side in "ab"], ["twice", "square"])
        text = self.magic_trace("compare", "-branch", "parse#2", "parse#13", first).stdout.decode()
        self.assertRegex(text, r"The first branch that differs, after \d+ that are the same:\n"
                               r"  A: parse \(parting.c:\d+\): calls twice \(parting.c:\d+\)\n")
        for parts in ([], ["main#1", "main#1"]):
            _, lines = self.parting_branch(*parts, first, second)
            self.assertEqual(lines, ["if (argc > 1)"] * 2)
        same, _ = self.parting_branch("parse#9", "parse#9", first, second)
        self.assertFalse(same["found"])

    def test_budget(self):
        """-max-bytes keeps the largest differences, which still add up"""
        first, second = self.trace_build(0), self.trace_build(1)
        whole = self.compare(first, second)
        self.assertEqual(whole["omitted"], 0)
        for size in (1, 2500, 5000, 20000):
            finished = self.magic_trace("compare", "-json", "-paths", "-max-bytes", str(size), first, second)
            kept = json.loads(finished.stdout)
            self.assertEqual(kept["causes"][0], whole["causes"][0])
            self.assertAlmostEqual(sum(cause["difference_ns"] for cause in kept["causes"]), whole["difference_ns"],
                                   delta=len(kept["causes"]))
            if len(finished.stdout) > size:
                self.assertLessEqual(len(kept["causes"]), 2)
                self.assertEqual(kept["functions"] + kept["paths"], [])
            self.assertEqual(b"The least that can be printed is" in finished.stderr, len(finished.stdout) > size, finished.stderr)
            lists = ("functions", "paths", "renamed", "moved")
            for name in lists:
                self.assertEqual(kept[name], whole[name][:len(kept[name])])
            self.assertEqual(kept["omitted"], sum(len(whole[name]) - len(kept[name]) for name in lists))
        self.assertGreater(len(kept["functions"]), 10)

    def test_refused(self):
        """what cannot be compared"""
        trace = self.trace_build(0)
        for arguments, words in (([], b"two traces"), ([trace], b"two traces"), (["main#1", trace], b"with nothing"),
                                 (["main#1", "1us..2us", trace], b"do not fit"), ([trace] * 3, b"third"),
                                 (["-top", "x", trace, trace], b"-top"), (["-branch", "1us..2us", "2us..3us", trace], b"ranges"), (["-branch", trace, trace], b"no branches"), (["-max-bytes", "9", trace, trace], b"-json"), (["main#0", "main#1", trace], b"from 1")):
            finished = self.magic_trace("compare", *arguments)
            self.assertEqual((finished.status, finished.stdout), (2, b""), arguments)
            self.assertIn(words, finished.stderr)
        for arguments, words in ((["main#1", "main#2", trace], b"only 1 call"), ([trace, "none.fxt"], b"none.fxt"),
                                 (["mian#1", "main#1", trace], b"Did you mean main")):
            finished = self.magic_trace("compare", *arguments)
            self.assertEqual((finished.status, finished.stdout), (1, b""), arguments)
            self.assertIn(words, finished.stderr)
