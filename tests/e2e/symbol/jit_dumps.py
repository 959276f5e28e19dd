"""Code of a JIT compiler, known from the jit-PID.dump that it wrote for perf alone."""
import struct

import harness
import perf_forms

MMAP2, AUXTRACE_INFO = 10, 70
HEADER_SIZE, HEADER_FLAGS, TIMES_ARE_TICKS = 40, 32, 1


def path_of(body):
    return body[64:].split(b"\0")[0]


def is_dumped_page(record):
    return record[0] == MMAP2 and b"/images/code-" in path_of(record[2])


def time_of(record):
    """Our sample ids end with the time and the event's id."""
    return struct.unpack_from("<Q", record[2], len(record[2]) - 16)[0]


def mapping_of_dump(page, path, time):
    """A record as that of the page, of the dump."""
    name = str(path).encode() + b"\0"
    name += b"\0" * (-len(name) % 8)
    body = bytearray(page[2][:64] + name + page[2][-24:])
    struct.pack_into("<QQQ", body, 8, 0x7ffff0000000, 4096, 0)
    struct.pack_into("<Q", body, len(body) - 16, time)
    return MMAP2, page[1], bytes(body), b""


def ticks_of(recording, time):
    """On the clock that the recording's AUXTRACE_INFO describes."""
    info = next(record[2] for record in recording.records if record[0] == AUXTRACE_INFO)
    shift, mult, zero = struct.unpack_from("<QQQ", info, 16)
    return ((time - zero) % (1 << 64) << shift) // mult


def with_times(dump, times):
    """The dump as a compiler writes it that counts ticks: two functions at each of the times."""
    dump = bytearray(dump)
    struct.pack_into("<Q", dump, HEADER_FLAGS, TIMES_ARE_TICKS)
    at = HEADER_SIZE
    for number in range(2 * len(times)):
        struct.pack_into("<Q", dump, at + 8, times[number // 2])
        at += struct.unpack_from("<I", dump, at + 4)[0]
    assert at == len(dump)
    return bytes(dump)


class JitDumps(harness.TestCase):
    ENGINE = "qemu"  # which dumps each page once

    def test_dump(self):
        """a recording of perf's kind, without the pages that our recorder dumped: their code is in jit-PID.dump"""
        traced = self.trace([harness.compile_program("jitdump")], "-full-execution")
        counts = harness.counts_in(traced.stdout)
        dump = next(self.folder.glob("jit-*.dump"))
        recording = perf_forms.Recording(traced.directory / "perf.data")
        pages = [record for record in recording.records if is_dumped_page(record)]
        # The clock of the emulated program is not CLOCK_MONOTONIC, by which it dated its code.
        times = [time_of(page) for page in pages]
        dump.write_bytes(with_times(dump.read_bytes(), [ticks_of(recording, time) for time in times]))
        mapping = mapping_of_dump(pages[0], dump, times[0])
        records = [record for record in recording.records if not is_dumped_page(record)] + [mapping]
        perf_data, trace = self.folder / "perf.data", self.folder / "jit.fxt"
        perf_data.write_bytes(perf_forms.as_file(recording, records))
        finished = self.magic_trace("decode", "-o", trace, perf_data)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertNotRegex(finished.stderr, rb"gaps? in the trace")
        spans = self.spans(trace)
        self.assertEqual({name: spans.get(name, 0) for name in counts}, counts)

        # With the pages it is the same; the names come from the dump.
        (traced.directory / "perf.data").write_bytes(perf_forms.as_file(recording, recording.records + [mapping]))
        finished = self.magic_trace("decode", "-o", trace, traced.directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        spans = self.spans(trace)
        self.assertEqual({name: spans.get(name, 0) for name in counts}, counts)
