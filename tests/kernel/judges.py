"""What the host decides about recordings that the guest made. See `judge` in guest/lib.sh."""
import bisect
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "e2e" / "shared"), str(TESTS)]
import fxt_spans  # noqa: E402  (found through the path just set)
import watchdog  # noqa: E402


class Skipped(Exception):
    pass


class Wrong(Exception):
    pass


class Case:
    """Where a scenario left its files, and where our own things are."""

    def __init__(self, folder, binary):
        self.folder = folder
        self.binary = binary

    def path(self, name):
        return self.folder / name


CYCLE = 999
DIGITS = 5


def expect(good, message):
    if not good:
        raise Wrong(message)


def output_of(command, **options):
    result = watchdog.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)
    return result.returncode, result.stdout, result.stderr


def perf_branches(recording):
    """{tid: [(kind, from, to)]} of the calls, returns and beginnings of tracing that perf's decoder sees, and its errors.
    Those of thread 0 do not count: perf does not know who runs on a processor before its first switch of threads."""
    status, text, errors = output_of(["perf", "script", "-i", recording, "--itrace=cre", "-F", "tid,flags,ip,sym,addr"])
    expect(status == 0, f"perf script: {errors[-500:]}")
    branches, wrong = {}, []
    for line in text.splitlines():
        match = re.match(r"\s*(\d+)\s+(call|return|tr strt)\s+[0-9a-f]+ (\S+) =>\s+[0-9a-f]+ (\S+)$", line)
        if match:
            branches.setdefault(int(match.group(1)), []).append(match.groups()[1:])
        elif "error" in line:
            wrong.append(line.strip())
    wrong += re.findall(r".*instruction trace error.*", errors)
    return branches, [line for line in wrong if " tid 0 " not in line]


def rounds_of_branches(branches):
    """The numbers of the rounds that a thread's calls show, whole ones only."""
    rounds = Rounds()
    for kind, source, target in branches:
        if kind == "tr strt" or (source, target) == ("one_round", "play_rounds"):
            rounds.end()
        elif kind == "call" and (source, target) == ("play_rounds", "one_round"):
            rounds.begin()
        elif kind == "call" and source == "one_round":
            rounds.call(target)
    rounds.end()
    return rounds.only_numbers()


class Rounds:
    """Collects the calls of rounds; drops those whose beginning or end is not there."""

    def __init__(self):
        self.numbers = []
        self.odd = []  # what was called in rounds that are none
        self.names = None  # called in this round so far; None: its beginning was not seen

    def begin(self):
        self.end()
        self.names = []

    def call(self, name):
        if self.names is not None:
            self.names.append(name)

    def end(self):
        names, self.names = self.names, None
        if names is None or len(names) < DIGITS or not all(name.startswith("digit_") for name in names[:DIGITS]):
            return
        number = int("".join(name[-1] for name in names[:DIGITS]))
        if names == expected_functions(number):
            self.numbers.append(number)
        elif names != expected_functions(number)[:DIGITS]:
            self.odd.append(names)

    def only_numbers(self):
        expect(not self.odd, f"a round called {self.odd[:1]}")
        return self.numbers


def expected_functions(number):
    names = [f"digit_{digit}" for digit in f"{number:0{DIGITS}}"]
    if number % 100 == 0:
        names.append("hundred")
    elif number % 50 == 0:
        names.append("fifty")
    return names


def next_round(number, cycle=CYCLE):
    return 1 if number == cycle else number + 1


def breaks(numbers, cycle=CYCLE):
    """How often a round does not follow on the one before."""
    return sum(1 for a, b in zip(numbers, numbers[1:]) if b != next_round(a, cycle))


def printed_rounds(case, name):
    """{tid: rounds} as `digits` printed them."""
    rows = re.findall(r"^thread (\d+) rounds (\d+)$", case.path(name).read_text(errors="replace"), re.MULTILINE)
    expect(rows, f"{name} does not say how many rounds there were")
    return {int(tid): int(rounds) for tid, rounds in rows}


def all_rounds(rounds, cycle=CYCLE):
    """The numbers of the first so many rounds."""
    numbers, number = [], 0
    for _ in range(rounds):
        numbers.append(number)
        number = next_round(number, cycle)
    return numbers


def check_whole(found, printed):
    """Every thread's rounds are there from the first to the last."""
    for tid, rounds in printed.items():
        numbers = found.get(tid, [])
        expect(numbers == all_rounds(rounds), f"thread {tid}: {len(numbers)} rounds of {rounds}, {breaks(numbers)} breaks")
    return f"{sum(printed.values())} rounds in {len(printed)} threads"


def perf_rounds(case, recording):
    branches, errors = perf_branches(case.path(recording))
    expect(not errors, f"{len(errors)} errors, the first: {errors[:1]}")
    return {tid: rounds_of_branches(rows) for tid, rows in branches.items()}


def rounds_of_spans(spans):
    """The same of our trace: what a function calls begins after it."""
    rounds = Rounds()
    for span in sorted(spans, key=lambda span: (span.begin, -span.end)):
        if span.name == "one_round":
            rounds.begin()
        elif span.name.startswith("digit_") or span.name in ("hundred", "fifty"):
            rounds.call(span.name)
    rounds.end()
    return rounds


def our_spans(case, recording):
    """{tid: spans} of the trace that magic-trace writes; decoding the recording here."""
    path = case.path(recording)
    trace = path
    if not path.name.endswith((".fxt", ".fxt.gz")):
        trace = path.with_name(path.name + ".fxt")
        status, _, errors = output_of([case.binary, "decode", path, "-o", trace])
        expect(status == 0, f"magic-trace decode: {errors[-500:]}")
    spans = collections.defaultdict(list)
    for span in fxt_spans.read_spans(trace):
        spans[span.tid].append(span)
    return spans


def our_rounds(case, recording, holes=False):
    """As perf_rounds, of our trace. With holes in the recording, rounds beside them may be merged."""
    rounds = {tid: rounds_of_spans(spans) for tid, spans in our_spans(case, recording).items()}
    return {tid: of.numbers if holes else of.only_numbers() for tid, of in rounds.items() if of.numbers}


def perf_sees_rounds(case, recording, output):
    """Stock perf sees all rounds that the program says it ran."""
    return check_whole(perf_rounds(case, recording), printed_rounds(case, output))


def we_see_rounds(case, recording, output):
    """And so do we."""
    return check_whole(our_rounds(case, recording), printed_rounds(case, output))


def check_windows(found, least, most_breaks=0):
    """In each thread a number of rounds without a break, or with so many."""
    expect(found, "no rounds at all")
    for tid, numbers in found.items():
        expect(breaks(numbers) <= int(most_breaks), f"thread {tid}: {breaks(numbers)} breaks in {len(numbers)} rounds")
        expect(len(numbers) >= int(least), f"thread {tid}: only {len(numbers)} rounds")
    return f"{sum(len(numbers) for numbers in found.values())} rounds in {len(found)} threads"


def expect_same(ours, perfs):
    """perf and we see the same rounds, but for those beside holes, and the first: where a ring begins after its call but
    before its first digit, we know of the call by what it returns to."""
    for tid in {*ours, *perfs}:
        mine, theirs = collections.Counter(ours.get(tid, [])), collections.Counter(perfs.get(tid, []))
        odd = [*(theirs - mine).elements(), *(mine - theirs).elements()]
        expect(len(odd) <= breaks(perfs.get(tid, [])) + 1, f"thread {tid}: not seen by both: {odd[:5]}")


def same_windows(case, recording, least, most_breaks=0):
    """A snapshot: unbroken rounds, the same for perf and for us. Rings of several processors reach back to different times:
    a thread that has run on both may have holes, and rounds beside them may be merged."""
    ours, perfs = our_rounds(case, recording, holes=int(most_breaks) > 0), perf_rounds(case, data_of(case, recording))
    expect_same(ours, perfs)
    return check_windows(ours, least, most_breaks)


def right_callers(case, recording):
    """Digits are called by rounds and by nothing else, beside holes too."""
    wrong = 0
    for tid, spans in our_spans(case, recording).items():
        rounds = sorted((span.begin, span.end) for span in spans if span.name == "one_round")
        begins = [begin for begin, _ in rounds]
        for span in spans:
            if span.name.startswith("digit_"):
                at = bisect.bisect_right(begins, span.begin) - 1
                wrong += at < 0 or rounds[at][1] < span.end
    expect(wrong == 0, f"{wrong} calls are in no round")


def edges(found):
    return {tid: (numbers[:1], numbers[-1:], len(numbers)) for tid, numbers in found.items()}


def perf_sees_snapshots(case, recording, most):
    """Several snapshots in one file: at most so many breaks in a thread, and no errors."""
    found = perf_rounds(case, recording)
    expect(found, "no rounds at all")
    for tid, numbers in found.items():
        expect(len(numbers) >= 50, f"thread {tid}: only {len(numbers)} rounds")
        expect(breaks(numbers) <= int(most), f"thread {tid}: {breaks(numbers)} breaks")
    ours = our_rounds(case, recording, holes=True)
    expect_same(ours, found)
    return f"{edges(found)}"


def perf_sees_fragments(case, recording):
    """Rounds where something was lost between them: all whole ones are right, though they do not follow each other."""
    branches, _ = perf_branches(case.path(recording))
    found = {tid: rounds_of_branches(rows) for tid, rows in branches.items()}
    expect(found, "no rounds at all")
    return ", ".join(f"{len(numbers)} rounds, {breaks(numbers)} breaks" for numbers in found.values())


def has_flag(case, recording, letter):
    """An AUX record with the flag, as perf script -D prints it."""
    status, text, errors = output_of(["perf", "script", "-i", case.path(recording), "-D"])
    flags = re.findall(r"PERF_RECORD_AUX offset: \S+ size: \S+ flags: (\S+) \[(\S*)\]", text)
    expect(any(letter in letters for _, letters in flags), f"flags {flags}")


def samples_hold_rounds(case, recording):
    """Each sample's packets lead to its call of `hundred`."""
    status, text, errors = output_of(["perf", "script", "-i", case.path(recording), "--itrace=c", "-F", "tid,event,flags,ip,sym,addr"])
    expect(status == 0, f"perf script: {errors[-500:]}")
    samples = len(re.findall(r" mem:", text))
    rounds = text.count(" one_round")
    expect(samples >= 4 and rounds > samples, f"{samples} samples, {rounds} calls")
    return f"{samples} samples, {rounds} lines"


def last_of(case, output):
    """{tid: number} of the rounds that ran last."""
    return {tid: all_rounds(rounds)[-1] for tid, rounds in printed_rounds(case, output).items()}


def ends_with_last_round(case, recording, output, least):
    """What a ring held at the end: unbroken rounds up to the very last; perf and we see the same."""
    ours = our_rounds(case, recording)
    said = check_windows(ours, least)
    lasts = last_of(case, output)
    for tid, numbers in ours.items():
        expect(numbers[-1] == lasts[tid], f"thread {tid}: the last is {numbers[-1]}, and {lasts[tid]} ran")
    perfs = perf_rounds(case, data_of(case, recording))
    expect_same(ours, perfs)
    return said


def window_around(case, recording, number):
    """A snapshot at a hit: unbroken rounds up to the one with this number or some more."""
    ours = our_rounds(case, recording)
    said = check_windows(ours, 20)
    for tid, numbers in ours.items():
        expect(int(number) in numbers, f"thread {tid}: round {number} is not in {edges(ours)}")
    return f"{said}, {numbers[-1] - int(number)} too late"


def ends_at(case, recording, number):
    """Tracing stopped at the hit."""
    ours = our_rounds(case, recording)
    for tid, numbers in ours.items():
        expect(numbers[-1] == int(number), f"thread {tid}: {edges(ours)}")
    return check_windows(ours, 20)


def hits_and_snapshots(case, recording, hits):
    """So many hits are in the recording and in the trace, and rounds around them."""
    ours = our_rounds(case, recording, holes=True)
    expect(ours, "no rounds at all")
    session = json.loads((case.path(recording) / "session.json").read_text())
    spans = [span for span in fxt_spans.read_spans(case.path(recording + ".fxt")) if span.name == "hit fifty"]
    expect(len(session["hits"]) == int(hits), f"{len(session['hits'])} hits are recorded")
    expect(len(spans) == int(hits), f"{len(spans)} hits are shown")
    return f"{edges(ours)}"


def fragments(case, recording):
    """As perf_sees_fragments, of ours."""
    ours = our_rounds(case, recording, holes=True)
    expect(ours, "no rounds at all")
    for numbers in ours.values():
        expect(len(numbers) > 50, f"{edges(ours)}")
    return ", ".join(f"{len(numbers)} rounds, {breaks(numbers)} breaks" for numbers in ours.values())


def perf_writes_the_same(case, recording):
    """The same packets and records in a file that perf has written make the same trace, byte for byte."""
    ours, perfs = case.path(recording), case.path(f"{recording}.perf")
    shutil.copytree(ours, perfs)
    status, _, errors = output_of(["perf", "inject", "-i", ours / "perf.data", "-o", perfs / "perf.data"])
    expect(status == 0, f"perf inject: {errors[-500:]}")
    traces = []
    for folder in ours, perfs:
        trace = folder.with_name(f"{folder.name}.same.fxt")
        status, _, errors = output_of([case.binary, "decode", folder, "-o", trace])
        expect(status == 0, f"magic-trace decode {folder}: {errors[-500:]}")
        traces.append(trace.read_bytes())
    expect(traces[0] == traces[1], f"traces of {len(traces[0])} and {len(traces[1])} bytes differ")
    return f"{len(traces[0])} bytes"


def data_of(case, recording):
    """The perf.data of a recording, which may be a folder."""
    return f"{recording}/perf.data" if case.path(recording).is_dir() else recording
