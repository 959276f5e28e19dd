"""Writes small traces in the Fuchsia trace format, with what programs seldom do: for tests of its readers.

Specification: https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format
"""
import struct


class MadeTrace:
    """Events are added in time order; `write` makes the file."""

    def __init__(self):
        self.records = [struct.pack("<QQQ", 0x0016547846040010, 0x21, 10 ** 9)]
        self.strings, self.threads = {}, {}

    def string(self, text):
        """The number of a text, str or bytes."""
        text = text.encode() if isinstance(text, str) else text
        if not text:
            return 0
        if text not in self.strings:
            index = self.strings[text] = len(self.strings) + 1
            padded = text + bytes(-len(text) % 8)
            header = 2 | 1 + len(padded) // 8 << 4 | index << 16 | len(text) << 32
            self.records.append(struct.pack("<Q", header) + padded)
        return self.strings[text]

    def thread(self, pid, tid, process=None, thread=None):
        """The number of a thread, which is given its names when it is first used."""
        if (pid, tid) not in self.threads:
            process, thread, key = self.string(process), self.string(thread), self.string("process")
            index = self.threads[pid, tid] = len(self.threads) + 1
            self.records.append(struct.pack("<QQQ", 3 | 3 << 4 | index << 16, pid, tid))
            self.records.append(struct.pack("<QQ", 7 | 2 << 4 | 1 << 16 | process << 24, pid))
            self.records.append(struct.pack("<QQQQ", 7 | 4 << 4 | 2 << 16 | thread << 24 | 1 << 40, tid,
                                            8 | 2 << 4 | key << 16, pid))
        return self.threads[pid, tid]

    def argument(self, name, value):
        """bytes: a text; ("pointer", n); float; an int is signed of 32 or 64 bits."""
        name = self.string(name) << 16
        if isinstance(value, tuple):
            return struct.pack("<QQ", 7 | 2 << 4 | name, value[1])
        if isinstance(value, (str, bytes)):
            return struct.pack("<Q", 6 | 1 << 4 | name | self.string(value) << 32)
        if isinstance(value, float):
            return struct.pack("<Qd", 5 | 2 << 4 | name, value)
        if 0 <= value < 1 << 31:
            return struct.pack("<Q", 1 | 1 << 4 | name | value << 32)
        return struct.pack("<Qq", 3 | 2 << 4 | name, value)

    def event(self, kind, time, thread, name="", category="", tail=b"", **arguments):
        """`thread`: what thread() gave."""
        name, category = self.string(name), self.string(category)
        body = b"".join(self.argument(key, value) for key, value in arguments.items()) + tail
        words = 2 + len(body) // 8
        header = (4 | words << 4 | kind << 16 | len(arguments) << 20 | thread << 24 | category << 32 | name << 48)
        self.records.append(struct.pack("<QQ", header, time) + body)

    def instant(self, time, thread, name):
        self.event(0, time, thread, name, "special")

    def counter(self, time, thread, name, unit, value):
        self.event(1, time, thread, name, tail=bytes(8), **{unit: value})

    def begin(self, time, thread, name, category="", **arguments):
        self.event(2, time, thread, name, category, **arguments)

    def end(self, time, thread, **arguments):
        self.event(3, time, thread, **arguments)

    def write(self, path):
        path.write_bytes(b"".join(self.records))
        return path
