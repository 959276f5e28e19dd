"""When threads are not running: from the kernel's context switches to the trace."""
import collections
import json
import shutil

import fxt_spans
import harness
from fxt_spans import NOT_RUNNING

UNKNOWN = "will count as theirs"  # said when the kernel does not record them
SLEEPS = 3  # of each thread of tests/programs/off_cpu.c and giving_way.c
SWITCH_NS = 50e3  # by how much a switch may be off: two clocks, and the kernel's own work


def overlap(left, right):
    """How long intervals of both lists, ascending, are at the same time."""
    total, i, j = 0, 0, 0
    while i < len(left) and j < len(right):
        total += max(0, min(left[i][1], right[j][1]) - max(left[i][0], right[j][0]))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return total


def running(spans):
    """The times in which a thread ran, from its first `compute` to its last."""
    calls = [span for span in spans if span.name == "compute"]
    at, end, times = calls[0].begin, calls[-1].end, []
    for off in sorted((span.begin, span.end) for span in spans if span.name in NOT_RUNNING):
        if off[1] <= at or off[0] >= end:
            continue
        times.append((at, max(at, off[0])))
        at = off[1]
    return times + [(at, end)]


class OffCpu(harness.TestCase):
    def traced(self, *options):
        traced = self.trace([harness.compile_program("off_cpu")], "-engine", "translator", "-multi-thread", *options)
        if UNKNOWN in traced.messages:
            self.skipTest("the kernel does not record context switches here")
        self.assert_no_gaps(traced)
        self.assertNotIn(b"is unknown", self.magic_trace("report", "-top", "1", traced.trace).stdout)
        spans = self.span_list(traced.trace)
        threads = {tid: [span for span in spans if span.tid == tid] for tid in {span.tid for span in spans}}
        return traced, [spans for spans in threads.values() if any(span.name == "compute" for span in spans)]

    def assert_times(self, traced, threads):
        self.judge_trace(traced.trace)
        self.assertEqual(len(threads), 2)
        switches = sum(span.name in NOT_RUNNING for spans in threads for span in spans)
        self.assertGreaterEqual(switches, 2 * SLEEPS)
        # One processor runs one thread: without the switches both would compute all the time.
        both = overlap(running(threads[0]), running(threads[1]))
        self.assertLess(both, switches * SWITCH_NS)
        for spans in threads:
            off = [span for span in spans if span.name in NOT_RUNNING]
            dozes = [span for span in spans if span.name == "doze"]
            self.assertEqual(len(dozes), SLEEPS)
            for doze in dozes:  # shorter than they were where the other thread translated: the clock stands still then
                slept = sum(span.end - span.begin for span in off if doze.begin <= span.begin and span.end <= doze.end)
                self.assertGreater(slept, (doze.end - doze.begin) / 2)  # the rest of it would be a busy machine

    def report(self, traced, *options):
        finished = self.magic_trace("report", "-json", *options, traced.trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        return json.loads(finished.stdout)

    def assert_reports(self, traced):
        """The table, with and without an index, SQL and folded stacks say the same of the time on a processor."""
        read = self.report(traced)
        on_cpu = {row["function"]: row["on_cpu"] for row in read["functions"]}
        total = {row["function"]: row["total"] for row in read["functions"]}
        self.assertEqual([on_cpu[name] for name in NOT_RUNNING], [0, 0])
        calls = sum(row["calls"] for row in read["functions"] if row["function"] not in NOT_RUNNING)
        self.assertEqual(read["calls"], calls)
        self.assertIn(f"[ {calls:,} calls in 2 threads", traced.messages)
        self.assertEqual(read["not_running"], sum(total[name] for name in NOT_RUNNING))
        self.assertLess(on_cpu["doze"], total["doze"])
        self.assertTrue(all(on_cpu[name] <= total[name] for name in total))
        indexed = self.report(traced, "-top", "100000", "-from", "0", "-to", "1000s")
        self.assertEqual({row["function"]: row["on_cpu"] for row in indexed["functions"]}, on_cpu)
        self.assertEqual(indexed["calls"], calls)
        asked = self.magic_trace("query", "-json", traced.trace, "SELECT function, on_cpu FROM functions")
        self.assertEqual({row["function"]: row["on_cpu"] for row in json.loads(asked.stdout)}, on_cpu)
        asked = self.magic_trace("query", "-json", traced.trace,
                                 "SELECT c.on_cpu, c.duration, ifnull((SELECT sum(n.duration) FROM calls n WHERE n.parent = c.id AND "
                                 f"n.function IN {NOT_RUNNING}), 0) AS off FROM calls c WHERE function = '[syscall]'")
        calls = json.loads(asked.stdout)
        self.assertTrue(all(call["on_cpu"] == call["duration"] - call["off"] for call in calls), calls)
        self.assertGreater(sum(call["off"] for call in calls), 0)
        stacks, all_stacks = (self.report(traced, "-folded", *wall)["stacks"] for wall in ((), ("-wall",)))
        self.assertEqual([stack for stack in all_stacks if stack["stack"][-1] not in NOT_RUNNING], stacks)
        self.assertEqual(sum(stack["self"] for stack in all_stacks) - sum(stack["self"] for stack in stacks),
                         read["not_running"])

    def assert_threads(self, traced, threads):
        """-thread: what the threads have one by one is what they have together."""
        whole = self.report(traced, "-top", "100000", "-from", "0")["functions"]
        together = collections.Counter()
        for tid in (str(spans[0].tid) for spans in threads):
            of_one = self.report(traced, "-thread", tid)
            self.assertEqual(of_one["threads"], 1)
            together.update({row["function"]: row["on_cpu"] for row in of_one["functions"]})
            calls = self.report(traced, "-thread", tid, "-tree")["calls"]
            self.assertEqual({str(call["tid"]) for call in calls}, {tid})
            self.assertEqual(self.report(traced, "-thread", tid, "-longest", "compute")["calls"], 600)
        self.assertEqual(together, {row["function"]: row["on_cpu"] for row in whole})
        self.assert_stacks(traced, threads, whole)
        named = self.report(traced, "-thread", "off_cpu")
        self.assertEqual((named["threads"], named["functions"]), (2, whole))
        refused = self.magic_trace("report", "-thread", "nobody", traced.trace)
        self.assertEqual(refused.status, 1)
        self.assertIn(b"no thread has the name or number `nobody`; there are off_cpu (", refused.stderr)

    def assert_stacks(self, traced, threads, functions):
        """-folded of a thread and of a part: what the whole has of them, and what the table adds up."""
        def stacks(*options):
            return {(stack["tid"], *stack["stack"]): (stack["self"], stack["calls"])
                    for stack in self.report(traced, "-folded", *options)["stacks"]}

        for wall in (), ("-wall",):
            all_stacks = stacks(*wall)
            self.assertEqual(stacks(*wall, "-from", "0"), all_stacks)
            for tid in (spans[0].tid for spans in threads):
                self.assertEqual(stacks(*wall, "-thread", tid), {key: times for key, times in all_stacks.items() if key[0] == tid})
        begin, end = ("-from", "compute#100"), ("-to", "compute#500")
        table = self.report(traced, "-top", "100000", *begin, *end)["functions"]
        of_part = collections.Counter()
        for key, (self_time, _) in stacks("-wall", *begin, *end).items():
            of_part[key[-1]] += self_time
        self.assertEqual(of_part, {row["function"]: row["self"] for row in table if row["self"] > 0})
        self.assertLess(sum(of_part.values()), sum(row["self"] for row in functions))
        lines = self.magic_trace("report", "-folded", "-thread", threads[0][0].tid, traced.trace).stdout.decode().splitlines()
        self.assertEqual({line.rsplit(" ", 1)[0].split(";", 1)[0] for line in lines}, {f"off_cpu-{threads[0][0].tid}"})
        for options in ("-tree",), ("-top", "3"), ("-from", "0", "-no-inlined"):
            self.assertEqual(self.magic_trace("report", "-folded", *options, traced.trace).status, 2)

    def test_one_processor(self):
        """two threads on one processor never run at the same time; who sleeps does not run; other judges read the switches"""
        traced, threads = self.traced("-full-execution")
        self.assert_times(traced, threads)
        self.assert_reports(traced)
        self.assert_threads(traced, threads)
        self.judge_recording(traced)
        if shutil.which("perf"):
            listed = harness.run(["perf", "script", "--show-switch-events", "--itrace=", "-i",
                                  traced.directory / "perf.data"]).stdout
            self.assertEqual(listed.count(b"PERF_RECORD_SWITCH OUT"), listed.count(b"PERF_RECORD_SWITCH IN"))
            self.assertGreaterEqual(listed.count(b"PERF_RECORD_SWITCH OUT"), 2 * SLEEPS)
            self.assertGreater(listed.count(b"PERF_RECORD_SWITCH OUT preempt"), 0)

    def test_preempted_in_a_system_call(self):
        """a thread that gives way to another one in a system call could have run on; one that sleeps waits"""
        traced = self.trace([harness.compile_program("giving_way")], "-engine", "translator", "-multi-thread", "-full-execution")
        if UNKNOWN in traced.messages:
            self.skipTest("the kernel does not record context switches here")
        off = {caller: collections.Counter() for caller in ("give_way", "doze")}
        for span in fxt_spans.read_whole(traced.trace).spans:
            for caller, names in off.items():
                if span.name in NOT_RUNNING and caller in span.stack and "[syscall]" in span.stack:
                    names[span.name] += 1
        # Seen in 3 of 450 recordings on a busy machine: in sched_yield a thread was switched off that could not run on.
        self.assertGreater(off["give_way"]["[preempted]"], 50 * off["give_way"]["[not running]"])
        self.assertGreaterEqual(off["doze"]["[not running]"], 2 * SLEEPS)

    def test_snapshot(self):
        """the same of a ring that keeps the end"""
        traced, threads = self.traced("-snapshot-size", "64M")
        self.assert_times(traced, threads)

    def test_instructions(self):
        """-clock instructions, where no time passes: no switches, two recordings are the same"""
        traced = self.trace([harness.compile_program("off_cpu")], "-engine", "translator", "-clock", "instructions")
        self.assertNotIn("[not running]", self.spans(traced.trace))
