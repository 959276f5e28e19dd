"""attach -engine translator: a running process is traced as one that `run` starts, and goes on as if nothing had been."""
import ctypes
import os
import pathlib
import random
import signal
import subprocess
import time

import harness
from attach import states, tracers
from harness import Settings, read_until, wait_until

ROUNDS = int(os.environ.get("MAGIC_TRACE_ATTACH_ROUNDS", "12"))


def maps(pid):
    """What is mapped, without the heaps and stacks that grow."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return sorted(" ".join(line.split()[1:]) for line in lines if "arena" in line or "rwxp" in line)


def state_of_signals(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return [line for line in text.splitlines() if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]


def sleeps_of_threads(pid):
    """{thread: how often it has slept}, of a process whose threads stay."""
    return {status.parent.name: int(status.read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0])
            for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status")}


def is_free(pid, own=()):
    """Nobody traces it, no thread is stopped, and nothing of the translator is left, only its `own` mappings."""
    try:
        return tracers(pid) == {0} and not states(pid) & {"T", "t"} and maps(pid) == list(own)
    except FileNotFoundError:
        return False  # a thread that has ended meanwhile


class AttachTranslator(harness.TestCase):
    def start(self, program, *arguments, flags=(), **more):
        process = subprocess.Popen([harness.compile_program(program, flags), *map(str, arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(process.stdout.readline().startswith(b"ready"))
        return process

    def command(self, process, directory, *options):
        return [str(word) for word in
                [Settings.binary, "attach", "-engine", "translator", "-pid", process.pid, "-working-directory", directory,
                 *options]]

    def attach(self, process, *options, expect=0):
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        trace = directory.with_suffix(".fxt")
        finished = self.magic_trace(*self.command(process, directory, "-o", trace, *options)[1:])
        self.assertEqual(finished.status, expect, finished.stderr)
        return harness.Traced(finished, directory, trace)

    def record_for_a_moment(self, process, *options, sleeps=0):
        """Until Ctrl-C, which comes when it is attached and a little later, or when each thread has slept `sleeps` times."""
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        trace = directory.with_suffix(".fxt")
        recorder = subprocess.Popen(self.command(process, directory, "-o", trace, *options), stderr=subprocess.PIPE)
        read = read_until(recorder.stderr, b"Attached")
        if sleeps:
            before = sleeps_of_threads(process.pid)
            wait_until(lambda: all(slept >= before[tid] + sleeps for tid, slept in sleeps_of_threads(process.pid).items()))
        else:
            time.sleep(0.05 + random.random() / 10)
        recorder.send_signal(signal.SIGINT)
        rest = recorder.communicate()[1]
        self.assertEqual(recorder.returncode, 0, rest)
        return harness.Traced((0, b"", (read or b"") + rest), directory, trace)

    def assert_free(self, process, own=()):
        wait_until(lambda: is_free(process.pid, own))

    def test_trigger(self):
        """what led up to a trigger, with whole stacks; all judges agree; the process goes on"""
        process = self.start("busy", 4)
        traced = self.attach(process, "-trigger", "request", "-multi-thread")
        self.assert_free(process)
        spans = self.spans(traced.trace)
        self.assertGreaterEqual(spans["request"], 1)
        self.assertIn("start_thread", spans)
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

    def test_again_and_again(self):
        """threads that sleep in all ways, compute, handle signals, and create others never notice; a third of the
        recorders is killed"""
        process = self.start("attached", 120, 16)
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
        process = self.start("attached", 120, 16)
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
        filtered = self.start("busy", 1, preexec_fn=filter_calls)
        messages = attach(filtered, "-trigger", "request")
        self.assertIn(b"The translator engine cannot attach to process %d: it has a seccomp filter" % filtered.pid, messages)
        self.assertIn(b"Recording with the ptrace engine: ", messages)
        self.assert_free(filtered)
        filtered.kill()
        messages = attach(filtered)
        self.assertNotIn(b"Recording with the ptrace engine: ", messages)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")

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
        filtered = subprocess.Popen(["sleep", "100"], preexec_fn=filter_calls)
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


def filter_calls():
    """A seccomp filter that allows everything."""
    libc = ctypes.CDLL(None)
    program = (ctypes.c_char * 8)(*(0x7fff000000000006).to_bytes(8, "little"))  # BPF_RET | BPF_K, SECCOMP_RET_ALLOW

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    libc.prctl(22, 2, ctypes.byref(Filter(1, ctypes.addressof(program))), 0, 0)  # PR_SET_SECCOMP
