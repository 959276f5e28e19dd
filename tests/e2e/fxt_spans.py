"""Begin and end of every span of one of our traces, for tests that compare times.

Reads only what magic-trace writes: begin and end events, strings and threads by reference
(https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format). Whether a trace is well formed is for
tests/judge/fxt_check.py to say.
"""
import collections
import gzip
import struct

Span = collections.namedtuple("Span", "name pid tid begin end")  # nanoseconds

RECORD_STRING, RECORD_THREAD, RECORD_EVENT = 2, 3, 4
EVENT_BEGIN, EVENT_END = 2, 3


def read_bytes(path):
    content = open(path, "rb").read()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def read_spans(path):
    """All spans in the order of their ends."""
    content = read_bytes(path)
    strings, threads, stacks, spans = {0: ""}, {}, collections.defaultdict(list), []
    offset = 0
    while offset < len(content):
        (header,) = struct.unpack_from("<Q", content, offset)
        words = header >> 4 & 0xfff
        kind = header & 15
        if words == 0:
            raise ValueError(f"{path}: record of size 0 at {offset}")
        if kind == RECORD_STRING:
            length = header >> 32 & 0x7fff
            strings[header >> 16 & 0x7fff] = content[offset + 8:offset + 8 + length].decode()
        elif kind == RECORD_THREAD:
            threads[header >> 16 & 0xff] = struct.unpack_from("<QQ", content, offset + 8)
        elif kind == RECORD_EVENT:
            (time,) = struct.unpack_from("<Q", content, offset + 8)
            thread = threads[header >> 24 & 0xff]
            event = header >> 16 & 15
            if event == EVENT_BEGIN:
                stacks[thread].append((strings[header >> 48], time))
            elif event == EVENT_END:
                name, begin = stacks[thread].pop()
                spans.append(Span(name, *thread, begin, time))
        offset += 8 * words
    return spans
