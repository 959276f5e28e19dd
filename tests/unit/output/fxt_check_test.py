#!/usr/bin/env python3
"""The trace checker finds each fault that it promises to find, and none in a good trace."""

import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "judge", "fxt_check.py")
MAGIC = bytes.fromhex("1000044678541600")
INSTANT, COUNTER, BEGIN, END, COMPLETE = range(5)


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def initialization(ticks=1000000000):
    return words(1 | 2 << 4, ticks)


def string(index, text):
    body = text.encode()
    padded = body + b"\0" * (-len(body) % 8)
    return words(2 | (1 + len(padded) // 8) << 4 | index << 16 | len(body) << 32) + padded


def thread(index, pid, tid):
    return words(3 | 3 << 4 | index << 16, pid, tid)


def process_name(pid, name):
    return words(7 | 2 << 4 | 1 << 16 | name << 24, pid)


def thread_name(pid, tid, name, process=1, kind=8):
    return words(7 | 4 << 4 | 2 << 16 | name << 24 | 1 << 40, tid, kind | 2 << 4 | process << 16, pid)


def event(kind, time, name=0, on=1, arguments=(), *after):
    size = 2 + len(arguments) + len(after)
    return words(4 | size << 4 | kind << 16 | len(arguments) << 20 | on << 24 | name << 48, time, *arguments, *after)


BEGINNING = (MAGIC + initialization() + string(1, "process") + string(2, "main") + string(3, "f") + thread(1, 10, 11)
             + process_name(10, 2) + thread_name(10, 11, 2))
GOOD = BEGINNING + event(BEGIN, 5, 3) + event(BEGIN, 6, 3) + event(INSTANT, 6, 2) + event(END, 7) + event(END, 9)


class FxtCheck(unittest.TestCase):
    def check(self, data, *options):
        with tempfile.NamedTemporaryFile(suffix=".fxt") as file:
            file.write(data)
            file.flush()
            return subprocess.run([sys.executable, CHECKER, file.name, *options], capture_output=True, text=True,
                                  check=False)

    def assert_fault(self, data, kind):
        done = self.check(data)
        self.assertEqual(list(json.loads(done.stdout)["errors"]), [kind])
        self.assertIn(kind, done.stderr)
        self.assertEqual(done.returncode, 1)

    def assert_good(self, data):
        done = self.check(data)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return json.loads(done.stdout)

    def test_good_trace(self):
        report = self.assert_good(GOOD)
        self.assertEqual(report["spans"], 2)
        self.assertEqual(report["instants"], {"main": 1})
        self.assertEqual(report["categories"], {"": ["f"]})
        self.assertEqual(report["max_depth"], 2)
        self.assertEqual((report["shortest_ns"], report["longest_ns"]), (1, 4))
        self.assertEqual((report["first_ns"], report["last_ns"]), (5, 9))
        self.assertEqual(report["threads"][0]["spans"], {"f": 2})

    def test_counters(self):
        number, text = 1 | 1 << 4 | 3 << 16 | 7 << 32, 6 | 1 << 4 | 3 << 16 | 2 << 32
        report = self.assert_good(GOOD + event(COUNTER, 9, 2, 1, (number,), 5))
        self.assertEqual(report["counters"], {"main:f:5": 1})
        self.assert_fault(GOOD + event(COUNTER, 9, 2, 1, (text,), 5), "counter without number")
        self.assert_fault(GOOD + event(COUNTER, 9, 2, 1, (number,)), "record too short")

    def test_good_gzip(self):
        self.assert_good(gzip.compress(GOOD))

    def test_spans_by_function(self):
        self.assertEqual(self.check(GOOD, "--spans").stdout, "2 f\n")

    def test_complete_events_nest(self):
        self.assert_good(BEGINNING + event(COMPLETE, 5, 3, 1, (), 9) + event(COMPLETE, 6, 3, 1, (), 9)
                         + event(COMPLETE, 9, 3, 1, (), 10))

    def test_redefined_string_counts_from_there_on(self):
        report = self.assert_good(GOOD + string(3, "g") + event(BEGIN, 10, 3) + event(END, 11))
        self.assertEqual(report["threads"][0]["spans"], {"f": 2, "g": 1})

    def test_not_a_trace(self):
        self.assertEqual(self.check(b"something else").returncode, 2)

    def test_undefined_string(self):
        self.assert_fault(GOOD + event(INSTANT, 10, 77), "undefined string")
        self.assert_fault(GOOD + event(INSTANT, 10, 3, 1, (6 | 1 << 4 | 2 << 16 | 77 << 32,)), "undefined string")

    def test_undefined_thread(self):
        self.assert_fault(GOOD + event(INSTANT, 10, 3, 9), "undefined thread")

    def test_too_deep(self):
        deep = b"".join(event(BEGIN, 10 + i, 3) for i in range(513)) + b"".join(event(END, 1000) for _ in range(513))
        self.assert_fault(GOOD + deep, "too deep")

    def test_end_without_begin(self):
        self.assert_fault(GOOD + event(END, 10), "end without begin")

    def test_never_ends(self):
        self.assert_fault(GOOD + event(BEGIN, 10, 3), "never ends")

    def test_time_goes_back(self):
        self.assert_fault(GOOD + event(INSTANT, 4, 3), "time goes back")

    def test_spans_of_no_length_nest(self):
        self.assert_good(GOOD + event(BEGIN, 10, 3) + event(END, 10))
        inner = event(BEGIN, 10, 3) + event(END, 10)
        self.assert_good(GOOD + event(BEGIN, 10, 3) + inner + inner + event(END, 10))

    def test_does_not_nest(self):
        self.assert_fault(BEGINNING + event(COMPLETE, 5, 3, 1, (), 9) + event(COMPLETE, 6, 3, 1, (), 12),
                          "does not nest")

    def test_ends_before_it_begins(self):
        self.assert_fault(BEGINNING + event(COMPLETE, 5, 3, 1, (), 4), "ends before it begins")

    def test_record_of_size_0(self):
        self.assert_fault(GOOD + words(0), "record size 0")

    def test_cut_off(self):
        self.assert_fault(GOOD + b"\x01", "cut off")
        self.assert_fault(GOOD + words(4 | 5 << 4), "cut off")

    def test_record_too_short(self):
        self.assert_fault(GOOD + words(4 | 1 << 4 | 1 << 24), "record too short")

    def test_thread_named_without_its_process(self):
        self.assert_fault(GOOD + thread_name(10, 12, 2, process=3), "thread without process")
        self.assert_fault(GOOD + thread_name(10, 12, 2, kind=4), "thread without process")

    def test_thread_without_name(self):
        self.assert_fault(GOOD + thread(2, 10, 12) + event(INSTANT, 10, 3, 2), "thread without name")

    def test_process_without_name(self):
        self.assert_fault(GOOD + thread(2, 20, 12) + thread_name(20, 12, 2) + event(INSTANT, 10, 3, 2),
                          "process without name")

    def test_id_beyond_32_bits(self):
        self.assert_fault(GOOD + thread(2, 10, 1 << 32), "id beyond 32 bits")

    def test_oversize_string(self):
        header = words(2 | 4095 << 4 | 9 << 16 | 32767 << 32)
        self.assert_fault(GOOD + header + b"x" * (4094 * 8), "oversize string")

    def test_time_too_large(self):
        self.assert_fault(GOOD + event(INSTANT, 1 << 63, 3), "time too large")

    def test_no_ticks(self):
        self.assert_fault(GOOD + initialization(0), "zero ticks per second")
        self.assert_fault(GOOD.replace(initialization(), b""), "no initialization")

    def test_gzip_in_several_members(self):
        self.assert_fault(gzip.compress(GOOD[:80]) + gzip.compress(GOOD[80:]), "several gzip members")

    def test_gzip_cut_off(self):
        self.assert_fault(gzip.compress(GOOD)[:-4], "gzip cut off")

    def test_bytes_after_gzip(self):
        self.assert_fault(gzip.compress(GOOD) + b"\0\0\0\0", "bytes after gzip")


if __name__ == "__main__":
    unittest.main()
