"""attach -follow: the children that a process makes while it is attached to are traced, too, and let go with it."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import attaching
import harness
from attaching import is_free
from harness import read_until, wait_until

ROUNDS = int(os.environ.get("MAGIC_TRACE_ATTACH_ROUNDS", "12"))

# Each line of its input is echoed by two programs.
SHELL = 'echo ready; while read -r line; do /bin/echo "$line" | cat; done; echo bye'

# For `begin` it forks a child and starts another program, which answer what they are asked as long as there is someone who asks.
SERVER = """
import os, subprocess, sys

def calculate(number):
    return number * number

def serve(requests, answers):
    for line in os.fdopen(requests):
        os.getppid()
        os.write(answers, b"%d\\n" % calculate(int(line)))
    os._exit(0)

children = []
print("ready", flush=True)
for line in sys.stdin:
    word = line.strip()
    if word == "begin":
        (ours, its), (answer, answers) = os.pipe()[::-1], os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            os.close(answer)
            serve(its, answers)
        os.close(its)
        os.close(answers)
        cat = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        children.append((os.fdopen(ours, "w"), os.fdopen(answer), cat))
        print(child, cat.pid, flush=True)
    else:
        for ours, answer, cat in children:
            print(word, file=ours, flush=True)
            cat.stdin.write(word.encode() + b"\\n")
            cat.stdin.flush()
            print(answer.readline().strip(), cat.stdout.readline().decode().strip(), flush=True)
for ours, answer, cat in children:
    ours.close()
    cat.stdin.close()
print([os.wait()[1] for _ in range(2 * len(children))], flush=True)
"""

# Children all the time, until the file exists.
MANY_CHILDREN = """
echo ready
while [ ! -e "$0" ]; do
    output=$(echo x | /bin/cat; /bin/sh -c 'exec /bin/echo y')
    [ "$output" = 'x
y' ] || echo "mistake: $output"
    (exit 7)
    [ $? = 7 ] || echo "mistake: $?"
done
echo done
"""


class AttachFollow(attaching.TestCase):
    def start_server(self, command):
        return self.start_command(command, stdin=subprocess.PIPE)

    def record(self, process, *options):
        """The recorder, when it has attached."""
        self.directory = self.folder / f"recording{len(list(self.folder.glob('recording*')))}"
        self.trace_file = self.directory.with_suffix(".fxt")
        output = [] if "-no-decode" in options else ["-o", self.trace_file]
        recorder = subprocess.Popen(self.command(process, self.directory, *output, *options), stderr=subprocess.PIPE)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        self.messages = read_until(recorder.stderr, b"Attached")
        return recorder

    def end(self, recorder):
        recorder.send_signal(signal.SIGINT)
        self.messages += recorder.stderr.read()
        self.assertEqual(recorder.wait(), 0, self.messages)
        return harness.Traced((0, b"", self.messages), self.directory, self.trace_file)

    def ask(self, process, line, answers=1):
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        return [process.stdout.readline().decode().strip() for _ in range(answers)]

    def names_in_trace(self):
        return {thread["name"] for thread in self.judge_trace(self.trace_file)["threads"]}

    def test_shell(self):
        """a shell and the programs that it executes; without -follow these run untraced, and a message names it"""
        for options in (["-follow"], []):
            with self.subTest(options=options):
                process = self.start_server(["bash", "-c", SHELL])
                recorder = self.record(process, "-full-execution", *options)
                for i in range(5):
                    self.assertEqual(self.ask(process, f"word {i}"), [f"word {i}"])
                traced = self.end(recorder)
                self.assert_free(process)
                if options:
                    self.assert_no_gaps(traced)
                    self.judge_instructions(traced)
                    self.assertLessEqual({"bash", "echo", "cat"}, self.names_in_trace())
                    self.assertNotRegex(self.messages, b"(?i)untraced")
                else:
                    self.assertEqual(self.names_in_trace(), {"bash"})
                    self.assertRegex(self.messages, b"(?i)ran untraced: .*-follow")
                self.assertEqual(self.ask(process, "more"), ["more"])
                self.assertEqual(process.communicate()[0], b"bye\n")
                self.assertEqual(process.wait(), 0)

    def test_outlived_process(self):
        """a child that lives on when the process attached to has ended is recorded until its end"""
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        script = 'echo ready; read -r line; (read -r line < "$0"; exec /bin/sh -c "exit 0") &'
        process = self.start_server(["bash", "-c", script, fifo])
        recorder = self.record(process, "-follow", "-full-execution")
        process.stdin.write(b"end\n")
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        self.messages += read_until(recorder.stderr, b"A process that was started meanwhile is still recorded")
        fifo.write_text("go on\n")
        self.messages += recorder.stderr.read()
        self.assertEqual(recorder.wait(), 0, self.messages)
        self.assertNotIn(b"Got signal", self.messages)
        self.assertLessEqual({"bash", "sh"}, self.names_in_trace())

    def end_before_child(self, after):
        """Has a process forked and ended before its child has run anything; the child is let go, and runs `after`. The recorder, the child's
        number, and a function that lets it run."""
        process = self.start_server(["bash", "-c", f"echo ready; read -r line; ({after}) &"])
        recorder = self.record(process, "-follow", "-full-execution")
        holder = self.start_server([harness.compile_program("holds_child"), str(process.pid)])
        process.stdin.write(b"end\n")
        process.stdin.close()
        child = int(holder.stdout.readline())
        self.assertEqual(process.wait(), 0)
        self.messages += read_until(recorder.stderr, b"still recorded")
        return recorder, child, lambda: self.assertEqual((holder.stdin.close(), holder.wait()), (None, 0))

    def test_late_child(self):
        """a child that has not run anything when its parent has ended counts as one process, and is recorded"""
        recorder, _, let_run = self.end_before_child("exec /bin/sh -c 'exit 0'")
        let_run()
        self.messages += recorder.stderr.read()
        self.assertEqual(recorder.wait(), 0, self.messages)
        self.assertIn(b"A process that was started meanwhile is still recorded", self.messages)
        self.assertLessEqual({"bash", "sh"}, self.names_in_trace())

    def test_killed_child(self):
        """a child that was killed before it has run anything is not waited for"""
        recorder, child, let_run = self.end_before_child("exit 0")
        os.kill(child, signal.SIGKILL)
        self.messages += recorder.stderr.read()
        self.assertEqual(recorder.wait(), 0, self.messages)
        self.assertNotIn(b"Got signal", self.messages)

    def test_child_of_ended_process(self):
        """a child that sleeps is let go when the process that was attached to has ended before"""
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        process = self.start_server(["bash", "-c", 'echo ready; read -r line; (read -r line < "$0"; echo "$line") & echo $!', fifo])
        recorder = self.record(process, "-follow")
        child = int(self.ask(process, "end")[0])
        self.assertEqual(process.wait(), 0)
        self.messages += read_until(recorder.stderr, b"still recorded")
        self.end(recorder)
        self.assertTrue(is_free(child))
        fifo.write_text("went on\n")
        self.assertEqual(process.stdout.read(), b"went on\n")

    def begin_children(self, process):
        return [int(word) for word in self.ask(process, "begin")[0].split()]

    def assert_all_serve(self, process, children):
        """What was attached to and its children are free, and as they were."""
        for pid in [process.pid, *children]:
            wait_until(lambda pid=pid: is_free(pid))
        count = len(children) // 2
        self.assertEqual(self.ask(process, "12", count), ["144 12"] * count)
        self.assertEqual(process.communicate()[0].decode(), f"{[0] * len(children)}\n")
        self.assertEqual(process.wait(), 0)

    def test_server(self):
        """a server that forks, and starts a program: they are let go while they sleep, with the server"""
        process = self.start_server([sys.executable, "-c", SERVER])
        recorder = self.record(process, "-follow", "-full-execution")
        children = [*self.begin_children(process), *self.begin_children(process)]
        self.assertEqual(self.ask(process, "7", 2), ["49 7"] * 2)
        traced = self.end(recorder)
        self.assert_no_gaps(traced)
        self.judge_instructions(traced)
        self.assert_perf_agrees(traced)
        threads = self.judge_trace(self.trace_file)["threads"]
        self.assertLessEqual({process.pid, *children}, {thread["pid"] for thread in threads})
        self.assertNotRegex(self.messages, b"(?i)untraced")
        self.assert_all_serve(process, children)

    def test_existing_children(self):
        """children that run already are named, with the list of numbers that records them, and that does"""
        process = self.start_server([sys.executable, "-c", SERVER])
        recorder = self.record(process, "-follow")
        self.assertNotIn(b"run already", self.messages)
        children = self.begin_children(process)
        self.end(recorder)
        self.assert_free(process)
        recorder = self.record(process, "-follow")
        pids = ",".join(map(str, [process.pid, *sorted(children)]))
        self.assertRegex(self.messages.decode(), rf"Child processes that run already are not recorded: .*{children[1]} \(cat\).*"
                                                 rf"-pid {pids}")
        self.assertEqual(self.ask(process, "6", 1), ["36 6"])
        self.end(recorder)
        recorder = self.record(types.SimpleNamespace(pid=pids), "-follow", "-multi-thread")
        self.assertNotIn(b"run already", self.messages)
        self.assertEqual(self.ask(process, "7", 1), ["49 7"])
        self.end(recorder)
        threads = self.judge_trace(self.trace_file)["threads"]
        self.assertLessEqual({process.pid, *children}, {thread["pid"] for thread in threads})
        self.assert_all_serve(process, children)

    def test_killed(self):
        """magic-trace is killed by SIGKILL: all of them run natively"""
        process = self.start_server([sys.executable, "-c", SERVER])
        recorder = self.record(process, "-follow")
        children = self.begin_children(process)
        recorder.kill()
        recorder.wait()
        self.assert_all_serve(process, children)

    def test_trigger(self):
        """a forked child hits the trigger"""
        process = self.start_server([sys.executable, "-c", SERVER])
        recorder = self.record(process, "-follow", "-trigger", "getppid")
        children = self.begin_children(process)
        self.assertEqual(self.ask(process, "7"), ["49 7"])
        self.messages += recorder.stderr.read()
        self.assertEqual(recorder.wait(), 0, self.messages)
        self.assertIn(b"Snapshot taken", self.messages)
        self.assertIn(children[0], {thread["pid"] for thread in self.judge_trace(self.trace_file)["threads"]})
        self.assert_all_serve(process, children)

    def test_executes_itself(self):
        """the process that was attached to executes another program, and is let go in that"""
        process = self.start_server(["sh", "-c", "echo ready; read line; echo $line; exec cat"])
        recorder = self.record(process, "-follow", "-full-execution")
        self.assertEqual(self.ask(process, "first"), ["first"])
        wait_until(lambda: pathlib.Path(f"/proc/{process.pid}/comm").read_text() == "cat\n")
        self.assertEqual(self.ask(process, "second"), ["second"])
        self.end(recorder)
        self.assertIn("cat", self.names_in_trace())
        self.assert_free(process)
        self.assertEqual(self.ask(process, "third"), ["third"])
        self.assertEqual(process.communicate()[0], b"")
        self.assertEqual(process.wait(), 0)

    def test_again_and_again(self):
        """children begin and execute while they are attached to and let go; a third of the recorders is killed"""
        stop = self.folder / "stop"
        process = self.start_server(["bash", "-c", MANY_CHILDREN, str(stop)])
        for i in range(ROUNDS):
            recorder = self.record(process, "-follow", "-no-decode", "-snapshot-size", "64K")
            time.sleep(0.05 * (i % 4))
            if i % 3 == 2:
                recorder.kill()
                recorder.wait()
            else:
                recorder.send_signal(signal.SIGINT)
                self.messages += recorder.stderr.read()
                # Whether the shell itself ran meanwhile is up to its children.
                self.assertTrue(recorder.wait() == 0 or b"slept all the time" in self.messages, self.messages)
            wait_until(lambda: is_free(process.pid))
        stop.touch()
        self.assertEqual(process.stdout.read(), b"done\n")
        self.assertEqual(process.wait(), 0)

    def test_ptrace_engine(self):
        """the ptrace engine refuses it, and the message names the one that can"""
        process = self.start("busy", 1)
        refused = self.magic_trace("attach", "-engine", "ptrace", "-follow", "-trigger", "request", "-pid", process.pid)
        self.assertEqual(refused.status, 1)
        self.assertRegex(refused.stderr, b"-follow.*-engine translator")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"0 faults in many requests\n")
