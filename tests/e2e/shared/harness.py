"""What the end-to-end tests share: compiling programs, running magic-trace, asking the judges.

A judge is an independent opinion: stock perf, libipt's instruction decoder (tests/judge/insn_judge), and a
checker of traces that was written from the format's specification (tests/judge/fxt_check.py).
"""
import collections
import concurrent.futures
import contextlib
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import fxt_spans

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS))
import watchdog  # noqa: E402  (found through the path just set)

PROGRAMS = TESTS / "programs"
FXT_CHECK = TESTS / "judge" / "fxt_check.py"
LONGEST_BLOCK = 512  # instructions; what a killed thread may leave unfinished is counted and cannot be judged
SANITIZER_STATUS = 99  # what a sanitizer exits with: no status of ours or of the programs


class Settings:
    binary = None  # magic-trace
    judges = None  # folder of the judges' programs
    work = None    # folder for everything the tests make
    quick = False  # smaller inputs
    environment = dict(os.environ)


def configure(binary, judges, work, quick):
    Settings.binary = str(pathlib.Path(binary).resolve())
    Settings.judges = pathlib.Path(judges).resolve()
    Settings.work = pathlib.Path(work).resolve()
    Settings.work.mkdir(parents=True, exist_ok=True)
    Settings.quick = quick
    Settings.environment["ASAN_OPTIONS"] = f"exitcode={SANITIZER_STATUS}"
    Settings.environment["UBSAN_OPTIONS"] = (
        f"halt_on_error=1:print_stacktrace=1:exitcode={SANITIZER_STATUS}")
    Settings.environment["LC_ALL"] = "C"
    fill_perf_cache()
    watchdog.default_signals()


def fill_perf_cache():
    """perf as a judge has its own cache of programs, not that of who runs the tests. The C library is in it: perf 6.12 takes
    instructions from a library's detached debug file, which has none, unless the cache has the library."""
    folder, config = Settings.work / "perf_cache", Settings.work / "perf_config"
    shutil.rmtree(folder, ignore_errors=True)
    if not shutil.which("perf"):
        return
    config.write_text(f"[buildid]\n\tdir = {folder}\n", encoding="utf-8")
    loaded = re.findall(r"/\S+", run(["ldd", sys.executable]).stdout.decode())
    libraries = [os.path.realpath(path) for path in loaded if re.match(r"(ld-linux|lib(c|m|pthread|dl)\.so)", pathlib.Path(path).name)]
    run(["perf", "buildid-cache", "--add", ",".join(libraries)])


@contextlib.contextmanager
def watched():
    """What is awaited in here has no limit but this: that this process or some descendant of it makes progress. Else all
    descendants are killed, and GivenUp is raised wherever this thread, the main one, is."""
    reasons = []

    def bark(reason):
        reasons.append(reason)
        watch.kill_descendants()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)

    def give_up(*_):
        raise watchdog.GivenUp(reasons[-1])

    before = signal.signal(signal.SIGALRM, give_up)
    try:
        with watchdog.Watchdog(os.getpid(), bark) as watch:
            yield watch
    finally:
        signal.signal(signal.SIGALRM, before)


def wait_until(condition):
    """Polls until `condition` gives something true, and returns it; see `watched` for its end."""
    while True:
        found = condition()
        if found:
            return found
        time.sleep(0.02)


def read_until(stream, words):
    """What a stream of bytes says until `words` are in it."""
    seen = b""
    while words not in seen:
        line = stream.readline()
        if not line:
            raise AssertionError(f"{words!r} is not in {seen!r}")
        seen += line
    return seen


def compile_program(name, flags=(), source=None):
    """The path of tests/programs/NAME.c compiled; compiled once per change of its source, and of the headers there."""
    source = pathlib.Path(source) if source else PROGRAMS / f"{name}.c"
    output = Settings.work / "programs" / name
    output.parent.mkdir(parents=True, exist_ok=True)
    changed = max(path.stat().st_mtime for path in (source, *PROGRAMS.glob("*.h")))
    if output.exists() and output.stat().st_mtime > changed:
        return str(output)
    made = output.with_name(f"{name}.{os.getpid()}.new")  # others may run, or compile, this program just now
    subprocess.run(["gcc", "-O0", "-g", "-pthread", *flags, "-o", made, source, "-ldl"], check=True)
    made.rename(output)
    return str(output)


def needs_breakpoints(test):
    """A test that is skipped where the kernel accepts hardware breakpoints and none ever fires."""
    @functools.wraps(test)
    def checked(self):
        if run([compile_program("breakpoint_count")]).stdout == b"0\n":
            self.skipTest("hardware breakpoints never fire on this machine")
        test(self)
    return checked


Finished = collections.namedtuple("Finished", "status stdout stderr")


def run(command, **options):
    """Runs `command` to its end; bytes in, bytes out."""
    environment = options.pop("env", Settings.environment)
    if command[0] == "perf" or Settings.judges in pathlib.Path(command[0]).parents:
        environment = {**environment, "PERF_CONFIG": str(Settings.work / "perf_config")}
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options)
    return Finished(done.returncode, done.stdout, done.stderr)


def counts_in(text):
    """The lines `COUNT FUNCTION N` of a program's output."""
    return {name.decode(): int(number)
            for name, number in re.findall(rb"^COUNT (\S+) (\d+)$", text, re.MULTILINE)}


class Traced:
    """A traced run: what the program printed, what magic-trace said, and where things lie."""

    def __init__(self, finished, directory, trace):
        self.status, self.stdout, self.stderr = finished
        self.directory = directory
        self.trace = trace

    @property
    def messages(self):
        return self.stderr.decode(errors="replace")

    def session(self):
        return json.loads((self.directory / "session.json").read_text())


class TestCase(unittest.TestCase):
    maxDiff = None
    ENGINE = None  # that records; None: what `auto` chooses
    numbers = itertools.count(1)

    def setUp(self):
        # Numbers alone: random letters make words now and then, and tests look for words in messages.
        self.folder = Settings.work / f"test.{os.getpid()}.{next(self.numbers)}"
        self.folder.mkdir()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        if self.ENGINE == "qemu" and not shutil.which("qemu-x86_64"):
            self.skipTest("qemu-user is not installed")

    def run(self, result=None):
        with watched() as self.watch:
            return super().run(result)

    def magic_trace(self, *arguments, **options):
        """Runs the binary; a report of a sanitizer fails the test wherever it comes from."""
        options.setdefault("cwd", self.folder)
        self.watch.begin()
        if self.ENGINE and arguments[0] == "run":
            arguments = ["run", "-engine", self.ENGINE, *arguments[1:]]
        finished = run([Settings.binary, *arguments], **options)
        self.assert_not_crashed(finished)
        if "qemu" in arguments and b" was built without plugins, which the qemu engine needs" in finished.stderr:
            self.skipTest("this machine's qemu has no plugins")
        if b"hardware breakpoints never fire on this machine" in finished.stderr:
            self.skipTest("hardware breakpoints never fire on this machine")
        return finished

    def assert_not_crashed(self, finished):
        text = finished.stderr.decode(errors="replace")
        self.assertNotIn("ERROR: AddressSanitizer", text)
        self.assertNotIn("ERROR: LeakSanitizer", text)
        self.assertNotIn("runtime error:", text)
        self.assertNotEqual(finished.status, SANITIZER_STATUS, text)
        self.assertGreaterEqual(finished.status, 0, f"killed by signal {-finished.status}\n{text}")

    def trace(self, command, *options, expect=0, **process):
        """Runs `command` traced, keeps the recording, and expects magic-trace's exit status to be `expect`."""
        number = len(list(self.folder.glob("recording*")))
        directory = self.folder / f"recording{number}"
        trace = self.folder / f"trace{number}.fxt.gz"
        finished = self.magic_trace("run", "-o", trace, "-working-directory", directory, *options, "--",
                                    *command, **process)
        traced = Traced(finished, directory, trace)
        self.assertEqual(traced.status, expect, traced.messages)
        return traced

    def start_until_ready(self, directory, *options, command):
        """A running `magic-trace run -no-decode` with pipes, once its program has said "ready"."""
        recorder = subprocess.Popen([Settings.binary, "run", "-no-decode", "-working-directory", directory, *options, *command],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for stream in (recorder.stdin, recorder.stdout, recorder.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        read_until(recorder.stdout, b"ready")
        return recorder

    def judge_trace(self, trace):
        """What the checker of traces says; fails the test when it finds a fault."""
        finished = run([sys.executable, FXT_CHECK, trace])
        self.assertIn(finished.status, (0, 1), finished.stderr.decode())
        found = json.loads(finished.stdout)
        self.assertEqual(found["errors"], {}, found["examples"])
        return found

    def spans(self, trace):
        """Function -> number of its spans, over all threads."""
        totals = collections.Counter()
        for thread in self.judge_trace(trace)["threads"]:
            totals.update(thread["spans"])
        return totals

    def span_list(self, trace):
        """Every span with its times, in the order of their beginnings per function."""
        return sorted(fxt_spans.read_spans(trace), key=lambda span: span.begin)

    def assert_counts(self, traced, counts, spans=None):
        spans = spans if spans is not None else self.spans(traced.trace)
        self.assertEqual({name: spans.get(name, 0) for name in counts}, counts, traced.messages)

    def assert_same_as_untraced(self, traced, command, status=None, **process):
        """The program's output, and its exit status as reported by magic-trace, are those of an untraced run."""
        untraced = run(command, **process)
        self.assertEqual(traced.stdout, untraced.stdout)
        exit_status = traced.session()["exit_status"]
        code = os.waitstatus_to_exitcode(exit_status)
        self.assertEqual(code, untraced.status if status is None else status)
        return untraced

    # The judges of recordings

    def assert_perf_agrees(self, traced, what="e"):
        """Stock perf decodes the recording without a single error. `what`: "e" makes perf print errors alone, which
        is quick; "bei" branches and instructions too."""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        finished = run(["perf", "script", f"--itrace={what}", "-i", traced.directory / "perf.data"])
        complaints = finished.stderr + b"".join(re.findall(rb"^ instruction trace error.*\n?", finished.stdout,
                                                           re.MULTILINE))
        self.assertEqual(finished.status, 0, complaints[:4000])
        self.assertEqual(complaints, b"", complaints.decode(errors="replace"))
        return finished.stdout

    def judge_instructions(self, traced, unfinished=0):
        """libipt's instruction decoder: no error, as many instructions as we decoded, and as many as the engine counted
        when nothing was left out. `unfinished`: so many more may have been counted, in a block whose end a killed
        program did not live to see."""
        judge = Settings.judges / "insn_judge"
        finished = run([judge, traced.directory])
        text = (finished.stdout + finished.stderr).decode(errors="replace")
        self.assertEqual(finished.status, 0, text[:4000])
        judged = sum(int(number) for number in re.findall(r": (\d+) instructions", text))
        self.assertEqual(judged, self.decoded_instructions(traced))
        session = traced.session()
        if session["full_execution"]:
            self.assertLessEqual(judged, session["instructions"])
            self.assertGreaterEqual(judged, session["instructions"] - unfinished)

    def judge_recording(self, traced, what="e", unfinished=0):
        """Asks perf and libipt, which take minutes for a large recording and a processor each, at the same time."""
        with concurrent.futures.ThreadPoolExecutor() as judges:
            verdicts = [judges.submit(self.judge_instructions, traced, unfinished),
                        judges.submit(self.assert_perf_agrees, traced, what)]
        for verdict in verdicts:
            verdict.result()

    def calls(self, traced):
        """Number of calls in the trace, as magic-trace says itself."""
        return int(re.search(r"\[ ([\d,]+) calls? in", traced.messages).group(1).replace(",", ""))

    def decoded_instructions(self, traced):
        """As magic-trace says itself."""
        return int(re.search(r": ([\d,]+) instructions from", traced.messages).group(1).replace(",", ""))

    def assert_no_gaps(self, traced):
        """We ourselves saw neither a decode error nor a gap."""
        self.assertNotRegex(traced.messages, r"gaps? in the trace")
