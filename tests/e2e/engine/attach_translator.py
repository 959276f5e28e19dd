"""attach -engine translator: a running process is traced as one that `run` starts, and goes on as if nothing had been."""
import ctypes
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import types

import attaching
import fxt_spans
import harness
from attach import states, tracers
from attaching import is_free, maps, state_of_signals
from harness import Settings, read_until, wait_until

KERNEL = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
ROUNDS = int(os.environ.get("MAGIC_TRACE_ATTACH_ROUNDS", "12"))


class AttachTranslator(attaching.TestCase):
    def test_trigger(self):
        """what led up to a trigger, with whole stacks; all judges agree; the process goes on"""
        process = self.start("busy", 4)
        traced = self.attach(process, "-trigger", "request", "-multi-thread")
        self.assert_free(process)
        self.judge_trace(traced.trace)
        requests = [span.stack for span in fxt_spans.read_whole(traced.trace).spans if span.name == "request"]
        self.assertTrue(requests)
        # Which threads have run before the hit is up to the scheduler.
        self.assertTrue(all({"main", "start_thread"} & set(stack) for stack in requests), requests)
        self.assertIn("[ Snapshot taken. ]", traced.messages)
        self.assert_perf_agrees(traced)
        self.judge_instructions(traced)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

    def test_until_interrupted(self):
        """all threads until Ctrl-C; all judges agree; its signals, descriptors and mappings are as before"""
        process = self.start("busy", 3)
        before = state_of_signals(process.pid), os.listdir(f"/proc/{process.pid}/fd")
        traced = self.record_for_a_moment(process, "-multi-thread", sleeps=5)  # once in each request
        self.assert_free(process)
        self.assertEqual((state_of_signals(process.pid), os.listdir(f"/proc/{process.pid}/fd")), before)
        self.assert_no_gaps(traced)
        self.assert_perf_agrees(traced)
        self.judge_instructions(traced)
        spans = self.spans(traced.trace)
        self.assertGreater(spans["part"], spans["request"])
        self.assertEqual(spans["main"], 1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

    def test_first_stack(self):
        """a recording of everything, too, begins with all callers of what ran when it was attached to"""
        for options in [], ["-full-execution"]:
            process = self.start("busy", 2)
            traced = self.record_for_a_moment(process, "-multi-thread", *options, sleeps=1)
            self.assertEqual(traced.session()["full_execution"], bool(options))
            # Inside of main or start_thread, which do not end, from the beginning on.
            outside = [(span.name, span.stack) for span in fxt_spans.read_whole(traced.trace).spans
                       if span.name in ("request", "part") and not {"main", "start_thread"} & set(span.stack)]
            self.assertEqual(outside[:4], [], options)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

    def test_deep_stack(self):
        """40 KB of stack were in use when it was attached to: all callers are there"""
        process = self.start("deep_server", flags=["-O1"])
        for options in [], ["-full-execution"]:
            traced = self.record_for_a_moment(process, *options, sleeps=3)
            [stack] = {span.stack for span in fxt_spans.read_whole(traced.trace).spans if span.name == "work"}
            callers = [name for name in stack if name in ("_start", "main", "dig", "serve")]
            self.assertEqual(callers, ["_start", "main"] + ["dig"] * 81 + ["serve"], options)

    def test_first_stack_of_handler(self):
        """where a signal's handler is the first that runs, the callers of what it has interrupted are there"""
        for options in [], ["-full-execution"]:
            process = self.start("woken")
            traced = self.record_between(process, lambda: (process.send_signal(signal.SIGUSR1), process.stdout.readline()), *options)
            stacks = [span.stack for span in fxt_spans.read_whole(traced.trace).spans if span.name == "woken"]
            self.assertEqual(len(stacks), 1)
            self.assertEqual([name for name in stacks[0] if name in ("main", "outer", "middle", "handle", "woken")],
                             ["main", "outer", "middle", "handle", "woken"], stacks)
            self.assert_perf_agrees(traced)
            self.judge_instructions(traced)

    def test_command(self):
        """the recording lasts as long as a command, whose status is ours; the process goes on"""
        process = self.start("woken")
        directory, trace = self.folder / "recording", self.folder / "trace.fxt"
        for status, script in (0, f"kill -USR1 {process.pid}; head -c 6 >&2"), (3, "exit 3"), (128 + 15, "kill -TERM $$"):
            finished = self.magic_trace(*self.command(process, directory, "-o", trace, "-multi-thread")[1:], "--", "sh", "-c",
                                        script, stdin=process.stdout)
            failed = b"nothing was recorded" in finished.stderr
            self.assertIn(b"[ The command has ended, detaching... ]", finished.stderr)
            self.assertNotIn(b"Got signal", finished.stderr)
            self.assertEqual(finished.status, 1 if failed else status, finished.stderr)
            self.assert_free(process)
            if status == 0:
                self.assertIn(b"woken\n", finished.stderr)
                self.assertEqual(self.spans(trace)["woken"], 1)
        finished = self.magic_trace(*self.command(process, directory)[1:], "--", "no-such-program")
        self.assertEqual(finished.status, 1)
        self.assertIn(b"no-such-program", finished.stderr)
        self.assert_free(process)

    def test_command_outlives(self):
        """a snapshot comes before the command ends: the trace is written, and the command is waited for"""
        process = self.start("busy", 1)
        finished = self.magic_trace(*self.command(process, self.folder / "recording", "-trigger", "request")[1:], "--", "sh", "-c",
                                    "sleep 1; exit 5")
        self.assertEqual(finished.status, 5, finished.stderr)
        self.assertIn(b"The trace is in", finished.stderr)
        self.assert_free(process)

    def test_service(self):
        """root traces a process of another user that cannot reach the recording, as systemd's PrivateTmp= makes them"""
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
            self.skipTest("only root makes such a process")
        # Where nobody can execute it, and outside of what is hidden from it.
        place = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, place)
        place.chmod(0o755)
        shutil.copy(harness.compile_program("busy"), place)
        process = self.start_command(
            ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs "$1" && exec setpriv --reuid 65534 --regid 65534 '
             '--clear-groups "$2" 2', "sh", str(self.folder), str(place / "busy")])
        before = state_of_signals(process.pid), os.listdir(f"/proc/{process.pid}/fd")
        traced = self.attach(process, "-trigger", "request", "-multi-thread")
        self.assert_free(process)
        self.assertEqual((state_of_signals(process.pid), os.listdir(f"/proc/{process.pid}/fd")), before)
        self.judge_trace(traced.trace)
        self.assertGreater(self.spans(traced.trace)["request"], 0)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

    def test_filtered(self):
        """seccomp filters that leave the translator's system calls alone are no obstacle to root"""
        if os.geteuid() != 0 or "Seccomp:\t0" not in pathlib.Path("/proc/self/status").read_text():
            self.skipTest("only root can read them, without a filter of its own")
        process = self.start("busy", 2, preexec_fn=lambda: (install_filter((RETURN, 0, 0, ALLOW)), forbid(SYS_SWAPON)))
        traced = self.attach(process, "-trigger", "request", "-multi-thread")
        self.assert_free(process)
        self.judge_trace(traced.trace)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

    def test_container(self):
        """nor are those that magic-trace and all processes of its container inherit"""
        if subprocess.run(["unshare", "-pfm", "--mount-proc", "true"], check=False).returncode != 0:
            self.skipTest("no pid namespace can be made")
        command = [harness.compile_program("busy"), Settings.binary, "attach", "-engine", "translator", "-trigger", "request",
                   "-multi-thread", "-o", self.folder / "trace.fxt", "-working-directory", self.folder / "recording"]
        finished = subprocess.run(
            ["unshare", "-pfm", "--mount-proc", "bash", "-c", 'program=$1; shift; mkfifo "$0"; "$program" 2 > "$0" & read line < "$0"; '
             '"$@" -pid $!; status=$?; kill $!; exit $status', self.folder / "line", *command],
            preexec_fn=lambda: forbid(SYS_SWAPON), capture_output=True, check=False)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn(b"Snapshot taken", finished.stderr)
        self.judge_trace(self.folder / "trace.fxt")

    def start_in_namespace(self, program, *arguments, **more):
        """As process 1 of a pid namespace; (unshare, its number outside)"""
        unshare = ["unshare", "-pfm", "--kill-child", "--mount-proc"]
        if subprocess.run([*unshare, "true"], check=False).returncode != 0:
            self.skipTest("no pid namespace can be made")
        process = self.start_command([*unshare, harness.compile_program(program), *map(str, arguments)], **more)
        return process, int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())

    def test_from_outside(self):
        """a process in another pid namespace, as of a container; its threads have the numbers that they know themselves"""
        process, pid = self.start_in_namespace("busy", 2)
        inside = types.SimpleNamespace(pid=pid)
        before = state_of_signals(pid), os.listdir(f"/proc/{pid}/fd")
        traced = self.attach(inside, "-trigger", "request", "-multi-thread")
        self.assert_free(inside)
        self.assertEqual((state_of_signals(pid), os.listdir(f"/proc/{pid}/fd")), before)
        self.judge_trace(traced.trace)
        self.assertGreater(self.spans(traced.trace)["request"], 0)
        tree = self.magic_trace("report", "-tree", traced.trace).stdout
        numbers = set(re.findall(rb"\(tid (\d+)\) of process \S+ \(pid (\d+)\)", tree))
        self.assertTrue(numbers and numbers <= {(b"1", b"1"), (b"2", b"1")}, tree)
        outside = self.start("busy", 1)
        both = self.magic_trace("attach", "-engine", "translator", "-pid", f"{pid},{outside.pid}")
        self.assertIn(b"run in different pid namespaces", both.stderr)
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

    def test_from_outside_again(self):
        """its threads and children that begin and end meanwhile, with signals and sleeps, never notice"""
        process, pid = self.start_in_namespace("attached", 1200, 16)
        for _ in range(2):
            self.record_for_a_moment(types.SimpleNamespace(pid=pid), "-multi-thread", "-no-decode", "-snapshot-size", "64K")
            wait_until(lambda: is_free(pid))
        os.kill(pid, signal.SIGINT)
        output = process.stdout.read()
        self.assertEqual(process.wait(), 0, output)
        self.assertRegex(output, rb"^done ")

    def test_again_and_again(self):
        """threads that sleep in all ways, compute, handle signals, and create others never notice; a third of the
        recorders is killed"""
        process = self.start("attached", 1200, 16)
        before = state_of_signals(process.pid), os.listdir(f"/proc/{process.pid}/fd")
        for number in range(ROUNDS):
            if number % 3:
                self.record_for_a_moment(process, "-multi-thread", "-no-decode", "-snapshot-size", "64K")
            else:
                directory = self.folder / f"recording{number}k"
                recorder = subprocess.Popen(self.command(process, directory, "-multi-thread", "-no-decode"),
                                            stderr=subprocess.DEVNULL)
                time.sleep(random.random() / 5)
                recorder.kill()
                recorder.wait()
            self.assert_free(process)
            self.assertEqual((state_of_signals(process.pid), os.listdir(f"/proc/{process.pid}/fd")), before)
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
        self.assertEqual(process.wait(), 0, output)
        self.assertRegex(output, rb"^done ")

    def test_nobody_left(self):
        """the recorder and its attacher are killed: the threads that run leave by themselves, and the next one clears up"""
        process = self.start("attached", 1200, 16)
        recorder = subprocess.Popen(self.command(process, self.folder / "killed", "-multi-thread", "-no-decode"),
                                    stderr=subprocess.PIPE)
        read_until(recorder.stderr, b"Attached")
        for child in pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        recorder.kill()
        recorder.communicate()
        self.record_for_a_moment(process, "-multi-thread", "-no-decode")
        self.assert_free(process)
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
        self.assertEqual(process.wait(), 0, output)
        self.assertRegex(output, rb"^done ")

    def assert_recording_ends(self, process, pid):
        """The program, which does what cannot be traced when it reads a byte, runs on natively, and the recording ends."""
        command = self.command(types.SimpleNamespace(pid=pid), self.folder / "recording", "-o", self.folder / "trace.fxt",
                               "-trigger", "never_called")
        recorder = subprocess.Popen(command, stderr=subprocess.PIPE)
        read_until(recorder.stderr, b"Attached")
        process.stdin.write(b"1")
        process.stdin.flush()
        said = recorder.communicate()[1]
        self.assertEqual(recorder.returncode, 0, said)
        self.assertIn(b"Nothing is traced any more", said)
        self.assertIn(b"it sets its gs base", said)
        self.assertIsNone(process.poll())
        self.assertEqual(tracers(pid), {0})
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_left(self):
        """a program that does what cannot be traced runs on natively, and the recording ends: its trigger can no longer be hit"""
        process = self.start("leaves_translator", stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.assert_recording_ends(process, process.pid)

    def test_left_in_namespace(self):
        """the same in another pid namespace, where it has another number"""
        process, pid = self.start_in_namespace("leaves_translator", stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.assert_recording_ends(process, pid)

    def test_code_that_is_written(self):
        """threads that write to the same pages of code and run it, some with SIGSEGV blocked, find no fault and no old code, while it is
        attached and let go"""
        process = self.start("code_writers", 10**9, 4)
        own = maps(process.pid)
        for number in range(ROUNDS // 2):
            recorder = subprocess.Popen(self.command(process, self.folder / f"recording{number}", "-multi-thread", "-no-decode"),
                                        stderr=subprocess.PIPE)
            read_until(recorder.stderr, b"Attached")
            if number % 3:
                recorder.send_signal(signal.SIGINT)
                self.assert_free(process, own)
            recorder.kill()
            recorder.communicate()
            self.assert_free(process, own)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.read(), b"done: 0 mistakes\n")

    def test_emptied_places(self):
        """addresses that the process has emptied are empty when it uses them again: while it is attached to, and afterwards"""
        for words in ([], ["crowded"]):
            process = self.start("emptied_places", *words, stdin=subprocess.PIPE)

            def use(*requests):
                for request in requests:
                    process.stdin.write(request + b"\n")
                    process.stdin.flush()
                    self.assertEqual(process.stdout.readline(), b"found\n")
            for options in (["-full-execution"], ["-follow"]):
                with self.subTest(words=words, options=options):
                    self.record_between(process, lambda: use(b"fill", b"empty", b"fill", b"empty"), *options)
                    self.assert_free(process)
                    use(b"fill", b"empty")
            process.stdin.close()
            self.assertEqual(process.stdout.read(), b"done\n")

    def test_supplied_code(self):
        """a program with a userfaultfd that it had before: code that another thread supplies runs as it does untraced"""
        program = harness.compile_program("supplied_code")
        native = subprocess.run([program, "wait"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if not native.stdout:
            self.skipTest("userfaultfd is not allowed")
        process = self.start("supplied_code", "wait", stdin=subprocess.PIPE)
        recorder = subprocess.Popen(self.command(process, self.folder / "recording", "-multi-thread", "-no-decode"),
                                    stderr=subprocess.PIPE)
        read_until(recorder.stderr, b"Attached")
        output = process.communicate(b"1")[0]
        self.assertEqual((process.returncode, b"ready\n" + output), (native.returncode, native.stdout))
        self.assertEqual(recorder.wait(), 0, recorder.communicate()[1])

    def test_engine(self):
        """it attaches without being named where there is no Intel PT; where it cannot, the message says why, and a trigger is stepped to,
        or samples are taken"""
        if pathlib.Path("/sys/bus/event_source/devices/intel_pt").exists():
            self.skipTest("this machine has Intel PT")
        process = self.start("busy", 1)

        def attach(process, *options):
            return self.magic_trace("attach", "-pid", process.pid, "-o", self.folder / "t.fxt", *options).stderr

        self.assertIn(b"Recording with the translator engine: ", attach(process, "-trigger", "request"))
        self.assert_free(process)
        filtered = self.start("busy", 1, preexec_fn=lambda: forbid(SYS_SOCKETPAIR))
        messages = attach(filtered, "-trigger", "request")
        self.assertIn(b"The translator engine cannot attach to process %d: it has a seccomp filter" % filtered.pid, messages)
        self.assertIn(b"Recording with the ptrace engine: ", messages)
        self.assert_free(filtered)
        filtered.kill()
        messages = attach(filtered)
        self.assertNotIn(b"Recording with the ptrace engine: ", messages)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

    def test_folder_is_gone(self):
        """magic-trace is killed when its recording was removed or renamed: the process is let go all the same"""
        for change in shutil.rmtree, lambda folder: folder.rename(self.folder / "moved"):
            process, folder = self.start("woken"), self.folder / "recording"
            recorder = subprocess.Popen(self.command(process, folder, "-no-decode"), stderr=subprocess.PIPE)
            read_until(recorder.stderr, b"Attached")
            change(folder)
            recorder.kill()
            recorder.communicate()
            self.assert_free(process)
            process.send_signal(signal.SIGUSR1)
            self.assertEqual(process.stdout.readline(), b"woken\n")

    def test_refuses_32_bit(self):
        """a 32-bit program is refused before it is touched"""
        source, program = self.folder / "loop.c", self.folder / "loop"
        source.write_text("void _start(void) { for (;;) ; }")
        if subprocess.run(["cc", "-m32", "-nostdlib", "-static", "-o", program, source], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("the compiler makes no 32-bit programs")
        try:
            process = subprocess.Popen([program])
        except OSError:
            self.skipTest("the kernel runs no 32-bit programs")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        switches = attaching.sleeps_of_threads(process.pid)
        finished = self.magic_trace("attach", "-engine", "translator", "-pid", process.pid, "-working-directory",
                                    self.folder / "refused")
        self.assertEqual(finished.status, 1)
        self.assertIn("it is a 32-bit program", finished.stderr.decode())
        self.assertEqual(attaching.sleeps_of_threads(process.pid), switches)

    def test_refusals(self):
        """processes that are traced, stopped or filtered, threads, and numbers of none are left alone"""
        process = self.start("busy", 2)

        def refused(why, pid=process.pid):
            finished = self.magic_trace("attach", "-engine", "translator", "-pid", pid, "-working-directory",
                                        self.folder / "refused")
            self.assertEqual(finished.status, 1)
            self.assertIn(why, finished.stderr.decode())

        thread = max(int(tid) for tid in os.listdir(f"/proc/{process.pid}/task"))
        refused("that is a thread of process", thread)
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: states(process.pid) == {"T"})
        refused("it is stopped by a signal")
        os.kill(process.pid, signal.SIGCONT)
        filtered = subprocess.Popen(["sleep", "100"], preexec_fn=lambda: forbid(SYS_SOCKETPAIR))
        self.addCleanup(filtered.wait)
        self.addCleanup(filtered.kill)
        refused("it has a seccomp filter", filtered.pid)
        tracer = subprocess.Popen(self.command(process, self.folder / "first", "-no-decode"), stderr=subprocess.PIPE)
        read_until(tracer.stderr, b"Attached")
        refused("another magic-trace")
        tracer.send_signal(signal.SIGINT)
        tracer.communicate()
        self.assert_free(process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")


    def refuse(self, pid, why, *prefix):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o777)
        finished = harness.run([*prefix, Settings.binary, "attach", "-engine", "translator", "-no-decode", "-pid", pid,
                                "-working-directory", folder / "refused"], cwd=folder, stdin=subprocess.DEVNULL)
        self.assert_not_crashed(finished)
        self.assertEqual(finished.status, 1, finished.stderr)
        self.assertRegex(finished.stderr.decode(), why)
        self.assertFalse((folder / "refused" / "perf.data").exists())

    def test_refuses_what_cannot_be_traced(self):
        """by the state of the process: it is as before, and ends as it would have"""
        for kind, why in (("traced", "traces it already"), ("zombie", "it has ended"), ("strict", "seccomp"),
                          ("gs", "uses the gs segment"), ("calls", "dispatches its system calls to itself"),
                          ("tsc", "time-stamp counter"), ("kills", "seccomp filter"),
                          ("steps", "steps through itself|trap"), ("vforked", "has made it by vfork and shares its memory"),
                          ("leader", "its first thread has ended")):
            with self.subTest(kind):
                if kind == "calls" and KERNEL < (6, 4):
                    continue  # the kernel does not show it, and the attach ends the process
                process = subprocess.Popen([harness.compile_program("unattachable"), kind], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.addCleanup(process.stdout.close)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                pid = int(process.stdout.readline().split()[1])
                if kind == "strict":
                    wait_until(lambda: "Seccomp:\t1" in pathlib.Path(f"/proc/{pid}/status").read_text())
                before = state_of_signals(pid), tracers(pid), maps(pid) if kind not in ("zombie", "leader") else []
                self.refuse(pid, why)
                self.assertEqual((state_of_signals(pid), tracers(pid), maps(pid) if kind not in ("zombie", "leader") else []), before)
                process.stdin.write(b"x")
                process.stdin.close()
                self.assertEqual(process.wait(), 7)
                self.assertEqual(process.stdout.read(), b"")

    def test_refuses_others(self):
        """by who and what it is: a kernel thread, a process that has gone, itself, another user's, one without room"""
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.refuse(gone.pid, "no such process|does not exist|has ended")
        finished = harness.run(["sh", "-c", f'exec "{Settings.binary}" attach -engine translator -pid $$'], cwd=self.folder)
        self.assertIn(b"magic-trace itself", finished.stderr)
        if content_of("/proc/2/comm") == b"kthreadd\n":  # not within a container
            self.refuse(2, r"(?s).+")
        if os.geteuid() != 0:
            return
        process = self.start("woken")
        self.refuse(process.pid, "another user|Operation not permitted|may not", "setpriv", *NOBODY)
        self.assert_free(process)
        small = subprocess.Popen(["sh", "-c", "ulimit -v 100000; exec " + harness.compile_program("woken")],
                                 stdout=subprocess.PIPE)
        self.addCleanup(small.stdout.close)
        self.addCleanup(small.wait)
        self.addCleanup(small.kill)
        small.stdout.readline()
        self.refuse(small.pid, "memory|ulimit|room|space")
        for unharmed in process, small:
            unharmed.send_signal(signal.SIGUSR1)
            self.assertEqual(unharmed.stdout.readline(), b"woken\n")


    def start_for_nobody(self, program, *words):
        process = subprocess.Popen(["setpriv", *NOBODY, program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, int(process.stdout.readline().split()[1])

    def pretend_yama(self, scope):
        """A prefix of commands that see kernel.yama.ptrace_scope so, whether or not the kernel has Yama."""
        settings = self.folder / f"settings{scope}"
        shutil.copytree("/proc/sys/kernel", settings, ignore=lambda folder, names: [
            name for name in names if os.path.isdir(os.path.join(folder, name)) or not os.access(os.path.join(folder, name), os.R_OK)],
            copy_function=lambda source, target: pathlib.Path(target).write_bytes(content_of(source)))
        (settings / "yama").mkdir()
        (settings / "yama" / "ptrace_scope").write_text(f"{scope}\n")
        return ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/sys/kernel && exec "$@"', settings]

    def test_refuses_without_permission(self):
        """what is protected, and what Yama or a container forbid, with what to do about each"""
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        program, nobody = harness.compile_program("unattachable"), ["setpriv", *NOBODY]
        process, pid = self.start_for_nobody(program, "private")
        before = state_of_signals(pid), maps(pid)
        protected = "not permitted: it belongs to another user, or is protected.*Run magic-trace as root\\.\n"
        self.refuse(pid, protected, *nobody)
        self.refuse(pid, r"ptrace_scope is 1.*Run magic-trace as root, or set it to 0", *self.pretend_yama(1), *nobody)
        self.refuse(pid, r"ptrace_scope is 2.*Run magic-trace as root\.", *self.pretend_yama(2), *nobody)
        self.refuse(pid, r"ptrace_scope is 3.*root included", *self.pretend_yama(3), *nobody)
        self.refuse(pid, "--cap-add SYS_PTRACE", "setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace")
        self.assertEqual((state_of_signals(pid), maps(pid)), before)
        setuid = self.folder / "setuid"
        shutil.copy(program, setuid)
        setuid.chmod(0o4755)
        self.folder.chmod(0o755)
        other, other_pid = self.start_for_nobody(setuid, "waits")
        if b"\nUid:\t65534\t0\t" in content_of(f"/proc/{other_pid}/status"):  # no nosuid mount
            self.refuse(other_pid, protected, *nobody)
        for unharmed in process, other:
            unharmed.stdin.close()
            self.assertEqual(unharmed.wait(), 7)


NOBODY = "--reuid", "65534", "--regid", "65534", "--clear-groups"


def content_of(path):
    """Some settings of the kernel cannot be read even though their mode says so."""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def install_filter(*instructions):
    """A seccomp filter of struct sock_filter (code, jt, jf, k)."""
    libc = ctypes.CDLL(None)
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in instructions))

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    libc.prctl(22, 2, ctypes.byref(Filter(len(instructions), ctypes.addressof(program))), 0, 0)  # PR_SET_SECCOMP


LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET | BPF_K
ALLOW, KILL_PROCESS = 0x7fff0000, 0x80000000
SYS_SWAPON, SYS_SOCKETPAIR = 167, 53


def forbid(number):
    install_filter((LOAD_NUMBER, 0, 0, 0), (IF_EQUAL, 0, 1, number), (RETURN, 0, 0, KILL_PROCESS), (RETURN, 0, 0, ALLOW))
