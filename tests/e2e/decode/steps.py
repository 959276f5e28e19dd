"""`magic-trace dump -branches` and -instructions, and what decode -stats counts, against `perf script` and each other."""
import collections
import json
import re
import shutil

import harness

OURS = re.compile(r"^tid (\d+) ([0-9a-f]+) ([0-9a-f]+) (\S+)$")
PERFS = re.compile(r"^ *(\d+) +(\S.*?) +([0-9a-f]+) => +([0-9a-f]+) *$")
KINDS = {"jcc": "conditional", "jmp": "jump", "call": "call", "return": "return", "syscall": "far-call",
         "hw int": "interrupt", "tx abrt": "abort", "iret": "far-return", "sysret": "far-return"}


def kind_of_perf(flags):
    if flags.startswith("tr strt"):
        return "start"
    return "end" if flags.startswith("tr end") else KINDS[flags]


def branches(text, pattern, order, kind):
    """{tid: [(from, to, kind)]}"""
    threads = collections.defaultdict(list)
    for line in text.splitlines():
        fields = pattern.match(line).groups()
        tid, start, end, words = (fields[index] for index in order)
        threads[int(tid)].append((int(start, 16), int(end, 16), kind(words)))
    return threads


class Steps(harness.TestCase):
    def dump(self, what, recording, *options):
        finished = self.magic_trace("dump", what, *options, recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        return finished.stdout.decode()

    def judge_branches(self, traced):
        """All branches, when perf sees the same in the same order."""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        ours = branches(self.dump("-branches", traced.directory), OURS, (0, 1, 2, 3), str)
        judged = harness.run(["perf", "script", "--itrace=be", "-F", "tid,flags,ip,addr",
                              "-i", traced.directory / "perf.data"])
        self.assertEqual(judged.stderr, b"")
        theirs = branches(judged.stdout.decode(), PERFS, (0, 2, 3, 1), kind_of_perf)
        self.assertEqual(sorted(ours), sorted(theirs))
        for tid in ours:
            for number, (our, their) in enumerate(zip(ours[tid], theirs[tid])):
                if our != their:
                    self.fail(f"thread {tid}, branch {number}: {our}, perf: {their}")
            self.assertEqual(len(ours[tid]), len(theirs[tid]))
        return [branch for thread in ours.values() for branch in thread]

    def check_statistics(self, traced, seen):
        """decode -stats counts the branches and instructions that dump shows."""
        finished = self.magic_trace("decode", "-stats", traced.directory)
        statistics = json.loads(finished.stdout)
        kinds = collections.Counter(kind.replace("-", "_") for _, _, kind in seen)
        counted = {name: number for name, number in statistics["branches"].items() if number}
        counted.pop("conditional_not_taken", None)
        counted["conditional"] = counted.pop("conditional_taken", 0)
        self.assertEqual(counted, {name: kinds[name] for name in counted})
        self.assertEqual(sum(counted.values()), len(seen))
        self.assertEqual(statistics["errors"], [])
        lines = self.dump("-instructions", traced.directory).splitlines()
        self.assertEqual(statistics["instructions"], len(lines))

    def test_agreement(self):
        """every branch of our own recordings, with signals, longjmp, faults and threads, is what perf says it is"""
        for name, options in (("recursion", ()), ("signals", ()), ("longjmp", ()), ("odd_instructions", ()),
                              ("callbacks", ("-clock", "instructions")), ("threads", ("-multi-thread",))):
            with self.subTest(program=name):
                traced = self.trace([harness.compile_program(name)], "-no-decode", "-full-execution", *options)
                self.check_statistics(traced, self.judge_branches(traced))

    def test_symbols(self):
        """with -symbols each address has its function"""
        traced = self.trace([harness.compile_program("recursion")], "-no-decode", "-full-execution")
        lines = self.dump("-branches", traced.directory, "-symbols").splitlines()
        calls = [line for line in lines if re.search(r" call\tmain\+0x[0-9a-f]+ => fib\+0x0$", line)]
        self.assertEqual(len(calls), 1)
        lines = self.dump("-instructions", traced.directory, "-symbols").splitlines()
        self.assertEqual(sum(line.endswith("\tfib+0x0") for line in lines), 21891)

    def test_errors(self):
        """a damaged packet is an error with its address, its place in the ring, and a reason, in dump and decode -stats"""
        traced = self.trace([harness.compile_program("recursion")], "-no-decode", "-full-execution")
        data = traced.directory / "perf.data"
        packets = [line.split() for line in self.dump("-packets", data).splitlines()]
        broken = int(next(words[2] for words in packets[100:] if words[3] == "TNT"), 16)
        content = bytearray(data.read_bytes())
        ring = content.index(bytes([0x02, 0x82] * 8))  # begins with a PSB
        content[ring + broken] = 0xc9  # no packet begins with this
        data.write_bytes(content)
        errors = [line.split(" ", 6) for line in self.dump("-branches", data).splitlines() if " error " in line]
        self.assertEqual(len(errors), 1)
        offset, reason = int(errors[0][5], 16), errors[0][6]
        self.assertEqual(offset, broken)
        self.assertIn(f" {offset:08x} Bad packet!\n", self.dump("-packets", data))
        self.assertNotEqual(errors[0][2], "0")
        statistics = json.loads(self.magic_trace("decode", "-stats", traced.directory).stdout)
        self.assertEqual(statistics["errors"], [{"tid": int(errors[0][1]), "address": errors[0][2], "packet_offset": offset,
                                                 "reason": reason}])
        self.assertEqual(statistics["error_count"], 1)
