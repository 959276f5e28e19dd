"""What is in one of our traces, for tests that compare it with something else.

Reads only what magic-trace writes: begin and end events, instants, counters, strings and threads by reference
(https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format). Whether a trace is well formed is for
tests/judge/fxt_check.py to say.
"""
import codecs
import collections
import gzip
import re
import struct

NOT_RUNNING = ("[not running]", "[preempted]")  # the names of times in which a thread was on no processor

Span = collections.namedtuple("Span", "name pid tid begin end")  # nanoseconds

# A span with all that is known of it. `self`: its length without that of the spans inside. `arguments`: of its begin and
# its end. `stack`: names of the spans that were active, itself the last.
WholeSpan = collections.namedtuple("WholeSpan", "name category pid tid depth begin end self arguments stack")
Moment = collections.namedtuple("Moment", "name pid tid time value")  # an instant, or a counter's value

# `spans` in the order of their ends; `threads` {(pid, tid): name}; `processes` {pid: name}.
Whole = collections.namedtuple("Whole", "spans instants counters threads processes")

RECORD_STRING, RECORD_THREAD, RECORD_EVENT, RECORD_OBJECT = 2, 3, 4, 7
EVENT_INSTANT, EVENT_COUNTER, EVENT_BEGIN, EVENT_END = 0, 1, 2, 3
OBJECT_PROCESS, OBJECT_THREAD = 1, 2

def replace_bytes(error):
    """Of what is no UTF-8, each byte becomes a replacement character."""
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error("replace_bytes", replace_bytes)
DEEP_ROW = re.compile(r"(.*) \(frames (\d+)-\d+ of thread (\d+)\)", re.DOTALL)


def read_bytes(path):
    content = open(path, "rb").read()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


class Records:
    """Walks over a trace: `events` gives (event type, header, time, thread, bytes after the time)."""

    def __init__(self, path):
        self.path = path
        self.content = read_bytes(path)
        self.strings, self.threads = {0: b""}, {}
        self.process_names, self.thread_names = {}, {}

    def text(self, reference):
        """As magic-trace shows it, with control characters escaped."""
        text = self.strings[reference].decode(errors="replace_bytes")
        return re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", text)

    def name_object(self, header, body):
        name = self.text(header >> 24 & 0xffff)
        number = struct.unpack_from("<Q", body)[0]
        if header >> 16 & 0xff == OBJECT_PROCESS:
            self.process_names[number] = name
        elif header >> 16 & 0xff == OBJECT_THREAD:
            self.thread_names[struct.unpack_from("<Q", body, 16)[0], number] = name

    def events(self):
        offset = 0
        while offset < len(self.content):
            (header,) = struct.unpack_from("<Q", self.content, offset)
            words = header >> 4 & 0xfff
            kind = header & 15
            if words == 0:
                raise ValueError(f"{self.path}: record of size 0 at {offset}")
            body = offset + 8
            offset += 8 * words
            if kind == RECORD_STRING:
                length = header >> 32 & 0x7fff
                self.strings[header >> 16 & 0x7fff] = self.content[body:body + length]
            elif kind == RECORD_THREAD:
                self.threads[header >> 16 & 0xff] = struct.unpack_from("<QQ", self.content, body)
            elif kind == RECORD_OBJECT:
                self.name_object(header, self.content[body:offset])
            elif kind == RECORD_EVENT:
                (time,) = struct.unpack_from("<Q", self.content, body)
                yield (header >> 16 & 15, header, time, self.threads[header >> 24 & 0xff],
                       self.content[body + 8:offset])

    def arguments(self, header, body):
        """Of an event, {name: value}."""
        found, offset = {}, 0
        for _ in range(header >> 20 & 15):
            (head,) = struct.unpack_from("<Q", body, offset)
            name, size, kind = self.text(head >> 16 & 0xffff), head >> 4 & 0xfff, head & 15
            long_value = body[offset + 8:offset + 16]
            found[name] = {
                1: lambda: struct.unpack("<i", struct.pack("<I", head >> 32))[0],
                2: lambda: head >> 32,
                3: lambda: struct.unpack("<q", long_value)[0],
                4: lambda: struct.unpack("<Q", long_value)[0],
                5: lambda: struct.unpack("<d", long_value)[0],
                6: lambda: self.text(head >> 32 & 0xffff),
                7: lambda: struct.unpack("<Q", long_value)[0],
            }[kind]()
            offset += 8 * size
        return found


def read_spans(path):
    """All spans in the order of their ends."""
    records, stacks, spans = Records(path), collections.defaultdict(list), []
    for kind, header, time, thread, _ in records.events():
        if kind == EVENT_BEGIN:
            stacks[thread].append((records.text(header >> 48), time))
        elif kind == EVENT_END:
            name, begin = stacks[thread].pop()
            spans.append(Span(name, *thread, begin, time))
    return spans


class Open:
    def __init__(self, name, category, begin, arguments):
        self.name, self.category, self.begin, self.arguments = name, category, begin, arguments
        self.inside = 0  # nanoseconds of the spans in it


def read_whole(path):
    """All that a trace holds. The rows of deep frames are put back into their thread."""
    records, stacks = Records(path), collections.defaultdict(list)
    whole = Whole([], [], [], {}, {})
    for kind, header, time, (pid, row), body in records.events():
        deep = DEEP_ROW.fullmatch(records.thread_names.get((pid, row), ""))
        tid = int(deep.group(3)) if deep else row
        name = records.text(header >> 48)
        stack = stacks[pid, tid]
        arguments = records.arguments(header, body)
        if kind == EVENT_BEGIN:
            stack.append(Open(name, records.text(header >> 32 & 0xffff), time, arguments))
        elif kind == EVENT_END:
            names = tuple(span.name for span in stack)
            span = stack.pop()
            if stack:
                stack[-1].inside += time - span.begin
            whole.spans.append(WholeSpan(
                span.name, span.category, pid, tid, len(stack), span.begin, time,
                time - span.begin - span.inside, {**span.arguments, **arguments}, names))
        elif kind == EVENT_INSTANT:
            whole.instants.append(Moment(name, pid, tid, time, None))
        elif kind == EVENT_COUNTER:
            [(unit, value)] = arguments.items()
            text = name if unit == "value" else f"{name} {unit}"
            whole.counters.append(Moment(text, pid, tid, time, value))
    whole.processes.update(records.process_names)
    whole.threads.update({thread: name for thread, name in records.thread_names.items()
                          if not DEEP_ROW.fullmatch(name)})
    return whole
