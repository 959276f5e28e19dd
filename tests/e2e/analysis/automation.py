"""JSON for programs: `report -json` says what the text says and what the CSV export adds up to, within a budget; and the commands of
docs/automation.md."""
import collections
import csv
import json
import random
import re
import subprocess

import harness
from harness import Settings
from made_trace import MadeTrace
from query import made_spans

AUTOMATION = harness.TESTS.parent / "docs" / "automation.md"


class Automation(harness.TestCase):
    def made(self, spans=2000):
        trace, end = MadeTrace(), 0
        for number in range(2):
            thread = trace.thread(5, 5 + number, "program", f"worker \"{number}\"" if number else "main")
            end = made_spans(trace, random.Random(number), thread, spans, end)
            trace.instant(end, thread, "[lost]")
        return trace.write(self.folder / "trace.fxt.gz")

    def report(self, trace, *options, expect=0):
        finished = self.magic_trace("report", "-json", *options, trace)
        self.assertEqual(finished.status, expect, finished.stderr.decode())
        return json.loads(finished.stdout)

    def exported(self, trace):
        lines = self.magic_trace("export", "-format", "csv", "-output", "-", trace).stdout.decode().splitlines()
        return [line for line in csv.DictReader(lines) if line["kind"] in ("call", "special")]

    def test_functions(self):
        trace = self.made()
        calls = self.exported(trace)
        report = self.report(trace)
        self.assertEqual((report["report"], report["sampled"], report["calls"], report["threads"], report["gaps"], report["omitted"]),
                         ("functions", False, len(calls), 2, 2, 0))
        counts, selves, whole = collections.Counter(), collections.Counter(), collections.defaultdict(list)
        for call in calls:
            name = re.sub("^'(?==)", "", call["function"])
            counts[name] += 1
            selves[name] += int(call["self_ns"])
            if call["seen"] == "yes" and call["ended"] not in ("gap", "end of trace"):
                whole[name].append(int(call["duration_ns"]))
        found = {row["function"]: row for row in report["functions"]}
        self.assertEqual({name: row["calls"] for name, row in found.items()}, counts)
        self.assertEqual({name: row["self"] for name, row in found.items()}, selves)
        self.assertEqual({name: (row["whole"], row.get("min"), row.get("max")) for name, row in found.items()},
                         {name: (len(whole[name]), min(whole[name], default=None), max(whole[name], default=None)) for name in counts})
        self.assertEqual([row["self"] for row in report["functions"]], sorted(selves.values(), reverse=True))

    def interleaved(self, chance, steps, spans=4000):
        """Three threads whose calls and marks are mixed in time, which goes on by one of `steps`."""
        trace, time, calls = MadeTrace(), 0, collections.Counter()
        threads = [trace.thread(5, 5 + number, "program", f"thread {number}") for number in range(3)]
        depths = {thread: 0 for thread in threads}
        while spans > 0 or any(depths.values()):
            time += chance.choice(steps)
            thread = chance.choice(threads)
            if spans > 0 and chance.random() < (0.55 if depths[thread] < 20 else 0.2):
                name = chance.choice("abcd")
                trace.begin(time, thread, name)
                calls[name] += 1
                depths[thread], spans = depths[thread] + 1, spans - 1
            elif depths[thread]:
                trace.end(time, thread)
                depths[thread] -= 1
            if chance.random() < 0.05:
                trace.instant(time, thread, f"mark {time}")
        return trace.write(self.folder / "interleaved.fxt"), time, calls

    def assert_index_agrees(self, trace, options):
        """What the index shows is what reading the trace shows, which comes from a pipe here."""
        reading = subprocess.Popen(["cat", trace], stdout=subprocess.PIPE)
        read = self.magic_trace("report", *options, "/dev/stdin", stdin=reading.stdout)
        reading.stdout.close()
        reading.wait()
        found = self.magic_trace("report", *options, trace)
        if found.status != 2:  # nothing lies between the moments: found before anything is printed
            self.assertEqual(found.stdout, read.stdout, options)
        self.assertEqual((found.status, found.stderr), (read.status, read.stderr), options)

    def test_tree_by_index(self):
        """a part of a tree comes from the index, and is what reading the whole trace gives"""
        chance = random.Random(23)
        trace, end, _ = self.interleaved(chance, (0, 1, 3, 10))
        for _ in range(12):
            first, last = sorted(chance.randrange(end + 1) for _ in range(2))
            self.assert_index_agrees(trace, chance.choice((
                ("-tree", "-from", str(first), "-to", str(last)), ("-tree", "-from", str(last)), ("-around", str(first)),
                ("-tree", "-fold", "-from", str(first), "-to", str(last)),
                ("-json", "-tree", "-to", str(first)), ("-json", "-tree", "-from", str(first), "-max-bytes", "3000"))))
        self.assertTrue((self.folder / "interleaved.fxt.magic-trace-index").exists())
        self.assert_index_agrees(trace, ("-tree",))
        self.assert_index_agrees(trace, ("-tree", "-fold"))
        self.assert_index_agrees(trace, ("-around", str(end + 20000)))
        trace, end, calls = self.interleaved(chance, (1, 3, 10))
        for _ in range(12):
            moments = [f"{name}#{chance.randint(1, calls[name])}" for name in chance.choices("abcd", k=2)]
            self.assert_index_agrees(trace, chance.choice((
                ("-around", moments[0]), ("-tree", "-from", moments[0]), ("-tree", "-to", moments[1]),
                ("-tree", "-from", moments[0], "-to", moments[1]))))

    def test_table_by_index(self):
        """with an index the table is the same, but its quantiles are exact; the longest call is named, and -longest lists more"""
        trace, end, _ = self.interleaved(random.Random(7), (1, 3, 10))
        read = self.report(trace)
        self.report(trace, "-tree", "-to", "0")  # makes the index
        found = self.report(trace)
        for row in read["functions"] + found["functions"]:
            row.pop("approximate")
        exact = {row["function"]: (row.pop("median"), row.pop("p99")) for row in found["functions"]}
        for row in read["functions"]:
            for approximate, figure in zip((row.pop("median"), row.pop("p99")), exact[row["function"]]):
                self.assertLessEqual(abs(approximate - figure), figure / 128)
        self.assertEqual(found, read)
        lengths = {name: sorted((int(call["duration_ns"]) for call in self.exported(trace) if call["function"] == name), reverse=True)
                   for name in exact}
        for row in found["functions"]:
            longest = self.report(trace, "-longest", row["function"], "-top", "3")["longest"]
            self.assertEqual([call["duration"] for call in longest], lengths[row["function"]][:3])
            self.assertEqual((longest[0]["call"], longest[0]["duration"]), (row["max_call"], row["max"]))
            shown = self.report(trace, "-around", f"{row['function']}#{longest[2]['call']}")["calls"]
            self.assertIn((row["function"], longest[2]["start"], longest[2]["duration"]),
                          [(call.get("function"), call["start"], call.get("duration")) for call in shown])

    def test_table_of_a_part(self):
        """-top with -from and -to: times add up to that part; calls that go beyond are counted"""
        trace, end, _ = self.interleaved(random.Random(8), (1, 3, 10))
        first, last = end // 3, end * 2 // 3
        report = self.report(trace, "-top", "9", "-from", str(first), "-to", str(last))
        counts, selves, beyond = collections.Counter(), collections.Counter(), 0
        calls = self.report(trace, "-tree", "-from", str(first), "-to", str(last))["calls"]
        for call in (call for call in calls if "function" in call):
            begin, stop = max(call["start"], first), min(call["start"] + call["duration"], last)
            if begin == stop:
                continue  # touches the part only
            counts[call["function"]] += 1
            beyond += call["start"] < first or call["start"] + call["duration"] > last
        self.assertEqual({row["function"]: row["calls"] for row in report["functions"]}, counts)
        self.assertEqual((report["duration"], report["in_part"]), (last - first, beyond))
        outermost = [(call["tid"], max(call["start"], first), min(call["start"] + call["duration"], last))
                     for call in calls if "function" in call and call["depth"] == 0]
        self.assertEqual(sum(row["self"] for row in report["functions"]), sum(stop - begin for _, begin, stop in outermost))

    def test_why(self):
        """report -why is explain"""
        trace, _, _ = self.interleaved(random.Random(9), (1, 3, 10))
        for what in ("a", "b#3"):
            explained = self.magic_trace("explain", "-json", what, trace)
            self.assertEqual(explained.status, 0, explained.stderr)
            self.assertEqual(self.magic_trace("report", "-json", "-why", what, trace).stdout, explained.stdout)
        whole = json.loads(self.magic_trace("explain", "-json", "a", trace).stdout)
        for budget in (1, 1500, 100000):
            shown = self.magic_trace("explain", "-json", "-max-bytes", str(budget), "a", trace).stdout
            causes = json.loads(shown)["causes"]
            self.assertTrue(len(shown) <= budget or len(causes) <= 2, (budget, len(shown)))
            self.assertAlmostEqual(sum(cause["share"] for cause in causes), 100 if causes else 0, places=6)
            self.assertEqual(causes[:1], whole["causes"][:1])
        for wrong in (("-longest", "a", "-tree"), ("-why", "a", "-longest", "a"), ("-top", "3", "-from", "1", "-filter", "(a b)")):
            self.assertEqual(self.magic_trace("report", *wrong, trace).status, 2, wrong)

    def test_tree(self):
        trace = self.made()
        report = self.report(trace, "-tree")
        found = sorted((call["function"], call["start"], call["duration"], call["depth"], call["tid"], call["end_reason"])
                       for call in report["calls"] if "function" in call)
        expected = sorted((re.sub("^'(?==)", "", call["function"]), int(call["start_ns"]), int(call["duration_ns"]), int(call["depth"]),
                           int(call["tid"]), call["ended"]) for call in self.exported(trace))
        self.assertEqual(found, expected)
        self.assertEqual([call["mark"] for call in report["calls"] if "mark" in call], ["[lost]", "[lost]"])
        part = self.report(trace, "-tree", "-around", "parse#3")
        self.assertIn("parse", [call["function"] for call in part["calls"]])
        self.assertLess(len(part["calls"]), len(report["calls"]) / 10)

    def test_stacks(self):
        trace = self.made()
        folded = self.magic_trace("report", "-folded", trace).stdout.decode().splitlines()
        report = self.report(trace, "-folded")
        lines = [";".join([f"{stack['thread']}-{stack['tid']}", *(name.replace(";", ":") for name in stack["stack"])]) + f" {stack['self']}"
                 for stack in report["stacks"]]
        self.assertEqual(lines, folded)

    def test_a_trigger_and_its_hits(self):
        traced = self.trace([harness.compile_program("hits"), "third"], "-multi-thread", "-trigger", "target")
        hits = [call for call in self.report(traced.trace, "-tree")["calls"] if "hit" in call]
        self.assertEqual(len(hits), self.report(traced.trace)["hits"])
        self.assertGreaterEqual(len(hits), 1)
        for budget in (1, 3000):
            kept = self.report(traced.trace, "-tree", "-max-bytes", str(budget))["calls"]
            self.assertIn("hit", kept[0] if budget == 1 else {key for call in kept for key in call})

    def notes(self, trace, *options):
        """What stands above the table."""
        return self.magic_trace("report", *options, trace).stdout.split(b"\n\n")[0]

    def test_hits_and_counters_of_an_index(self):
        """a table that an index answers has the notes on hits and counters that reading the trace gives, and counts the same threads"""
        traced = self.trace([harness.compile_program("hits"), "third"], "-multi-thread", "-trigger", "target")
        counted, thread = MadeTrace(), None
        thread = counted.thread(5, 5, "program", "main")
        for time in range(1000, 9000, 1000):
            counted.begin(time, thread, "work")
            counted.counter(time + 100, thread, "speed", "MHz", time / 8)
            counted.end(time + 500, thread)
        for trace in (traced.trace, counted.write(self.folder / "counted.fxt")):
            with self.subTest(trace=trace.name):
                read = self.report(trace), self.notes(trace)
                self.assertIn(b"Note: ", read[1])
                self.magic_trace("report", "-longest", "main", trace)
                self.assertTrue(trace.with_name(trace.name + ".magic-trace-index").exists())
                self.assertEqual(self.notes(trace), read[1])
                for again in (self.report(trace), self.report(trace, "-top", "1000", "-from", "0ns")):
                    self.assertEqual([again[field] for field in ("hits", "threads", "calls", "duration")],
                                     [read[0][field] for field in ("hits", "threads", "calls", "duration")])
        self.assertIn(b"speed MHz was between 625 and 1000, recorded 4 times", self.notes(trace, "-top", "9", "-from", "4us"))

    def test_index_of_a_large_trace(self):
        """the table of a large trace makes the index, so that the next one need not read the trace; both are the same"""
        small = self.made(200)
        index = small.with_name(small.name + ".magic-trace-index")
        self.report(small, "-top", "5")
        self.assertFalse(index.exists())
        large = self.made(300_000)
        self.assertGreater(large.stat().st_size, 16 << 20)
        first = self.report(large, "-top", "5")
        self.assertTrue(index.exists())
        self.assertEqual(self.report(large, "-top", "5"), first)

    def test_budgets(self):
        """What is kept is the most important, and fits."""
        trace = self.made()
        whole = {form: self.report(trace, *form) for form in ((), ("-tree",), ("-folded",))}
        for form, name, weight in (((), "functions", "self"), (("-tree",), "calls", "duration"), (("-folded",), "stacks", "self")):
            for budget in (1, 2000, 20000, 10 ** 8):
                finished = self.magic_trace("report", "-json", *form, "-max-bytes", str(budget), trace)
                report, all_items = json.loads(finished.stdout), whole[form][name]
                kept = report[name]
                self.assertGreaterEqual(len(kept), 1)
                self.assertEqual(len(kept) + report["omitted"], len(all_items))
                exceeds = f"[ The least that can be printed is {len(finished.stdout)} bytes: more than -max-bytes {budget} allows. ]\n"
                self.assertEqual(finished.stderr.decode(), exceeds if len(finished.stdout) > budget else "")
                if len(kept) > 1:
                    self.assertLessEqual(len(finished.stdout), budget)
                weights = sorted((item.get(weight, 10 ** 18) for item in all_items), reverse=True)
                self.assertEqual(sorted((item.get(weight, 10 ** 18) for item in kept), reverse=True), weights[:len(kept)])
                order = [all_items.index(item) for item in kept] if form != ("-tree",) else []
                self.assertEqual(order, sorted(order))
        self.assertEqual(len(self.report(trace, "-top", "2")["functions"]), 2)
        self.assertEqual(self.report(trace, "-top", "2")["omitted"], len(whole[()]["functions"]) - 2)
        query = self.magic_trace("query", "-json", "-max-bytes", "200", trace, "SELECT id FROM calls")
        self.assertLessEqual(len(query.stdout), 250)
        self.assertIn(b"left out", query.stderr)

    def test_a_damaged_trace_and_bad_options(self):
        trace = self.made(200)
        trace.write_bytes(trace.read_bytes()[:-4001])
        for form in ((), ("-tree",), ("-folded",)):
            self.report(trace, *form, expect=1)
        for options in (("-max-bytes", "5"), ("-json", "-max-bytes", "0"), ("-json", "-max-bytes", "x"), ("-json", "-tree", "-fold")):
            finished = self.magic_trace("report", *options, trace)
            self.assertEqual((finished.status, finished.stdout), (2, b""), options)

    def test_the_commands_of_the_page(self):
        self.made()
        commands = re.findall(r"\| `magic-trace (.*?)` \|\n", AUTOMATION.read_text())
        self.assertGreaterEqual(len(commands), 7)
        for command in commands:
            finished = harness.run(["sh", "-c", f"{Settings.binary} {command}"], cwd=self.folder)
            self.assert_not_crashed(finished)
            self.assertEqual(finished.status, 0, f"{command}\n{finished.stderr.decode()}")
            json.loads(finished.stdout)
