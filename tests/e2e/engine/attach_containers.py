"""attach -engine translator, from outside, to processes that have another root directory or other mounts: containers and chroots."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import types

import attaching
import fxt_spans
import harness
from attaching import is_free, maps, sleeps_of_threads, state_of_signals
from harness import read_until, wait_until

ENTER_ROOT = pathlib.Path(__file__).parent.parent / "shared" / "enter_root.py"


def libraries_of(program):
    listed = subprocess.run(["ldd", program], capture_output=True, check=False).stdout.decode()
    return re.findall(r"(/\S+) \(0x", listed)


def kill_if_there(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class AttachContainers(attaching.TestCase):
    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.root.chmod(0o755)

    def install(self, program, path):
        """Puts a test program with its libraries into the root, at `path`."""
        compiled = harness.compile_program(program)
        for source, target in [(compiled, path), *((library, library) for library in libraries_of(compiled))]:
            copy = self.root / str(target).lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
        for folder in ("proc", "tmp"):
            (self.root / folder).mkdir(exist_ok=True)
        (self.root / "tmp").chmod(0o1777)
        return str(path)

    def skip_in_chroot(self, pid, *paths):
        """In a chroot, the kernel shows paths of other mount namespaces from their own beginning (docs/translator.md)."""
        shown = {line.split(maxsplit=5)[-1] for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()}
        if not shown & set(map(str, paths)):
            self.skipTest(f"the kernel does not show {paths[0]} here: these tests run in a chroot")

    def enter(self, how, *command, unshare=(), **more):
        """What it prints comes from .stdout, its number here is .pid."""
        flags = ["unshare", *unshare, "--kill-child", "-f"] if unshare else []
        if os.geteuid() != 0 or subprocess.run([*flags, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest(f"no root directory can be entered here: {' '.join(flags)}")
        enter = [*flags, sys.executable, str(ENTER_ROOT), how, str(self.root)]
        tried = subprocess.run([*enter, "/nonexistent"], check=False, capture_output=True, text=True).stderr
        if "FileNotFoundError" not in tried:  # it did not get as far as to the program
            self.skipTest(f"no root directory can be entered here: {tried.strip().splitlines()[-1:]}")
        process = self.start_command([*enter, *map(str, command)], **more)
        pid = process.pid
        if unshare or "users" in how:
            pid = int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text())
            self.addCleanup(kill_if_there, pid)  # that it dies with its parent is forgotten when it changes its user
        self.skip_in_chroot(pid, command[0], f"{self.root}{command[0]}")
        return types.SimpleNamespace(pid=pid, stdout=process.stdout, process=process)

    def container(self, *command, how="pivot,proc", **more):
        return self.enter(how, *command, unshare=("-p", "-m"), **more)

    def assert_goes_on(self, inside, output=b"0 faults in many requests\n", own=()):
        wait_until(lambda: is_free(inside.pid, own))
        os.kill(inside.pid, signal.SIGTERM)
        self.assertEqual(inside.stdout.read(), output)

    def decoy(self):
        """A path at which another program lies here."""
        place = self.folder / "server"
        shutil.copy(harness.compile_program("recursion"), place)
        return place

    def assert_requests(self, traced):
        requests = [span.stack for span in fxt_spans.read_whole(traced.trace).spans if span.name == "request"]
        self.assertTrue(requests)
        self.assertTrue(all({"main", "start_thread"} & set(stack) for stack in requests), requests)
        self.assert_no_gaps(traced)
        self.judge_trace(traced.trace)
        self.judge_instructions(traced)
        self.assert_perf_agrees(traced)

    def test_container(self):
        """a trigger by its symbol; the files are the container's, though others have their paths here; the recording needs neither"""
        inside = self.container(self.install("busy", self.decoy()), 2)
        before = state_of_signals(inside.pid), os.listdir(f"/proc/{inside.pid}/fd")
        traced = self.attach(inside, "-trigger", "request", "-multi-thread")
        self.assertEqual((state_of_signals(inside.pid), os.listdir(f"/proc/{inside.pid}/fd")), before)
        self.assert_goes_on(inside)
        self.assert_requests(traced)
        shutil.rmtree(self.root)
        again = self.folder / "again.fxt"
        decoded = self.magic_trace("decode", "-working-directory", traced.directory, "-o", again)
        self.assertEqual(decoded.status, 0, decoded.stderr)
        self.assertEqual(self.spans(again), self.spans(traced.trace))

    def test_line(self):
        """a trigger by a line of source, in the container's debug information, and calls that last"""
        inside = self.container(self.install("busy", self.decoy()), 2)
        source = (harness.PROGRAMS / "busy.c").read_text().splitlines()
        line = next(number for number, text in enumerate(source, 1) if "value = part(value" in text)
        traced = self.attach(inside, "-trigger", f"busy.c:{line}", "-multi-thread")
        self.assertIn("[ Snapshot taken. ]", traced.messages)
        self.assert_requests(traced)
        wait_until(lambda: is_free(inside.pid))
        self.assert_requests(self.attach(inside, "-trigger", "request", "-longer-than", "1ns", "-multi-thread"))
        self.assert_goes_on(inside)

    def test_chroot(self):
        """a chroot among our mounts, as another user, and in it one with its own mounts, which it may not write to"""
        path = self.install("busy", self.decoy())
        for how, unshare in (("chroot,proc,nobody", ("-m",)), ("pivot,proc,read-only,nobody", ("-m", "-p"))):
            with self.subTest(how):
                inside = self.enter(how, path, 2, unshare=unshare)
                self.assert_requests(self.attach(inside, "-trigger", "request", "-multi-thread"))
                self.assert_goes_on(inside)

    def test_users(self):
        """other users: root of a user namespace, who is another user here"""
        inside = self.enter("users,pivot,proc", self.install("busy", self.decoy()), 2)
        self.assertIn("\nUid:\t100000\t", pathlib.Path(f"/proc/{inside.pid}/status").read_text())
        self.assert_requests(self.attach(inside, "-trigger", "request", "-multi-thread"))
        self.assert_goes_on(inside)

    def test_mounts(self):
        """our root directory, but another file is mounted where the program lies, as services may have it"""
        place, other = self.decoy(), self.folder / "other"
        shutil.copy(harness.compile_program("busy"), other)
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
            self.skipTest("only root makes such a process")
        inside = self.start_command(["unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && exec "$2" 2', "sh", other, place])
        self.skip_in_chroot(inside.pid, place)
        self.assert_requests(self.attach(inside, "-trigger", "request", "-multi-thread"))
        self.assert_goes_on(inside)

    def read_only(self, *command):
        """The command in mounts of its own, of which that of the recording is read only."""
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
            self.skipTest("only root makes such a process")
        return ["unshare", "-m", "sh", "-c", 'mount -o bind,ro "$0" "$0" && exec "$@"', self.folder, *command]

    def test_read_only(self):
        """our files, but the folder of the recording is mounted read only, as sandboxes and services have all folders"""
        inside = self.start_command([str(word) for word in self.read_only(harness.compile_program("busy"), 2)])
        self.assert_requests(self.attach(inside, "-trigger", "request", "-multi-thread"))
        self.assert_goes_on(inside)

    def test_run_into_read_only(self):
        """run -follow: what is executed where the folder of the recording is read only is traced"""
        command = [str(word) for word in self.read_only(harness.compile_program("recursion"))]
        traced = self.trace(command, "-engine", "translator", "-follow", "-multi-thread")
        self.assert_same_as_untraced(traced, command)
        self.assertNotIn("ntraced", traced.messages)
        self.assertIn("main", self.spans(traced.trace))

    def test_static(self):
        """a root with nothing in it but a program that needs no library, made with musl"""
        if not shutil.which("musl-gcc"):
            self.skipTest("musl-gcc is not installed")
        for folder in ("proc", "tmp"):
            (self.root / folder).mkdir()
        subprocess.run(["musl-gcc", "-static", "-O0", "-g", "-o", self.root / "server", harness.PROGRAMS / "busy.c"], check=True)
        inside = self.container("/server", 2)
        traced = self.attach(inside, "-trigger", "request", "-multi-thread")
        self.assertGreater(self.spans(traced.trace)["request"], 0)
        self.assert_no_gaps(traced)
        self.judge_instructions(traced)
        self.assert_goes_on(inside)

    @harness.needs_breakpoints
    def test_other_engines(self):
        """stepped, and sampled: the names are of the container's files, too"""
        inside = self.container(self.install("busy", self.decoy()), 2)
        for engine in ("ptrace", "sample"):
            with self.subTest(engine):
                traced = self.attach(inside, "-engine", engine, "-trigger", "request")
                self.assertEqual(json.loads((traced.directory / "session.json").read_text())["engine"], engine)
                names = set(self.spans(traced.trace))
                self.assertFalse({"fib", "is_even", "is_odd", "[server]"} & names, names)
                copy, = (traced.directory / "images").glob("file-*" + str(self.folder / "server"))
                self.assertEqual(copy.read_bytes(), pathlib.Path(harness.compile_program("busy")).read_bytes())
                if engine == "ptrace":  # there may be no sample
                    self.judge_instructions(traced)
                    self.assertIn("request", names)
        self.assert_goes_on(inside)

    def test_run_into_chroot(self):
        """run -follow: what is executed in another root directory has the names of its files there"""
        path = self.install("busy", self.decoy())
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
            self.skipTest("only root enters another root directory")
        directory, trace = self.folder / "recording", self.folder / "trace.fxt"
        finished = self.magic_trace("run", "-engine", "translator", "-follow", "-multi-thread", "-working-directory", directory,
                                    "-o", trace, "--", "unshare", "-m", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$1" 1 1',
                                    self.root, path)
        self.assertEqual(finished.status, 0, finished.stderr)
        traced = harness.Traced(finished, directory, trace)
        names = self.spans(trace)
        self.assertGreater(names["request"], 0)
        self.assertFalse({"fib", "is_even"} & set(names))
        self.assert_no_gaps(traced)
        self.judge_instructions(traced)

    def test_without_proc(self):
        """a root without /proc is refused, and what to do is said"""
        inside = self.container(self.install("busy", self.decoy()), 2, how="pivot")
        before = state_of_signals(inside.pid), os.listdir(f"/proc/{inside.pid}/fd")
        refused = self.attach(inside, "-trigger", "request", expect=1)
        self.assertIn("it cannot open its /proc/self/maps (No such file or directory). ", refused.messages)
        self.assertIn("Mount a proc file system in its root directory", refused.messages)
        self.assertEqual((state_of_signals(inside.pid), os.listdir(f"/proc/{inside.pid}/fd")), before)
        self.assert_goes_on(inside)

    def test_names_of_code(self):
        """what a just-in-time compiler says in /tmp of the container, with the number that it knows, as its own user"""
        inside = self.container(self.install("named_code", "/server"), how="pivot,proc,nobody")
        own = maps(inside.pid)
        traced = self.record_for_a_moment(inside, sleeps=5)
        self.assertGreater(self.spans(traced.trace)["named_in_the_map"], 0)
        self.assert_goes_on(inside, b"right\n", own)

    def test_gone(self):
        """the container ends while it is recorded, and its files with it"""
        inside = self.container(self.install("busy", self.decoy()), 2)
        directory, trace = self.folder / "recording", self.folder / "trace.fxt"
        recorder = subprocess.Popen(self.command(inside, directory, "-multi-thread", "-o", trace), stderr=subprocess.PIPE)
        read = read_until(recorder.stderr, b"Attached")
        before = sleeps_of_threads(inside.pid)
        wait_until(lambda: all(slept >= before[tid] + 5 for tid, slept in sleeps_of_threads(inside.pid).items()))
        os.kill(inside.pid, signal.SIGKILL)
        shutil.rmtree(self.root)
        rest = recorder.communicate()[1]
        self.assertEqual(recorder.returncode, 0, rest)
        traced = harness.Traced((0, b"", (read or b"") + rest), directory, trace)
        self.assertGreater(self.spans(trace)["request"], 0)
        self.assert_no_gaps(traced)
        self.judge_instructions(traced)

    def test_killed(self):
        """magic-trace is killed: what it recorded of a container is finished later, when that is gone"""
        inside = self.container(self.install("busy", self.decoy()), 2)
        directory, trace = self.folder / "recording", self.folder / "trace.fxt"
        recorder = subprocess.Popen(self.command(inside, directory, "-multi-thread", "-no-decode"), stderr=subprocess.PIPE)
        read_until(recorder.stderr, b"Attached")
        wait_until((directory / "images" / str(self.folder / "server").lstrip("/")).exists)
        before = sleeps_of_threads(inside.pid)
        wait_until(lambda: all(slept >= before[tid] + 5 for tid, slept in sleeps_of_threads(inside.pid).items()))
        recorder.kill()
        recorder.communicate()
        self.assert_goes_on(inside)
        shutil.rmtree(self.root)
        decoded = self.magic_trace("decode", "-working-directory", directory, "-o", trace)
        self.assertEqual(decoded.status, 0, decoded.stderr)
        self.assertGreater(self.spans(trace)["request"], 0)

    def test_again_and_again(self):
        """threads and children that begin and end meanwhile, with signals and sleeps, never notice; a third of the recorders is killed"""
        inside = self.container(self.install("attached", self.decoy()), 1200, 16)
        for number in range(6):
            if number % 3:
                self.record_for_a_moment(inside, "-multi-thread", "-no-decode", "-snapshot-size", "64K")
            else:
                directory = self.folder / f"recording{number}k"
                recorder = subprocess.Popen(self.command(inside, directory, "-multi-thread", "-no-decode"), stderr=subprocess.PIPE)
                read_until(recorder.stderr, b"Attached")
                recorder.kill()
                recorder.communicate()
            wait_until(lambda: is_free(inside.pid))
        os.kill(inside.pid, signal.SIGINT)
        output = inside.stdout.read()
        self.assertEqual(inside.process.wait(), 0, output)
        self.assertRegex(output, rb"^done ")
