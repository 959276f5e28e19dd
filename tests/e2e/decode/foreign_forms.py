"""Recordings in the forms of perf record: through a pipe, compressed, in a folder, out of order."""
import os
import shutil
import struct
import threading
import unittest

import harness
import perf_forms


class RealForms(harness.TestCase):
    """What this machine's perf writes. It cannot record Intel PT here, but all else is as with it: that the records are
    read shows in the message, which says that no packets are among them, and no samples but those of page faults."""

    def check(self, *options, output="perf.data"):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        command = ["perf", "record", "-e", "context-switches", "-e", "page-faults", *options, "-o", output, "--", "true"]
        finished = harness.run(command, cwd=self.folder)
        if finished.status != 0:
            self.skipTest(f"perf cannot record here: {finished.stderr.decode()}")
        if output == "-":
            decoded = self.magic_trace("decode", "-o", "trace.fxt", "-", input=finished.stdout)
        else:
            decoded = self.magic_trace("decode", "-o", "trace.fxt", output)
        self.assertEqual(decoded.status, 1)
        self.assertIn(b"it holds no Intel PT recording", decoded.stderr)

    def test_forms(self):
        """files by this machine's perf, in every form: they are read"""
        self.check()
        self.check("--per-thread")
        self.check("-z")
        self.check(output="-")
        self.check("-z", output="-")
        self.check("--threads", output="folder")


class ForeignForms(harness.TestCase):
    def setUp(self):
        super().setUp()
        # Of a recording without context switches: perf_forms.py makes its own.
        traced = self.trace([harness.compile_program("threads"), "3", "200"], "-full-execution", "-clock", "instructions")
        lone = self.folder / "lone.data"  # without session.json, like the others
        shutil.copy(traced.directory / "perf.data", lone)
        if (traced.directory / "images").exists():
            shutil.copytree(traced.directory / "images", self.folder / "images")
        self.recording = perf_forms.Recording(lone)
        self.expected = self.decode(lone)

    def decode(self, recording, **options):
        output = self.folder / "form.fxt"
        finished = self.magic_trace("decode", "-o", output, recording, **options)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.judge_trace(output)
        return output.read_bytes()

    def assert_same(self, contents):
        path = self.folder / "form.data"
        path.write_bytes(contents)
        self.assertEqual(self.decode(path), self.expected)

    def test_pipe(self):
        """a recording through a pipe: as a file, from standard input, from a FIFO"""
        contents = perf_forms.as_pipe(self.recording, self.recording.records)
        self.assert_same(contents)
        self.assertEqual(self.decode("-", input=contents), self.expected)
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        writer = threading.Thread(target=fifo.write_bytes, args=(contents,))
        writer.start()
        self.assertEqual(self.decode(fifo), self.expected)
        writer.join()

    @unittest.skipUnless(shutil.which("zstd"), "zstd is not installed")
    def test_compressed(self):
        """compressed records, of sideband and of packets, in a file and through a pipe"""
        setup, others = perf_forms.packets_first(self.recording.records)
        sideband = [record for record in others if record[0] < 64]
        packets = [record for record in others if record[0] >= 64]
        self.assert_same(perf_forms.as_file(self.recording, setup + perf_forms.compressed(sideband) + packets))
        self.assert_same(perf_forms.as_pipe(self.recording, setup + perf_forms.compressed(others, 999)))

    @unittest.skipUnless(shutil.which("zstd"), "zstd is not installed")
    def test_folder(self):
        """a folder as by perf record --threads"""
        folder = self.folder / "perf.data"
        perf_forms.write_folder(self.recording, folder)
        if (self.folder / "images").exists():
            shutil.copytree(self.folder / "images", folder / "images")
        self.assertEqual(self.decode(folder), self.expected)

    def test_out_of_order(self):
        """records with a time come in any order"""
        setup, others = perf_forms.packets_first(self.recording.records)
        packets = [record for record in others if record[0] >= 64]
        sideband = [record for record in others if record[0] < 64]
        # Two rows as of two rings of the kernel: each in order, the second wholly after the first.
        self.assert_same(perf_forms.as_file(self.recording, setup + packets + sideband[1::2] + sideband[0::2]))

    def check_per_cpu(self, switches):
        perf_forms.as_per_cpu(self.recording, switches)
        if switches is perf_forms.sampled_switch:
            perf_forms.add_sched_switch(self.recording)
        self.assert_same(perf_forms.as_file(self.recording, self.recording.records))

    def test_per_cpu(self):
        """rings of processors, with the switches of all threads"""
        self.check_per_cpu(perf_forms.wide_switch)

    def test_per_cpu_own(self):
        """rings of processors, with the switches of the traced threads"""
        self.check_per_cpu(perf_forms.own_switch)

    def test_per_cpu_sampled(self):
        """rings of processors, with samples of sched:sched_switch, as by perf before Linux 4.3"""
        self.check_per_cpu(perf_forms.sampled_switch)

    def test_samples(self):
        """samples of another event beside Intel PT: marks on a track of their own, per thread"""
        records = [record for record in self.recording.records if record[0] == perf_forms.ITRACE_START]
        pid, tid = struct.unpack_from("<II", records[0][2])
        times = sorted(struct.unpack_from("<Q", record[2], len(record[2]) - 16)[0]
                       for record in self.recording.records if record[0] in (perf_forms.EXIT, perf_forms.AUX))
        perf_forms.add_samples(self.recording, [(times[-1] - 1000, pid, tid, 0x401000), (times[-1], pid, tid, 0x402000),
                                                (times[-1], pid + 5555, tid + 5555, 0)])
        path, output = self.folder / "samples.data", self.folder / "samples.fxt"
        path.write_bytes(perf_forms.as_file(self.recording, self.recording.records))
        finished = self.magic_trace("decode", "-o", output, path)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(self.judge_trace(output)["instants"], {"branch-misses": 2})
        tree = self.magic_trace("report", "-tree", output).stdout.decode()
        self.assertRegex(tree, rf"branch-misses of \w+ \({tid}\)")
