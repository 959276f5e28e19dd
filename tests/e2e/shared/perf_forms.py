"""Rewrites a perf.data file into the other forms in which perf record writes what it records.

Formats: tools/perf/Documentation/perf.data-file-format.txt of Linux. A record is (type, misc, body, tail): the tail is
what follows an AUXTRACE record without being counted in its header.
"""
import struct
import subprocess

MAGIC = b"PERFILE2"
EXIT, SAMPLE, AUX, ITRACE_START, SWITCH, SWITCH_CPU_WIDE = 4, 9, 11, 12, 14, 15
HEADER_ATTR, AUXTRACE_INFO, AUXTRACE, EVENT_UPDATE, FEATURE, COMPRESSED = 64, 70, 71, 78, 80, 81
FEATURE_AUXTRACE, FEATURE_FOLDER = 18, 24
IDENTIFIER, IP, TID, TIME, CPU, PERIOD, RAW = 1 << 16, 1, 2, 4, 1 << 7, 1 << 8, 1 << 10
HARDWARE, BRANCH_MISSES, TRACEPOINT = 0, 5, 2


class Recording:
    """A perf.data file in the form of a file, taken apart."""

    def __init__(self, path):
        data = path.read_bytes()
        fields = struct.unpack_from("<8sQQQQQQQQ4Q", data)
        assert fields[0] == MAGIC and fields[1] == 104
        self.element_size = fields[2]
        attributes = data[fields[3]:fields[3] + fields[4]]
        self.attributes = []  # (attribute, ids)
        for at in range(0, len(attributes), self.element_size):
            element = attributes[at:at + self.element_size]
            offset, size = struct.unpack_from("<QQ", element, self.element_size - 16)
            self.attributes.append((element[:-16], data[offset:offset + size]))
        self.records = list(read_records(data, fields[5], fields[5] + fields[6]))
        self.features = {}
        entry = fields[5] + fields[6]
        for bit in range(256):
            if fields[9 + bit // 64] >> bit % 64 & 1:
                offset, size = struct.unpack_from("<QQ", data, entry)
                self.features[bit] = data[offset:offset + size]
                entry += 16


def read_records(data, at, end):
    while at < end:
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        tail = struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0
        yield kind, misc, data[at + 8:at + size], data[at + size:at + size + tail]
        at += size + tail


def encode(record):
    kind, misc, body, tail = record
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body + tail


def encode_all(records):
    return b"".join(map(encode, records))


def compressed(records, most=60000):
    """The records as perf record -z writes them: parts of one zstd stream, cut wherever they are full."""
    stream = subprocess.run(["zstd", "-q", "-c"], input=encode_all(records), stdout=subprocess.PIPE, check=True).stdout
    return [(COMPRESSED, 0, stream[at:at + most], b"") for at in range(0, len(stream), most)]


def packets_first(records):
    """Set-up records, which perf never compresses, and all others."""
    return ([record for record in records if record[0] >= 64 and record[0] != AUXTRACE],
            [record for record in records if record[0] < 64 or record[0] == AUXTRACE])


def as_pipe(recording, records):
    out = MAGIC + struct.pack("<Q", 16)
    for attribute, ids in recording.attributes:
        out += encode((HEADER_ATTR, 0, attribute + ids, b""))
    for bit, contents in recording.features.items():
        if bit != FEATURE_AUXTRACE:
            out += encode((FEATURE, 0, struct.pack("<Q", bit) + contents, b""))
    return out + encode_all(records)


def as_file(recording, records, more_features=()):
    """Without the list of AUXTRACE records, whose offsets change."""
    features = {bit: contents for bit, contents in recording.features.items() if bit != FEATURE_AUXTRACE}
    features.update(more_features)
    ids = b"".join(ids for _, ids in recording.attributes)
    attributes, at = b"", 104
    for attribute, own in recording.attributes:
        attributes += attribute + struct.pack("<QQ", at, len(own))
        at += len(own)
    data = encode_all(records)
    begin = 104 + len(ids) + len(attributes)
    at = begin + len(data) + 16 * len(features)
    table = b""
    for bit in sorted(features):
        table += struct.pack("<QQ", at, len(features[bit]))
        at += len(features[bit])
    words = [sum(1 << bit % 64 for bit in features if bit // 64 == word) for word in range(4)]
    header = MAGIC + struct.pack("<QQQQQQQQ4Q", 104, recording.element_size, 104 + len(ids), len(attributes), begin,
                                 len(data), 0, 0, *words)
    return header + ids + attributes + data + table + b"".join(features[bit] for bit in sorted(features))


def write_folder(recording, folder):
    """As perf record --threads: AUX data and half of the records in files of their own."""
    folder.mkdir()
    setup, others = packets_first(recording.records)
    (folder / "data").write_bytes(as_file(recording, setup + others[0::3], {FEATURE_FOLDER: struct.pack("<Q", 1)}))
    (folder / "data.0").write_bytes(encode_all(others[1::3]))
    (folder / "data.1").write_bytes(encode_all(compressed(others[2::3])))


def as_per_cpu(recording, switches):
    """The recording as if each ring were that of a processor, on which its thread alone ran from beginning to end.
    `switches` makes the records that say so: of (processor, pid, tid, time), a thread comes."""
    attribute, ids = recording.attributes[0]
    attribute = bytearray(attribute)
    struct.pack_into("<Q", attribute, 24, struct.unpack_from("<Q", attribute, 24)[0] | CPU)
    recording.attributes[0] = (bytes(attribute), ids)
    processors = {}  # of threads
    for kind, _, body, _ in recording.records:
        if kind == AUXTRACE:
            processors.setdefault(struct.unpack_from("<I", body, 28)[0], len(processors))
    records, added = [], []
    for kind, misc, body, tail in recording.records:
        body = bytearray(body)
        if kind == AUXTRACE_INFO:
            struct.pack_into("<Q", body, 8 + 8 * 7, switches.have_sched_switch)
            struct.pack_into("<Q", body, 8 + 8 * 9, 1)
        elif kind == AUXTRACE:
            tid = struct.unpack_from("<I", body, 28)[0]
            struct.pack_into("<II", body, 28, 0xffffffff, processors[tid])
        elif kind < 64:
            pid, tid, time = struct.unpack_from("<IIQ", body, len(body) - 24)
            processor = processors.get(tid, 0)
            body[-8:-8] = struct.pack("<II", processor, 0)
            if kind == ITRACE_START:
                added.append(switches(processor, pid, tid, time, bytes(body[-8:])))
                continue
        records.append((kind, misc, bytes(body), tail))
    recording.records = records + added


def wide_switch(processor, pid, tid, time, number):
    """PERF_RECORD_SWITCH_CPU_WIDE: the idle thread goes."""
    return SWITCH_CPU_WIDE, 0, struct.pack("<IIIIQII", 0, 0, pid, tid, time, processor, 0) + number, b""


def own_switch(processor, pid, tid, time, number):
    """PERF_RECORD_SWITCH"""
    return SWITCH, 0, struct.pack("<IIQII", pid, tid, time, processor, 0) + number, b""


SCHED_SWITCH_ID = 123456789


def sampled_switch(processor, pid, tid, time, number):
    """A sample of sched:sched_switch, which names the thread alone."""
    raw = bytearray(68)
    struct.pack_into("<I", raw, 56, tid)
    return (SAMPLE, 1, struct.pack("<QIIQIII", SCHED_SWITCH_ID, 0, 0, time, processor, 0, len(raw)) + raw, b"")


# What AUXTRACE_INFO calls have_sched_switch.
own_switch.have_sched_switch, wide_switch.have_sched_switch, sampled_switch.have_sched_switch = 2, 3, 1


def add_sched_switch(recording):
    attribute = bytearray(recording.attributes[0][0])
    struct.pack_into("<IIQQQQ", attribute, 0, TRACEPOINT, len(attribute), 0, 1, IDENTIFIER | TID | TIME | CPU | RAW, 0)
    recording.attributes.append((bytes(attribute), struct.pack("<Q", SCHED_SWITCH_ID)))
    name = b"sched:sched_switch".ljust(24, b"\0")
    recording.records.insert(0, (EVENT_UPDATE, 0, struct.pack("<QQ", 2, SCHED_SWITCH_ID) + name, b""))


def add_samples(recording, samples):
    """A second event, branch-misses, and its samples: (time, pid, tid, address)."""
    number = 987654321
    fields = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
    attribute = bytearray(recording.attributes[0][0])
    struct.pack_into("<IIQQQQ", attribute, 0, HARDWARE, len(attribute), BRANCH_MISSES, 1000, fields, 0)
    recording.attributes.append((bytes(attribute), struct.pack("<Q", number)))
    for time, pid, tid, address in samples:
        body = struct.pack("<QQIIQIIQ", number, address, pid, tid, time, 0, 0, 1000)
        recording.records.append((SAMPLE, 2, body, b""))
