"""The viewer's server: its answers, who gets them, and what load it withstands."""
import concurrent.futures
import contextlib
import fcntl
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

import fxt_spans
import harness
import watchdog
from harness import Settings
from made_trace import MadeTrace

ROOT = harness.TESTS.parent
PERFETTO = "https://ui.perfetto.dev"
MOST_ASLEEP = 15  # seconds, which the end of a viewer may wait for what is not a processor; less than idle connections get


# Six goroutines that hand each other numbers, in as many threads as Go likes.
WORKERS = """package main

import "sync"

//go:noinline
func work(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i * i
	}
	return
}

func worker(in <-chan int, out chan<- int, all *sync.WaitGroup) {
	defer all.Done()
	for n := range in {
		out <- work(n)
	}
}

func main() {
	in, out := make(chan int), make(chan int, 4)
	var all sync.WaitGroup
	for i := 0; i < 6; i++ {
		all.Add(1)
		go worker(in, out, &all)
	}
	go func() {
		for i := 0; i < 200; i++ {
			in <- 1000 + i
		}
		close(in)
		all.Wait()
		close(out)
	}()
	for range out {
	}
}
"""


class Served:
    """A running magic-trace that serves; its address, and requests to it."""

    def __init__(self, test, arguments, env=None, stdin="/dev/null"):
        self.test = test
        self.log = test.folder / f"served{len(list(test.folder.glob('served*')))}"
        with open(self.log, "wb") as log, open(stdin, "rb") as given:
            self.process = subprocess.Popen([Settings.binary, *map(str, arguments)], cwd=test.folder, stdout=log,
                                            stderr=log, stdin=given,
                                            env={**Settings.environment, **(env or {})}, start_new_session=True)
        self.address = self.find_address()
        parts = urllib.parse.urlsplit(self.own_address())
        self.port, self.base = parts.port, parts.path.rstrip("/")

    def messages(self):
        return self.log.read_text(errors="replace")

    def find_address(self):
        def find():
            ended = self.process.poll() is not None
            return re.search(r"Open (\S+) to see the trace", self.messages()) or ended

        found = harness.wait_until(find)
        if found is True:
            self.test.fail(f"no address was printed: {self.messages()}")
        return found.group(1)

    def own_address(self):
        """Of an address of Perfetto's, the part that is ours."""
        found = re.search(r"url=(http\S+)/trace/", self.address)
        return found.group(1) if found else self.address

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port)

    def request(self, path, method="GET", headers=None, connection=None, body=None):
        """(status, headers, body) of what lies under the token; `path` goes out as it is."""
        connection = connection or self.connect()
        connection.putrequest(method, self.base + path if path is not None else "/", skip_host=True,
                              skip_accept_encoding=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **(headers or {})}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()

    def get(self, path, **parameters):
        """The answer, which has to be good: JSON is read."""
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        status, headers, body = self.request(path + query)
        self.test.assertEqual(status, 200, (path, parameters, body[:300]))
        return json.loads(body) if headers["content-type"] == "application/json" else body

    def error(self, path, status, **request):
        """The words of an answer that has to be an error."""
        got, headers, body = self.request(path, **request)
        self.test.assertEqual(got, status, (path, request, body[:300]))
        return json.loads(body)["error"] if body else ""

    def end(self, number=signal.SIGINT):
        """Seconds in which it slept before it ended."""
        with watchdog.Watchdog(self.process.pid, self.test.fail) as watch:
            self.process.send_signal(number)
            status = self.process.wait()
        self.test.assert_not_crashed(harness.Finished(status, b"", self.log.read_bytes()))
        self.test.assertEqual(status, 0, self.messages())
        return watch.asleep


class ViewerTestCase(harness.TestCase):
    @contextlib.contextmanager
    def served(self, *arguments, **options):
        served = Served(self, arguments, **options)
        try:
            yield served
        except BaseException:
            served.process.kill()
            served.process.wait()
            print(served.messages())
            raise
        served.end()

    def view(self, *arguments, **options):
        return self.served("view", "-no-browser", *arguments, **options)

    def made_trace(self, name="trace.fxt"):
        """A trace of tests/programs/hits.c or so: made once by a binary, copied for each test, without its index."""
        store = Settings.work / f"viewer-{pathlib.Path(Settings.binary).parent.name}"
        made = store / name
        if not made.exists() or made.stat().st_mtime < os.stat(Settings.binary).st_mtime:
            store.mkdir(exist_ok=True)
            program = harness.compile_program("threads")
            new = self.folder / "new.fxt"
            finished = self.magic_trace("run", "-multi-thread", "-full-execution", "-o", new, "--", program)
            self.assertEqual(finished.status, 0, finished.stderr)
            new.rename(made)
        trace = self.folder / name
        shutil.copy(made, trace)
        return trace


def tiles(body):
    """Rows of /api/tiles, as tuples; and whether there is more."""
    magic, count, more, _ = struct.unpack_from("<4sIII", body)
    assert magic == b"MTP1" and len(body) == 16 + 32 * count, (magic, count, len(body))
    columns, at = [], 16
    for form, size in (("d", 8), ("d", 8), ("I", 4), ("I", 4), ("I", 4), ("I", 4)):
        columns.append(struct.unpack_from(f"<{count}{form}", body, at))
        at += count * size
    return list(zip(*columns)), bool(more)


class Answers(ViewerTestCase):
    def test_answers(self):
        """every question that the page asks has an answer that fits the trace"""
        trace = self.made_trace()
        spans = sorted(fxt_spans.read_spans(trace), key=lambda span: (span.begin, -span.end))
        with self.view(trace) as served:
            info = served.get("/api/trace")
            self.assertEqual(info["name"], "trace.fxt")
            self.assertEqual(info["spans"], len(spans))
            self.assertEqual((info["damage"], info["replaced"]), (None, None))
            self.assertRegex(info["recorded"], "^Recorded .*; clock: default(; when threads .* unknown .*)?$")
            self.assertFalse(info["sampled"])
            self.assertTrue(info["canPerfetto"])
            self.assertGreater(len(info["tracks"]), 1)
            self.assertEqual(sum(track["spans"] for track in info["tracks"]), len(spans))

            functions = served.get("/api/functions")["functions"]
            names = [name for name, *_ in functions]
            self.assertEqual({span.name for span in spans}, set(names))
            group = names.index("main")
            self.assertEqual(functions[group][4], sum(span.name == "main" for span in spans))

            drawn = 0
            for track in info["tracks"]:
                rows, more = tiles(served.get("/api/tiles", track=track["id"], **{"from": 0}, to=info["duration"] + 1,
                                               resolution=1, depth=0, rows=1000))
                self.assertFalse(more)
                drawn += sum(row[4] for row in rows)
                self.assertEqual(rows, sorted(rows, key=lambda row: (row[0], row[2])))
            self.assertEqual(drawn, len(spans))

            table = served.get("/api/table", top=3, sort="calls")
            self.assertEqual(len(table["rows"]), 3)
            self.assertEqual(table["omittedRows"], len(set(names)) - 3)
            busiest = table["rows"][0]
            self.assertEqual(busiest["calls"], max(sum(span.name == name for span in spans) for name in set(names)))

            root = served.get("/api/flame")["root"]
            self.assertEqual(root["total"], root["self"] + root["omitted"] + sum(c["total"] for c in root["children"]))

            self.assertIn("main", [match["name"] for match in served.get("/api/find", q="MAI")["matches"]])
            self.assertEqual([match["name"] for match in served.get("/api/find", q="^main$", mode="regex")["matches"]],
                             ["main"])

            calls = served.get("/api/calls", group=busiest["group"], slowest=5)
            self.assertEqual(calls["calls"], busiest["calls"])
            self.assertEqual(sum(bin["count"] for bin in calls["histogram"]), calls["whole"])
            self.assertLessEqual(len(calls["slowest"]), 5)

            place = calls["slowest"][0]
            found = served.get("/api/span", track=place["track"], depth=place["depth"], time=place["start"])
            self.assertEqual(found["span"]["name"], busiest["name"])
            self.assertEqual([entry["depth"] for entry in found["parents"]], list(range(place["depth"])))
            stack = served.get("/api/stack", track=place["track"], time=place["start"])["stack"]
            self.assertEqual(stack[:place["depth"]], found["parents"])
            self.assertIsNone(served.get("/api/span", track=0, depth=9999, time=0)["span"])

            step, seen = {"track": 0, "time": 0, "depth": 0}, 0
            while True:
                answer = served.get("/api/next", group=group, direction="next", **step)
                if answer["call"] is None:
                    break
                seen += 1
                step = {"track": answer["call"]["track"], "time": answer["call"]["start"],
                        "depth": answer["call"]["depth"]}
            self.assertIn(seen, (functions[group][4], functions[group][4] - 1))  # one that begins at 0, 0 is not after it

            self.assertEqual(served.get("/api/marks")["marks"], [])
            text = served.get("/api/text", track=0, limit=50).decode()
            self.assertIn("... and more", text)
            self.assertEqual(served.get("/api/raw"), trace.read_bytes())

    def test_missing_names(self):
        """of a function without a name: what would give it one"""
        made = MadeTrace()
        thread = made.thread(1, 1, "java", "main")
        names = {"main": None, "[JIT code]": "java -XX:+UnlockDiagnosticVMOptions", "libfoo.so.1+0x3430": "libfoo.so.1 has no symbols.",
                 "operator+": None, "a+0xyz": None}
        for number, name in enumerate(names):
            made.begin(10 * number, thread, name)
            made.end(10 * number + 5, thread)
        with self.view(made.write(self.folder / "made.fxt")) as served:
            for number, (name, words) in enumerate(names.items()):
                span = served.get("/api/span", track=0, depth=0, time=10 * number)["span"]
                self.assertEqual(span["name"], name)
                self.assertIn(words, span["unnamed"]) if words else self.assertIsNone(span["unnamed"])

    def test_source(self):
        """source text of a function that the trace names the file of"""
        with self.view(self.made_trace()) as served:
            functions = served.get("/api/functions")["functions"]
            main = [number for number, function in enumerate(functions) if function[0] == "main"][0]
            source = served.get("/api/source", function=main)["source"]
            text = (harness.PROGRAMS / "threads.c").read_text().split("\n")
            self.assertEqual(source["lines"], text[source["first"] - 1:][:len(source["lines"])])
            at = source["line"] - source["first"]
            self.assertIn("main", "".join(source["lines"][at - 1:at + 1]))  # its name or its brace
            special = [number for number, function in enumerate(functions) if function[0].startswith("[")][0]
            self.assertIsNone(served.get("/api/source", function=special)["source"])

    def test_parameters(self):
        """what makes no sense is refused in words, and bounds hold"""
        with self.view(self.made_trace()) as served:
            for path in ("tiles", "tiles?track=x", "tiles?track=0&resolution=3", "tiles?track=0&from=nan",
                         "tiles?track=0&from=9&to=3", "tiles?track=0&rows=0", "span?track=0&time=%00&depth=-1",
                         "table?sort=name", "table?tracks=1,,2", "table?tracks=4294967295", "table?top=0", "flame?share=2",
                         "find", "find?q=", "find?q=(&mode=regex", "find?q=((a{1,255}){1,255}){1,255}&mode=regex",
                         "find?q=" + "a" * 501, "calls", "calls?group=0&slowest=1001", "next?group=0",
                         "marks?limit=999999", "counter?points=3", "source", "text?track=0&limit=1000000",
                         "table?" + "&".join(f"a{number}=1" for number in range(40))):
                self.assertTrue(served.error("/api/" + path, 400), path)
            for path in ("tiles?track=999", "calls?group=4000000000", "counter?id=0", "source?function=99999999",
                         "nothing", "", "trace/"):
                self.assertTrue(served.error("/api/" + path, 404), path)

    def test_caching_and_compression(self):
        """ETag and If-None-Match, gzip for who accepts it, what may be kept and what may not"""
        with self.view(self.made_trace()) as served:
            for path in ("/", "/app/main.js", "/api/functions", "/api/table"):
                status, plain, body = served.request(path)
                self.assertEqual(status, 200)
                status, packed, small = served.request(path, headers={"Accept-Encoding": "br, gzip"})
                if len(body) > 1500:
                    self.assertEqual(packed["content-encoding"], "gzip")
                    self.assertEqual(gzip.decompress(small), body)
                    self.assertEqual(plain["vary"], "Accept-Encoding")
                self.assertNotIn("content-encoding", plain)
                status, headers, body = served.request(path, headers={"If-None-Match": plain["etag"]})
                self.assertEqual((status, body), (304, b""))
                self.assertEqual(headers["etag"], plain["etag"])
            self.assertIn("max-age", served.request("/api/functions")[1]["cache-control"])
            self.assertEqual(served.request("/")[1]["cache-control"], "private, no-cache")
            for path in ("/api/trace", "/api/raw", "/api/nothing"):
                self.assertEqual(served.request(path)[1]["cache-control"], "no-store")
            status, headers, body = served.request("/api/functions", method="HEAD")
            self.assertEqual((status, body), (200, b""))
            self.assertGreater(int(headers["content-length"]), 100)

    def test_page(self):
        """the page, its parts and their types; every module that another imports is there"""
        with self.view(self.made_trace()) as served:
            status, headers, body = served.request("/")
            self.assertEqual(headers["content-type"], "text/html; charset=utf-8")
            seen, wanted = set(), set(re.findall(r'(?:src|href)="(app/[^"]+)"', body.decode()))
            while wanted:
                path = wanted.pop()
                seen.add(path)
                status, headers, body = served.request("/" + path)
                self.assertEqual(status, 200, path)
                for name in re.findall(r"""(?:from|import) '(\.[^']+)'""", body.decode()):
                    module = os.path.normpath(os.path.join(os.path.dirname(path), name))
                    wanted |= {module} - seen
            self.assertIn("app/main.js", seen)
            status, headers, body = served.request("")
            self.assertEqual((status, headers["location"]), (303, served.base + "/"))
            policy = headers["content-security-policy"]
            self.assertIn("default-src 'self'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["referrer-policy"], "no-referrer")
            self.assertEqual(headers["x-content-type-options"], "nosniff")

    def test_web_folder(self):
        """who works on the page has its files from a folder, and nothing from outside of it"""
        web = self.folder / "web"
        web.mkdir()
        (web / "index.html").write_text("mine")
        (web / "outside.js").symlink_to("/etc/passwd")
        (web / "inside.js").symlink_to("index.html")
        os.mkfifo(web / "fifo.js")
        (self.folder / "secret").write_text("secret")
        with self.view(self.made_trace(), env={"MAGIC_TRACE_WEB_DIR": str(web)}) as served:
            self.assertEqual(served.get("/"), b"mine")
            self.assertEqual(served.get("/app/inside.js"), b"mine")
            for path in ("outside.js", "../secret", "%2e%2e/secret", "fifo.js", "", ".", "none", "/etc/passwd"):
                served.error("/app/" + path, 404)


class Inlined(ViewerTestCase):
    def test_no_inlined(self):
        """-no-inlined: the page has calls alone; without it, functions whose colour is "inlined" """
        program = self.folder / "program"
        subprocess.run(["gcc", "-O2", "-g", "-o", program, harness.PROGRAMS / "inlined.c"], check=True)
        traced = self.trace([program], "-engine", "translator", "-full-execution")
        for options, expected in (((), {"step", "mix", "square_of", "digits"}), (("-no-inlined",), set())):
            with self.view(*options, traced.trace) as served:
                functions = served.get("/api/functions")["functions"]
                inlined = {name for name, _, colour, *_ in functions if colour == "inlined"}
                self.assertEqual(inlined & {"step", "mix", "square_of", "digits"}, expected)
                self.assertIn("look_up", {name for name, *_ in functions})
                if options:
                    self.assertEqual(inlined, set())


class Truth(ViewerTestCase):
    def assert_true_answers(self, command, *options):
        """1,000 answers on the trace of `command`, whatever is asked, are those that a simple program finds."""
        trace = self.folder / "trace.fxt"
        finished = self.magic_trace("run", *options, "-output", trace, *command)
        self.assertTrue(trace.exists(), finished.stderr)
        with self.view(trace) as served:
            found = harness.run(["/usr/bin/python3", harness.TESTS / "judge" / "view_check.py", trace, served.address])
        self.assertEqual(found.status, 0, found.stderr.decode())

    def test_threads(self):
        """1,000 random questions about a program of threads are answered as the trace itself does"""
        self.assert_true_answers([harness.compile_program("threads")], "-multi-thread", "-full-execution")

    def test_deep_recursion(self):
        """1,000 random questions about calls deeper than a track of Perfetto are answered as the trace itself does"""
        source = self.folder / "deep.c"
        source.write_text("static int dig(int depth) { return depth ? dig(depth - 1) + dig(0) : 0; }\n"
                          "int main(void) { return dig(600) + dig(300); }\n")
        self.assert_true_answers([harness.compile_program("deep", source=source)], "-full-execution")

    def test_snapshot(self):
        """1,000 random questions about a snapshot, whose first calls began before it, are answered as the trace itself does"""
        self.assert_true_answers(["/bin/bash", "-c", "for i in 1 2 3; do echo $((i * i)); done"], "-snapshot-size", "16K")


class Strangers(ViewerTestCase):
    def test_token(self):
        """without the token a request learns only that it needs one"""
        with self.view(self.made_trace()) as served:
            token = served.base.strip("/")
            self.assertRegex(token, "^[0-9a-f]{32}$")
            wrong = ("x" if token[0] != "x" else "y") + token[1:]
            plain = Served.request
            good, served.base = served.base, ""
            for path in ("/", "/api/trace", f"/{wrong}/api/trace", f"/{token[:-1]}/api/trace", f"/{token}0/api/trace",
                         f"//{token}/", f"/{token.upper()}X/", "/favicon.ico", "/%2e%2e/etc/passwd", f"/x/../{token}/",
                         "/" + "a" * 5000, f"/?token={token}"):
                for method in ("GET", "POST", "OPTIONS", "DELETE"):
                    status, headers, body = plain(served, path, method=method)
                    self.assertEqual(status, 403, (method, path))
                    self.assertNotIn(token.encode(), body)
            served.base = good
        with self.view(self.made_trace("again.fxt")) as other:
            self.assertNotEqual(other.base.strip("/"), token)

    def test_other_sites(self):
        """DNS rebinding and pages of other origins are refused, also with the token"""
        with self.view(self.made_trace()) as served:
            for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1.evil.example", ""):
                served.error("/api/trace", 403, headers={"Host": host})
            self.assertIn(served.request("/api/trace", headers={"Host": None})[0], (400, 403))
            for origin in ("https://evil.example", "http://evil.example", "null", f"https://127.0.0.1:{served.port}",
                           f"http://127.0.0.1:{served.port + 1}", PERFETTO):
                status, headers, _ = served.request("/api/trace", headers={"Origin": origin})
                self.assertEqual(status, 403)
                self.assertNotIn("access-control-allow-origin", headers)
            for host in (f"localhost:{served.port}", "127.0.0.1:4711", f"[::1]:{served.port}"):  # 4711: ssh -L
                self.assertEqual(served.request("/api/trace", headers={"Host": host, "Origin": f"http://{host}"})[0], 200)

    def test_listens_here_alone(self):
        """other addresses of the machine are not listened at, unless that is asked for"""
        trace = self.made_trace()
        with self.view(trace) as served:
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.2", served.port)).close()
        with self.view(trace, "-listen", "127.0.0.2") as served:
            self.assertNotIn("unencrypted", served.messages())
            socket.create_connection(("127.0.0.2", served.port)).close()
        with self.view(trace, "-listen", "0.0.0.0") as served:
            self.assertIn("unencrypted", served.messages())
            for host in (f"{socket.gethostname()}:{served.port}", f"192.0.2.1:{served.port}"):
                self.assertEqual(served.request("/api/trace", headers={"Host": host})[0], 200)
            served.error("/api/trace", 403, headers={"Host": "evil.example"})
        finished = self.magic_trace("view", "-no-browser", "-listen", "192.0.2.1", trace)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"192.0.2.1", finished.stderr)

    def test_paths(self):
        """no path leads to a file that is not of the page"""
        (self.folder / "secret.js").write_text("hidden")
        with self.view(self.made_trace()) as served:
            for path in ("/../secret.js", "/app/../secret.js", "/app/../../../../../../etc/passwd", "/app/%2e%2e/%2e%2e/etc/passwd",
                         "/app/..%2f..%2fetc/passwd", "/app//etc/passwd", "/etc/passwd", "/app/%00", "/trace.fxt", "/api/../api/trace",
                         "/api/raw/../../secret.js", "/api/raw?file=/etc/passwd", "/app/\\..\\..\\etc\\passwd"):
                status, _, body = served.request(path)
                self.assertNotIn(b"root:", body)
                self.assertNotIn(b"hidden", body)
                self.assertEqual(status, 200 if path.startswith("/api/raw?") else 404, path)


class Burdens(ViewerTestCase):
    def raw(self, served, data, wait=True):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                return connection.recv(65536) if wait else b""
            return b""

    def test_malformed(self):
        """requests that are none, too large, or of another method"""
        with self.view(self.made_trace()) as served:
            base, host = served.base.encode(), f"Host: 127.0.0.1:{served.port}\r\n".encode()
            for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\0" * 10000,
                         b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100000,
                         b"GET / HTTP/1.1\r\nx" + b"y" * 100000, b"GET / HTTP/1.1\r\n: \r\n \r\n\r\n", b"A" * 300000,
                         b"GET %s/api/trace HTTP/1.1\r\n%sContent-Length: -5\r\n\r\n" % (base, host),
                         b"GET %s/api/trace HTTP/1.1\r\n%sContent-Length: 99999999999999999999999\r\n\r\n" % (base, host),
                         b"GET %s/api/trace HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\nzzz\r\n" % (base, host)):
                answer = self.raw(served, data)
                self.assertTrue(answer == b"" or re.match(rb"HTTP/1\.[01] (4\d\d|5\d\d) ", answer), (data[:60], answer[:100]))
            for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
                status, headers, _ = served.request("/api/trace", method=method)
                self.assertEqual((status, headers["allow"]), (405, "GET, HEAD"))
            served.error("/api/trace", 413, headers={"Content-Length": "5"}, body=b"12345")
            self.assertIn(served.request("/api/trace", headers={"Content-Length": "10000000000"})[0], (413,))
            self.assertEqual(served.request("/api/find?q=" + "x" * 60000)[0] // 100, 4)
            self.assertEqual(served.request("/api/trace", headers={"X-Large": "x" * 60000})[0], 431)
            self.assertEqual(served.request("/api/trace")[0], 200)

    def test_slow_loris(self):
        """a client that sends a byte now and then, or nothing, is disconnected, and others are served meanwhile"""
        with self.view(self.made_trace()) as served:
            slow = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(100)]
            stop = threading.Event()

            def trickle(connection):
                with contextlib.suppress(OSError):
                    connection.sendall(b"GET / HTTP/1.1\r\n")
                    while not stop.wait(0.5):
                        connection.sendall(b"a: b\r\n"[:1])

            threads = [threading.Thread(target=trickle, args=(connection,)) for connection in slow[:50]]
            for thread in threads:
                thread.start()
            self.assertEqual(served.request("/api/trace")[0], 200)
            for connection in slow:  # each is ended by the server
                with contextlib.suppress(ConnectionError):
                    while connection.recv(4096):
                        pass
            stop.set()
            for thread in threads:
                thread.join()
            for connection in slow:
                connection.close()
            self.assertEqual(served.request("/api/trace")[0], 200)

    def test_too_many_connections(self):
        """more connections than are served are refused, and later ones served again"""
        with self.view(self.made_trace()) as served:
            held = []
            with contextlib.suppress(OSError):
                for _ in range(400):
                    held.append(socket.create_connection(("127.0.0.1", served.port)))
            for connection in held:
                connection.close()

            def is_served():
                with contextlib.suppress(OSError, http.client.HTTPException):
                    return served.request("/api/trace")[0] == 200

            harness.wait_until(is_served)

    def test_connections_without_the_token(self):
        """whoever lacks the token, and holds all connections that he gets, keeps nobody out"""
        with self.view(self.made_trace()) as served, contextlib.ExitStack() as held:
            for number in range(400):
                with contextlib.suppress(OSError):
                    connection = held.enter_context(socket.create_connection(("127.0.0.1", served.port)))
                    if number % 2:
                        connection.sendall(b"GET /wrong/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            for _ in range(3):
                self.assertEqual(served.request("/api/trace")[0], 200)

    def test_many_requests(self):
        """10,000 requests over 50 connections, some of them broken off"""
        total = 1000 if Settings.quick else 10000
        with self.view(self.made_trace()) as served:
            info = served.get("/api/trace")
            tracks, duration = len(info["tracks"]), info["duration"]

            def pan(number):
                connection, good = served.connect(), 0
                for step in range(total // 50):
                    start = (number * 7919 + step * 104729) % duration
                    path = (f"/api/tiles?track={step % tracks}&from={start}&to={start + duration // 20}&resolution=64",
                            f"/api/stack?track={step % tracks}&time={start}", "/api/trace",
                            f"/api/table?from={start}&to={start + 1000}&top=5")[step % 4]
                    if step % 50 == 49:  # gone before the answer
                        with contextlib.suppress(OSError):
                            connection.connect() if connection.sock is None else None
                            connection.sock.sendall(f"GET {served.base}{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                        connection.close()
                        good += 1
                        continue
                    status, _, body = served.request(path, connection=connection)
                    good += status == 200 and len(body) > 0
                connection.close()
                return good

            with concurrent.futures.ThreadPoolExecutor(50) as pool:
                self.assertEqual(sum(pool.map(pan, range(50))), total // 50 * 50)
            self.assertEqual(served.get("/api/trace"), info)

    def test_ends_at_once(self):
        """Ctrl-C and SIGTERM end it with status 0, also with connections that hang"""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            served = Served(self, ["view", "-no-browser", self.made_trace(f"trace{number}.fxt")])
            hanging = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(5)]
            hanging[0].sendall(b"GET / HT")
            served.request("/api/trace")
            self.assertLess(served.end(number), MOST_ASLEEP)
            for connection in hanging:
                connection.close()

    def test_port(self):
        """a port can be chosen; one that is in use is reported"""
        trace = self.made_trace()
        with self.view(trace) as served:
            finished = self.magic_trace("view", "-no-browser", "-port", served.port, trace)
            self.assertEqual(finished.status, 1)
            self.assertIn(f"port {served.port}".encode(), finished.stderr)
            self.assertIn(f"ssh -L {served.port}:127.0.0.1:{served.port}", served.messages())
            port = served.port
        with self.view("-serve-port", port, trace) as served:
            self.assertEqual(served.port, port)


class Traces(ViewerTestCase):
    def test_changed_trace(self):
        """a trace that is replaced, cut or removed under the server: answers go on, the trace itself is gone"""
        def replace(trace):
            other = trace.with_name("other")
            other.write_bytes(trace.read_bytes()[:-16] + b"\0" * 16)
            other.rename(trace)

        for change in (replace, lambda trace: os.truncate(trace, 1000), os.remove, lambda trace: os.truncate(trace, 0)):
            trace = self.made_trace()
            with self.view(trace) as served:
                before, table = served.get("/api/trace"), served.get("/api/table")
                change(trace)
                after = served.get("/api/trace")
                self.assertIn("replaced, cut or removed", after["replaced"])
                self.assertIsNone(after["damage"], "what is shown is whole")
                self.assertFalse(after["canPerfetto"])
                self.assertEqual(after["tracks"], before["tracks"])
                self.assertIn("replaced", served.error("/api/raw", 410))
                self.assertEqual(served.get("/api/table"), table)
                rows, _ = tiles(served.get("/api/tiles", track=0))
                self.assertGreater(len(rows), 0)

    def test_broken_transfer(self):
        """a reader of the trace that breaks off, and a trace that is cut while it is read"""
        trace = self.made_trace()
        with open(trace, "ab") as file:  # records of a kind that nobody knows: more than sockets hold
            file.write(struct.pack("<2Q", 2 << 4 | 0xd, 0) * (4 << 20))
        with self.view(trace) as served:
            for cut in (False, True):
                connection = socket.create_connection(("127.0.0.1", served.port))
                connection.sendall(f"GET {served.base}/api/raw HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                self.assertIn(b"200 OK", connection.recv(1000))
                if cut:
                    os.truncate(trace, 1000)
                    with contextlib.suppress(ConnectionError):
                        while connection.recv(1 << 20):  # the end comes, however the server makes it
                            pass
                connection.close()
                self.assertEqual(served.request("/api/trace")[0], 200)

    def test_damaged_trace(self):
        """a trace that is damaged at its end opens up to the damage and says so"""
        whole = self.made_trace().read_bytes()
        for name, data in (("cut.fxt", whole[:len(whole) * 2 // 3 + 4]), ("odd.fxt", whole[:-8] + b"\xff" * 400)):
            (self.folder / name).write_bytes(data)
            with self.view(name) as served:
                info = served.get("/api/trace")
                self.assertGreater(info["spans"], 100)
                self.assertTrue(info["damage"])
                self.assertIn("Warning: the trace is shown as far as it can be read", served.messages())
        packed = gzip.compress(whole)
        (self.folder / "cut.fxt.gz").write_bytes(packed[:len(packed) * 2 // 3])
        with self.view("cut.fxt.gz") as served:
            self.assertTrue(served.get("/api/trace")["damage"])

    def test_no_trace(self):
        """what is no trace is reported, and nothing is served"""
        (self.folder / "empty").write_bytes(b"")
        (self.folder / "text.fxt").write_text("no trace at all\n" * 100)
        for name in ("absent", "empty", "text.fxt", "/dev/null"):
            finished = self.magic_trace("view", "-no-browser", name)
            self.assertEqual(finished.status, 1, name)
            self.assertIn(pathlib.Path(name).name.encode(), finished.stderr)

    def test_index_is_kept(self):
        """the index is kept beside the trace, private, and made again when the trace or the index changes"""
        trace = self.made_trace()
        index = trace.with_name(trace.name + ".magic-trace-index")
        with self.view(trace) as served:
            before = served.get("/api/trace")
        first = index.stat()
        self.assertEqual(first.st_mode & 0o777, 0o600)
        with self.view(trace) as served:
            self.assertEqual(served.get("/api/trace"), before)
        self.assertEqual(index.stat().st_ino, first.st_ino)
        index.write_bytes(index.read_bytes()[:1000])
        with self.view(trace) as served:
            self.assertEqual(served.get("/api/trace"), before)
        os.utime(trace)
        with self.view(trace) as served:
            self.assertNotEqual(served.get("/api/trace")["id"], before["id"])

    def test_forms(self):
        """gzip, a recording's folder and its perf.data, perf's text, standard input"""
        program = harness.compile_program("threads")
        traced = self.trace([program])
        spans = len(self.span_list(traced.trace))
        for operand in (traced.trace, traced.directory, traced.directory / "perf.data"):
            with self.view(operand) as served:
                info = served.get("/api/trace")
                self.assertEqual(info["spans"], spans)
                is_trace = operand == traced.trace
                self.assertEqual(info["canPerfetto"], is_trace)
                self.assertEqual(served.request("/api/raw")[0], 200 if is_trace else 404)
        index = traced.directory / "perf.data.magic-trace-index"
        made = index.stat()
        with self.view(traced.directory) as served:
            self.assertNotIn("Decoding", served.messages())
            self.assertEqual(served.get("/api/trace")["spans"], spans)
        self.assertEqual(index.stat().st_ino, made.st_ino)
        with self.view("/dev/stdin", stdin=traced.trace) as served:
            self.assertEqual(served.get("/api/trace")["spans"], spans)

    def test_two_traces(self):
        """`view A B`: a page and answers for each, and what differs between them"""
        traces = []
        for change, name in ((0, "before.fxt"), (4, "after.fxt")):
            built = harness.compile_program(f"changes{change}", [f"-DCHANGE={change}"], harness.PROGRAMS / "changes.c")
            program = self.folder / "database"
            shutil.copy(built, program)
            traced = self.trace([program], "-full-execution", "-clock", "instructions").trace
            traces.append(self.folder / name)
            shutil.move(traced, traces[-1])
        printed = json.loads(self.magic_trace("compare", "-json", *traces).stdout)
        with self.view(*traces) as served:
            status, headers, _ = served.request("/")
            self.assertEqual((status, headers["location"]), (303, f"{served.base}/b/"))
            self.assertEqual(served.request("/a")[0], 303)
            served.error("/api/trace", 404)
            served.error("/c/api/trace", 404)
            infos = [served.get(f"/{letter}/api/trace") for letter in "ab"]
            for letter, info, other, name in zip("ab", infos, reversed(infos), ("before.fxt", "after.fxt")):
                self.assertIn(b"<html", served.get(f"/{letter}/").lower())
                self.assertEqual(info["name"], name)
                self.assertEqual(info["compared"], {"letter": letter, "otherName": other["name"], "otherDuration": other["duration"]})
                compared = served.get(f"/{letter}/api/compare", a_trace="a", b_trace="b")
                self.assertEqual(compared["b"]["time"] - compared["a"]["time"], printed["difference_ns"])
                self.assertEqual(sum(cause["difference"] for cause in compared["causes"]), printed["difference_ns"])
                names = [name for name, *_ in served.get(f"/{letter}/api/functions")["functions"]]
                foreign = dict(compared["foreign"])
                self.assertFalse(set(foreign.values()) & set(names))
                self.assertEqual("audit" in foreign.values(), letter == "a")
                path = [foreign.get(number) or names[number] for number in compared["causes"][0]["path"]]
                self.assertEqual(path, printed["causes"][0]["path"])
                self.assertIn("calls audit", compared["parting"]["b"]["words"])
                same = served.get(f"/{letter}/api/compare", a_trace="b", b_trace="b")
                self.assertEqual((same["a"], same["causes"]), (same["b"], []))
                self.assertRegex(same["parting"]["words"], "^Both make the same .* calls in the same order$")
            self.assertIn("a_trace", served.error("/a/api/compare?a_trace=x", 400))
        with self.view(traces[0]) as served:
            self.assertIsNone(served.get("/api/trace")["compared"])
            self.assertIn("one trace alone", served.error("/api/compare?a_trace=a&b_trace=b", 400))
        for arguments, words in (([*traces, traces[0]], b"a third"), (["-perfetto", *traces], b"on our own page"),
                                 (["-ui-dir", ".", *traces], b"on our own page")):
            finished = self.magic_trace("view", "-no-browser", *arguments)
            self.assertEqual(finished.status, 2, arguments)
            self.assertIn(words, finished.stderr)
        finished = self.magic_trace("view", "-no-browser", "none.fxt", traces[0])
        self.assertEqual(finished.status, 1)
        self.assertIn(b"none.fxt", finished.stderr)

    def test_serve(self):
        """-serve on run and decode: a temporary trace without -output, a lasting one with it"""
        program = harness.compile_program("threads")
        temporary = self.folder / "tmp"
        temporary.mkdir()
        environment = {"TMPDIR": str(temporary)}
        with self.served("run", "-serve", "-no-browser", "--", program, env=environment) as served:
            self.assertGreater(served.get("/api/trace")["spans"], 100)
            self.assertNotIn("The trace is in", served.messages())
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertFalse((self.folder / "trace.fxt.gz").exists())
        with self.served("run", "-serve", "-no-browser", "-o", "kept.fxt.gz", "-working-directory", "rec", program,
                         env=environment) as served:
            self.assertEqual(served.get("/api/trace")["name"], "kept.fxt.gz")
        self.assertTrue((self.folder / "kept.fxt.gz").exists())
        with self.served("decode", "-serve", "-no-browser", "rec", env=environment) as served:
            self.assertGreater(served.get("/api/trace")["spans"], 100)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_share(self):
        """-share hands the whole path of the trace to the command that the environment names"""
        command = self.folder / "share"
        command.write_text("#!/bin/sh\necho \"shared $1\"\n[ $# = 1 ] && [ ! -e fail ]\n")
        command.chmod(0o755)
        environment = {**Settings.environment, "MAGIC_TRACE_SHARE_COMMAND": str(command),
                       "MAGIC_TRACE_SHARE_DOC": "send it to the team"}
        finished = self.magic_trace("run", "-share", "-o", "t.fxt", "/bin/true", env=environment)
        self.assertEqual((finished.status, finished.stdout), (0, f"shared {self.folder}/t.fxt\n".encode()), finished.stderr)
        self.assertIn(b"send it to the team", self.magic_trace("help", "run", env=environment).stdout)
        (self.folder / "fail").touch()
        finished = self.magic_trace("run", "-share", "-o", "t.fxt", "/bin/true", env=environment)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"could not share", finished.stderr)

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_goroutines(self):
        """each goroutine has its parts, wherever it ran: no two run in a thread at once, none in two threads, and exported pages say the same"""
        source = self.folder / "workers.go"
        source.write_text(WORKERS)
        cache = Settings.environment.get("GOCACHE", str(Settings.work / "go"))
        subprocess.run(["go", "build", "-o", self.folder / "workers", source], check=True, env={**Settings.environment, "GOCACHE": cache})
        recorded = self.magic_trace("run", "-multi-thread", "-full-execution", "-o", "go.fxt", "./workers")
        self.assertEqual(recorded.status, 0, recorded.stderr)
        with self.view("go.fxt") as served:
            stacks = served.get("/api/stacks", limit=10000)
            self.assertEqual(stacks["total"], len(stacks["stacks"]))
            parts = served.get("/api/parts", stacks=10000, limit=200000)["parts"]
            tracks = {track["id"] for track in served.get("/api/trace")["tracks"]}
            few = served.get("/api/parts", limit=len(stacks["stacks"]))["parts"]
        stacks = stacks["stacks"]
        named = [stack for stack in stacks if "main.main" in stack["name"]]
        self.assertGreaterEqual(len(named), 6, stacks)  # the workers, as their go statement calls them
        self.assertGreater(sum(stack["parts"] for stack in named), 100)
        self.assertEqual([stack["running"] for stack in stacks], sorted((stack["running"] for stack in stacks), reverse=True))
        self.assertLessEqual(len(few), len(stacks))
        for number, stack in enumerate(stacks):
            own = [(begin, end) for which, _, begin, end in parts if which == number]
            self.assertEqual((len(own), sum(end - begin for begin, end in own)), (stack["parts"], stack["running"]))
            self.assertEqual((min(own)[0], max(end for _, end in own)), (stack["first"], stack["last"]))
        for place in (0, 1):  # of a stack, of a track
            for which in {part[place] for part in parts}:
                times = sorted(part[2:] for part in parts if part[place] == which)
                self.assertTrue(all(before[1] <= after[0] for before, after in zip(times, times[1:])), (place, which))
        self.assertLessEqual({track for _, track, _, _ in parts}, tracks)
        exported = self.magic_trace("export", "-format", "html", "-o", "go.html", "go.fxt")
        self.assertEqual(exported.status, 0, exported.stderr)
        carried = json.loads(re.search(r'id="trace"[^>]*>(.*?)</script>', (self.folder / "go.html").read_text(), re.S).group(1))
        names = [stack["name"] for stack in carried["stacks"]]
        self.assertEqual(sorted((names[stack], *part) for stack, *part in carried["parts"]),
                         sorted((stacks[stack]["name"], *part) for stack, *part in parts))

    def test_browser(self):
        """the browser is started with a key that works once; the list of processes does not show the token"""
        bin_folder, opened = self.folder / "bin", self.folder / "opened"
        bin_folder.mkdir()
        (bin_folder / "xdg-open").write_text(f"#!/bin/sh\necho \"$@\" > {opened}.new; mv {opened}.new {opened}\n")
        (bin_folder / "xdg-open").chmod(0o755)
        environment = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "DISPLAY": ":99"}
        with self.served("view", self.made_trace(), env=environment) as served:
            harness.wait_until(opened.exists)
            address = opened.read_text().strip()
            self.assertNotIn(served.base.strip("/"), address)
            key = urllib.parse.urlsplit(address).path
            base, served.base = served.base, ""
            status, headers, _ = served.request(key)
            self.assertEqual((status, headers["location"]), (303, served.address))
            self.assertEqual(served.request(key)[0], 403)
            served.base = base
        opened.unlink()
        with self.view(self.made_trace("second.fxt"), env=environment):
            pass
        self.assertFalse(opened.exists())


class Perfetto(ViewerTestCase):
    def take_port(self):
        """9001 is the one port that the policy of ui.perfetto.dev allows: tests of other clones are waited for."""
        lock = open(pathlib.Path(tempfile.gettempdir()) / f"magic-trace-tests-{os.getuid()}-9001", "w")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", 9001))
            except OSError:
                self.skipTest("port 9001 is in use")

    def test_hand_over(self):
        """-perfetto: only ui.perfetto.dev can fetch the trace from 127.0.0.1:9001"""
        trace = self.made_trace("trace one.fxt")
        self.take_port()
        with self.view("-perfetto", trace) as served:
            self.assertTrue(served.address.startswith(PERFETTO + "/#!/?url=http://127.0.0.1:9001/"))
            self.assertTrue(served.address.endswith("/trace/trace%20one.fxt"))
            asked = {"Origin": PERFETTO, "Access-Control-Request-Private-Network": "true"}
            status, headers, _ = served.request("/trace/trace%20one.fxt", method="OPTIONS", headers=asked)
            self.assertEqual((status, headers["access-control-allow-origin"]), (204, PERFETTO))
            self.assertEqual(headers["access-control-allow-private-network"], "true")
            status, headers, body = served.request("/trace/trace%20one.fxt", headers={"Origin": PERFETTO})
            self.assertEqual((status, headers["access-control-allow-origin"], body), (200, PERFETTO, trace.read_bytes()))
            served.error("/trace/trace%20one.fxt", 403, headers={"Origin": "https://evil.example"})
            served.error("/trace/other", 404)
            served.error("/api/trace", 404)
            served.error("/", 404)
            served.base = "/0123456789abcdef0123456789abcdef"
            served.error("/trace/trace%20one.fxt", 403, headers={"Origin": PERFETTO})

    def test_ui_folder(self):
        """-ui-dir and MAGIC_TRACE_PERFETTO_DIR: a copy of the UI, opened with the trace's address"""
        ui = self.folder / "ui"
        ui.mkdir()
        (ui / "index.html").write_text("the ui")
        (ui / "bundle.wasm").write_bytes(b"\0asm")
        (ui / "outside").symlink_to("/etc/passwd")
        trace = self.made_trace()
        with self.view("-ui-dir", ui, trace) as served:
            status, headers, _ = served.request("/")
            self.assertEqual(status, 303)
            own = f"http://127.0.0.1:{served.port}{served.base}"
            self.assertEqual(headers["location"], f"{own}/ui/index.html#!/?url={own}/trace/trace.fxt")
            self.assertEqual(served.get("/ui/index.html"), b"the ui")
            self.assertEqual(served.request("/ui/bundle.wasm")[1]["content-type"], "application/wasm")
            self.assertEqual(served.get("/trace/trace.fxt"), trace.read_bytes())
            for path in ("/ui/../trace.fxt", "/ui/outside", "/ui/", "/ui/none", "/trace/ui", "/trace/../ui/index.html"):
                served.error(path, 404)
            served.error("/ui/index.html", 403, headers={"Origin": PERFETTO})
        finished = self.magic_trace("view", "-ui-dir", self.folder, trace)
        self.assertEqual(finished.status, 2)
        self.assertIn(b"index.html", finished.stderr)
        with self.served("run", "-serve", "-no-browser", "/bin/true", env={"MAGIC_TRACE_PERFETTO_DIR": str(ui)}) as served:
            self.assertEqual(served.get("/ui/index.html"), b"the ui")
            self.assertEqual(served.get("/trace/trace.fxt.gz")[:2], b"\x1f\x8b")

    def test_limits(self):
        """what is too deep for Perfetto is reported before it is handed over"""
        begin, end = 1 << 24 | 2 << 16 | 0x24 | 1 << 48, 1 << 24 | 3 << 16 | 0x24
        words = [0x0016547846040010, 0x21, 10**9, 1 << 32 | 1 << 16 | 0x22, ord("f"), 1 << 16 | 0x33, 7, 7]
        for time_ in range(1200):
            words += [begin if time_ < 600 else end, time_]
        (self.folder / "deep.fxt").write_bytes(struct.pack(f"<{len(words)}Q", *words))
        ui = self.folder / "ui"
        ui.mkdir()
        (ui / "index.html").write_text("the ui")
        with self.view("-ui-dir", ui, "deep.fxt") as served:
            self.assertIn("600 deep", served.messages())
