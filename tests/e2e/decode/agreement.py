"""Decoders agree: the same branches in the same order with the same errors, of many programs, each recorded with and
without timing packets and with and without return compression.

The decoders are libipt's (insn_judge), stock perf's (through branch_dlfilter, which logs instead of printing) and ours:
flow_judge prints the counts of its events, and `magic-trace dump -branches` its branches, where the binary has it.
"""
import re
import shutil
import sys

import harness
from harness import Settings, run

sys.path.insert(0, str(harness.TESTS / "truth"))
import truth_programs  # noqa: E402  (found through the path just set)

# For -packets, and whether everything is kept or only the end. Each program is recorded in two of them, in turn.
KINDS = [("", True), ("nocyc", True), ("mtc", True), ("noretcomp", True), ("nocyc,noretcomp", False)]

QUICK_EVERY = 8  # with --quick only one in so many programs is recorded

# Of tests/truth/programs, in their first variant: every way that control can go, in all languages, but no long runs.
SOURCES = """
    alloca_stacks.c altstack_recursion.c assembly_neighbours.c bounds.ml builtin_longjmp.c call_pop.c calls.c
    catch_base_class.cpp closures.ml computed_goto.c constructors.c contexts.c coroutine_transfer.cpp deep_recursion.c
    defer_recover.go dlopen_library.c exceptions_carry.ml exit_chain.c fiber_generators.c fibers_ping_pong.c fork_wait.c
    generated_calls.c goroutine_ping_pong.go handler_execs.c handler_forks.c ifunc.c instrumented.c lazy_binding.c
    longjmp_frames.c nested_signals.c panic_frames.rs posix_spawn.c push_return.c raise_from_c.ml retpoline.c
    setcontext_levels.c signal_after_switch.c signal_alternate_stack.c signal_injects_call.c signal_rewrites_fault.c
    sigreturn_switches.c switch_tables.c tail_calls.c thread_cancel.c thread_ping_pong.c thread_timers.c
    throw_through_c.cpp vfork_exec.c virtual_thunks.cpp""".split()

COMMANDS = {
    "awk": ["awk", "BEGIN { for (i = 0; i < 300; i++) s = s i; print length(s) }"],
    "bash": ["bash", "-c", "for i in 1 2 3; do /bin/echo $i; done; exit 4"],
    "gzip": ["gzip", "-nc", "/usr/share/common-licenses/BSD"],
    "ls": ["ls", "-l", "/usr"],
    "perl": ["perl", "-e", "print join ' ', sort { $a <=> $b } map { $_ * 7 % 101 } 1 .. 50"],
    "sort": ["sort", "/etc/passwd"],
    "sqlite3": ["sqlite3", ":memory:", "CREATE TABLE a(b); INSERT INTO a VALUES(1),(2); SELECT sum(b) FROM a;"],
}


def branches_of(lines):
    """Thread -> its branches in order, of lines `TID FROM TO` with hexadecimal addresses."""
    threads = {}
    for line in lines:
        tid, source, target = line.split()[:3]
        threads.setdefault(tid, []).append((int(source, 16), int(target, 16)))
    return threads


def difference(ours, theirs):
    """What differs first between the branches of one thread; empty: nothing. (unittest's own words for lists this long
    take it minutes.)"""
    for number, (our, their) in enumerate(zip(ours, theirs)):
        if our != their:
            return f"branch {number}: ours {our[0]:#x} -> {our[1]:#x}, theirs {their[0]:#x} -> {their[1]:#x}"
    return "" if len(ours) == len(theirs) else f"ours are {len(ours)} branches, theirs {len(theirs)}"


class Agreement(harness.TestCase):
    """Its tests are added below, one per program."""

    def check(self, command, kinds):
        for packets, full in kinds:
            with self.subTest(packets=packets or "all", full=full):
                recording = self.record(command, packets, full)
                self.assert_flow_agrees(recording)
                self.assert_branches_agree(recording)
                self.assert_ours_agree(recording)
                shutil.rmtree(recording)

    def record(self, command, packets, full):
        recording = self.folder / "recording"
        finished = self.magic_trace(
            "run", "-no-decode", "-multi-thread", "-follow", "-working-directory", recording,
            *(["-full-execution"] if full else ["-snapshot-size", "32K"]),
            *(["-packets", packets] if packets else []), "--", *command)
        self.assertEqual(finished.status, 0, finished.stderr.decode(errors="replace"))
        return recording

    def judge(self, *command):
        finished = run([Settings.judges / command[0], *command[1:]])
        text = (finished.stdout + finished.stderr).decode(errors="replace")
        self.assertEqual(finished.status, 0, text[:4000])
        return sorted(line for line in text.splitlines() if line.startswith("tid "))

    def assert_flow_agrees(self, recording):
        """Our flow events against libipt: calls, returns, system calls, interruptions, errors, per thread."""
        theirs = self.judge("insn_judge", recording)
        ours = self.judge("flow_judge", recording)
        instructions = re.compile(r" \d+ instructions,")
        self.assertEqual([instructions.sub("", line) for line in ours],
                         [instructions.sub("", line) for line in theirs])

    def assert_branches_agree(self, recording):
        """libipt against perf."""
        if not shutil.which("perf") or not (Settings.judges / "branch_dlfilter.so").exists():
            self.skipTest("perf, or its header for dlfilters, is not installed")
        finished = run(["perf", "script", "--itrace=be", "--dlfilter", Settings.judges / "branch_dlfilter.so",
                        "-i", recording / "perf.data"])
        perf = finished.stdout.decode(errors="replace").splitlines()
        self.assertEqual(finished.status, 0, finished.stderr.decode(errors="replace")[:4000])
        # What is no line of the dlfilter is an error that perf saw.
        self.assertEqual(sorted(perf), self.judge("insn_judge", "-branches", recording))

    def assert_ours_agree(self, recording):
        """Our decoder's branches, `TID FROM TO` each, against libipt's: by line, so that the first difference is seen."""
        if b"-branches" not in run([Settings.binary, "help", "dump"]).stdout:
            return
        ours = self.magic_trace("dump", "-branches", recording)
        self.assertEqual(ours.status, 0, ours.stderr.decode(errors="replace")[:4000])
        judged = run([Settings.judges / "insn_judge", "-print-branches", recording])
        theirs = branches_of(line for line in judged.stdout.decode().splitlines() if not line.startswith("tid "))
        ours = branches_of(line.removeprefix("tid ") for line in ours.stdout.decode().splitlines())
        self.assertEqual(sorted(ours), sorted(theirs))
        for tid, branches in ours.items():
            self.assertEqual(difference(branches, theirs[tid]), "", f"thread {tid}")


def add_test(name, make, kinds):
    """`make` makes the command in the test's folder, or skips the test."""
    def test(self):
        self.check(make(self), kinds)
    test.__doc__ = f"{name}: libipt, perf and we see the same branches"
    setattr(Agreement, "test_" + re.sub(r"\W", "_", name), test)


def built_from(source):
    def make(self):
        folder = self.folder / "program"
        folder.mkdir()
        variant = next(truth_programs.variants_of(truth_programs.source_named(source)))
        try:
            return [truth_programs.build(variant, folder)]
        except truth_programs.Skipped as skipped:
            return self.skipTest(str(skipped))
    return make


def ends_while_running(self):
    return [harness.compile_program("ends_while_running")]


def installed(words):
    def make(self):
        return words if shutil.which(words[0]) else self.skipTest(f"{words[0]} is not installed")
    return make


# Imported when it is known whether the inputs shall be small.
TESTS = [(source, built_from(source)) for source in SOURCES]
TESTS += [(name, installed(words)) for name, words in COMMANDS.items()]
TESTS += [("ends_while_running", ends_while_running)]
for number, (name, make) in enumerate(TESTS[::QUICK_EVERY if Settings.quick else 1]):
    add_test(name, make, [KINDS[number % len(KINDS)], KINDS[(number + 2) % len(KINDS)]])
