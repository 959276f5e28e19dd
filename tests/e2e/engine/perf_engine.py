"""The perf engine: real perf with a clock for its event, and a stand-in for what real perf seldom does."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import harness
from harness import Settings, read_until, wait_until
from watchdog import children_of

SAMPLING = ["-engine", "perf", "-sampling", "-no-decode"]


def has_perf():
    return shutil.which("perf") and subprocess.run(
        ["perf", "record", "-o", "/dev/null", "-e", "cpu-clock:u", "true"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0


class PerfTestCase(harness.TestCase):
    def record(self, command, *options, expect=0, **process):
        """Records without decoding."""
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        finished = self.magic_trace("run", *SAMPLING, "-working-directory", directory, *options, "--", *command,
                                    **process)
        self.assertEqual(finished.status, expect, finished.stderr.decode())
        return harness.Traced(finished, directory, None)

    def start(self, *arguments, **process):
        started = subprocess.Popen([Settings.binary, *map(str, arguments)], stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, cwd=self.folder, bufsize=0,
                                   env=process.pop("env", Settings.environment), **process)
        self.addCleanup(started.stderr.close)
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def start_busy(self, threads="1"):
        process = subprocess.Popen([harness.compile_program("busy"), threads], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def assert_unharmed(self, process):
        process.send_signal(signal.SIGTERM)
        output = process.stdout.read()
        self.assertEqual((process.wait(), output), (0, b"0 faults in many requests\n"))


@unittest.skipUnless(has_perf(), "perf record does not work here")
class RealPerf(PerfTestCase):
    def perf_script(self, directory, *options):
        finished = harness.run(["perf", "script", "-i", directory / "perf.data", *options])
        self.assertEqual(finished.status, 0, finished.stderr)
        return finished.stdout.decode()

    def functions(self, directory):
        """Of all stacks of all samples."""
        return set(re.findall(r"^\s+[0-9a-f]+ (\w+)\+0x", self.perf_script(directory), re.MULTILINE))

    def test_run(self):
        """a program is recorded from its first instruction on, and is what it is untraced"""
        command = [harness.compile_program("branchy"), "3000000"]
        traced = self.record(command, "-full-execution", "-callgraph-mode", "fp")
        self.assert_same_as_untraced(traced, command)
        self.assertIn("main", self.functions(traced.directory))
        self.assertEqual(traced.session()["engine"], "perf")
        mappings = self.perf_script(traced.directory, "--show-mmap-events")
        self.assertIn("branchy", mappings)
        self.assertNotIn("magic-trace", mappings)
        self.assertIn("Finished recording", traced.messages)
        self.assertNotIn("perf says", traced.messages)

    def test_last_moments(self):
        """a small ring holds the last samples, whose code is known although the program has ended"""
        command = [harness.compile_program("branchy"), "3000000"]
        traced = self.record(command, "-snapshot-size", "16K", "-callgraph-mode", "fp")
        self.assertIn("main", self.functions(traced.directory))
        self.assertLess((traced.directory / "perf.data").stat().st_size, 100_000)

    def test_options(self):
        """dwarf stacks, all threads, events beside, the kernel too"""
        command = [harness.compile_program("threads")]
        for options, event in ((["-callgraph-mode", "dwarf"], None),
                               (["-multi-thread", "-callgraph-mode", "fp"], None),
                               (["-timer-resolution", "(Sample((freq 500)))"], "freq=500"),
                               (["-timer-resolution", "Low"], "freq=1000"),
                               (["-multi-thread", "-events", "page-faults,context-switches"], "page-faults")):
            traced = self.record(command, *options)
            self.assert_same_as_untraced(traced, command)
            events = harness.run(["perf", "evlist", "-i", traced.directory / "perf.data"]).stdout.decode()
            self.assertIn(event or "freq=10000", events)
        traced = self.record(["/bin/ls", "/usr/bin"], "-trace-include-kernel", "-callgraph-mode", "fp")
        self.assertIn("[kernel.kallsyms]", self.perf_script(traced.directory))

    def test_attach(self):
        """a running process, until Ctrl-C; it goes on"""
        process = self.start_busy("2")
        directory = self.folder / "recording"
        started = self.start("attach", "-pid", process.pid, *SAMPLING, "-multi-thread", "-working-directory",
                             directory, "-callgraph-mode", "fp")
        read_until(started.stderr, b"Attached")
        started.send_signal(signal.SIGINT)
        messages = started.communicate()[1].decode()
        self.assertEqual(started.returncode, 0, messages)
        self.assertIn("[ Got signal, detaching... ]", messages)
        self.assertTrue((directory / "session.json").exists())
        self.perf_script(directory)
        self.assert_unharmed(process)

    def test_attached_process_ends(self):
        """the end of the processes ends the recording"""
        process = self.start_busy()
        directory = self.folder / "recording"
        started = self.start("attach", "-pid", process.pid, *SAMPLING, "-working-directory", directory)
        read_until(started.stderr, b"Attached")
        self.assert_unharmed(process)
        messages = started.communicate()[1].decode()
        self.assertEqual(started.returncode, 0, messages)
        self.perf_script(directory)

    def test_interrupt(self):
        """a signal for magic-trace is the program's, and ends the recording"""
        directory = self.folder / "recording"
        started = self.start("run", *SAMPLING, "-working-directory", directory, harness.compile_program("endings"),
                             "wait")
        self.assertTrue(started.stdout.read(1))
        started.send_signal(signal.SIGINT)
        messages = started.communicate()[1].decode()
        self.assertEqual(started.returncode, 0, messages)
        self.assertIn("Got signal, detaching", messages)
        status = json.loads((directory / "session.json").read_text())["exit_status"]
        self.assertEqual(os.waitstatus_to_exitcode(status), -signal.SIGINT)
        self.perf_script(directory)

    def test_killed(self):
        """magic-trace is killed: the program goes on, perf ends, and leaves a recording"""
        directory = self.folder / "recording"
        started = self.start("run", *SAMPLING, "-working-directory", directory, harness.compile_program("endings"),
                             "wait")
        self.assertTrue(started.stdout.read(1))
        children = children_of(started.pid)
        names = {pid: open(f"/proc/{pid}/comm").read().strip() for pid in children}
        program = next(pid for pid in children if names[pid] == "endings")
        perf = next(pid for pid in children if names[pid].startswith("perf"))
        started.kill()
        started.wait()
        wait_until(lambda: not os.path.exists(f"/proc/{perf}"))
        self.assertNotIn(open(f"/proc/{program}/stat").read().split()[2], "TtZ")
        os.kill(program, signal.SIGKILL)
        self.perf_script(directory)

    def attach_to_busy(self, *options, interrupt=False, env=None):
        """(session, messages, directory) of an attachment that its trigger ends, or Ctrl-C after three snapshots."""
        process = self.start_busy("2")
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        started = self.start("attach", "-pid", process.pid, *SAMPLING, "-working-directory", directory, *options,
                             **({"env": env} if env else {}))
        if interrupt:
            wait_until(lambda: len(list(directory.glob("perf.data.2*"))) >= 3)
            started.send_signal(signal.SIGINT)
        messages = started.communicate()[1].decode()
        self.assertEqual(started.returncode, 0, messages)
        self.assert_unharmed(process)
        return json.loads((directory / "session.json").read_text()), messages, directory

    @harness.needs_breakpoints
    def test_trigger(self):
        """a hit in any thread ends the recording, and is in it"""
        before = time.time_ns()
        session, messages, directory = self.attach_to_busy("-trigger", "request", "-multi-thread", "-callgraph-mode",
                                                           "fp")
        self.assertEqual(len(session["hits"]), 1)
        self.assertIn("[ Snapshot taken. ]", messages)
        self.perf_script(directory)
        self.assertTrue(before <= session["wall_clock_ns"] <= time.time_ns(), session["wall_clock_ns"])

    @harness.needs_breakpoints
    def test_many_snapshots(self):
        """each snapshot of samples is a file of its own, numbered in their order"""
        session, messages, directory = self.attach_to_busy(
            "-trigger", "request", "-multi-thread", "-multi-snapshot", "-callgraph-mode", "fp", interrupt=True)
        self.assertGreaterEqual(len(session["hits"]), 3)
        names = {path.name for path in directory.iterdir()} - {"session.json", "images"}
        self.assertEqual(names, {"perf.data"} | {f"perf.data.{number}" for number in range(1, len(names))})
        self.assertGreaterEqual(len(names), 4)
        self.perf_script(directory)

    @harness.needs_breakpoints
    def test_trigger_of_a_program(self):
        """a trigger in a program that is run, from its first call on; the program goes on to its end"""
        hits = harness.compile_program("hits")
        for arguments, trigger, options, count in (
                (["many", "30", "20"], "main", [], 1), (["many", "30", "20"], "target", [], 1),
                (["many", "30", "20000"], "target", ["-full-execution", "-multi-snapshot"], 30),
                (["third"], "target", ["-multi-thread"], 1), (["child"], "target", ["-multi-thread"], 1)):
            traced = self.record([hits, *arguments], "-trigger", trigger, "-callgraph-mode", "fp", *options)
            self.assert_same_as_untraced(traced, [hits, *arguments])
            self.assertEqual(len(traced.session()["hits"]), count, (arguments, traced.messages))

    def test_processes_that_cannot_be_recorded(self):
        """no such process: nothing is left"""
        directory = self.folder / "recording"
        finished = self.magic_trace("attach", "-pid", "999999999", *SAMPLING, "-working-directory", directory)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"cannot record process 999999999: there is no such thread", finished.stderr)
        self.assertEqual(list(directory.iterdir()), [])

    def test_programs_that_cannot_be_run(self):
        """no such program, no program, no perf"""
        (self.folder / "text").write_text("x")
        (self.folder / "text").chmod(0o755)
        for program, words in (("no-such-program", "cannot find the program"), ("./none", "No such file"),
                               ("./text", "Exec format error"), ("/", "Permission denied")):
            traced = self.record([program], expect=1)
            self.assertIn(words, traced.messages)
            self.assertEqual(list(traced.directory.iterdir()), [])


class StandIn(PerfTestCase):
    def environment(self, behaviour="", version="6.1.0", patience="60"):
        self.log = self.folder / "log"
        return dict(Settings.environment, MAGIC_TRACE_PERF_PATH=harness.compile_program("stand_in_perf"),
                    STAND_IN_DOES=behaviour, STAND_IN_VERSION=version, STAND_IN_LOG=str(self.log),
                    MAGIC_TRACE_PERF_PATIENCE=patience)

    def events(self):
        return [line for line in self.log.read_text().splitlines() if not line.startswith("argument")]

    def arguments(self):
        return [line.split(" ", 1)[1] for line in self.log.read_text().splitlines() if line.startswith("argument")]

    def program(self):
        """Writes into the log that it runs, and ends with status 5."""
        return ["/bin/sh", "-c", f"echo program >> {self.log}; exit 5"]

    def record_by(self, behaviour="", expect=0, options=(), **environment):
        env = self.environment(behaviour, **environment)
        return self.record(self.program(), *options, expect=expect, env=env)

    def test_versions(self):
        """how perf of each range of versions is started, and that the program waits for perf"""
        for version, control in (("4.18.0", False), ("5.9.1", False), ("5.10.0", True), ("6.1.0", True)):
            traced = self.record_by(version=version)
            arguments = self.arguments()
            self.assertEqual(arguments[:4], ["record", "-o", str(traced.directory / "perf.data"), "--timestamp"])
            self.assertIn("--per-thread", arguments)
            self.assertEqual(any(word.startswith("--control=fd:") for word in arguments), control)
            events = self.events()
            self.assertEqual(events[:2] if control else events[:1], ["enable", "program"] if control else ["program"])
            self.assertEqual(os.waitstatus_to_exitcode(traced.session()["exit_status"]), 5)
            self.log.unlink()

    def test_late(self):
        """the program does not begin before perf has answered, however late"""
        self.record_by("late")
        self.assertEqual(self.events()[:2], ["enable", "program"])

    def test_dies(self):
        """perf that fails at once is quoted, and the program is not run"""
        traced = self.record_by("die", expect=1)
        self.assertIn("was not run", traced.messages)
        self.assertIn("No permission to enable cycles event", traced.messages)
        self.assertEqual(self.events(), [])
        self.assertEqual(list(traced.directory.iterdir()), [])

    def test_dies_later(self):
        """perf that dies while the program runs: the program goes on, and a message says so"""
        env = self.environment("die-later")
        said = self.folder / "said"
        started = self.start("run", *SAMPLING, "/bin/sh", "-c",
                             f"until [ -e {said} ]; do sleep 0.01; done; echo program >> {self.log}", env=env)
        messages = read_until(started.stderr, b"perf has ended before /bin/sh")
        said.touch()
        messages += started.communicate()[1]
        self.assertEqual(started.returncode, 1, messages)
        self.assertIn(b"killed by signal 9", messages)
        self.assertEqual(self.events(), ["enable", "program"])

    def test_hangs(self):
        """perf that never answers is ended, and the program is not run"""
        for behaviour in ("mute", "deaf"):
            traced = self.record_by(behaviour, expect=1, patience="0.3")
            self.assertIn("perf record hung", traced.messages)
            self.assertIn("was not run", traced.messages)

    def test_hangs_at_the_end(self):
        """perf that does not end when it is asked to gets SIGTERM; what it wrote is kept"""
        process = self.start_busy()
        env = self.environment("mute-at-stop", patience="1")
        directory = self.folder / "attached"
        started = self.start("attach", "-pid", process.pid, *SAMPLING, "-working-directory", directory, env=env)
        read_until(started.stderr, b"Attached")
        started.send_signal(signal.SIGINT)
        messages = started.communicate()[1].decode()
        self.assertEqual(self.events(), ["enable", "disable", "stop", "signal 15", "end"])
        self.assertIn("it gets SIGTERM", messages)
        self.assertIn("recording is kept", messages)
        self.assertTrue((directory / "session.json").exists())
        self.assert_unharmed(process)

    def test_fails_at_the_end(self):
        """perf that fails when it writes its file is quoted, and what it wrote is kept"""
        traced = self.record_by("fail-at-end", expect=1)
        self.assertIn("status 3. It said:\nfailed to write feature", traced.messages)
        self.assertIn("The recording is kept", traced.messages)

    def test_interrupt_before_the_program(self):
        """Ctrl-C while perf starts: the program is not run"""
        env = self.environment("mute")
        started = self.start("run", *SAMPLING, *self.program(), env=env)
        wait_until(lambda: self.log.exists() and "argument -t" in self.log.read_text())
        started.send_signal(signal.SIGINT)
        messages = started.communicate()[1].decode()
        self.assertEqual(started.returncode, 1)
        self.assertIn("Ctrl-C came before", messages)
        self.assertEqual([line for line in self.events() if line == "program"], [])

    def test_no_perf(self):
        """perf is missing, or is none"""
        env = dict(self.environment(), MAGIC_TRACE_PERF_PATH="/nonexistent/perf")
        traced = self.record(["true"], expect=1, env=env)
        self.assertIn("/nonexistent/perf", traced.messages)
        env["MAGIC_TRACE_PERF_PATH"] = "/bin/false"
        self.assertIn("/bin/false does not run", self.record(["true"], expect=1, env=env).messages)

    def test_choice(self):
        """-engine perf without Intel PT says so; -sampling takes an engine that samples, and says which"""
        if os.path.exists("/sys/bus/event_source/devices/intel_pt"):
            self.skipTest("this machine has Intel PT")
        finished = self.magic_trace("run", "-engine", "perf", "true", env=self.environment())
        self.assertEqual(finished.status, 1)
        self.assertIn(b"no Intel PT", finished.stderr)
        finished = self.magic_trace("run", "-sampling", "-no-decode", "true", env=self.environment())
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertRegex(finished.stderr, rb"Recording with the \w+ engine: ")
