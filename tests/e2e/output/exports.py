"""`magic-trace export`: each format is read by an independent reader where there is one (Python's csv and json,
protoc with the public field numbers, `go tool pprof`, speedscope in a browser), and has what the trace has."""
import base64
import collections
import csv
import decimal
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import fxt_spans
import harness
from made_trace import MadeTrace

PROTOS = harness.TESTS / "e2e" / "shared" / "protos"
HITS = "Snapshot symbol hits"
SPEEDSCOPE = "speedscope@1.25.0"
FORMS = ("chrome", "perfetto", "folded", "speedscope", "pprof", "csv")
DEEP = 1300  # levels; Perfetto keeps 512 per track

Plain = collections.namedtuple("Plain", "name pid tid depth begin end")


def plain(whole):
    return sorted(Plain(span.name, span.pid, span.tid, span.depth, span.begin, span.end) for span in whole.spans)


def parse_text_format(text):
    """What `protoc --decode` prints, as nested {name: [values]}."""
    root, stack = collections.defaultdict(list), []
    message = root
    for line in text.splitlines():
        line = line.strip()
        if line.endswith(" {"):
            child = collections.defaultdict(list)
            message[line[:-2]].append(child)
            stack.append(message)
            message = child
        elif line == "}":
            message = stack.pop()
        else:
            name, value = line.split(": ", 1)
            if value[0] == '"':
                raw = value[1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1")
                message[name].append(raw.decode())
            else:
                message[name].append(value)
    return root


def one(message, name, default=None):
    return message[name][0] if name in message else default


def number(message, name, default=0):
    return int(one(message, name, default))


class Exports(harness.TestCase):
    def export(self, form, trace, *options, expect=0, suffix=""):
        path = self.folder / f"export.{form}{suffix}"
        path.unlink(missing_ok=True)
        finished = self.magic_trace("export", "-format", form, "-output", path, *options, trace)
        self.assertEqual(finished.status, expect, finished.stderr.decode())
        if expect:
            self.assertFalse(path.exists())
            return finished.stderr.decode()
        return path

    def decode(self, proto, message, content):
        if not shutil.which("protoc"):
            self.skipTest("protoc is not installed")
        finished = subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--decode={message}", proto], input=content,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(finished.returncode, 0, finished.stderr.decode()[:2000])
        text = finished.stdout.decode()
        # What no field is known of is printed by its number: nothing may be there that the public format lacks.
        self.assertNotRegex(text, re.compile(r"^\s*\d+[:{ ]", re.MULTILINE))
        return parse_text_format(text)

    def assert_printable(self, text):
        self.assertNotRegex(text, rb"[\x00-\x08\x0b-\x1f\x7f]")

    def test_escape_sequences(self):
        """no text output holds a control character of a name, whether a program or a trace brings it"""
        program = self.folder / "evil"
        subprocess.run(["objcopy", "--strip-debug", "--redefine-sym", "evil=\x1b]0;owned\x07evil", "--redefine-sym", "formula==cmd()",
                        harness.compile_program("evil_names"), program], check=True)
        traced = self.trace([program], "-full-execution")
        made = MadeTrace()
        thread = made.thread(1, 1, "\x1b[2Jprocess", "\x1b[31mthread\r")
        made.begin(0, thread, "\x1b]0;owned\x07evil", symbol="\x1b[0m", file="/\x1b[1m.c", line=1)
        made.instant(1, thread, "\x1b[5m instant")
        made.begin(1, thread, "=cmd()")
        made.end(5, thread)
        made.end(9, thread)
        made.write(self.folder / "made.fxt")
        for trace in (traced.trace, self.folder / "made.fxt"):
            for form in ("csv", "folded", "speedscope", "chrome"):
                text = self.export(form, trace).read_bytes()
                self.assert_printable(text)
                if form == "csv":
                    self.assertIn(b",'=cmd()", text)
            for options in ((), ("-tree",), ("-folded",)):
                finished = self.magic_trace("report", *options, trace)
                self.assert_printable(finished.stdout + finished.stderr)
                self.assertIn(b"owned\\x07evil", finished.stdout)
        self.assert_printable(traced.stderr)
        finished = self.magic_trace("dump", "-branches", "-symbols", traced.directory)
        self.assertIn(b"\\x1b]0;owned\\x07evil", finished.stdout)
        self.assert_printable(finished.stdout)
        finished = self.magic_trace("decode", "\x1b[31m")
        self.assert_printable(finished.stderr)

    # Traces

    def strange_trace(self):
        """All that a trace can hold, by a writer of its own."""
        made = MadeTrace()
        main = made.thread(100, 100, "prog \"quoted\", 漢字", "main; of a sort")
        other = made.thread(100, 101, "prog \"quoted\", 漢字", "worker\nline")
        child = made.thread(7000000, 7000000, b"child \xff\xfe", "")
        hits = made.thread(7000001, 7000001, HITS, "hits")
        made.begin(0, main, "main", "kernel", address=("pointer", 0xffffffff81000000), symbol="_Zmain", file="/src/a \"b\".c",
                   line=2 ** 31 - 1, inferred_start_time="true")
        made.begin(3, other, "spin", "library")
        made.begin(10, main, "f(int), g", "kernel", symbol="f")
        made.instant(11, main, "gap: overflow, \"x\"")
        made.counter(11, main, "frequency of CPU 0", "(MHz)", 2400.125)
        made.begin(12, hits, "hit f", "special", timestamp=40, pid=100, tid=101, ip=("pointer", 0x1234),
                   timestamp_passed=12, arg=-(1 << 63))
        made.begin(20, main, "<inlined>", "inlined")
        made.end(20, main)
        made.end(31, main, end="tail call")
        made.begin(31, main, b"not \xff UTF-8 \xe6\xbc", "special")
        made.end(40, hits)
        made.counter(50, main, "frequency of CPU 0", "(MHz)", 1e-9)
        for name in ("brief", "<inlined>", None, "<inlined>", None, None, "brief", "brief", None):  # all in one nanosecond
            if name is None:
                made.end(60, main)
            else:
                made.begin(60, main, name)
        made.end(75, main)
        made.end(1_000_000_000_007, main, end="gap", inferred_end_time="true", across_gap="true")
        made.begin(1_000_000_000_008, child, "")
        made.end(1_000_000_000_009, child, end="exec")
        made.end(1_000_000_000_009, other, end="unwound")
        for depth in range(DEEP):
            made.begin(1_000_000_000_010 + depth, main, f"level{depth % 7}")
        for depth in range(DEEP):
            made.end(1_000_000_010_000 + depth, main)
        made.end(1_000_000_020_000, main, end="end of trace")
        return made.write(self.folder / "strange.fxt")

    def traced(self, name, source, *options, arguments=()):
        program = self.folder / name
        subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", program, source], check=True)
        return self.trace([program, *arguments], *options)

    def fibers(self):
        source = harness.TESTS / "truth" / "programs" / "fibers" / "fibers_side_by_side.c"
        return self.traced("fibers", source).trace

    def threads(self):
        return self.trace([harness.compile_program("hits"), "third"], "-multi-thread", "-trigger", "target").trace

    # Readers

    def read_chrome(self, path):
        """The spans, as strictly as the format allows; and the events by their phase."""
        content = json.loads(path.read_bytes(), parse_float=decimal.Decimal)
        phases, stacks, last = collections.defaultdict(list), collections.defaultdict(list), -1
        spans, deep_rows = [], {}
        for event in content["traceEvents"]:
            deep = event["ph"] == "M" and fxt_spans.DEEP_ROW.fullmatch(event["args"]["name"])
            if deep:
                deep_rows[event["pid"], event["tid"]] = int(deep[3]), int(deep[2])
                continue
            phases[event["ph"]].append(event)
            if event["ph"] == "M":
                continue
            time = event["ts"] * 1000
            self.assertEqual(time, int(time), "a time is no whole number of nanoseconds")
            self.assertGreaterEqual(time, last, "events are out of order")
            last = event["time"] = int(time)
            stack = stacks[event["pid"], event["tid"]]
            if event["ph"] == "B":
                stack.append(event)
                self.assertLessEqual(len(stack), 512, "deeper than Perfetto keeps")
            elif event["ph"] == "E":
                begin = stack.pop()
                self.assertEqual((event["name"], event.get("cat")), (begin["name"], begin.get("cat")), "it ends another span")
                begin["tid"], first = deep_rows.get((event["pid"], event["tid"]), (event["tid"], 0))
                spans.append((begin, event, first + len(stack)))
            elif event["ph"] in "sf":
                event["inside"] = [open_span["name"] for open_span in stack]
        self.assertFalse(any(stacks.values()), "spans are left open")
        return content, phases, spans

    # Tests

    def check_chrome(self, trace):
        whole = fxt_spans.read_whole(trace)
        content, phases, spans = self.read_chrome(self.export("chrome", trace))
        self.assertEqual(sorted(Plain(begin["name"], begin["pid"], begin["tid"], depth, begin["time"], end["time"])
                                for begin, end, depth in spans), plain(whole))
        expected = collections.Counter()
        for span in whole.spans:
            arguments = {name: hex(value) if name in ("address", "ip") else value == "true" or value
                         for name, value in span.arguments.items() if name != "stack"}
            expected[span.name, span.begin, span.category, tuple(sorted(arguments.items()))] += 1
        got = collections.Counter(
            (begin["name"], begin["time"], begin.get("cat", ""),
             tuple(sorted({**begin.get("args", {}), **end.get("args", {})}.items()))) for begin, end, _ in spans)
        self.assertEqual(got, expected)
        self.assertEqual([(event["name"], event["pid"], event["tid"], event["time"]) for event in phases["i"]],
                         [moment[:4] for moment in whole.instants])
        self.assertEqual([(event["name"], event["pid"], event["time"], float(event["args"]["value"]))
                          for event in phases["C"]],
                         [(moment.name, moment.pid, moment.time, moment.value) for moment in whole.counters])
        names = {(event["name"], event["pid"], event["tid"]): event["args"]["name"] for event in phases["M"]}
        for (pid, tid), name in whole.threads.items():
            self.assertEqual(names["thread_name", pid, tid], name)
            self.assertEqual(names["process_name", pid, tid], whole.processes[pid])
        return content, phases

    def test_chrome(self):
        """chrome: spans nest, and times, names and arguments are those of the trace"""
        self.check_chrome(self.strange_trace())
        content, _ = self.check_chrome(self.threads())
        self.assertGreater(int(content["otherData"]["unix_time_ns_at_0"]), 10 ** 18)

    def test_report_sorting(self):
        """report -sort: by each column of the table, greatest first"""
        made = MadeTrace()
        thread = made.thread(1, 1, "prog", "main")
        for number in range(9):
            for name, length in (("often", 2), ("long" if number == 4 else "often", 50 if number == 4 else 1)):
                made.begin(100 * number + (10 if length < 50 else 20), thread, name)
                made.end(100 * number + (10 if length < 50 else 20) + length, thread)
        made.write(self.folder / "sorted.fxt")
        for key, first in (("count", "often"), ("max", "long"), ("median", "long"), ("p99", "long"), ("self", "long"), ("total", "long")):
            finished = self.magic_trace("report", "-sort", key, self.folder / "sorted.fxt")
            self.assertEqual(finished.status, 0, finished.stderr)
            names = [line.split()[-1] for line in finished.stdout.decode().splitlines() if line.endswith((" long", " often"))]
            self.assertEqual(names[0], first, key)
            self.assertEqual(len(names), 2)

    def test_fxt_arrows(self):
        """the trace itself has the same arrows, each from an open span to an open span, which Perfetto binds them to"""
        trace = self.fibers()
        _, phases, _ = self.read_chrome(self.export("chrome", trace))
        depth, begun, ended = collections.Counter(), {}, []
        for kind, _, time, thread, body in fxt_spans.Records(trace).events():
            if kind in (fxt_spans.EVENT_BEGIN, fxt_spans.EVENT_END):
                depth[thread] += 1 if kind == fxt_spans.EVENT_BEGIN else -1
            elif kind in (8, 10):
                number = struct.unpack_from("<Q", body, len(body) - 8)[0]
                self.assertGreater(depth[thread], 0, "no span is open that it could bind to")
                if kind == 8:
                    begun[number] = time
                else:
                    self.assertLess(begun[number], time)
                    ended.append(time)
        self.assertEqual(sorted(begun.values()), [event["time"] for event in phases["s"]])
        self.assertEqual(ended, [event["time"] for event in phases["f"]])
        self.judge_trace(trace)

    def test_chrome_deep(self):
        """chrome: frames deeper than Perfetto holds in a row have rows of their own, none is lost"""
        made = MadeTrace()
        thread = made.thread(1, 1, "prog", "main")
        for depth in range(1300):
            made.begin(depth, thread, f"level{depth % 7}")
        for depth in range(1300):
            made.end(2000 + depth, thread)
        made.write(self.folder / "deep.fxt")
        self.check_chrome(self.folder / "deep.fxt")

    def test_chrome_arrows(self):
        """chrome: arrows lead from where a stack is suspended to where it is resumed"""
        _, phases = self.check_chrome(self.fibers())
        begins = {event["id"]: event for event in phases["s"]}
        self.assertEqual(len(begins), len(phases["s"]))
        self.assertGreater(len(phases["f"]), 700)
        for event in phases["f"]:
            suspended = begins[event["id"]]
            self.assertLess(suspended["time"], event["time"])
            self.assertEqual(suspended["inside"][0], event["inside"][0])
            self.assertEqual(event["bp"], "e")

    def read_perfetto(self, path):
        """(spans, instants, counters, flows, clocks, child track names) as Perfetto makes them of the packets."""
        trace = self.decode("perfetto.proto", "Trace", path.read_bytes())
        interned = collections.defaultdict(dict)
        tracks, stacks, time = {}, collections.defaultdict(list), None
        spans, instants, counters, flows, clocks, ended = [], [], [], {}, {}, []
        for packet in trace["packet"]:
            self.assertEqual(number(packet, "trusted_packet_sequence_id"), 1)
            for snapshot in packet["clock_snapshot"]:
                clocks.update({number(clock, "clock_id"): number(clock, "timestamp") for clock in snapshot["clocks"]})
                self.assertEqual(number(packet, "sequence_flags"), 3)
                self.assertEqual(number(packet["trace_packet_defaults"][0], "timestamp_clock_id"), 64)
                time = clocks[64]
            for data in packet["interned_data"]:
                for kind, entries in data.items():
                    for entry in entries:
                        self.assertNotIn(number(entry, "iid"), interned[kind], "an interned number is used twice")
                        interned[kind][number(entry, "iid")] = entry
            for descriptor in packet["track_descriptor"]:
                tracks[number(descriptor, "uuid")] = descriptor
            for event in packet["track_event"]:
                self.assertEqual(number(packet, "sequence_flags"), 2)
                time += number(packet, "timestamp")
                uuid = number(event, "track_uuid")
                descriptor = tracks[uuid]
                row = 0
                if "thread" not in descriptor and "counter" not in descriptor:
                    row = int(re.fullmatch(r"frames (\d+)-\d+", one(descriptor, "name")).group(1))
                    descriptor = tracks[number(descriptor, "parent_uuid")]
                owner = tracks[number(descriptor, "parent_uuid")]
                process = owner["process"][0]
                thread = one(descriptor, "thread", {})
                place = (number(process, "pid"), int(one(thread, "tid", -1)))
                annotations = {}
                for annotation in event["debug_annotations"]:
                    name = one(interned["debug_annotation_names"][number(annotation, "name_iid")], "name")
                    [(kind, [value])] = [pair for pair in annotation.items() if pair[0] != "name_iid"]
                    annotations[name] = {"string_value": str, "bool_value": lambda value: value}.get(kind, int)(value)
                kind = one(event, "type")
                if kind == "TYPE_SLICE_BEGIN":
                    category = "".join(one(interned["event_categories"][int(iid)], "name")
                                       for iid in event["category_iids"])
                    location = interned["source_locations"].get(number(event, "source_location_iid"), {})
                    stacks[uuid].append((one(interned["event_names"][number(event, "name_iid")], "name"), time,
                                         category, location, annotations))
                    self.assertLessEqual(len(stacks[uuid]), 512, "deeper than Perfetto keeps")
                elif kind == "TYPE_SLICE_END":
                    name, begin, category, location, first = stacks[uuid].pop()
                    spans.append((Plain(name, *place, row + len(stacks[uuid]), begin, time), category, location,
                                  {**first, **annotations}))
                elif kind == "TYPE_INSTANT":
                    instants.append((one(event, "name"), *place, time))
                elif kind == "TYPE_COUNTER":
                    counters.append((one(descriptor, "name"), place[0], time, float(one(event, "double_counter_value"))))
                for flow in event["flow_ids"]:
                    self.assertNotIn(flow, flows)
                    flows[flow] = (stacks[uuid][0][0] if stacks[uuid] else spans[-1][0].name, time)
                for flow in event["terminating_flow_ids"]:
                    ended.append((flows[flow], (stacks[uuid][0][0], time)))
        self.assertFalse(any(stacks.values()), "spans are left open")
        return spans, instants, counters, ended, clocks, tracks

    def check_perfetto(self, trace):
        whole = fxt_spans.read_whole(trace)
        spans, instants, counters, flows, clocks, tracks = self.read_perfetto(self.export("perfetto", trace))
        self.assertEqual(sorted(span[0] for span in spans), plain(whole))
        self.assertEqual(instants, [tuple(moment[:4]) for moment in whole.instants])
        self.assertEqual(counters, [(moment.name, moment.pid, moment.time, moment.value)
                                    for moment in whole.counters])
        expected = collections.Counter()
        for span in whole.spans:
            arguments = {name: value for name, value in span.arguments.items()
                         if name not in ("symbol", "file", "line", "stack")}
            location = (span.arguments.get("symbol", span.name if "file" in span.arguments else None),
                        span.arguments.get("file"), span.arguments.get("line"))
            expected[span.name, span.begin, span.category, location, tuple(sorted(arguments.items()))] += 1
        got = collections.Counter()
        for span, category, location, annotations in spans:
            place = (one(location, "function_name"), one(location, "file_name"),
                     int(one(location, "line_number")) if "line_number" in location else None)
            got[span.name, span.begin, category, place, tuple(sorted(annotations.items()))] += 1
        self.assertEqual(got, expected)
        threads = {(number(one(track, "thread"), "pid"), number(one(track, "thread"), "tid")):
                   one(one(track, "thread"), "thread_name") for track in tracks.values() if "thread" in track}
        self.assertEqual(threads, whole.threads)
        return flows, clocks, tracks

    def test_perfetto(self):
        """perfetto: packets of the public format, with the spans, tracks and annotations of the trace"""
        _, clocks, tracks = self.check_perfetto(self.strange_trace())
        self.assertEqual([one(track, "name") for track in tracks.values() if (one(track, "name") or "")[:6] == "frames"],
                         ["frames 512-1023", "frames 1024-1535"])
        self.assertNotIn(1, clocks)
        _, clocks, _ = self.check_perfetto(self.threads())
        self.assertGreater(clocks[1], 10 ** 18)
        self.assertEqual(clocks[6], 0)

    def test_perfetto_flows(self):
        """perfetto: flows lead from where a stack is suspended to where it is resumed"""
        trace = self.fibers()
        flows, _, _ = self.check_perfetto(trace)
        self.assertGreater(len(flows), 700)
        for (suspended, before), (resumed, after) in flows:
            self.assertLess(before, after)
            self.assertEqual(suspended, resumed)

    def shortened(self, names):
        """Of very deep stacks the middle is left out."""
        return names if len(names) <= 1024 else (*names[:512], "[...]", *names[-512:])

    def self_times(self, whole):
        """{(process, pid, thread, tid, names): [calls, self]} of all but hits."""
        found = collections.defaultdict(lambda: [0, 0])
        for span in whole.spans:
            if whole.processes[span.pid] != HITS:
                entry = found[whole.processes[span.pid], span.pid, whole.threads[span.pid, span.tid], span.tid,
                              self.shortened(span.stack)]
                entry[0] += 1
                entry[1] += span.self
        return found

    def test_folded(self):
        """folded: the time of each stack, but that in which the thread was not running"""
        for trace in self.strange_trace(), self.threads():
            whole = fxt_spans.read_whole(trace)
            expected = collections.Counter()
            for (_, _, thread, tid, names), (_, nanoseconds) in self.self_times(whole).items():
                clean = [name.replace(";", ":").replace("\n", " ") for name in (f"{thread}-{tid}", *names)]
                if names[-1] not in fxt_spans.NOT_RUNNING:
                    expected[";".join(clean)] += nanoseconds
            got = collections.Counter()
            lines = self.export("folded", trace).read_bytes().decode(errors="replace_bytes").splitlines()
            for line in lines:
                stack, nanoseconds = line.rsplit(" ", 1)
                got[stack] += int(nanoseconds)
            self.assertEqual(got, {stack: time for stack, time in expected.items() if time > 0})

    def read_pprof(self, path):
        profile = self.decode("pprof.proto", "Profile", gzip.decompress(path.read_bytes()))
        strings = profile["string_table"]
        self.assertEqual(strings[0], "")
        self.assertEqual(len(set(strings)), len(strings))

        def text(message, name):
            return strings[number(message, name)]

        functions = {number(function, "id"): function for function in profile["function"]}
        locations = {number(location, "id"): location for location in profile["location"]}
        mappings = {number(mapping, "id") for mapping in profile["mapping"]}
        self.assertEqual([(text(kind, "type"), text(kind, "unit")) for kind in profile["sample_type"]],
                         [("calls", "count"), ("self", "nanoseconds")])
        samples = collections.defaultdict(lambda: [0, 0])
        for sample in profile["sample"]:
            names = []
            for identity in sample["location_id"]:
                location = locations[int(identity)]
                self.assertIn(number(location, "mapping_id"), mappings)
                names.append(text(functions[number(location["line"][0], "function_id")], "name"))
            labels = {text(label, "key"): text(label, "str") or number(label, "num") for label in sample["label"]}
            entry = samples[labels["process"], labels["pid"], labels["thread"] or "", labels["tid"],
                            tuple(reversed(names))]
            entry[0] += int(sample["value"][0])
            entry[1] += int(sample["value"][1])
        return profile, samples

    def test_pprof(self):
        """pprof: calls and time of each stack, functions with their files and lines"""
        for trace in self.strange_trace(), self.threads():
            whole = fxt_spans.read_whole(trace)
            profile, samples = self.read_pprof(self.export("pprof", trace))
            # An empty name becomes a label of number 0.
            got = {tuple(part or "" for part in key[:4]) + (key[4],): value for key, value in samples.items()}
            expected = {tuple(part or "" for part in key[:4]) + (key[4],): value
                        for key, value in self.self_times(whole).items()}
            self.assertEqual(got, expected)
            strings = profile["string_table"]
            places = {(strings[number(function, "name")], strings[number(function, "filename")],
                       number(function, "start_line")) for function in profile["function"]}
            for span in whole.spans:
                if whole.processes[span.pid] != HITS:
                    self.assertIn((span.name, span.arguments.get("file", ""), span.arguments.get("line", 0)), places)

    def test_pprof_tool(self):
        """pprof: Go's pprof reads the profile"""
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        trace = self.threads()
        path = self.export("pprof", trace)
        environment = {**os.environ, "HOME": str(self.folder), "PPROF_TMPDIR": str(self.folder)}
        finished = harness.run(["go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-unit=ns", path],
                               env=environment)
        self.assertEqual(finished.status, 0, finished.stderr.decode())
        flat = collections.Counter()
        for line in finished.stdout.decode().splitlines():
            row = re.match(r"\s*(\d+)ns?\s+[\d.e-]+%\s+[\d.e-]+%\s+\d+n?s?\s+[\d.e-]+%\s+(.*?)(?: \(inline\))?$", line)
            if row:
                flat[row.group(2)] += int(row.group(1))
        whole = fxt_spans.read_whole(trace)
        expected = collections.Counter()
        for key, (_, nanoseconds) in self.self_times(whole).items():
            expected[key[4][-1]] += nanoseconds
        self.assertEqual(sum(flat.values()), sum(expected.values()))
        self.assertEqual(flat["work"], expected["work"])

    def test_csv(self):
        """csv: a line per span, with all that is known of it"""
        for trace in self.strange_trace(), self.threads():
            whole = fxt_spans.read_whole(trace)
            with open(self.export("csv", trace), newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file, strict=True))
            self.assertFalse([row for row in rows if None in row or None in row.values()])
            spans = [row for row in rows if row["kind"] in ("call", "special", "hit")]
            got = collections.Counter(
                (row["function"], row["process"], int(row["pid"]), row["thread"], int(row["tid"]), int(row["depth"]),
                 int(row["start_ns"]), int(row["duration_ns"]), int(row["self_ns"]), row["symbol"], row["file"],
                 row["line"], row["address"], row["code"], row["ended"], row["seen"], row["value"]) for row in spans)
            expected = collections.Counter()
            for span in whole.spans:
                arguments = span.arguments
                seen = [words for name, words in (("inferred_start_time", "start inferred"),
                                                  ("inferred_end_time", "end inferred"), ("across_gap", "across gap"))
                        if name in arguments]
                address = arguments.get("address", arguments.get("ip", 0))
                expected[(span.name, whole.processes[span.pid], span.pid, whole.threads[span.pid, span.tid], span.tid,
                          span.depth, span.begin, span.end - span.begin, span.self, arguments.get("symbol", ""),
                          arguments.get("file", ""), str(arguments.get("line", "")), hex(address) if address else "",
                          span.category or "own", arguments.get("end", "return"), "; ".join(seen) or "yes",
                          str(arguments.get("arg", "")))] += 1
            self.assertEqual(got, expected)
            self.assertEqual([(row["function"], int(row["start_ns"])) for row in rows if row["kind"] == "instant"],
                             [(moment.name, moment.time) for moment in whole.instants])
            self.assertEqual([(row["function"], int(row["start_ns"]), float(row["value"]))
                              for row in rows if row["kind"] == "counter"],
                             [(moment.name, moment.time, moment.value) for moment in whole.counters])

    def expected_profiles(self, whole):
        """{name of the profile: [(name, begin, end, depth)]} as speedscope should have them."""
        profiles = collections.defaultdict(list)
        for span in whole.spans:
            name = (f"{whole.threads[span.pid, span.tid]} (tid {span.tid}) of {whole.processes[span.pid]} "
                    f"(pid {span.pid})")
            profiles[name].append((span.name, span.begin, span.end, span.depth))
        return {name: sorted(spans) for name, spans in profiles.items()}

    def test_speedscope(self):
        """speedscope: evented profiles that nest, one per thread"""
        for trace in self.strange_trace(), self.threads():
            content = json.loads(self.export("speedscope", trace).read_bytes())
            self.assertEqual(content["$schema"], "https://www.speedscope.app/file-format-schema.json")
            frames = content["shared"]["frames"]
            got = {}
            for profile in content["profiles"]:
                self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
                stack, spans, last = [], [], profile["startValue"]
                for event in profile["events"]:
                    self.assertGreaterEqual(event["at"], last)
                    last = event["at"]
                    if event["type"] == "O":
                        stack.append((event["frame"], last))
                        continue
                    frame, begin = stack.pop()
                    self.assertEqual(event["frame"], frame)
                    spans.append((frames[frame]["name"], begin, last, len(stack)))
                self.assertEqual((stack, last), ([], profile["endValue"]))
                got[profile["name"]] = sorted(spans)
            self.assertEqual(got, self.expected_profiles(fxt_spans.read_whole(trace)))

    def speedscope(self):
        """Folder of npm's package, kept under ~/.cache/magic-trace."""
        folder = pathlib.Path.home() / ".cache" / "magic-trace" / "speedscope"
        package = folder / "node_modules" / "speedscope"
        if not package.is_dir() and shutil.which("npm"):
            folder.mkdir(parents=True, exist_ok=True)
            harness.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, SPEEDSCOPE])
        if not package.is_dir():
            self.skipTest("speedscope is not here and cannot be fetched from npm")
        return package

    def test_speedscope_itself(self):
        """speedscope: its own code, in a browser, imports the same spans"""
        browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        if not browser:
            self.skipTest("there is no chromium")
        site = self.folder / "speedscope"
        shutil.copytree(self.speedscope() / "dist" / "release", site)
        [script] = site.glob("speedscope-*.js")
        # The page shows what it has imported on a canvas; here it writes it into the document.
        loading = re.compile(r"this\.loadProfile\(\(\)=>(\w+)\((\w+),(\w+)\)\)\}")
        text, patched = loading.subn(r"\1(\2,\3).then(showImported)}", script.read_text(), count=1)
        self.assertEqual(patched, 1)
        script.write_text("""
            function showImported(group) {
                const all = group.profiles.map((profile) => {
                    const spans = [], open = [];
                    profile.forEachCall((node, at) => open.push([node.frame.name, at]),
                                        (node, at) => spans.push([...open.pop(), at, open.length]));
                    return [profile.getName(), spans];
                });
                document.body.textContent = JSON.stringify(all);
                document.title = "imported";
            }
            """ + text)
        trace = self.threads()
        content = base64.b64encode(self.export("speedscope", trace).read_bytes()).decode()
        profile = self.folder / "profile.js"
        profile.write_text(f'speedscope.loadFileFromBase64("trace.speedscope.json", "{content}")')
        finished = harness.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                                "--virtual-time-budget=20000", "--dump-dom",
                                f"file://{site}/index.html#localProfilePath={profile}"])
        document = finished.stdout.decode()
        self.assertIn("<title>imported</title>", document, finished.stderr.decode()[-2000:])
        body = re.search(r"<body[^>]*>(.*)</body>", document, re.DOTALL).group(1)
        for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            body = body.replace(entity, character)
        got = {}
        for name, spans in json.loads(body):
            first = min((span[1] for span in spans), default=0)
            got[name] = sorted((span[0], span[1] - first, span[2] - first, span[3]) for span in spans)
        expected = {}
        for name, spans in self.expected_profiles(fxt_spans.read_whole(trace)).items():
            first = min(span[1] for span in spans)
            # It keeps none that has no length.
            expected[name] = sorted((span[0], span[1] - first, span[2] - first, span[3]) for span in spans
                                    if span[1] < span[2])
        self.assertEqual(got, expected)

    def read_html(self, path):
        """The trace that the page carries (web/data/embedded_trace.js), and the page around it."""
        page = path.read_text()
        head, tail = '<script type="application/json" id="trace">', "</script>"
        before, rest = page.split(head, 1)
        carried, after = rest.split(tail, 1)
        self.assertNotIn("<", carried)
        return json.loads(carried), before, after

    def columns(self, track):
        data, numbers, value, shift = base64.b64decode(track["columns"], validate=True), [], 0, 0
        for byte in data:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                numbers.append(value)
                value = shift = 0
        self.assertEqual(len(numbers), 5 * track["spans"])
        return list(zip(*[iter(numbers)] * 5))

    def test_html(self):
        """html: the page carries all that the trace holds"""
        endings = ["return", "tail call", "unwound", "gap", "end of trace", "exec", "filter", "switch"]
        for trace in self.strange_trace(), self.threads():
            whole = fxt_spans.read_whole(trace)
            carried, _, _ = self.read_html(self.export("html", trace))
            got, expected, first = collections.Counter(), collections.Counter(), min(span.begin for span in whole.spans)
            for track in carried["tracks"]:
                self.assertEqual(track["process"], whole.processes[track["pid"]])
                self.assertEqual(track["thread"], whole.threads[track["pid"], track["tid"]])
                self.assertEqual(track["kind"], "hits" if track["process"] == HITS else "thread")
                begin = first
                for depth, start, length, function, flags in self.columns(track):
                    begin += start
                    got[(*carried["functions"][function], track["pid"], track["tid"], depth, begin, begin + length,
                         endings[flags >> 8], flags & 7)] += 1
            for span in whole.spans:
                arguments = span.arguments
                flags = sum(bit for bit, name in ((1, "inferred_start_time"), (2, "inferred_end_time"), (4, "across_gap"))
                            if name in arguments)
                expected[(span.name, arguments.get("symbol"), arguments.get("file"), arguments.get("line", 0),
                          hex(arguments["address"]) if "address" in arguments else None, span.category or "own", span.pid,
                          span.tid, span.depth, span.begin, span.end, arguments.get("end", "return"), flags)] += 1
            self.assertEqual(got, expected)
            self.assertEqual([(mark["text"], mark["time"] + first) for mark in carried["marks"]],
                             [(moment.name, moment.time) for moment in whole.instants])
            self.assertEqual([(f"{counter['name']} ({counter['unit']})", [(time + first, value) for time, value in
                                                                       counter["samples"]])
                              for counter in carried["counters"]],
                             [(name, [(moment.time, moment.value) for moment in whole.counters])
                              for name in sorted({moment.name for moment in whole.counters})])
            hits = [span for span in whole.spans if whole.processes[span.pid] == HITS]
            self.assertEqual([(hit["name"], hit["argument"], hit["start"] + first, hit["end"] + first)
                              for hit in carried["hits"]],
                             [(hit.name, str(hit.arguments["arg"]) if "arg" in hit.arguments else None, hit.begin,
                               hit.end) for hit in hits])
            self.assertEqual(carried["duration"], max(span.end for span in whole.spans) - first)

    def test_html_page(self):
        """html: the page needs nothing else, and its policy lets in nothing else"""
        _, before, after = self.read_html(self.export("html", self.strange_trace()))
        page = before + after
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', before).group(1)
        self.assertRegex(policy, r"^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; ")
        self.assertNotIn("unsafe", policy)
        for element in "style", "script":
            [text] = re.findall(rf"<{element}(?: type=\"module\")?>(.*?)</{element}>", page, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{element}-src 'sha256-{digest}'", policy)
        markup = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
        self.assertEqual(re.findall(r'(?:src|href)="(?!data:)[^"]*"', markup), [])

    def test_html_of_too_much(self):
        """html: more than a browser holds is refused, with the part that it would hold"""
        made = MadeTrace()
        thread = made.thread(1, 1, "prog", "main")
        trace = self.folder / "large.fxt"
        made.begin(1000, thread, "main")
        made.begin(1000, thread, "f")
        made.end(1001, thread)
        begin, end = made.records[-2:]
        calls = bytearray((begin + end) * 1_100_000)
        for number in range(1_100_000):
            struct.pack_into("<Q", calls, number * len(begin + end) + 8, 2000 + 2 * number)
            struct.pack_into("<Q", calls, number * len(begin + end) + len(begin) + 8, 2001 + 2 * number)
        made.records.append(bytes(calls))
        made.end(9_000_000, thread)
        made.write(trace)
        words = self.export("html", trace, expect=1)
        part = re.search(r"(-from \d+ns -to \d+ns),", words).group(1).split()
        carried, _, _ = self.read_html(self.export("html", trace, *part))
        self.assertGreater(sum(track["spans"] for track in carried["tracks"]), 999_990)
        words = self.export("html", trace, "-from", "5us", expect=1)
        self.assertIn("-from 5000ns -to ", words)

    def test_window(self):
        """-from and -to cut the trace: all spans and no time beyond"""
        trace = self.threads()
        whole = fxt_spans.read_whole(trace)
        first = min(span.begin for span in whole.spans)
        last = max(span.end for span in whole.spans)
        begin, end = first + (last - first) // 3, first + (last - first) * 2 // 3
        _, _, spans = self.read_chrome(
            self.export("chrome", trace, "-from", f"{begin - first}ns", "-to", f"{end - first}ns"))
        expected = []
        for span in whole.spans:
            if span.end >= begin and span.begin <= end:
                expected.append((span.name, span.tid, max(span.begin, begin), min(span.end, end)))
        self.assertEqual(sorted((start["name"], start["tid"], start["time"], stop["time"])
                                for start, stop, _ in spans), sorted(expected))
        cut = [start for start, _, _ in spans if start["time"] == begin]
        self.assertTrue(all(start["args"]["inferred_start_time"] for start in cut if start["name"] in ("main", "_start")))

    def test_call_window(self):
        """-around a call shows that call and its callers"""
        trace = self.threads()
        _, _, spans = self.read_chrome(self.export("chrome", trace, "-around", "work#2"))
        calls = sorted((span.begin, span.end) for span in fxt_spans.read_whole(trace).spans if span.name == "work")
        self.assertIn(calls[1], [(start["time"], stop["time"]) for start, stop, _ in spans if start["name"] == "work"])
        self.assertEqual((min(start["time"] for start, _, _ in spans), max(stop["time"] for _, stop, _ in spans)),
                         calls[1])

    def test_refusals(self):
        """what makes no sense is refused in words, and leaves no file"""
        trace = self.strange_trace()
        self.assertIn("no call of nowhere", self.export("csv", trace, "-from", "nowhere", expect=1))
        self.assertIn("is before -from", self.export("csv", trace, "-from", "2ms", "-to", "1ms", expect=2))
        self.assertIn("-filter: no call of", self.export("csv", trace, "-filter", "(nowhere main)", expect=1))
        self.assertIn("-format is", self.export("xml", trace, expect=2))
        self.assertIn("-format is missing", self.magic_trace("export", trace).stderr.decode())

    def test_damage(self):
        """of a damaged trace all before the damage is exported, and the damage is reported"""
        trace = self.strange_trace()
        content = trace.read_bytes()
        trace.write_bytes(content[:len(content) // 2 + 3])
        for form in FORMS:
            path = self.folder / f"damaged.{form}"
            finished = self.magic_trace("export", "-format", form, "-output", path, trace)
            self.assertEqual(finished.status, 1)
            self.assertIn(b"is damaged at byte", finished.stderr)
            self.assertGreater(path.stat().st_size, 100)
        _, phases, spans = self.read_chrome(self.folder / "damaged.chrome")
        self.assertGreater(len(spans), 500)
        self.assertEqual(len(phases["i"]), 1)

    def test_outputs(self):
        """a file named .gz is compressed, - is standard output, without -output the trace gives the name"""
        trace = self.strange_trace()
        plain_text = self.export("csv", trace).read_bytes()
        self.assertEqual(gzip.decompress(self.export("csv", trace, suffix=".gz").read_bytes()), plain_text)
        finished = self.magic_trace("export", "-format", "csv", "-output", "-", trace)
        self.assertEqual((finished.status, finished.stdout, finished.stderr), (0, plain_text, b""))
        finished = self.magic_trace("export", "-format", "csv", trace)
        self.assertEqual((self.folder / "strange.csv").read_bytes(), plain_text)
        finished = self.magic_trace("export", "-format", "csv", "-output", "/dev/full", trace)
        self.assertEqual(finished.status, 1)
        self.assertIn("No space left on device", finished.stderr.decode())

    def test_recording(self):
        """a recording is decoded and exported without a trace between"""
        traced = self.trace([harness.compile_program("hits"), "third"])
        direct = self.export("csv", traced.directory).read_bytes()
        self.assertEqual(direct, self.export("csv", traced.trace).read_bytes())
