"""Programs that are no longer at their path: found by build id, in perf's cache or on a debuginfod server."""
import ctypes.util
import http.server
import re
import shutil
import struct
import subprocess
import threading

import harness
import perf_forms

FEATURE_BUILD_ID = 2
USER_MODE = 2


def build_id_feature(path, number):
    name = str(path).encode() + b"\0"
    name += b"\0" * (-len(name) % 64)
    body = struct.pack("<i", -1) + number + b"\0" * 4 + name
    return struct.pack("<IHH", 67, USER_MODE, 8 + len(body)) + body


class Server(http.server.ThreadingHTTPServer):
    """A debuginfod server with one program."""

    def __init__(self, number, contents):
        super().__init__(("127.0.0.1", 0), Handler)
        self.path, self.contents = f"/buildid/{number.hex()}/executable", contents
        self.asked = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        found = self.path == self.server.path
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(self.server.contents) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(self.server.contents)

    def log_message(self, *arguments):
        pass


class BuildIds(harness.TestCase):
    def setUp(self):
        super().setUp()
        program = self.folder / "program"
        subprocess.run(["gcc", "-O0", "-g", "-Wl,--build-id=sha1", "-o", program,
                        harness.PROGRAMS / "recursion.c"], check=True)
        traced = self.trace([program], "-full-execution")
        self.counts = harness.counts_in(traced.stdout)
        notes = subprocess.run(["readelf", "-n", program], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.number = bytes.fromhex(re.search("Build ID: ([0-9a-f]+)", notes).group(1))
        self.contents = program.read_bytes()
        program.unlink()
        recording = perf_forms.Recording(traced.directory / "perf.data")
        self.recording = self.folder / "perf.data"
        self.recording.write_bytes(perf_forms.as_file(
            recording, recording.records, {FEATURE_BUILD_ID: build_id_feature(program, self.number)}))

    def decode(self, **variables):
        trace = self.folder / "trace.fxt"
        environment = {**harness.Settings.environment, "PERF_BUILDID_DIR": str(self.folder / "no cache"),
                       "DEBUGINFOD_CACHE_PATH": str(self.folder / "cache"), **variables}
        finished = self.magic_trace("decode", "-o", trace, self.recording, env=environment)
        self.assertEqual(finished.status, 0, finished.stderr)
        spans = self.spans(trace)
        return finished.stderr.decode(), {name: spans.get(name, 0) for name in self.counts}

    def test_nowhere(self):
        """a program that is nowhere: named, with ways to supply it"""
        messages, _ = self.decode()
        self.assertRegex(messages, r"not on this machine: .*/program\b.*images/.*DEBUGINFOD_URLS")

    def test_cache(self):
        """a program that perf keeps in its cache"""
        text = self.number.hex()
        entry = self.folder / "debug" / ".build-id" / text[:2] / text[2:] / "elf"
        entry.parent.mkdir(parents=True)
        entry.write_bytes(self.contents)
        messages, counts = self.decode(PERF_BUILDID_DIR=str(self.folder / "debug"))
        self.assertNotIn("Warning", messages)
        self.assertEqual(counts, self.counts)

    def test_server(self):
        """a program that a debuginfod server has"""
        if not ctypes.util.find_library("debuginfod") and not shutil.which("debuginfod-find"):
            self.skipTest("libdebuginfod is not installed")
        server = Server(self.number, self.contents)
        messages, counts = self.decode(DEBUGINFOD_URLS=server.url)
        server.shutdown()
        self.assertIn("Asking the servers of DEBUGINFOD_URLS", messages)
        self.assertNotIn("Warning", messages)
        self.assertEqual(counts, self.counts)
        self.assertIn(server.path, server.asked)
