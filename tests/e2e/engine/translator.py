"""The translator: counts, agreement of all judges, and real programs that must not notice it."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import bad_input
import counts
import fxt_spans
import harness

SHELL = """
for word in one two three; do /bin/echo $word; done
(exit 3); echo $?
ls / | wc -l
trap 'echo trapped' USR1; kill -USR1 $$
kill -SEGV $BASHPID & wait $!; echo $?
"""
HANDLERS = """
import signal, os, threading, subprocess
hits = 0
def handler(*_):
    global hits
    hits += 1
signal.signal(signal.SIGUSR1, handler)
signal.signal(signal.SIGALRM, handler)
for _ in range(200):
    os.kill(os.getpid(), signal.SIGUSR1)
signal.setitimer(signal.ITIMER_REAL, 0.001)
while hits < 201:
    pass
threads = [threading.Thread(target=lambda: sum(range(20000))) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
child = os.fork()
if child == 0:
    os._exit(7)
print(hits, os.waitpid(child, 0)[1] >> 8, subprocess.run(["/bin/echo", "spawned"], capture_output=True).stdout)
"""
JIT = "let s = 0; for (let i = 0; i < 300000; i++) s += i % 7; console.log(s)"


class Translator(counts.Counts):
    """All that counts.py asks, of this engine."""
    OPTIONS = ["-engine", "translator", "-snapshot-size", "16M"]

    def check_program(self, *command):
        """Runs as natively, leaves no gap, and all decoders agree."""
        traced = self.trace(list(command), *self.OPTIONS, "-multi-thread", "-follow")
        self.assert_same_as_untraced(traced, list(command))
        self.assert_no_gaps(traced)
        return traced

    def test_shell(self):
        """a shell with children, traps and a child that dies of a signal"""
        self.check_program("bash", "-c", SHELL)

    def test_python(self):
        """python3: 200 signals to itself, a timer, eight threads, a fork and a program that it starts"""
        self.check_program(sys.executable if os.path.isabs(sys.executable) else shutil.which("python3"), "-c", HANDLERS)

    def test_perl(self):
        """perl, judged by libipt and perf"""
        traced = self.check_program("perl", "-e", "my %h; $h{$_ % 97} += $_ for 1 .. 3000; print $h{5}")
        self.judge_recording(traced)

    def test_jit(self):
        """node: threads, and code that is written at run time"""
        if not shutil.which("node"):
            self.skipTest("there is no node here")
        self.check_program("node", "-e", JIT)

    def test_replaced_program(self):
        """another program has taken its place when it is decoded: the recording has a copy"""
        program = self.folder / "program"
        shutil.copy(harness.compile_program("recursion"), program)
        before = self.trace([program], *self.OPTIONS)
        shutil.copy("/bin/true", program)
        finished = self.magic_trace("decode", "-o", self.folder / "again.fxt", before.directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(self.spans(self.folder / "again.fxt")["fib"], 21891)

    def test_instruction_clock(self):
        """-clock instructions: time is the count of instructions and 1,000 for each system call"""
        recording = self.folder / "counted"
        finished = self.magic_trace("run", "-engine", "translator", "-clock", "instructions", "-full-execution",
                                    "-no-decode", "-working-directory", recording, "true")
        self.assertEqual(finished.status, 0, finished.stderr)
        session = json.loads((recording / "session.json").read_text())
        self.assertEqual(session["clock"], "instructions")
        text = subprocess.run(["perf", "script", "--itrace=b", "-F", "time", "-i", recording / "perf.data"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout.split()
        passed = round((float(text[-1].rstrip(":")) - float(text[0].rstrip(":"))) * 1e9)
        self.assertGreater(passed, session["instructions"] // 2)
        self.assertLess(passed, session["instructions"] + 1000 * 1000)

    def assert_calls_as_printed(self, traced, faulted):
        """Each function has as many spans as the program counted, and at most `faulted[name]` more: of calls that faulted
        before they were counted."""
        counted = {name.decode(): int(count) for name, count in re.findall(rb"(\w+) was called (\d+) times", traced.stdout)}
        self.assertEqual(counted.keys(), faulted.keys(), traced.stdout)
        spans = self.spans(traced.trace)
        for name, most in faulted.items():
            self.assertIn(spans[name] - counted[name], range(most + 1), f"{name} of {counted[name]}\n{traced.messages}")

    def test_endless_recursion(self):
        """recursions without a branch that has a packet: each call is there until the stack is full, for all judges"""
        traced = self.trace([harness.compile_program("endless_recursion")], *self.OPTIONS, "-full-execution")
        self.assert_calls_as_printed(traced, {"self": 2, "even": 1, "odd": 1})
        self.assert_no_gaps(traced)
        self.judge_recording(traced)

    def test_interrupted_loops(self):
        """faults and signals in hot loops: each iteration is there"""
        traced = self.trace([harness.compile_program("interrupted_loops", ["-O1"])], *self.OPTIONS, "-full-execution")
        self.assert_calls_as_printed(traced, {"touch": 0})
        self.assert_no_gaps(traced)
        self.judge_recording(traced)

    def test_pending_signals(self):
        """a signal that is pending when the handler of another one begins, in which no flags are written: no branch is made up"""
        traced = self.trace([harness.compile_program("pending_signals")], *self.OPTIONS, "-full-execution")
        self.assertEqual(traced.stdout, b"1 1\n")
        spans = self.spans(traced.trace)
        self.assertEqual((spans["on_first"], spans["on_second"]), (100, 100))
        self.assertNotIn("did not fit", traced.messages)
        branches = self.magic_trace("dump", "-branches", traced.directory).stdout.decode().splitlines()
        self.assertEqual([line for line in branches if line.endswith("return") and line.split()[2] == line.split()[3]], [])
        self.assert_no_gaps(traced)
        self.judge_recording(traced)

    def test_loops_without_flags(self):
        """loops that write no flags, or not all, and system calls in a loop: more log than a ring holds, nothing lost"""
        program = harness.compile_program("without_flags", ["-nostdlib", "-static"], harness.PROGRAMS / "without_flags.S")
        full = self.trace([program], "-engine", "translator", "-full-execution", "-no-decode")
        self.assert_instructions(full, 2 + 2 * 9000000 + 1 + 9000000 + 1 + 6 * 60000 - 1 + 2)
        ring = self.trace([program], "-engine", "translator", "-snapshot-size", "64K", "-no-decode")
        self.assertGreater(ring.session()["instructions"], 10000)

    def test_loops_without_check(self):
        """loops after which the log ends anywhere near where it is cleared to: stamps stay, and no branch is lost"""
        program = harness.compile_program("unchecked_loop", ["-nostdlib", "-static"], harness.PROGRAMS / "unchecked_loop.S")
        traced = self.trace([program], "-engine", "translator", "-full-execution", "-no-decode")
        self.assert_instructions(traced, 6 + 9 * 2200 + 40 * (3 + sum(4 + 3 * rounds - 1 for rounds in range(1900, 2201))))

    def test_restarted_copies(self):
        """stacks that seem to be copied again and again: the trace of a killed program reaches up to its end"""
        program = harness.compile_program("restarted_copies", ["-nostdlib", "-static"], harness.PROGRAMS / "restarted_copies.S")
        command = ["sh", "-c", f"ulimit -t 1; exec {program}"]  # seconds of its time
        traced = self.trace(command, "-engine", "translator", "-snapshot-size", "256K", "-follow")
        self.assertNotIn("damaged", traced.messages)
        spans = fxt_spans.read_spans(traced.trace)
        begin, end = min(span.begin for span in spans), max(span.end for span in spans)
        self.assertGreater(max(span.begin for span in spans if span.name == "called"), end - (end - begin) // 10)

    def test_stack_load_after_return(self):
        """registers that are alive where a call returns to a load of the stack pointer"""
        program = harness.compile_program("stack_load_after_return", ["-O2"])
        traced = self.trace([program], *self.OPTIONS, "-no-decode")
        self.assertEqual(traced.stdout, b"lost 0 times\n")

    def assert_instructions(self, traced, expected):
        self.assertNotIn("damaged", traced.messages)
        self.assertEqual(traced.session()["instructions"], expected)

    def test_deaths_by_system_calls(self):
        """signals with a core dump that a system call raises: the trace ends with the death, the status is the native one"""
        program = harness.compile_program("faults")
        for how, name in (("limit", "SIGXFSZ"), ("aborting", "SIGABRT"), ("raise", "SIGQUIT")):
            with self.subTest(how):
                traced = self.trace([program, how], *self.OPTIONS)
                self.assert_same_as_untraced(traced, [program, how])
                self.assertEqual(traced.session()["deaths"][0]["signal"], getattr(signal, name))
                tree = self.magic_trace("report", "-tree", traced.trace).stdout.decode().splitlines()
                self.assertIn(f"-- killed by {name} at ", tree[-1])

    def test_scrambled_pointer(self):
        """a branch to an address that is not canonical raises SIGSEGV, for a handler or as the end, whose caller is in the trace"""
        program = harness.compile_program("scrambled_pointer")
        traced = self.trace([program], *self.OPTIONS)
        self.assert_same_as_untraced(traced, [program])
        tree = self.magic_trace("report", "-tree", traced.trace).stdout.decode().splitlines()
        self.assertRegex(tree[-1], "-- killed by SIGSEGV at 0x8000414141414141 --$")
        self.assertTrue(any(re.search(r"\scall  \[still open", line) for line in tree), tree[-6:])

    def test_alignment_check(self):
        """a program that has its unaligned accesses checked and makes none gets no SIGBUS"""
        program = harness.compile_program("alignment_check")
        traced = self.trace([program], *self.OPTIONS)
        self.assert_same_as_untraced(traced, [program])
        self.judge_recording(traced)

    def test_full_disk(self):
        """a disk that is full, at any moment: the programs and their children end as they would, and magic-trace says why"""
        programs = [(["bash", "-c", SHELL], "-follow"), (["perl", "-e", "my %h; $h{$_ % 97} += $_ for 1 .. 30000; print $h{5}"],
                     "-full-execution")]
        for command, option in programs:
            native = harness.run(command)
            for size in ("3m", "3150k", "3250k", "3400k", "4m", "5m", "7m"):
                with self.subTest(command[0], size=size), bad_input.small_disk(self.folder / f"{command[0]}{size}", size) as disk:
                    finished = self.magic_trace("run", "-engine", "translator", option, "-no-decode",
                                                "-working-directory", disk / "r", "--", *command)
                    self.assert_not_crashed(finished)
                    if b"cannot make" not in finished.stderr and b"session.json" not in finished.stderr:  # the program began
                        self.assertEqual(finished.stdout, native.stdout, finished.stderr)
                    if finished.status:
                        self.assertRegex(finished.stderr, b"(?i)full|no space")

    def test_threads_in_the_middle(self):
        """threads that end with their process, wherever they are: their logs are whole up to there"""
        recording = self.folder / "ended"
        finished = self.magic_trace("run", "-engine", "translator", "-multi-thread", "-follow", "-snapshot-size", "64K",
                                    "-no-decode", "-working-directory", recording,
                                    harness.compile_program("ended_threads"))
        self.assertEqual((finished.status, finished.stdout), (0, b"done\n"))
        self.assertNotIn("damaged", finished.stderr.decode())

    def test_many_processes(self):
        """more processes, a part of them killed, than the arena has fragment tables: all are recorded, with a bounded disk"""
        count = 300 if harness.Settings.quick else 2200
        program, recording = harness.compile_program("many_processes"), self.folder / "many"
        native = harness.run([program, str(count)])
        finished = self.magic_trace("run", "-engine", "translator", "-follow", "-no-decode", "-working-directory", recording,
                                    program, str(count))
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(finished.stdout, native.stdout)
        self.assertNotIn(b"arning", finished.stderr)
        events = subprocess.run(["perf", "script", "--no-itrace", "--show-task-events", "-i", recording / "perf.data"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        self.assertEqual(events.count(b"PERF_RECORD_FORK"), count)
        self.assertEqual(json.loads((recording / "session.json").read_text())["untraced"], [])

    def test_generations(self):
        """a process that forks without execve, whose child does the same, and so on, each waiting for the next: all are recorded"""
        command = [harness.compile_program("many_processes"), "150", "generations"]
        traced = self.trace(command, "-engine", "translator", "-follow")
        self.assert_same_as_untraced(traced, command)
        self.assertNotRegex(traced.messages, "unrecorded|untraced")
        self.assertEqual(len({thread["pid"] for thread in self.judge_trace(traced.trace)["threads"]}), 151)

    def test_recorder_killed(self):
        """kill -9 of magic-trace: the program ends as it would, and decode finishes the recording"""
        marker = self.folder / "marker"
        recording = self.folder / "killed"
        script = f"for i in $(seq 300); do echo $i >>{marker}; /bin/true; done; echo end >>{marker}"
        with tempfile.TemporaryFile() as messages:
            recorder = subprocess.Popen([harness.Settings.binary, "run", "-engine", "translator",
                                         "-working-directory", recording, "bash", "-c", script], stdout=messages, stderr=messages)
            harness.wait_until(lambda: marker.exists() and marker.read_text().count("\n") > 10)
            recorder.send_signal(signal.SIGKILL)
            recorder.wait()
        harness.wait_until(lambda: marker.read_text().endswith("end\n"))
        self.assertEqual(marker.read_text().count("\n"), 301)
        finished = self.magic_trace("decode", recording, "-o", self.folder / "killed.fxt.gz")
        self.assertEqual(finished.status, 0, finished.stderr)

    def test_heap_grows(self):
        """a program at a fixed address has room for its heap, wherever the kernel puts that"""
        program = harness.compile_program("heap", ["-static", "-no-pie"])
        for _ in range(12):
            finished = self.magic_trace("run", "-engine", "translator", "-no-decode", "-forward-exit-status",
                                        "-working-directory", self.folder / "recording", program)
            self.assertEqual((finished.status, finished.stdout), (0, b"grown\n"), finished.stderr)
            shutil.rmtree(self.folder / "recording")
