#!/usr/bin/env python3
"""Checks a trace in the Fuchsia trace format as strictly as Perfetto is lenient.

Perfetto loads a faulty trace without a word and draws it wrong: an event that names an undefined thread lands on thread
0, an end without a begin is ignored, a span deeper than 512 is dropped while its end closes another span. This program
reads the bytes by the specification (https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format), follows what
Perfetto makes of them, and reports all that would be lost. Events of one time keep their order in the file, so spans
without length nest as well as others. It shares no code with magic-trace.

    fxt_check.py TRACE            a JSON object: spans, errors by kind, threads, greatest depth, ...
    fxt_check.py TRACE --spans    lines "COUNT NAME" of spans per function, all threads together
    fxt_check.py TRACE --threads  lines "COUNT PID TID NAME"

Exit status: 0 without fault, 1 with any fault (reported on stderr), 2 when the file cannot be read at all.
"""

import argparse
import array
import collections
import json
import sys
import zlib

MAGIC = bytes.fromhex("1000044678541600")
DEPTH_LIMIT = 512
MAX_STRING = 4094 * 8
TIME_LIMIT = 1 << 63
KEPT_EXAMPLES = 5

METADATA, INITIALIZATION, STRING, THREAD, EVENT, BLOB, USERSPACE, KERNEL, SCHEDULING, LOG = range(10)
LARGE = 15
INSTANT, COUNTER, BEGIN, END, COMPLETE, ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END, FLOW_BEGIN, FLOW_STEP, FLOW_END = range(11)
PROCESS_OBJECT, THREAD_OBJECT = 1, 2
# null, int32, uint32, int64, uint64, double, string, pointer, koid, bool
ARGUMENT_TYPES = range(10)
ONE_WORD_ARGUMENTS = {0, 1, 2, 6, 9}
NUMERIC_ARGUMENTS = {1, 2, 3, 4, 5}
KOID = 8


class Unreadable(Exception):
    """The file is no trace at all."""


class Fault(Exception):
    """A record contradicts itself; args are kind and detail."""


def bits(word, low, high):
    return word >> low & ((1 << (high - low + 1)) - 1)


class Faults:
    """Counts by kind, with the first few in words."""

    def __init__(self):
        self.counts = collections.Counter()
        self.examples = collections.defaultdict(list)

    def add(self, kind, detail):
        self.counts[kind] += 1
        if len(self.examples[kind]) < KEPT_EXAMPLES:
            self.examples[kind].append(detail)


def read_trace(path, faults):
    """The uncompressed bytes. gzip must be one member, closed properly, with nothing after it."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise Unreadable(str(error)) from error
    if data[:2] != b"\x1f\x8b":
        return data
    parts = []
    members = 0
    while data:
        inflater = zlib.decompressobj(wbits=31)
        try:
            parts.append(inflater.decompress(data))
        except zlib.error as error:
            faults.add("gzip damaged" if members == 0 else "bytes after gzip", f"member {members}: {error}")
            break
        members += 1
        if not inflater.eof:
            faults.add("gzip cut off", f"member {members - 1} has no end")
            break
        data = inflater.unused_data
    if members > 1:
        faults.add("several gzip members", f"{members} members, 32 MiB of Perfetto's memory each")
    return b"".join(parts)


def protobuf_fields(data):
    """(number, value) of each field of a protobuf message: varints and nested messages."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def realtime_at_zero(blob):
    """What Perfetto's clock snapshot in the blob says: the time of day (clock 1) when boot time (clock 6) was 0, or
    None. Field numbers: protos/perfetto/trace/{trace,trace_packet,clock_snapshot}.proto."""
    clocks = {}
    for _, packet in protobuf_fields(blob):
        for number, snapshot in protobuf_fields(packet):
            if number == 6:
                clocks.update(tuple(value for _, value in protobuf_fields(clock))
                              for number, clock in protobuf_fields(snapshot) if number == 1)
    return clocks[1] - clocks[6] if {1, 6} <= set(clocks) else None


class Record:
    """A cursor over the words of one record."""

    __slots__ = "words", "at", "start", "end"

    def __init__(self, words, start, end):
        self.words = words
        self.start = start
        self.end = end
        self.at = start + 1

    def place(self):
        return f"at byte {self.start * 8}"

    def word(self):
        if self.at >= self.end:
            raise Fault("record too short", self.place())
        self.at += 1
        return self.words[self.at - 1]

    def take(self, length):
        count = (length + 7) // 8
        if self.at + count > self.end:
            raise Fault("record too short", f"{self.place()}: a text of {length} bytes does not fit")
        taken = self.words[self.at:self.at + count].tobytes()
        if any(taken[length:]):
            raise Fault("padding not zero", self.place())
        self.at += count
        return taken[:length].decode("utf-8", "replace")


class Thread:
    """One row of Perfetto: the spans open on it."""

    def __init__(self):
        self.open = []  # of (name, start, end or None)
        self.last_time = 0
        self.spans = collections.Counter()
        self.depth = 0


class Checker:
    def __init__(self, data, faults):
        self.data = data
        self.words = array.array("Q", data[:len(data) // 8 * 8])
        if sys.byteorder == "big":
            self.words.byteswap()
        self.faults = faults
        self.strings = {0: ""}
        self.thread_references = {}
        self.threads = collections.defaultdict(Thread)
        self.thread_names = {}
        self.process_names = {}
        self.ticks_per_second = None
        self.first_time = None
        self.last_end = 0  # of complete events
        self.global_time = 0
        self.out_of_order = 0
        self.instants = collections.Counter()
        self.counters = collections.Counter()
        self.categories = collections.defaultdict(set)  # names of spans
        self.arguments = collections.Counter()
        self.ends = collections.Counter()
        self.shortest = None
        self.longest = None
        self.clock_snapshots = 0
        self.wall_clock = None
        self.sound_arguments = {}  # header word: words and name; of arguments found sound since the last string record

    # ------------------------------------------------------------ references

    def string(self, reference, record, what):
        if reference & 0x8000:
            return record.take(reference & 0x7fff)
        if reference not in self.strings:
            raise Fault("undefined string", f"{record.place()}: {what} is string {reference}")
        return self.strings[reference]

    def thread(self, reference, record):
        if reference == 0:
            ids = record.word(), record.word()
        elif reference in self.thread_references:
            ids = self.thread_references[reference]
        else:
            raise Fault("undefined thread", f"{record.place()}: thread {reference}")
        return ids

    def argument(self, record):
        start = record.at
        header = record.word()
        kind, size = header & 15, header >> 4 & 0xfff
        if kind not in ARGUMENT_TYPES:
            raise Fault("unknown argument type", f"at byte {start * 8}: type {kind}")
        end = start + size
        if size == 0 or end > record.end:
            raise Fault("bad argument size", f"at byte {start * 8}: {size} words")
        name = self.string(header >> 16 & 0xffff, record, "the name of an argument")
        value = None
        if kind == 6:
            value = self.string(header >> 32 & 0xffff, record, name)
        elif kind in (1, 2):
            value = header >> 32
            if kind == 1 and value >= 1 << 31:
                value -= 1 << 32
        elif kind == 9:
            value = bool(header >> 32 & 1)
        elif kind not in ONE_WORD_ARGUMENTS:
            value = record.word()
        if record.at > end:
            raise Fault("bad argument size", f"at byte {start * 8}: {size} words are too few")
        record.at = end
        return kind, name, value

    # ------------------------------------------------------------ records that define

    def initialization(self, header, record):
        self.ticks_per_second = record.word()
        if self.ticks_per_second == 0:
            raise Fault("zero ticks per second", record.place())

    def string_record(self, header, record):
        index, length = bits(header, 16, 30), bits(header, 32, 46)
        if index == 0:
            raise Fault("string number 0", f"{record.place()}: it is the empty string already")
        if length > MAX_STRING:
            raise Fault("oversize string", f"{record.place()}: {length} bytes")
        self.sound_arguments.clear()
        text = record.take(length)
        if "\0" in text:
            raise Fault("NUL in string", f"{record.place()}: Perfetto cuts the text there")
        self.strings[index] = text

    def thread_record(self, header, record):
        index = bits(header, 16, 23)
        pid, tid = record.word(), record.word()
        if index == 0:
            raise Fault("thread number 0", record.place())
        if pid >= 1 << 32 or tid >= 1 << 32:
            raise Fault("id beyond 32 bits", f"{record.place()}: {pid}/{tid}")
        self.thread_references[index] = pid, tid

    def kernel_object(self, header, record):
        kind, count = bits(header, 16, 23), bits(header, 40, 43)
        koid = record.word()
        name = self.string(bits(header, 24, 39), record, "the name of a kernel object")
        arguments = [self.argument(record) for _ in range(count)]
        if kind == PROCESS_OBJECT:
            self.process_names[koid] = name
        elif kind == THREAD_OBJECT:
            owners = [value for kind, key, value in arguments if key == "process" and kind == KOID]
            if len(owners) != 1:
                raise Fault("thread without process", f"{record.place()}: {name!r} gets lost")
            key = owners[0], koid
            if self.thread_names.get(key, name) != name:
                raise Fault("thread named twice", f"{self.thread_names[key]!r} and {name!r}")
            self.thread_names[key] = name

    def blob(self, header, record):
        length, kind = bits(header, 32, 46), bits(header, 48, 55)
        self.string(bits(header, 16, 31), record, "the name of a blob")
        if record.at + (length + 7) // 8 > record.end:
            raise Fault("record too short", f"{record.place()}: a blob of {length} bytes")
        if kind == 3:
            self.clock_snapshots += 1
            self.wall_clock = realtime_at_zero(self.words[record.at:record.end].tobytes()[:length])

    # ------------------------------------------------------------ events

    def event_argument(self, record, kind):
        """Its name. Most arguments repeat: one that was found sound is only counted when it comes again."""
        if record.at < record.end:
            size, key = self.sound_arguments.get(record.words[record.at], (0, None))
            if size and record.at + size <= record.end:
                record.at += size
                self.arguments[key] += 1
                return key
        start = record.at
        _, key, value = self.argument(record)
        self.arguments[key] += 1
        if key == "end" and kind == END:
            self.ends[value] += 1
        else:
            self.sound_arguments[record.words[start]] = record.at - start, key
        return key

    def counter(self, header, name, record):
        """Each argument is a series of its own, of the process: Perfetto's name for it is the key here."""
        arguments = [self.argument(record) for _ in range(header >> 20 & 15)]
        number = record.word()
        for kind, key, _ in arguments:
            if kind not in NUMERIC_ARGUMENTS:
                raise Fault("counter without number", f"{record.place()}: {key!r} of {name!r}")
            self.counters[f"{name}:{key}:{number}"] += 1

    def nanoseconds(self, ticks):
        if self.ticks_per_second in (None, 1000000000):
            return ticks
        return ticks * 1000000000 // self.ticks_per_second

    def event(self, header, record):
        kind = header >> 16 & 15
        ticks = record.word()
        ids = self.thread(header >> 24 & 0xff, record)
        category = self.string(header >> 32 & 0xffff, record, "a category")
        name = self.string(header >> 48, record, "the name of an event")
        if kind == COUNTER:
            self.counter(header, name, record)
        else:
            for _ in range(header >> 20 & 15):
                self.event_argument(record, kind)
        if kind not in (INSTANT, COUNTER, BEGIN, END, COMPLETE):
            return
        time = self.nanoseconds(ticks)
        if time >= TIME_LIMIT:
            raise Fault("time too large", f"{record.place()}: {time} ns")
        thread = self.threads[ids]
        if time < thread.last_time:
            self.faults.add("time goes back", f"{record.place()}: {thread.last_time} to {time} ns on {ids}")
        thread.last_time = time
        if kind in (BEGIN, COMPLETE):
            self.categories[category].add(name)
        if time < self.global_time:
            self.out_of_order += 1
        else:
            self.global_time = time
        if self.first_time is None or time < self.first_time:
            self.first_time = time
        if kind == BEGIN:
            self.begin(thread, ids, name, time, None, record)
        elif kind == COMPLETE:
            end = self.nanoseconds(record.word())
            if end < time:
                raise Fault("ends before it begins", f"{record.place()}: {name!r}")
            self.begin(thread, ids, name, time, end, record)
            self.last_end = max(self.last_end, end)
        elif kind == END:
            self.end(thread, ids, time, record)
        elif kind == INSTANT:
            self.expire(thread, time)
            if len(thread.open) >= DEPTH_LIMIT:
                self.faults.add("too deep", f"{record.place()}: instant {name!r} on {ids}")
            self.instants[name] += 1

    def note_length(self, length):
        if self.shortest is None or length < self.shortest:
            self.shortest = length
        if self.longest is None or length > self.longest:
            self.longest = length

    def expire(self, thread, time):
        stack = thread.open
        while stack and stack[-1][2] is not None and stack[-1][2] <= time:
            _, start, end = stack.pop()
            self.note_length(end - start)

    def begin(self, thread, ids, name, time, end, record):
        self.expire(thread, time)
        if len(thread.open) >= DEPTH_LIMIT:
            self.faults.add("too deep", f"{record.place()}: {name!r} on {ids}")
        limit = thread.open[-1][2] if thread.open else None
        if end is not None and limit is not None and end > limit:
            self.faults.add("does not nest", f"{record.place()}: {name!r} outlives its caller on {ids}")
        thread.open.append((name, time, end))
        if len(thread.open) > thread.depth:
            thread.depth = len(thread.open)
        thread.spans[name] += 1

    def end(self, thread, ids, time, record):
        self.expire(thread, time)
        if not thread.open:
            self.faults.add("end without begin", f"{record.place()} on {ids}")
            return
        name, start, end = thread.open.pop()
        if end is not None:
            self.faults.add("does not nest", f"{record.place()}: an end event closes complete {name!r} on {ids}")
        self.note_length(time - start)

    # ------------------------------------------------------------ the whole

    def run(self):
        if self.data[:8] != MAGIC:
            raise Unreadable("it does not begin with the magic number of the format")
        handlers = {INITIALIZATION: self.initialization, STRING: self.string_record, THREAD: self.thread_record,
                    EVENT: self.event, BLOB: self.blob, KERNEL: self.kernel_object}
        if len(self.data) % 8:
            self.faults.add("cut off", f"{len(self.data) % 8} bytes after the last whole word")
        words = self.words
        at = 1
        while at < len(words):
            header = words[at]
            kind = header & 15
            size = header >> 4 & (0xffffffff if kind == LARGE else 0xfff)
            if size == 0:
                self.faults.add("record size 0", f"at byte {at * 8}: Perfetto loads nothing of the trace")
                break
            if at + size > len(words):
                self.faults.add("cut off", f"a record of {size * 8} bytes at byte {at * 8}")
                break
            handler = handlers.get(kind)
            if handler:
                try:
                    handler(header, Record(words, at, at + size))
                except Fault as fault:
                    self.faults.add(*fault.args)
            elif kind not in (METADATA, USERSPACE, SCHEDULING, LOG, LARGE):
                self.faults.add("unknown record", f"at byte {at * 8}: type {kind}")
            at += size
        self.finish()

    def finish(self):
        for ids, thread in self.threads.items():
            self.expire(thread, TIME_LIMIT)
            for name, start, *_ in thread.open:
                self.faults.add("never ends", f"{name!r} on {ids} begun at {start} ns")
            if ids not in self.thread_names:
                self.faults.add("thread without name", f"{ids}")
            if ids[0] not in self.process_names:
                self.faults.add("process without name", f"{ids[0]}")
        if self.ticks_per_second is None:
            self.faults.add("no initialization", "the trace does not say what a tick is")

    def spans(self):
        total = collections.Counter()
        for thread in self.threads.values():
            total.update(thread.spans)
        return total

    def report(self):
        return {
            "spans": sum(self.spans().values()),
            "instants": dict(self.instants),
            "counters": dict(self.counters),
            "categories": {category: sorted(names) for category, names in self.categories.items()},
            "errors": dict(self.faults.counts),
            "examples": dict(self.faults.examples),
            "max_depth": max((thread.depth for thread in self.threads.values()), default=0),
            "shortest_ns": self.shortest,
            "longest_ns": self.longest,
            "first_ns": self.first_time,
            "last_ns": None if self.first_time is None else max(self.global_time, self.last_end),
            "events_out_of_file_order": self.out_of_order,
            "clock_snapshots": self.clock_snapshots,
            "wall_clock_ns": self.wall_clock,
            "arguments": dict(self.arguments),
            "ends": dict(self.ends),
            "threads": [
                {"pid": pid, "tid": tid, "process": self.process_names.get(pid),
                 "name": self.thread_names.get((pid, tid)), "max_depth": thread.depth,
                 "spans": dict(thread.spans)}
                for (pid, tid), thread in sorted(self.threads.items())
            ],
        }


def main():
    parser = argparse.ArgumentParser(description="Checks a trace in the Fuchsia trace format.")
    parser.add_argument("trace")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--spans", action="store_true", help="only spans per function")
    output.add_argument("--threads", action="store_true", help="only spans per thread")
    options = parser.parse_args()

    faults = Faults()
    try:
        checker = Checker(read_trace(options.trace, faults), faults)
        checker.run()
    except Unreadable as error:
        print(f"{options.trace}: {error}", file=sys.stderr)
        return 2
    if options.spans:
        for name, count in sorted(checker.spans().items()):
            print(count, name)
    elif options.threads:
        for (pid, tid), thread in sorted(checker.threads.items()):
            print(sum(thread.spans.values()), pid, tid, checker.thread_names.get((pid, tid)))
    else:
        json.dump(checker.report(), sys.stdout, indent=1, ensure_ascii=False)
        print()
    for kind, count in faults.counts.items():
        print(f"{options.trace}: {kind}: {count} times, first {faults.examples[kind][0]}", file=sys.stderr)
    return 1 if faults.counts else 0


if __name__ == "__main__":
    sys.exit(main())
