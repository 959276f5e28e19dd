#!/usr/bin/env python3
"""Holds what the viewer's server answers against the trace itself.

    view_check.py TRACE URL [--queries N] [--seed S]

TRACE is a trace in the Fuchsia trace format, URL what `magic-trace view -no-browser TRACE` printed. The spans are read
from the file by this program, which shares no code with magic-trace, and every answer is computed from all of
them, by the definitions of docs/viewer.md section 1 and in the plainest way. Prints the number of answers compared, of
each kind; the first difference is printed in full. Exit status: 0 when all agree, 1 when not.
"""
import argparse
import bisect
import collections
import gzip
import http.client
import json
import random
import re
import struct
import sys
import urllib.parse

RECORD_STRING, RECORD_THREAD, RECORD_EVENT, RECORD_KERNEL_OBJECT = 2, 3, 4, 7
INSTANT, COUNTER, BEGIN, END = 0, 1, 2, 3
PROCESS_OBJECT, THREAD_OBJECT = 1, 2
STRING_ARGUMENT = 6
HITS = "Snapshot symbol hits"
DEEP_ROW = re.compile(r" \(frames (\d+)-\d+ of thread (\d+)\)$")
NOT_SEEN = {"gap", "end of trace"}


class Span:
    __slots__ = ("depth", "start", "end", "name", "whole", "track")

    def __init__(self, track, depth, start, name, whole):
        self.track, self.depth, self.start, self.end = track, depth, start, None
        self.name, self.whole = name, whole

    def overlaps(self, begin, end):
        if self.start == self.end:
            return begin <= self.start < end
        return self.start < end and self.end > begin

    def clipped(self, begin, end):
        return max(0, min(self.end, end) - max(self.start, begin))

    @property
    def length(self):
        return self.end - self.start


class Trace:
    """All spans by track, a track being (pid, tid); each track's in the order in which they begin."""

    def __init__(self, path):
        content = open(path, "rb").read()
        self.content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        self.strings, self.threads, self.processes = {0: ""}, {}, {}
        self.deep = {}  # (pid, tid of a row of deep frames) -> (tid of the thread, depth of its outermost)
        self.tracks = collections.defaultdict(list)
        self.open = collections.defaultdict(list)
        self.first = None
        self.read_names()
        self.read()
        for spans in self.tracks.values():
            for span in spans:
                span.start -= self.first
                span.end -= self.first
        self.hits = {track for track in self.tracks if self.processes.get(track[0]) == HITS}
        self.tracks = {track: spans for track, spans in self.tracks.items() if spans}
        self.duration = max((s.end for spans in self.tracks.values() for s in spans), default=0)

    def records(self):
        """(kind, header, offset) of each, with strings and threads taken note of on the way."""
        offset = 0
        while offset + 8 <= len(self.content):
            (header,) = struct.unpack_from("<Q", self.content, offset)
            words, kind = header >> 4 & 0xfff, header & 15
            if words == 0:
                raise ValueError(f"record of size 0 at {offset}")
            if kind == RECORD_STRING:
                length = header >> 32 & 0x7fff
                self.strings[header >> 16 & 0x7fff] = self.content[offset + 8:offset + 8 + length].decode()
            elif kind == RECORD_THREAD:
                self.threads[header >> 16 & 0xff] = struct.unpack_from("<QQ", self.content, offset + 8)
            else:
                yield kind, header, offset
            offset += 8 * words

    def arguments(self, offset, count):
        found = {}
        for _ in range(count):
            (header,) = struct.unpack_from("<Q", self.content, offset)
            words = header >> 4 & 0xfff
            value = header >> 32
            if header & 15 == STRING_ARGUMENT:
                value = self.strings[value & 0xffff]
            elif words == 2:
                (value,) = struct.unpack_from("<Q", self.content, offset + 8)
            found[self.strings[header >> 16 & 0xffff]] = value
            offset += 8 * words
        return found

    def read_names(self):
        for kind, header, offset in self.records():
            if kind != RECORD_KERNEL_OBJECT:
                continue
            (number,) = struct.unpack_from("<Q", self.content, offset + 8)
            name = self.strings[header >> 24 & 0xffff]
            if header >> 16 & 0xff == PROCESS_OBJECT:
                self.processes[number] = name
            elif header >> 16 & 0xff == THREAD_OBJECT:
                pid = self.arguments(offset + 16, header >> 40 & 15).get("process")
                row = DEEP_ROW.search(name)
                if row:
                    self.deep[pid, number] = (int(row[2]), int(row[1]))

    def read(self):
        for kind, header, offset in self.records():
            if kind != RECORD_EVENT:
                continue
            (time,) = struct.unpack_from("<Q", self.content, offset + 8)
            event = header >> 16 & 15
            self.first = time if self.first is None else min(self.first, time)
            pid, tid = self.threads[header >> 24 & 0xff]
            tid, outermost = self.deep.get((pid, tid), (tid, 0))
            track = pid, tid
            arguments = self.arguments(offset + 16, header >> 20 & 15) if header >> 20 & 15 else {}
            if event == BEGIN:
                span = Span(track, len(self.open[track]), time, self.strings[header >> 48],
                            "inferred_start_time" not in arguments)
                if span.depth < outermost:
                    raise ValueError(f"a deep frame of {track} at depth {span.depth}")
                self.open[track].append(span)
                self.tracks[track].append(span)
            elif event == END:
                span = self.open[track].pop()
                span.end = time
                if "inferred_end_time" in arguments or arguments.get("end") in NOT_SEEN:
                    span.whole = False


def tiles(spans, begin, end, resolution, depth, rows):
    """[(start, end, depth, name, count)] by start, outer first, and then by end: what has no length comes before what follows it."""
    found, bins = [], collections.defaultdict(list)
    for span in spans:
        if not depth <= span.depth < depth + rows:
            continue
        if span.length >= resolution:
            if span.overlaps(begin, end):
                found.append((span.start, span.end, span.depth, span.name, 1))
        else:
            bins[span.depth, span.start // resolution].append(span)
    for (level, _), members in bins.items():
        if any(span.overlaps(begin, end) for span in members):
            longest = max(members, key=lambda span: span.length)  # of equals the first
            found.append((members[0].start, members[-1].end, level, longest.name, len(members)))
    return sorted(found, key=lambda tile: (tile[0], tile[2], tile[1]))


def stack_at(spans, time):
    """What is open, or, where a span of length zero began last at that moment, that span and its callers."""
    chain = []
    for span in spans:
        if span.start > time:
            break
        del chain[span.depth:]
        chain.append(span)
    if chain and chain[-1].start == chain[-1].end == time:
        return chain
    return [span for span in chain if span.end > time]


def self_times(spans, begin, end):
    """Time of each span within the range in which it is the innermost, by position."""
    times, stack = [span.clipped(begin, end) for span in spans], []
    for position, span in enumerate(spans):
        del stack[span.depth:]
        if stack:
            times[stack[-1]] -= span.clipped(begin, end)
        stack.append(position)
    return times


def statistics(tracks, begin, end):
    """name -> [calls, total, self, whole, min, max, sum]"""
    rows = {}
    for spans in tracks:
        own = self_times(spans, begin, end)
        stack = []
        for position, span in enumerate(spans):
            del stack[span.depth:]
            outermost = span.name not in stack
            stack.append(span.name)
            if not span.overlaps(begin, end):
                continue
            row = rows.setdefault(span.name, [0, 0, 0, 0, 0, 0, 0])
            row[0] += 1
            row[1] += span.clipped(begin, end) if outermost else 0
            row[2] += own[position]
            if span.whole and span.start >= begin and span.end <= end:
                row[3] += 1
                row[4] = span.length if row[3] == 1 else min(row[4], span.length)
                row[5] = max(row[5], span.length)
                row[6] += span.length
    return rows


def outermost_calls(tracks, name, begin, end):
    """Calls of the range inside no other of that name."""
    count = 0
    for spans in tracks:
        stack = []
        for span in spans:
            del stack[span.depth:]
            count += span.name == name and name not in stack and span.overlaps(begin, end)
            stack.append(span.name)
    return count


def flame(tracks, begin, end):
    """stack of names -> [calls, total, self], but for calls of no length at `begin` whose caller ended there"""
    nodes = {}
    for spans in tracks:
        own, stack = self_times(spans, begin, end), []
        for position, span in enumerate(spans):
            del stack[span.depth:]
            stack.append(span)
            if all(caller.overlaps(begin, end) for caller in stack):
                node = nodes.setdefault(tuple(caller.name for caller in stack), [0, 0, 0])
                node[0] += 1
                node[1] += span.clipped(begin, end)
                node[2] += own[position]
    return nodes


def quantile(lengths, share):
    """The smallest length that at least this share of all do not exceed."""
    needed = -(-len(lengths) * share // 100)
    return lengths[max(int(needed) - 1, 0)] if lengths else 0


class Server:
    def __init__(self, url):
        parts = urllib.parse.urlparse(url.rstrip("/"))
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port)
        self.path = parts.path

    def get(self, name, **parameters):
        query = urllib.parse.urlencode({key: value for key, value in parameters.items() if value is not None})
        self.connection.request("GET", f"{self.path}/api/{name}?{query}")
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise ValueError(f"{name}?{query}: status {answer.status}: {body[:300]}")
        return body

    def json(self, name, **parameters):
        return json.loads(self.get(name, **parameters))

    def tiles(self, **parameters):
        body = self.get("tiles", **parameters)
        magic, count, more, _ = struct.unpack_from("<4sIII", body)
        if magic != b"MTP1" or len(body) != 16 + count * (8 + 8 + 4 * 4):
            raise ValueError(f"tiles: {magic}, {count} tiles in {len(body)} bytes")
        columns, offset = [], 16
        for code, size in zip("ddIIII", (8, 8, 4, 4, 4, 4)):
            columns.append(struct.unpack_from(f"<{count}{code}", body, offset))
            offset += count * size
        return list(zip(*columns)), bool(more)


class Difference(Exception):
    pass


class Check:
    def __init__(self, trace, server, seed):
        self.trace, self.server, self.random = trace, server, random.Random(seed)
        self.info = server.json("trace")
        self.functions = server.json("functions")["functions"]
        self.track_of = {track["id"]: (track["pid"], track["tid"]) for track in self.info["tracks"]}
        self.id_of = {track: number for number, track in self.track_of.items()}
        self.calls = [number for number, track in self.track_of.items()
                      if track not in trace.hits and track in trace.tracks]
        self.names = sorted({span.name for spans in trace.tracks.values() for span in spans})

    def same(self, what, got, expected):
        if got == expected:
            return
        if isinstance(got, (list, dict)) and isinstance(expected, type(got)):
            if isinstance(got, dict):
                got, expected = sorted(got.items()), sorted(expected.items())
            only_got = [entry for entry in got if entry not in expected][:5]
            only_expected = [entry for entry in expected if entry not in got][:5]
            raise Difference(f"{what}: {len(got)} answered, {len(expected)} expected;"
                             f"\n  answered alone: {only_got}\n  expected alone: {str(only_expected)[:600]}")
        raise Difference(f"{what}: answered {got}, expected {expected}")

    def range(self):
        """Of any width from single ns to the whole trace, where spans are."""
        width = int(2 ** self.random.uniform(0, max(self.trace.duration, 2).bit_length()))
        spans = self.trace.tracks[self.track_of[self.random.choice(self.calls)]]
        span = self.random.choice(spans)
        near = self.random.choice([span.start, span.end, self.random.randint(0, self.trace.duration)])
        begin = max(0, near - self.random.randint(0, width))
        return begin, begin + max(width, 1)

    def some_tracks(self):
        if self.random.random() < 0.5:
            return None, self.calls
        chosen = sorted(self.random.sample(self.calls, self.random.randint(1, min(3, len(self.calls)))))
        return ",".join(map(str, chosen)), chosen

    def spans_of(self, ids):
        return [self.trace.tracks[self.track_of[number]] for number in ids]

    def group_of(self, name):
        return next(group for other, group, *_ in self.functions if other == name)

    # One method per kind of query; each compares one answer.

    def check_trace(self):
        self.same("spans by track",
                  {(t["pid"], t["tid"]): t["spans"] for t in self.info["tracks"] if t["spans"]},
                  {track: len(spans) for track, spans in self.trace.tracks.items()})
        self.same("depth by track",
                  {(t["pid"], t["tid"]): t["depth"] for t in self.info["tracks"] if t["spans"]},
                  {track: max(s.depth for s in spans) + 1 for track, spans in self.trace.tracks.items()})
        counted = collections.Counter(
            span.name for track, spans in self.trace.tracks.items() for span in spans if track not in self.trace.hits)
        self.same("calls by function",
                  {name: calls for name, _, _, _, calls, _ in self.functions if name in counted}, dict(counted))

    def check_tiles(self):
        number = self.random.choice(list(self.track_of))
        spans = self.trace.tracks.get(self.track_of[number], [])
        begin, end = self.range()
        finest = max((end - begin) // 4000, 1).bit_length() - 1
        resolution = 1 << self.random.randint(finest, max(finest, (end - begin).bit_length()))
        depth, rows = self.random.choice([(0, 1 << 20), (self.random.randint(0, 10), self.random.randint(1, 64))])
        got, more = self.server.tiles(track=number, **{"from": begin}, to=end, resolution=resolution, depth=depth,
                                       rows=rows)
        what = f"tiles of track {number}, [{begin}, {end}), resolution {resolution}, rows {depth}+{rows}"
        expected = tiles(spans, begin, end, resolution, depth, rows)
        answered = [(int(start), int(stop), level, self.functions[function][0], count)
                    for start, stop, level, function, count, _ in got]
        if more:
            raise Difference(f"{what}: cut at {len(got)} of {len(expected)}")
        self.same(what, answered, expected)

    def check_table(self):
        begin, end = self.range()
        text, ids = self.some_tracks()
        answer = self.server.json("table", **{"from": begin}, to=end, tracks=text, top=10000, sort="self")
        got = {row["name"]: [row["calls"], row["total"], row["self"], row["whole"], row["min"], row["max"]]
               for row in answer["rows"]}
        expected = {name: row[:6] for name, row in statistics(self.spans_of(ids), begin, end).items()}
        self.same(f"table of tracks {text}, [{begin}, {end})", got, expected)

    def check_flame(self):
        begin, end = self.range()
        text, ids = self.some_tracks()
        answer = self.server.json("flame", **{"from": begin}, to=end, tracks=text, share=0)
        got, waiting = {}, [((), answer["root"])]
        while waiting:
            stack, node = waiting.pop()
            if stack:
                got[stack] = [node["calls"], node["total"], node["self"]]
            waiting += [((*stack, child["name"]), child) for child in node["children"]]
        self.same(f"flame graph of tracks {text}, [{begin}, {end})", got, flame(self.spans_of(ids), begin, end))

    def check_stack(self):
        number = self.random.choice(self.calls)
        spans = self.trace.tracks[self.track_of[number]]
        span = self.random.choice(spans)
        time = self.random.choice([span.start, span.end, (span.start + span.end) // 2])
        answer = self.server.json("stack", track=number, time=time)
        got = [(s["depth"], s["start"], s["end"]) for s in answer["stack"]]
        self.same(f"stack of track {number} at {time}", got, [(s.depth, s.start, s.end) for s in stack_at(spans, time)])

    def check_span(self):
        number = self.random.choice(self.calls)
        spans = self.trace.tracks[self.track_of[number]]
        position = self.random.randrange(len(spans))
        span = spans[position]
        if span.length == 0:
            return
        answer = self.server.json("span", track=number, depth=span.depth, time=span.start)["span"]
        children = 0
        for other in spans[position + 1:]:
            if other.depth <= span.depth:
                break
            children += other.depth == span.depth + 1
        own = self_times(spans, 0, self.trace.duration + 1)[position]
        self.same(f"span of track {number}, depth {span.depth}, at {span.start}",
                  (answer["name"], answer["start"], answer["end"], answer["self"], answer["children"]),
                  (span.name, span.start, span.end, own, children))

    def check_calls(self):
        begin, end = self.range()
        text, ids = self.some_tracks()
        name = self.random.choice(self.names)
        answer = self.server.json("calls", group=self.group_of(name), **{"from": begin}, to=end, tracks=text,
                                  slowest=10)
        met = [s for spans in self.spans_of(ids) for s in spans if s.name == name and s.overlaps(begin, end)]
        lengths = sorted(s.length for s in met if s.whole and s.start >= begin and s.end <= end)
        what = f"calls of {name} in tracks {text}, [{begin}, {end})"
        self.same(what, [answer[key] for key in ("calls", "whole", "sum", "min", "max", "median", "p99")],
                  [len(met), len(lengths), sum(lengths), min(lengths, default=0), max(lengths, default=0),
                   quantile(lengths, 50), quantile(lengths, 99)])
        row = statistics(self.spans_of(ids), begin, end).get(name, [0, 0])
        self.same(f"{what}: time of the outermost", answer["total"], row[1])
        self.same(f"{what}: recursive ones", answer["recursive"], len(met) - outermost_calls(self.spans_of(ids), name, begin, end))
        self.same(f"{what}: in the histogram", sum(bar["count"] for bar in answer["histogram"]), len(lengths))
        for bar in answer["histogram"]:
            self.same(f"{what}: bar {bar['from']} to {bar['to']}", bar["count"],
                      bisect.bisect_left(lengths, bar["to"]) - bisect.bisect_left(lengths, bar["from"]))
        self.same(f"{what}: the slowest", [place["end"] - place["start"] for place in answer["slowest"]],
                  sorted((s.length for s in met), reverse=True)[:10])
        cut = {(self.track_of[number], s.depth, s.start, s.end) for number in ids for s in self.spans_of([number])[0]
               if s.name == name and not s.whole}
        for place in answer["slowest"]:
            self.same(f"{what}: cut or not", place["cut"],
                      (self.track_of[place["track"]], place["depth"], place["start"], place["end"]) in cut)

    def check_next(self):
        text, ids = self.some_tracks()
        name = self.random.choice(self.names)
        places = sorted((s.start, s.depth, number) for number, spans in zip(ids, self.spans_of(ids))
                        for s in spans if s.name == name)
        number = self.random.choice(ids)
        span = self.random.choice(self.trace.tracks[self.track_of[number]])
        here = (span.start, span.depth, number)
        direction = self.random.choice(["next", "previous"])
        answer = self.server.json("next", group=self.group_of(name), tracks=text, track=number, time=span.start,
                                  depth=span.depth, direction=direction)
        position = bisect.bisect_right(places, here) if direction == "next" else bisect.bisect_left(places, here) - 1
        expected = places[position] if 0 <= position < len(places) else None
        call = answer["call"]
        self.same(f"{direction} call of {name} from {here} in tracks {text}",
                  call and (call["start"], call["depth"], call["track"]), expected)
        if expected:
            self.same(f"ordinal of the {direction} call of {name} from {here}", (answer["ordinal"], answer["of"]),
                      (position + 1, len(places)))


def main():
    sys.setrecursionlimit(100_000)  # flame graphs are nested as deeply as calls
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("url")
    parser.add_argument("--queries", type=int, default=1000, help="of random ranges and tracks, all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    check = Check(Trace(options.trace), Server(options.url), options.seed)
    kinds = {"tiles": 4, "table": 2, "flame": 1, "stack": 1, "span": 1, "calls": 2, "next": 2}
    done = collections.Counter()
    try:
        check.check_trace()
        for _ in range(options.queries):
            kind = check.random.choices(list(kinds), list(kinds.values()))[0]
            getattr(check, f"check_{kind}")()
            done[kind] += 1
    except Difference as difference:
        print(f"view_check: {options.trace}: {difference}", file=sys.stderr)
        return 1
    print(", ".join(f"{count} {kind}" for kind, count in sorted(done.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
