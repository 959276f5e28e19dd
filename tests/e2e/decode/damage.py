"""A damaged recording loses what was damaged, and nothing else: random bytes in its packets cost at most the intervals
between PSB packets that they lie in."""
import random
import re
import struct

import harness
from harness import Settings, run

PSB = bytes.fromhex("0282" * 8)
PERF_RECORD_AUXTRACE = 71  # linux: tools/lib/perf/include/perf/event.h

# Damage so near before a PSB may be noticed only after it: the next interval may be lost with it.
SEEN_LATE = 64

# Events that damage adds, or that belong to the ends of what was lost.
OF_GAPS = ("gap", "stop", "resume", "caller", "stack")


def find_packets(content):
    """Offset and size of the packets in a perf.data with one ring (tools/perf/util/header.h, struct perf_file_header)."""
    at, size = struct.unpack_from("<QQ", content, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", content, at)
        if kind == PERF_RECORD_AUXTRACE:
            return at + length, struct.unpack_from("<Q", content, at + 8)[0]
        at += length
    raise ValueError("no AUXTRACE record")


class Intervals:
    """What lies between the PSBs, and when."""

    def __init__(self, packets):
        self.begins = [found.start() for found in re.finditer(re.escape(PSB), packets)]
        self.ends = self.begins[1:] + [len(packets)]
        # A TSC packet follows each PSB.
        self.times = [struct.unpack_from("<Q", packets, begin + len(PSB))[0] >> 8 for begin in self.begins] + [1 << 60]

    def lost_by_damage_at(self, offset):
        number = max(i for i, begin in enumerate(self.begins) if begin <= offset)
        late = self.ends[number] - offset <= SEEN_LATE
        return range(number, min(number + 1 + late, len(self.begins)))

    def hold(self, numbers, time):
        return any(self.times[number] <= time <= self.times[number + 1] for number in numbers)


class Damage(harness.TestCase):
    def events(self, recording):
        """(time, event) of each event of the flow."""
        lines = run([Settings.judges / "flow_judge", "-events", recording]).stdout.decode(errors="replace")
        found = re.findall(r"^\d+ (\d+)!? (\S+) (\S+ -> \S+)", lines, re.MULTILINE)
        return [(int(time), (kind, way)) for time, kind, way in found if kind not in OF_GAPS]

    def test_random_bytes(self):
        """random bytes in the packets cost no event outside of the intervals between PSBs that they lie in"""
        recording = self.folder / "recording"
        # In instructions, the time of an event says in which interval it lies, to the instruction.
        self.magic_trace("run", "-no-decode", "-full-execution", "-clock", "instructions", "-working-directory", recording,
                         "--", "gzip", "-nc", harness.TESTS / "e2e" / "shared" / "harness.py")
        whole = self.events(recording)
        path = recording / "perf.data"
        content = path.read_bytes()
        begin, size = find_packets(content)
        intervals = Intervals(content[begin:begin + size])
        self.assertGreater(len(intervals.begins), 10)
        for seed in range(4 if Settings.quick else 16):
            chance = random.Random(seed)
            damaged, lost = bytearray(content), set()
            for _ in range(chance.choice([1, 1, 3])):
                at = chance.randrange(size)
                for offset in range(at, min(size, at + chance.choice([1, 4, 16]))):
                    damaged[begin + offset] = chance.randrange(256)
                    lost.update(intervals.lost_by_damage_at(offset))
            path.write_bytes(damaged)
            with self.subTest(seed=seed, intervals=sorted(lost)):
                self.assert_kept([event for time, event in whole if not intervals.hold(lost, time)],
                                 self.events(recording))

    def assert_kept(self, wanted, found):
        """`wanted` all come, in this order, perhaps with others between them; times never go back."""
        times = [time for time, _ in found]
        self.assertEqual(times, sorted(times))
        place = 0
        for _, event in found:
            place += place < len(wanted) and event == wanted[place]
        self.assertEqual(place, len(wanted), f"lost: {wanted[place:place + 1]}")
