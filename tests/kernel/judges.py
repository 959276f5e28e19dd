"""What the host decides about recordings that the guest made. See `judge` in guest/lib.sh."""
import pathlib
import re
import subprocess


class Skipped(Exception):
    pass


class Wrong(Exception):
    pass


class Case:
    """Where a scenario left its files, and where our own things are."""

    def __init__(self, folder, root):
        self.folder = folder
        self.root = root

    def path(self, name):
        return self.folder / name


CYCLE = 999
DIGITS = 5


def expect(good, message):
    if not good:
        raise Wrong(message)


def output_of(command, **options):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            check=False, timeout=600, **options)
    return result.returncode, result.stdout, result.stderr


def perf_calls(recording):
    """{tid: [(from, to)]} of the calls that perf's decoder sees, and its errors."""
    status, text, errors = output_of(["perf", "script", "-i", recording, "--itrace=ce", "-F", "tid,flags,ip,sym,addr"])
    expect(status == 0, f"perf script: {errors[-500:]}")
    calls, wrong = {}, []
    for line in text.splitlines():
        match = re.match(r"\s*(\d+)\s+call\s+[0-9a-f]+ (\S+) =>\s+[0-9a-f]+ (\S+)$", line)
        if match:
            calls.setdefault(int(match.group(1)), []).append(match.groups()[1:])
        elif "error" in line:
            wrong.append(line.strip())
    return calls, wrong + re.findall(r".*instruction trace error.*", errors)


def rounds_of_calls(calls):
    """The numbers of the rounds that a thread's calls tell of, whole ones only; checks the marks."""
    numbers, digits = [], None
    for source, target in calls:
        if (source, target) == ("play_rounds", "one_round"):
            finish_round(numbers, digits)
            digits = []
        elif digits is not None and source == "one_round":
            digits.append(target)
    finish_round(numbers, digits)
    return numbers


def expected_functions(number):
    names = [f"digit_{digit}" for digit in f"{number:0{DIGITS}}"]
    if number % 100 == 0:
        names.append("hundred")
    elif number % 50 == 0:
        names.append("fifty")
    return names


def finish_round(numbers, names):
    if names is None or len(names) < DIGITS:
        return
    number = int("".join(name[-1] for name in names[:DIGITS]))
    expect(names == expected_functions(number), f"round {number} called {names}")
    numbers.append(number)


def next_round(number, cycle=CYCLE):
    return 1 if number == cycle else number + 1


def breaks(numbers, cycle=CYCLE):
    """How often a round does not follow on the one before."""
    return sum(1 for a, b in zip(numbers, numbers[1:]) if b != next_round(a, cycle))


def told_rounds(case, name):
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


def check_whole(found, told):
    """Every thread's rounds are there from the first to the last."""
    for tid, rounds in told.items():
        numbers = found.get(tid, [])
        expect(numbers == all_rounds(rounds), f"thread {tid}: {len(numbers)} rounds of {rounds}, {breaks(numbers)} breaks")
    return f"{sum(told.values())} rounds in {len(told)} threads"


def perf_rounds(case, recording):
    calls, errors = perf_calls(case.path(recording))
    expect(not errors, f"{len(errors)} errors, the first: {errors[:1]}")
    return {tid: rounds_of_calls(rows) for tid, rows in calls.items()}


def perf_sees_rounds(case, recording, output):
    """Stock perf sees all rounds that the program says it ran."""
    return check_whole(perf_rounds(case, recording), told_rounds(case, output))
