"""`explain` names the planted cause of one slow request among 400, and its shares add up."""
import json
import shlex
import shutil
import subprocess
import sys
import unittest

import harness
from harness import Settings
from made_trace import MadeTrace

# Counted in instructions, so that no other program's work is found instead.
WORK = ["rehash", "extra_loop", "attempt", "collect_garbage", "initialise", "scan_rows", "descend", "sort_rows",
        "parse_field", "answer_from_store", "check_permission", "on_alarm"]
# Time outside of the program, long against all that other programs may cause.
WAITING = ["update_account", "wait_for_answer", "back_off", "flush_log"]
OBJECTS = ["connect", "SlowHandler::answer", "grow_table", "Dictionary::Dictionary", "drop_session"]

GOROUTINES = {"updateAccount": "waiting for a lock", "waitForAnswer": "waiting for a channel", "backOff": "sleeping",
              "askAll": "waiting for other goroutines"}

SLEEPING = """
import time
def handle(number):
    time.sleep(0.3 if number == 30 else 0.0001)
list(map(handle, range(60)))
"""


RUST_WORK = ["encode", "end_session", "sort_rows", "index_words", "walk_tree", "look_up_rate", "grow_sessions", "retry"]
RUST_WAITING = {"take_lock": "waiting for a lock", "wait_for_answer": "waiting for another thread"}


def build_program(source, *compiler, environment=None):
    """The program of a source file in tests/programs, built once."""
    source = harness.PROGRAMS / source
    program = Settings.work / "programs" / source.name.replace(".", "_")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*compiler, "-o", program, source], check=True, env=environment)
    return str(program)


def build_go_program(source):
    cache = Settings.environment.get("GOCACHE", str(Settings.work / "go"))
    return build_program(source, "go", "build", environment={**Settings.environment, "GOCACHE": cache})


class Explain(harness.TestCase):
    def test_calls_without_time(self):
        """a call that takes no time, in another function right before the next call: both are calls, and none is recursive"""
        trace = MadeTrace()
        thread = trace.thread(5, 5, "program", "main")
        trace.begin(1000, thread, "main")
        for time in range(2000, 42000, 1000):
            for name in ("caller", "f"):
                trace.begin(time, thread, name)
            for _ in range(2):
                trace.end(time, thread)
            trace.begin(time, thread, "f")
            trace.end(time + (400 if time == 9000 else 20), thread)
        trace.end(50000, thread)
        explained = self.explain("f", trace.write(self.folder / "trace.fxt"))
        self.assertEqual((explained["calls"], explained["recursion_level"]), (80, 0))

    def explain(self, function, trace, *options):
        finished = self.magic_trace("explain", "-json", *options, function, trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        explained = json.loads(finished.stdout)
        causes = explained["causes"]
        if causes:
            self.assertAlmostEqual(sum(cause["share"] for cause in causes), 100, places=6)
            # A median may lie between two nanoseconds.
            self.assertAlmostEqual(sum(cause["extra_ns"] for cause in causes), explained["extra_ns"], delta=0.5)
        return explained

    def first_cause(self, command, *options, function="handle_request"):
        trace = self.trace(command, "-full-execution", *options).trace
        explained = self.explain(function, trace)
        return explained, explained["causes"][0], trace

    def assert_named(self, cause, reason):
        names = [name.split("(")[0] for name in cause["path"]]
        self.assertIn(reason, names, cause)
        self.assertGreater(cause["share"], 33, cause)

    def assert_shown(self, cause):
        """The command that the explanation gives shows the function."""
        words = shlex.split(cause["command"])
        shown = self.magic_trace(*words[1:])
        self.assertEqual(shown.status, 0, shown.stderr)
        self.assertIn(cause["function"].encode(), shown.stdout)

    def test_work(self):
        """work that only the slow call does, more of it, and the same that takes longer"""
        program = harness.compile_program("slow_calls")
        for reason in WORK:
            with self.subTest(reason):
                explained, cause, trace = self.first_cause([program, reason], "-clock", "instructions")
                self.assertEqual((explained["calls"], explained["longest"]), (400, 272))
                self.assert_named(cause, reason)
                self.assert_shown(cause)

    def test_kinds(self):
        """the kind of a cause is said, with numbers"""
        program = harness.compile_program("slow_calls")
        kinds = {"rehash": "only-slow", "attempt": "calls", "scan_rows": "self", "descend": "calls"}
        for reason, kind in kinds.items():
            _, cause, _ = self.first_cause([program, reason], "-clock", "instructions")
            self.assertEqual((cause["kind"], cause["function"]), (kind, reason))
        self.assertEqual((cause["slow"]["calls"], cause["usual"]["calls"]), (3001, 399 * 6))

    def test_waiting(self):
        """locks, reads, sleeps: time outside of the program"""
        program = harness.compile_program("slow_calls")
        for reason in WAITING:
            with self.subTest(reason):
                # On a busy machine another call may be the longest, so this one is given.
                explained, cause, _ = self.first_cause([program, reason], function="handle_request#272")
                self.assertEqual(explained["calls"], 400)
                self.assert_named(cause, reason)
                self.assertTrue(cause["waits"])

    def test_objects(self):
        """C++: exceptions, virtual functions, containers, static objects, destructors"""
        program = build_program("slow_calls.cpp", "g++", "-O0", "-g")
        for reason in OBJECTS:
            with self.subTest(reason):
                _, cause, _ = self.first_cause([program, reason], "-clock", "instructions")
                self.assert_named(cause, reason)

    @unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
    def test_rust(self):
        """Rust: traits, drops, panics, sorts, maps that grow, what is set once; locks and channels"""
        program = build_program("slow_calls.rs", "rustc", "-O", "-g")
        for reason in RUST_WORK:
            with self.subTest(reason):
                _, cause, _ = self.first_cause([program, reason], "-clock", "instructions",
                                               function="slow_calls::handle_request#272")
                self.assert_named(cause, f"slow_calls::{reason}")
        for reason, work in RUST_WAITING.items():
            with self.subTest(reason):
                _, cause, _ = self.first_cause([program, reason], "-multi-thread",
                                               function="slow_calls::handle_request#272")
                self.assert_named(cause, f"slow_calls::{reason}")
                self.assertEqual(cause["work"], work)

    def test_python(self):
        """python3: a call of the C library that waits"""
        explained, cause, _ = self.first_cause([sys.executable, "-I", "-S", "-c", SLEEPING],
                                               function="clock_nanosleep#31")
        self.assertEqual((explained["calls"], cause["kind"]), (60, "outside"))

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_goroutines(self):
        """Go: a call whose goroutine waits is one call, on whichever threads it runs, and the wait is its cause"""
        program = build_go_program("slow_calls.go")
        for reason, work in GOROUTINES.items():
            with self.subTest(reason):
                trace = self.trace([program, reason], "-full-execution", "-multi-thread").trace
                # The slow call's number: it is the one whose goroutine is suspended. A request that was preempted counts as several,
                # and others may begin within the same nanosecond.
                count = self.magic_trace("query", "-csv", trace, "WITH slow AS (SELECT start, parent FROM calls WHERE function = "
                                         f"'main.{reason}' ORDER BY end_reason IN ('switch', 'end of trace') DESC, duration DESC "
                                         "LIMIT 1) SELECT count(*) FROM calls, slow WHERE function = 'main.handleRequest' AND "
                                         "(calls.start < slow.start OR calls.start = slow.start AND calls.id <= slow.parent)"
                                         ).stdout.split()[-1].decode()
                explained = self.explain(f"main.handleRequest#{count}", trace)
                self.assertGreater(explained["extra_ns"], 250_000_000)
                cause = explained["causes"][0]
                self.assert_named(cause, f"main.{reason}")
                self.assertEqual(cause["work"], work)
                self.assertTrue(cause["waits"])

    def test_one_call(self):
        """one call is compared with the others; text, recordings and limits"""
        program = harness.compile_program("slow_calls")
        traced = self.trace([program, "rehash"], "-full-execution", "-clock", "instructions")
        explained = self.explain("handle_request#272", traced.trace, "-above", "1ms")
        self.assertEqual(explained["causes"][0]["function"], "rehash")
        self.assertEqual(self.explain("handle_request#3", traced.trace)["causes"], [])
        text = self.magic_trace("explain", "handle_request", traced.trace).stdout.decode()
        self.assertRegex(text, r"handle_request: 400 calls, median ")
        self.assertRegex(text, r"\n100\.0 % .* rehash: only in the slow call")
        self.assertIn("handle_request > request_rehash > insert > rehash > ", text)
        recorded = self.magic_trace("explain", "handle_request", traced.directory).stdout.decode()
        self.assertEqual(recorded.replace(str(traced.directory), str(traced.trace)), text)
        (self.folder / "trace.fxt.gz").symlink_to(traced.trace)
        self.assertEqual(self.magic_trace("explain", "handle_request").stdout.decode(),
                         text.replace(str(traced.trace), "trace.fxt.gz"))

    def test_refused(self):
        """questions that have no answer"""
        program = harness.compile_program("slow_calls")
        trace = self.trace([program, "rehash"], "-full-execution").trace
        for arguments, status, words in (([], 2, b"no function"), (["main", trace], 1, b"only one whole call"),
                                         (["mian", trace], 1, b"Did you mean main"),
                                         (["main#0", trace], 2, b"count from 1"),
                                         (["main#2", trace], 1, b"only 1 call of main"),
                                         (["-above", "2y", "main", trace], 2, b"-above"),
                                         (["-top", "0", "main", trace], 2, b"-top"),
                                         (["main", "nothing.fxt"], 1, b"nothing.fxt"),
                                         ([trace, "main"], 2, b"before the trace: main "), ([trace], 2, b"before the trace: FUNCTION "),
                                         (["main", trace, trace], 2, b"one trace")):
            finished = self.magic_trace("explain", *arguments)
            self.assertEqual((finished.status, finished.stdout), (status, b""), arguments)
            self.assertIn(words, finished.stderr)
