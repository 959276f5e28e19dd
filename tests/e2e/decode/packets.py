"""`magic-trace dump -packets` against `perf script -D`: the same packets at the same places of the same rings."""
import collections
import json
import re
import shutil

import captures
import harness

RECORD = re.compile(r"PERF_RECORD_AUXTRACE size: (\S+)  offset: (\S+)  ref: \S+  idx: \d+  tid: (-?\d+)  cpu: (-?\d+)")
PACKET = re.compile(r"^\.  ([0-9a-f]{8}):  ((?:[0-9a-f]{2} )+) *(\S.*)$")
DUMPED = re.compile(r"^(tid|cpu) (\d+) ([0-9a-f]{8,}) (\S.*)$")


def packets_of_perf(text):
    """{ring: [(offset, words)]} of what `perf script -D` printed, without PAD: perf shows eight of them as one, and
    counts them to the packet before."""
    rings, ring, start, size = {}, None, 0, 0
    for line in text.splitlines():
        record = RECORD.search(line)
        if record:
            size, start = (int(number, 16) for number in record.group(1, 2))
            tid, cpu = (int(number) for number in record.group(3, 4))
            ring = rings.setdefault(("tid", tid) if cpu == -1 else ("cpu", cpu), [])
            continue
        packet = PACKET.match(line)
        if packet and ring is not None and packet.group(3) != "PAD":
            offset = int(packet.group(1), 16)
            ring.append((start + offset, packet.group(3)))
    return rings


def packets_of_dump(text):
    rings = {}
    for line in text.splitlines():
        kind, number, offset, words = DUMPED.match(line).groups()
        ring = rings.setdefault((kind, int(number)), [])
        if words != "PAD":
            ring.append((int(offset, 16), words))
    return rings


def first_difference(ours, theirs):
    for number, (our, their) in enumerate(zip(ours, theirs)):
        if our != their:
            return f"packet {number}: {our}, perf: {their}"
    return f"{len(ours)} packets, perf: {len(theirs)}"


class Packets(harness.TestCase):
    def setUp(self):
        super().setUp()
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")

    def judge_packets(self, recording, data):
        """The number of packets, when perf sees the same."""
        finished = self.magic_trace("dump", "-packets", recording)
        self.assertEqual(finished.status, 0, finished.stderr)
        ours = packets_of_dump(finished.stdout.decode())
        judged = harness.run(["perf", "script", "-D", "-i", data])
        theirs = packets_of_perf(judged.stdout.decode(errors="replace"))
        self.assertEqual(sorted(ours), sorted(theirs))
        for ring in ours:
            if ours[ring] != theirs[ring]:
                self.fail(f"{ring}: {first_difference(ours[ring], theirs[ring])}")
        return sum(len(packets) for packets in ours.values())

    def test_real_hardware(self):
        """every packet of a recording by perf on a Skylake is what perf says it is"""
        data = captures.CAPTURES / "perf_data_converter" / "perf.data.intel_pt-4.14"
        if not data.exists():
            self.skipTest(f"{data} is not there")
        self.assertGreater(self.judge_packets(data, data), 80000)

    def judge_run(self, command, *options):
        traced = self.trace(command, "-no-decode", *options)
        return self.judge_packets(traced.directory, traced.directory / "perf.data")

    def test_recordings(self):
        """every packet of our own recordings, of whole runs and of ends, by each clock, is what perf says it is"""
        programs = {name: harness.compile_program(name) for name in ("recursion", "signals", "longjmp", "threads")}
        for clock in ("default", "host", "instructions"):
            for name in ("recursion", "signals", "longjmp"):
                with self.subTest(clock=clock, program=name):
                    self.judge_run([programs[name]], "-clock", clock, "-full-execution")
        self.judge_run([programs["threads"]], "-multi-thread")
        self.judge_run(["ls", "-l", "/usr"], "-snapshot-size", "16K")

    def test_damage(self):
        """of a recording that is cut off everything before the cut is printed; the status is 1"""
        traced = self.trace([harness.compile_program("recursion")], "-no-decode", "-full-execution")
        data = traced.directory / "perf.data"
        whole = self.magic_trace("dump", "-packets", data).stdout.splitlines()
        cut = self.folder / "cut.data"
        cut.write_bytes(data.read_bytes()[:data.stat().st_size * 3 // 4])
        finished = self.magic_trace("dump", "-packets", cut)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"cut.data", finished.stderr)
        lines = finished.stdout.splitlines()
        self.assertGreater(len(lines), len(whole) // 2)
        end = -20  # what is left of a packet that was cut is shown by the byte
        self.assertEqual(lines[:end], whole[:len(lines)][:end])
        self.assertEqual(self.magic_trace("dump", "-packets", self.folder).status, 1)

    def test_standard_input(self):
        """a recording may come through a pipe; text by perf script has no packets, which is said"""
        traced = self.trace([harness.compile_program("recursion")], "-no-decode", "-full-execution")
        data = traced.directory / "perf.data"
        for what in ("-packets", "-branches"):
            piped = self.magic_trace("dump", what, "-", input=data.read_bytes())
            self.assertEqual((piped.status, piped.stdout), (0, self.magic_trace("dump", what, data).stdout))
        piped = self.magic_trace("decode", "-stats", "-", input=data.read_bytes())
        self.assertEqual(json.loads(piped.stdout)["branches"],
                         json.loads(self.magic_trace("decode", "-stats", data).stdout)["branches"])
        text = self.folder / "text"
        text.write_text("prog 1/1 1.000000001:   call   401000 main+0x0 (/p) => 401010 f+0x0 (/p)\n")
        for what in ("-packets", "-branches"):
            self.assertEqual(self.magic_trace("dump", what, text).status, 1)

    def test_statistics(self):
        """decode -stats counts the packets that dump shows, and what the summary says; inlined functions are none of its calls"""
        traced = self.trace([harness.compile_program("recursion")], "-full-execution", "-no-inlined")
        finished = self.magic_trace("decode", "-stats", traced.directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        statistics = json.loads(finished.stdout)
        lines = self.magic_trace("dump", "-packets", traced.directory).stdout.decode().splitlines()
        self.assertEqual(statistics["packets"], collections.Counter(line.split()[3] for line in lines))
        self.assertEqual((statistics["stray_bytes"], statistics["error_count"], statistics["overflows"]), (0, 0, 0))
        self.assertEqual(statistics["instructions"], self.decoded_instructions(traced))
        self.assertEqual(statistics["calls"], self.calls(traced))
