"""run -record-from and -record-until: a program is recorded between two places, and runs natively before and after."""
import os
import pathlib
import signal

import harness
from attach import states, tracers
from harness import read_until, wait_until


def has_arena(pid):
    return "/translator/arena" in pathlib.Path(f"/proc/{pid}/maps").read_text()


class Bounded(harness.TestCase):
    def record(self, words, *options, expect=0, **process):
        """The spans of `bounded WORDS`, whose output is as without tracing."""
        command = [harness.compile_program("bounded"), *words.split()]
        traced = self.trace(command, *options, expect=expect, **process)
        if not expect:
            self.assert_same_as_untraced(traced, command, **process)
            self.assert_no_gaps(traced)
            traced.calls = self.spans(traced.trace)
        return traced

    def assert_calls(self, traced, **counts):
        self.assertEqual({name: traced.calls[name] for name in counts}, counts, traced.messages)

    def test_between(self):
        """from the first arrival at one place to the next one at another; its callers are known; judges agree"""
        traced = self.record("begin warm begin middle warm end begin end", "-record-from", "middle", "-record-until", "end")
        self.assert_calls(traced, begin=0, middle=1, warm=2, end=1, main=1)
        self.assertIn("middle was reached: recording.", traced.messages)
        self.assertIn("end was reached: the recording has ended", traced.messages)
        self.assert_perf_agrees(traced)
        self.judge_instructions(traced)

    def test_one_bound(self):
        """only one of the two is given"""
        self.assert_calls(self.record("begin middle end", "-record-from", "middle"), begin=0, middle=1, end=1)
        traced = self.record("begin middle end middle", "-record-until", "middle")
        self.assert_calls(traced, begin=1, middle=1, end=0)

    def test_same_place(self):
        """one round of a loop: both bounds are the same function"""
        traced = self.record("warm begin middle begin end begin", "-record-from", "begin", "-record-until", "begin")
        self.assert_calls(traced, begin=2, middle=1, end=0)

    def test_library(self):
        """a function of a library, which is mapped when the program has begun; a line; an instruction"""
        traced = self.record("begin thread begin middle", "-record-from", "pthread_create")
        self.assert_calls(traced, pthread_create=1, middle=1, main=1)
        line = pathlib.Path(harness.PROGRAMS / "bounded.c").read_text().split("\n").index("    warm(20);") + 1
        self.assert_calls(self.record("begin middle", "-record-from", f"bounded.c:{line}"), begin=0, middle=1, warm=1)

    def test_threads(self):
        """the thread that arrives is traced; all of them with -multi-thread; those that wait do not notice"""
        words = "sleepers thread warm thread begin middle"
        traced = self.record(words, "-record-from", "begin")
        self.assert_calls(traced, begin=1, middle=0)
        traced = self.record(words, "-record-from", "begin", "-multi-thread")
        self.assert_calls(traced, begin=1, middle=1)

    def test_signals(self):
        """signals arrive while it runs natively, and while it is traced"""
        traced = self.record("signals begin signals", "-record-from", "begin")
        self.assert_calls(traced, begin=1, handle=200)

    def test_children(self):
        """a child does not reach the place for its parent; programs that it executes do with -follow"""
        traced = self.record("fork begin middle begin", "-record-from", "begin")
        self.assert_calls(traced, begin=1, middle=0)
        traced = self.record("warm exec middle begin end", "-record-from", "begin", "-follow")
        self.assert_calls(traced, middle=0, begin=1, end=1)
        traced = self.record("warm exec begin", "-record-from", "begin", expect=1)
        self.assertIn("nothing was recorded", traced.messages)

    def test_never(self):
        """places that are not reached are named"""
        traced = self.record("middle", "-record-from", "begin", expect=1)
        self.assertIn("nothing was recorded", traced.messages)
        self.assertIn("before it had reached begin", traced.messages)
        self.assertFalse((traced.directory / "perf.data").exists())
        traced = self.record("begin middle", "-record-from", "begin", "-record-until", "end")
        self.assert_calls(traced, begin=1, middle=1)
        self.assertIn("end was not reached by a traced thread", traced.messages)

    def test_refusals(self):
        """unknown places, and engines that cannot: before the program runs"""
        program = harness.compile_program("bounded")
        for options, why in ((["-record-from", "nowhere"], b"nowhere is no function of"),
                             (["-record-until", ""], b"-record-until needs the name of a place"),
                             (["-record-from", "begin", "-engine", "qemu"], b"-engine translator")):
            finished = self.magic_trace("run", *options, program, "begin")
            self.assertNotEqual(finished.status, 0)
            self.assertIn(why, finished.stderr)
            self.assertEqual(finished.stdout, b"")

    def start(self, words, *options):
        directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        recorder = self.start_until_ready(directory, *options, command=[harness.compile_program("bounded"), *words.split()])
        children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        names = {pathlib.Path(f"/proc/{child}/comm").read_text().strip(): int(child) for child in children}
        return recorder, names["bounded"], names.get("mt-attacher")

    def finish(self, recorder):
        recorder.stdin.write(b"\n\n")
        recorder.stdin.close()
        output, messages = recorder.stdout.read(), recorder.stderr.read()
        self.assertEqual(output, b"%d\n" % (4999950000 + 45 + 435), messages)
        return messages

    @harness.needs_breakpoints
    def test_native_before_and_after(self):
        """nothing of the translator is in the process before and after; nobody traces it afterwards"""
        recorder, pid, attacher = self.start("sleepers warm pause begin end pause", "-record-from", "begin",
                                             "-record-until", "end")
        self.assertFalse(has_arena(pid))
        self.assertEqual(tracers(pid), {attacher})
        recorder.stdin.write(b"\n")
        recorder.stdin.flush()
        read_until(recorder.stdout, b"ready")
        wait_until(lambda: not has_arena(pid) and tracers(pid) == {0})
        self.finish(recorder)
        self.assertEqual(recorder.wait(), 0)

    @harness.needs_breakpoints
    def test_interrupted(self):
        """Ctrl-C before the place is reached: the program goes on to its end"""
        recorder, pid, _ = self.start("ignores sleepers warm pause begin end", "-record-from", "begin")
        recorder.send_signal(signal.SIGINT)
        wait_until(lambda: tracers(pid) == {0})
        self.assertIn(b"nothing was recorded", self.finish(recorder))
        self.assertEqual(recorder.wait(), 1)

    @harness.needs_breakpoints
    def test_killed(self):
        """the recorder, or its attacher, is killed before the place is reached: the program goes on to its end"""
        for victim in ("recorder", "attacher"):
            recorder, pid, attacher = self.start("sleepers warm pause begin end", "-record-from", "begin")
            os.kill(recorder.pid if victim == "recorder" else attacher, signal.SIGKILL)
            wait_until(lambda: tracers(pid) == {0} and not states(pid) & {"t", "T"})
            if victim == "attacher":
                read_until(recorder.stderr, b"runs on natively")
            self.finish(recorder)
            recorder.wait()
