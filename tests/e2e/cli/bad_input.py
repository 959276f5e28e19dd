"""Bad input: a clear message, a status that is not 0, no crash, and nothing recorded is lost."""
import contextlib
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess

import harness


@contextlib.contextmanager
def small_disk(path, size):
    """A tmpfs of `size`; skips the test where it cannot be mounted."""
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise harness.unittest.SkipTest("cannot mount a tmpfs here")
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=False)


class BadProgram(harness.TestCase):
    def assert_refused(self, program, *words, **options):
        """`run PROGRAM` fails with all of the words, and leaves neither a trace nor a recording."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = dict(options.pop("env", harness.Settings.environment), TMPDIR=str(temporary))
        finished = self.magic_trace("run", "-o", self.folder / "t.fxt", program, env=environment,
                                    **options)
        text = finished.stderr.decode()
        self.assertEqual(finished.status, 1, text)
        for word in words:
            self.assertIn(word.lower(), text.lower())
        self.assertEqual(os.listdir(temporary), [])
        self.assertFalse((self.folder / "t.fxt").exists())

    def elf(self, machine, bits=2):
        """A file that begins like a program for `machine` (ELF e_machine), of 32 (1) or 64 (2) bits."""
        path = self.folder / f"elf{machine}"
        header = b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, machine, 1)
        path.write_bytes(header.ljust(4096, b"\0"))
        path.chmod(0o755)
        return path

    def test_missing(self):
        """no such file, in a folder and in PATH"""
        self.assert_refused("./no-such-program", "no-such-program")
        self.assert_refused("no-such-program-anywhere", "no-such-program-anywhere",
                            os.environ["PATH"].split(":")[0])

    def test_not_executable(self):
        """not executable; a folder; an empty file; text that is no script"""
        plain = self.folder / "plain"
        plain.write_text("#!/bin/sh\n")
        self.assert_refused(plain, "plain", "execut")
        self.assert_refused(self.folder, "directory")
        for content in ("", "just text\n"):
            file = self.folder / "text"
            file.write_text(content)
            file.chmod(0o755)
            self.assert_refused(file, "text")

    def test_other_machines(self):
        """32-bit and ARM programs are named as what they are"""
        self.assert_refused(self.elf(3, bits=1), "32")
        self.assert_refused(self.elf(183), "aarch64")
        self.assert_refused(self.elf(40, bits=1), "arm")

    def test_script_without_interpreter(self):
        """a script whose interpreter is missing"""
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        self.assert_refused(script, "/no/such/interpreter")

    def test_setuid(self):
        """a setuid program: refused by the qemu engine, under which it would run without its privileges; root traces it"""
        program = self.folder / "setuid"
        shutil.copy(harness.compile_program("recursion"), program)
        program.chmod(0o4755)
        finished = self.magic_trace("run", "-engine", "qemu", "-o", self.folder / "t.fxt", program)
        self.assertEqual(finished.status, 1, finished.stderr)
        self.assertIn(b"setuid", finished.stderr)
        if os.geteuid() == 0:
            traced = self.trace([program], "-engine", "translator")
            self.assert_same_as_untraced(traced, [program])

    def test_no_qemu(self):
        """qemu-user is missing: -engine qemu says what to install, and without it the translator is taken"""
        environment = dict(harness.Settings.environment, PATH=str(self.folder))
        program = harness.compile_program("recursion")
        finished = self.magic_trace("run", "-engine", "qemu", "-o", self.folder / "t.fxt", program, env=environment)
        self.assertEqual(finished.status, 1, finished.stderr)
        self.assertIn(b"qemu-user", finished.stderr)
        finished = self.magic_trace("run", "-o", self.folder / "t.fxt", program, env=environment)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"translator engine", finished.stderr)

    def test_qemu_lacks_an_instruction(self):
        """a program that dies of an instruction which qemu does not emulate: the message names the cause and what works"""
        source = self.folder / "wide.c"
        source.write_text('int main(void) { __asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc0"); return 0; } /* vpaddd %zmm0 */\n')
        program = harness.compile_program("wide", source=source)
        finished = self.magic_trace("run", "-engine", "qemu", "-o", self.folder / "t.fxt", program)
        if b"Illegal instruction" not in finished.stderr:
            self.skipTest("this machine's qemu has no plugins, or emulates AVX-512")
        self.assertIn(b"AVX-512", finished.stderr)
        self.assertIn(b"-engine translator", finished.stderr)

    def test_qemu_lacks_io_uring(self):
        """a program that asks for io_uring, which qemu does not emulate: the message names the cause and what works; no other engine says so"""
        source = self.folder / "ring.c"
        source.write_text('''#include <stdio.h>
            #include <string.h>
            #include <sys/syscall.h>
            #include <unistd.h>
            int main(void)
            {
                char parameters[120] = {0}; /* struct io_uring_params, of which all may be 0 */
                int ring = (int)syscall(SYS_io_uring_setup, 8, parameters);
                puts(ring < 0 ? "without" : "with");
                return 0;
            }
            ''')
        program = harness.compile_program("ring", source=source)
        natively = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout
        for engine in ("qemu", "translator"):
            with self.subTest(engine):
                finished = self.magic_trace("run", "-engine", engine, "-o", self.folder / "t.fxt", program)
                if finished.status != 0:
                    self.skipTest(f"-engine {engine} does not run here")
                said = b"which qemu does not emulate: it got ENOSYS" in finished.stderr
                self.assertEqual(said, finished.stdout != natively, finished.stderr)


class BadOutput(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.program = harness.compile_program("recursion")
        self.mark = self.folder / "ran"

    def assert_not_run(self, *options):
        """Fails before the program runs."""
        finished = self.magic_trace("run", *options, "touch", self.mark)
        self.assertEqual(finished.status, 1, finished.stderr)
        self.assertFalse(self.mark.exists(), "the program ran although its trace could not be written")
        return finished.stderr.decode()

    def test_output_folder_missing(self):
        """the output's folder is missing, or the output is a folder: said before the program runs"""
        text = self.assert_not_run("-o", self.folder / "missing" / "t.fxt")
        self.assertIn(str(self.folder / "missing"), text)
        self.assert_not_run("-o", self.folder)

    def test_output_folder_read_only(self):
        """the output's folder is read-only"""
        with small_disk(self.folder / "disk", "1m") as disk:
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            self.assert_not_run("-o", disk / "t.fxt")
            self.assert_not_run("-o", self.folder / "t.fxt", "-working-directory", disk / "r")

    def test_limits(self):
        """a small stack is enough; a limit of files' sizes is an error like a full disk, and the program keeps both limits"""
        with_stack = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))}
        for engine in ("translator", "sample"):
            traced = self.trace(["bash", "-c", "ulimit -s"], "-engine", engine, **with_stack)
            self.assertEqual(traced.stdout, b"256\n")
            finished = self.magic_trace("decode", "-o", self.folder / "t.fxt", traced.directory, **with_stack)
            self.assertEqual(finished.status, 0, finished.stderr)
        with_files = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))}
        finished = self.magic_trace("run", "-sampling", "-o", self.folder / "t.fxt", "-working-directory", self.folder / "limited",
                                    "bash", "-c", "ulimit -f; for ((i = 0; i < 300000; i++)) do :; done", **with_files)
        self.assertEqual(finished.stdout, b"64\n")
        self.assertEqual(finished.status, 1, finished.stderr)
        self.assertIn(b"File too large", finished.stderr)

    def test_waits_for_nothing(self):
        """a FIFO in the place of a file of the recording, or of the output, is an error: nobody may ever write to it"""
        recording = self.trace([self.program], "-no-decode").directory
        for name in ("perf.data", "session.json", "images/kallsyms"):
            path = recording / name
            path.parent.mkdir(exist_ok=True)
            saved = path.read_bytes() if path.exists() else None
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            finished = self.magic_trace("decode", "-o", self.folder / "t.fxt", recording)
            if name == "perf.data":
                self.assertEqual(finished.status, 1, finished.stderr)
                self.assertIn(b"not a regular file", finished.stderr)
            path.unlink()
            if saved:
                path.write_bytes(saved)
        os.mkfifo(self.folder / "output")
        finished = self.magic_trace("decode", "-o", self.folder / "output", recording)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"nothing reads from it", finished.stderr)
        with (recording / "session.json").open("wb") as file:
            file.truncate(1 << 32)
        finished = self.magic_trace("decode", "-o", self.folder / "t.fxt", recording)
        self.assertIn(b"larger than 64 MB", finished.stderr)

    def reading(self, *arguments, **options):
        """magic-trace when it has said that it waits for its input"""
        process = subprocess.Popen([harness.Settings.binary, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=harness.Settings.environment, **options)
        self.addCleanup(process.kill)
        harness.read_until(process.stderr, b"Waiting for input from ")
        return process

    def test_says_what_it_waits_for(self):
        """a FIFO that nothing writes to, or a silent pipe, as a trace or recording: a message, then the input or Ctrl-C"""
        traced = self.trace([self.program])
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for command in (["report"], ["decode", "-o", "t.fxt"], ["query"]):
            process = self.reading(*command, fifo)
            process.send_signal(signal.SIGINT)
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGINT)
        process = self.reading("report", fifo)
        fifo.write_bytes(traced.trace.read_bytes())
        output, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(output, self.magic_trace("report", traced.trace).stdout)
        process = self.reading("decode", "-o", "t.fxt", "-", stdin=subprocess.PIPE)
        _, message = process.communicate((traced.directory / "perf.data").read_bytes())
        self.assertEqual(process.returncode, 0, message)

    def test_file_limit(self):
        """ulimit -f: the translator, which needs a large sparse file, says so before the program runs"""
        finished = self.magic_trace("run", "-engine", "translator", "-o", self.folder / "t.fxt", "touch", self.mark,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19)))
        self.assertEqual(finished.status, 1, finished.stderr)
        self.assertIn(b"ulimit -f", finished.stderr)
        self.assertFalse(self.mark.exists())

    def test_open_files(self):
        """ulimit -n: the program gets as many as without; where magic-trace itself has too few, it says so and how many, before the program runs"""
        program = harness.compile_program("open_files")
        for few, works in ((6, False), (8, False), (20, True), (64, True)):
            with self.subTest(few=few):
                limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))}
                finished = self.magic_trace("run", "-engine", "translator", "-o", self.folder / "t.fxt", program, **limited)
                if works:
                    self.assertEqual(finished.status, 0, finished.stderr)
                    self.assertEqual(finished.stdout, subprocess.check_output([program], **limited))
                else:
                    self.assertEqual((finished.status, finished.stdout), (1, b""), finished.stderr)
                    self.assertIn(f"no more than {few} of them".encode(), finished.stderr)

    def test_disk_full_while_writing_the_trace(self):
        """the disk is full when the trace is written: the recording is kept and can be decoded elsewhere"""
        with small_disk(self.folder / "disk", "64k") as disk:
            recording = self.folder / "r"
            finished = self.magic_trace("run", "-full-execution", "-o", disk / "t.fxt",
                                        "-working-directory", recording, self.program)
            self.assertEqual(finished.status, 1)
            self.assertIn("No space left", finished.stderr.decode())
            self.assertIn(f"magic-trace decode {recording}", finished.stderr.decode())
            self.assertEqual(os.listdir(disk), [])
        finished = self.magic_trace("decode", recording, "-o", self.folder / "t.fxt.gz")
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(self.spans(self.folder / "t.fxt.gz")["fib"], 21891)

    def test_disk_full_while_recording(self):
        """the disk is full while the program runs: the program ends as it would, and what fitted is decoded"""
        with small_disk(self.folder / "disk", "8m") as disk:
            command = [harness.compile_program("branchy"), "30000000"]
            finished = self.magic_trace("run", "-full-execution", "-o", self.folder / "t.fxt.gz",
                                        "-working-directory", disk / "r", *command)
            self.assertEqual(finished.stdout, harness.run(command).stdout)
            self.assertRegex(finished.stderr.decode(), "(?i)space|full")
            if not (self.folder / "t.fxt.gz").exists():
                subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
                finished = self.magic_trace("decode", disk / "r", "-o", self.folder / "t.fxt.gz")
                self.assertTrue((self.folder / "t.fxt.gz").exists(), finished.stderr)

    def test_reserve(self):
        """a full execution leaves 5 % of the disk free, says so, and what it recorded is decoded; the program runs on"""
        for engine, program in (("translator", [harness.compile_program("branchy"), "100000000"]),
                                ("sample", [harness.compile_program("spinning"), "1", "4000"])):  # some MB each 100 ms
            with small_disk(self.folder / f"disk {engine}", "100m" if engine == "translator" else "48m") as disk:
                finished = self.magic_trace("run", "-full-execution", "-engine", engine, "-o", self.folder / "t.fxt",
                                            "-working-directory", disk / "r", *program)
                self.assertEqual(finished.status, 0, finished.stderr)
                self.assertIn(b"so that the disk of ", finished.stderr)
                space = os.statvfs(disk)
                self.assertGreater(space.f_bavail, space.f_blocks // 40)
                self.assertEqual(finished.stdout, harness.run(program).stdout)
                self.assertGreater(len(self.span_list(self.folder / "t.fxt")), 3)

    def test_many_processes_on_a_small_disk(self):
        """short processes take little disk: twenty of them, 4 MB of snapshot each, fit into 12 MB"""
        with small_disk(self.folder / "disk", "12m") as disk:
            finished = self.magic_trace(
                "run", "-follow", "-o", self.folder / "t.fxt.gz", "-working-directory", disk / "r", "bash", "-c",
                "for i in {1..20}; do /bin/true; done")
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertNotIn("Warning", finished.stderr.decode())
        self.assertEqual(len(self.judge_trace(self.folder / "t.fxt.gz")["threads"]), 21)

    def test_small_disk_makes_small_snapshots(self):
        """where the disk has no place for the snapshot that was asked for, a smaller one is taken of the end"""
        with small_disk(self.folder / "disk", "7m") as disk:
            command = [harness.compile_program("branchy"), "30000000"]
            finished = self.magic_trace("run", "-snapshot-size", "16M", "-o", self.folder / "t.fxt.gz",
                                        "-working-directory", disk / "r", *command)
            self.assertEqual(finished.stdout, harness.run(command).stdout)
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
            finished = self.magic_trace("decode", disk / "r", "-o", self.folder / "t.fxt.gz")
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertNotIn(b"gap", finished.stderr)
        self.assertEqual(self.spans(self.folder / "t.fxt.gz")["_exit"], 1)


class DamagedRecording(harness.TestCase):
    """A small recording, cut and with flipped bytes, in every way that is quick enough to try."""

    def setUp(self):
        super().setUp()
        self.traced = self.trace(["true"], "-snapshot-size", "4K")
        self.recording = self.folder / "damaged"
        shutil.copytree(self.traced.directory, self.recording)
        self.original = (self.recording / "perf.data").read_bytes()

    def decode(self, content):
        """Decodes; a clear end is a status of 0 or 1, and 1 comes with a message."""
        (self.recording / "perf.data").write_bytes(content)
        finished = self.magic_trace("decode", self.recording, "-o", "/dev/null")
        self.assertIn(finished.status, (0, 1), finished.stderr)
        if finished.status == 1:
            self.assertIn(b"magic-trace: ", finished.stderr)
        return finished

    def step(self):
        """97, or the multiple of it that keeps the number of runs bearable."""
        runs = 40 if harness.Settings.quick else 200
        return 97 * max(1, len(self.original) // 97 // runs)

    def test_truncated(self):
        """perf.data cut off anywhere: what is whole is decoded, and the cut is reported"""
        # The header says where the records end; what follows them (names of the machine and the like) can be missed.
        offset, size = struct.unpack_from("<QQ", self.original, 40)
        for length in range(0, offset + size, self.step()):
            self.assertEqual(self.decode(self.original[:length]).status, 1, f"{length} bytes")

    def test_flipped(self):
        """perf.data with a flipped byte"""
        for place in range(0, len(self.original), self.step()):
            damaged = bytearray(self.original)
            damaged[place] ^= 0xff
            self.decode(bytes(damaged))

    def test_half_of_a_long_recording(self):
        """of a recording cut in the middle everything before the cut is in the trace"""
        traced = self.trace([harness.compile_program("threads")], "-multi-thread", "-full-execution")
        whole = (traced.directory / "perf.data").read_bytes()
        (traced.directory / "perf.data").write_bytes(whole[:-64])
        output = self.folder / "half.fxt.gz"
        finished = self.magic_trace("decode", traced.directory, "-o", output)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"perf.data", finished.stderr)
        self.assertGreater(self.spans(output)["descend"], 0)

    def test_damaged_session(self):
        """session.json with a flipped byte, cut off or missing: the trace is whole, and damage is reported"""
        session = self.recording / "session.json"
        original = session.read_bytes()
        for content in (original[:len(original) // 2], b"", b"[]", original.replace(b'":', b'"\xff', 1)):
            session.write_bytes(content)
            finished = self.decode(self.original)
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertIn(f"Warning: cannot read {session}", finished.stderr.decode())
        for place in range(0, len(original), 7):
            damaged = bytearray(original)
            damaged[place] ^= 0xff
            session.write_bytes(bytes(damaged))
            self.assertEqual(self.decode(self.original).status, 0)
        session.unlink()
        finished = self.decode(self.original)
        self.assertEqual(finished.status, 0)
        self.assertNotIn(b"Warning", finished.stderr)

    def test_not_a_recording(self):
        """decode and report of files and folders that are something else"""
        empty = self.folder / "empty"
        empty.mkdir()
        text = self.folder / "text"
        text.write_text("this is no trace\n" * 10)
        for command in ("decode", "report"):
            for path in (empty, text, self.folder / "missing", pathlib.Path("/dev/null")):
                finished = self.magic_trace(command, path)
                self.assertEqual(finished.status, 1, f"{command} {path}: {finished.stderr}")
                self.assertIn(str(path), finished.stderr.decode())

    def test_damaged_trace(self):
        """report of a trace with flipped bytes, and of one cut off"""
        plain = self.folder / "plain.fxt"
        self.magic_trace("decode", self.traced.directory, "-o", plain)
        content = plain.read_bytes()
        step = 97 * max(1, len(content) // 97 // (40 if harness.Settings.quick else 150))
        for place in range(0, len(content), step):
            damaged = bytearray(content)
            damaged[place] ^= 0xff
            plain.write_bytes(bytes(damaged))
            self.assertIn(self.magic_trace("report", plain).status, (0, 1))
            plain.write_bytes(content[:place])
            self.assertIn(self.magic_trace("report", plain).status, (0, 1))
