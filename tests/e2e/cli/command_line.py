"""The command line: options, messages, exit statuses, what is written where."""
import os
import pathlib
import re
import shutil
import stat
import subprocess

import harness


class CommandLine(harness.TestCase):
    def assert_usage_error(self, arguments, *words):
        finished = self.magic_trace(*arguments)
        self.assertEqual(finished.status, 2, finished.stderr)
        self.assertEqual(finished.stdout, b"")
        for word in words:
            self.assertIn(word, finished.stderr.decode())

    def test_no_command(self):
        """without a command, says how to begin and exits with 2"""
        self.assert_usage_error([], "magic-trace run")

    def test_nearest(self):
        """unknown commands and options name the nearest"""
        self.assert_usage_error(["rum", "ls"], "Did you mean `run`")
        self.assert_usage_error(["run", "-multithread", "ls"], "Did you mean -multi-thread")
        self.assert_usage_error(["report", "-tre"], "no trace was given")
        self.assert_usage_error(["run", "-f", "ls"], "-follow", "-full-execution", "-forward-exit-status")

    def test_control_characters(self):
        """words of the command line that are not known are shown without what a terminal would obey"""
        for words in (["ru\x1b[2Jn"], ["run", "-nos\x1b[2Juch"], ["run", "-s=\x1b[2J"], ["run", "-follow=\x1b[2J", "true"], ["report", "\x1b[2J"]):
            finished = self.magic_trace(*words)
            self.assertNotEqual(finished.status, 0)
            self.assertNotIn(b"\x1b", finished.stderr)

    def test_trace_on_standard_input(self):
        """`-` is a recording or text; of a trace the message says how it is given"""
        trace = self.trace(["true"]).trace
        finished = self.magic_trace("report", "-", stdin=trace.open("rb"))
        self.assertEqual(finished.status, 1)
        self.assertIn(b"/dev/stdin", finished.stderr)
        self.assertEqual(self.magic_trace("report", "/dev/stdin", stdin=trace.open("rb")).status, 0)

    def test_values(self):
        """wrong, missing and superfluous values of options"""
        self.assert_usage_error(["run", "-clock", "sundial", "ls"], "sundial")
        self.assert_usage_error(["run", "-packets", "nocyc,nomtc", "ls"], "nomtc")
        self.assert_usage_error(["run", "-packets", "", "ls"], "noretcomp")
        self.assert_usage_error(["run", "-snapshot-size", "4X", "ls"], "4X")
        for option in ("-longer-than", "-duration-thresh", "-delay-thresh"):
            self.assert_usage_error(["run", "-trigger", "main", option, "1", "ls"], "a length of time like 5ms")
        self.assert_usage_error(["explain", "-above", "3", "main"], "3x")
        self.assert_usage_error(["run", "-snapshot-size", "-1", "ls"], "-1")
        self.assert_usage_error(["run", "-snapshot-size", "99999999999999999999", "ls"])
        self.assert_usage_error(["run", "-output"], "-output")
        self.assert_usage_error(["run", "-follow=yes", "ls"], "takes no value")
        self.assert_usage_error(["run"], "no program")
        self.assert_usage_error(["run", ""], "empty")
        self.assert_usage_error(["report", "-top", "0", "x"], "-top")
        self.assert_usage_error(["report", "-top", "3", "-tree", "x"], "-tree")
        self.assert_usage_error(["report", "-around", "f", "-to", "g", "x"], "-around")
        self.assert_usage_error(["report", "-short-names", "x"], "-short-names")
        self.assert_usage_error(["report", "-short-names", "-tree", "-json", "x"], "-short-names")
        self.assert_usage_error(["view"], "no trace")
        self.assert_usage_error(["view", "a", "b", "c"], "`c`")
        self.assert_usage_error(["view", "-port", "70000", "a"], "1 to 65535")
        self.assert_usage_error(["view", "-port", "0", "a"], "1 to 65535")
        self.assert_usage_error(["view", "-perfetto", "-ui-dir", "d", "a"], "give one")
        self.assert_usage_error(["view", "-perfetto", "-port", "8080", "a"], "9001")
        self.assert_usage_error(["view", "-perfetto", "."], "magic-trace decode")
        self.assert_usage_error(["run", "-serve", "-share", "ls"], "give one")
        self.assert_usage_error(["run", "-serve", "-format", "folded", "ls"], "-format fxt")
        self.assert_usage_error(["run", "-serve", "-no-decode", "ls"], "-no-decode")
        self.assert_usage_error(["decode", "-serve-port", "8080", "a"], "belong to -serve")
        self.assert_usage_error(["decode", "-share", "a"], "MAGIC_TRACE_SHARE_COMMAND")
        self.assert_usage_error(["decode"], "no recording")
        self.assert_usage_error(["decode", "a", "b"], "`b`")
        self.assert_usage_error(["dump", "a"], "-packets")
        self.assert_usage_error(["dump", "-packets"], "no recording")
        self.assert_usage_error(["dump", "-packets", "-branches", "a"], "one of")
        self.assert_usage_error(["dump", "-packets", "-symbols", "a"], "-symbols")
        self.assert_usage_error(["dump", "-packets", "a", "b"], "`b`")

    def test_unavailable(self):
        """what this version cannot do is refused in one line"""
        for command in ("run", "attach", "decode"):
            for option in (["-z-print-events"], ["-z-print-perf-commands"]):
                finished = self.magic_trace(command, *option, "ls")
                self.assertEqual(finished.status, 2, (command, option))
                self.assertIn(f"{option[0]} cannot be used: ".encode(), finished.stderr)
                self.assertEqual(finished.stderr.count(b"\n"), 1)

    def test_processor_options(self):
        """options of the processor's trace and counters: their values, what excludes what, and engines without them"""
        for arguments, complaint in ((["-timer-resolution", "Medium"], "is Low, Normal, High"),
                                     (["-timer-resolution", "(Sample((freq 9)))"], "needs -sampling"),
                                     (["-sampling", "-timer-resolution", "(Custom((cyc true)))"], "Custom"),
                                     (["-callgraph-mode", "fp"], "needs -sampling"),
                                     (["-sampling", "-callgraph-mode", "orc"], "`orc`"),
                                     (["-trace-include-kernel", "-trace-kernel-only"], "exclude"),
                                     (["-events", "cash-misses"], "cache-misses")):
            for command in ("run", "attach"):
                operand = ["ls"] if command == "run" else []
                self.assert_usage_error([command, *arguments, *operand], complaint)
        for option in (["-sampling"], ["-timer-resolution", "High"], ["-trace-include-kernel"],
                       ["-trace-kernel-only"], ["-events", "cache-misses"]):
            self.assert_usage_error(["run", "-engine", "qemu", *option, "ls"],
                                    f"{option[0]} is of no use to the qemu engine")
            self.assert_usage_error(["attach", "-engine", "ptrace", "-pid", "1", *option],
                                    f"{option[0]} is of no use to the ptrace engine")
        for former, name in (("soft", "qemu"), ("step", "ptrace")):
            command = ["run", "ls"] if former == "soft" else ["attach", "-pid", "1"]
            self.assert_usage_error([command[0], "-engine", former, "-sampling", *command[1:]],
                                    f"-sampling is of no use to the {name} engine")

    def test_clock_of_other_engines(self):
        """an engine without clocks of its own refuses -clock before the program runs"""
        self.assert_usage_error(["run", "-engine", "sample", "-clock", "host", "touch", "ran"], "-clock is of no use to the sample")
        self.assertFalse((self.folder / "ran").exists())

    def test_status_of_what_cannot_run(self):
        """-forward-exit-status: 127 for a program that is missing, 126 for one that may not be executed, like a shell"""
        (self.folder / "text").write_text("text\n")
        for engine in ("auto", "sample"):
            for program, forwarded in (("no-such-program", 127), ("./no-such-program", 127), ("./text", 126), ("/tmp", 126)):
                shell = harness.run(["sh", "-c", program], cwd=self.folder)
                self.assertEqual(shell.status, forwarded)
                for options, status in ((["-forward-exit-status"], forwarded), ([], 1)):
                    finished = self.magic_trace("run", "-engine", engine, *options, program)
                    self.assertEqual(finished.status, status, (engine, program, finished.stderr))

    def test_decode_takes_recording_options(self):
        """decode accepts what Jane Street's does: how it was recorded the recording says itself"""
        traced = self.trace([harness.compile_program("recursion")], "-no-decode")
        finished = self.magic_trace("decode", "-sampling", "-trace-include-kernel", "-callgraph-mode", "fp", "-timer-resolution", "High",
                                    "-events", "cache-misses", "-o", "t.fxt", traced.directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertGreater(len(self.span_list(self.folder / "t.fxt")), 100)

    def test_where_it_records(self):
        """the folder is named when recording begins: whoever kills magic-trace has to know it"""
        finished = self.magic_trace("run", "-no-decode", "true")
        kept = re.search(rb"magic-trace decode (\S+) \]", finished.stderr)[1]
        self.assertIn(b"[ Recording into " + kept + b" ]", finished.stderr)
        shutil.rmtree(kept)

    def test_help(self):
        """every command has a help page, by every spelling"""
        overview = self.magic_trace("help").stdout.decode()
        for command in re.findall(r"^  (\w+) ", overview, re.MULTILINE):
            pages = {self.magic_trace(*arguments).stdout
                     for arguments in (["help", command], [command, "-help"], [command, "--help"],
                                       [command, "-?"])}
            self.assertEqual(len(pages), 1, command)
            self.assertIn(f"Usage: magic-trace {command}".encode(), pages.pop())
        self.assertEqual(self.magic_trace("-version").stdout, self.magic_trace("version").stdout)

    def test_first_steps(self):
        """magic-trace alone: in a terminal what to do next, with the trace that is there; else an error"""
        finished = self.magic_trace()
        self.assertEqual((finished.status, finished.stdout), (2, b""))
        self.assertIn(b"magic-trace help", finished.stderr)
        for has_trace in False, True:
            if has_trace:
                (self.folder / "trace.fxt.gz").write_bytes(b"")
            finished = harness.run(["script", "-qec", harness.Settings.binary, "/dev/null"], cwd=self.folder)
            self.assertEqual(finished.status, 0, finished.stdout)
            self.assertIn(b"magic-trace run ./program", finished.stdout)
            self.assertEqual(b"magic-trace view trace.fxt.gz" in finished.stdout, has_trace)

    def test_doctor(self):
        """doctor names the engine that will be used"""
        finished = self.magic_trace("doctor")
        self.assertEqual(finished.status, 0, finished.stdout)
        self.assertIn(b"will use the translator engine", finished.stdout)

    def test_doctor_says_what_breakpoints_do(self):
        """doctor says that hardware breakpoints never fire just where -record-from is refused for that"""
        refused = harness.run([harness.Settings.binary, "run", "-record-from", "main", "-o", self.folder / "trace.fxt",
                               harness.compile_program("recursion")], env=harness.Settings.environment)
        said = self.magic_trace("doctor").stdout.decode()
        self.assertEqual("\nbreakpoints  " in said, b"hardware breakpoints never fire" in refused.stderr, said)
        self.assertNotIn("see magic-trace doctor", said)

    def test_doctor_in_a_container(self):
        """where perf events are forbidden, and there is neither perf nor a home, doctor says what works and one command"""
        prefix = [harness.compile_program("without_perf_events")]
        finished = harness.run([*prefix, harness.Settings.binary, "doctor"], env={"PATH": "/nonexistent"})
        self.assertEqual(finished.status, 0, finished.stdout)
        *_, run, attach, trigger, sampling, blank, command = finished.stdout.decode().splitlines()
        self.assertIn("will use the translator engine", run)
        self.assertIn("will use the translator engine", attach)
        self.assertIn("will use the translator engine", trigger)
        self.assertIn("`magic-trace run -sampling` does not work here", sampling)
        self.assertEqual(blank, "")
        self.assertRegex(command, "^To have `magic-trace run -sampling`, too: docker run --cap-add PERFMON")

    def test_doctor_without_a_folder(self):
        """where recordings cannot be written, doctor names the folder and one command that helps"""
        nowhere = self.folder / "nowhere"
        finished = self.magic_trace("doctor", env={**harness.Settings.environment, "TMPDIR": str(nowhere)})
        *_, last = finished.stdout.decode().splitlines()
        self.assertIn(f"{nowhere} cannot be written to", finished.stdout.decode())
        name, folder = re.fullmatch(r"To have a folder for recordings: export (\w+)=(\S+)", last).groups()
        recorded = self.magic_trace("run", "-o", self.folder / "trace.fxt", "true",
                                    env={**harness.Settings.environment, "TMPDIR": str(nowhere), name: folder})
        self.assertEqual(recorded.status, 0, recorded.stderr)

    def test_spellings(self):
        """`run`, `trace`, one dash, two dashes, prefixes, = and -- all mean the same"""
        program = harness.compile_program("recursion")
        for number, arguments in enumerate((["run", "-o", "OUT", program],
                                            ["trace", "--output", "OUT", "--", program],
                                            ["run", "-out=OUT", "-multi-t", program, "--"],
                                            ["tra", "--output=OUT", program])):
            output = self.folder / f"{number}.fxt"
            finished = self.magic_trace(*[word.replace("OUT", str(output)) for word in arguments])
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertTrue(output.exists())

    def test_arguments_are_the_programs(self):
        """options end at the program; -- before its arguments is taken away, later ones are not"""
        for before, expected in ((["echo", "-o", "--", "x"], b"-o -- x\n"),
                                 (["echo", "--", "-n", "--"], b"--"),
                                 (["--", "echo", "--", "x"], b"-- x\n")):
            finished = self.magic_trace("run", "-no-decode", "-working-directory",
                                        self.folder / "r", *before)
            self.assertEqual(finished.stdout, expected)

    def test_messages(self):
        """messages come in the order of Jane Street's magic-trace, on stderr alone"""
        traced = self.trace([harness.compile_program("recursion")])
        wanted = ["[ Finished recording. ]", "[ Decoding, this takes a while... ]", "magic-trace view "]
        places = [traced.messages.find(text) for text in wanted]
        self.assertEqual(places, sorted(places))
        self.assertNotIn(-1, places, traced.messages)
        self.assertIn("exited with status 7", traced.messages)

    def test_exit_status(self):
        """exit status 0, or the program's with -forward-exit-status"""
        self.trace([harness.compile_program("recursion")], expect=0)
        self.trace([harness.compile_program("recursion")], "-forward-exit-status", expect=7)
        self.trace([harness.compile_program("endings"), "abort"], "-forward-exit-status", expect=134)

    def test_temporary_folder(self):
        """the temporary recording is removed after a success, kept and named after a failure"""
        temporary = self.folder / "tmp"
        temporary.mkdir()
        environment = dict(harness.Settings.environment, TMPDIR=str(temporary))
        program = harness.compile_program("recursion")
        finished = self.magic_trace("run", "-o", self.folder / "t.fxt", program, env=environment)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(os.listdir(temporary), [])
        finished = self.magic_trace("run", "-no-decode", program, env=environment)
        kept = re.search(r"magic-trace decode (\S+)", finished.stderr.decode()).group(1)
        self.assertEqual(pathlib.Path(kept).parent, temporary)
        self.assertEqual(self.magic_trace("decode", kept, "-o", self.folder / "u.fxt").status, 0)

    def test_private_files(self):
        """traces and recordings can be read by their owner alone, whatever the umask"""
        traced = self.trace([harness.compile_program("recursion")], umask=0)
        for path in [traced.trace, traced.directory, *traced.directory.rglob("*")]:
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(mode & 0o077, 0, f"{path} has mode {mode:o}")

    def test_old_trace_is_kept(self):
        """an existing trace becomes NAME.old, beside it"""
        output = self.folder / "sub" / "t.fxt"
        output.parent.mkdir()
        output.write_text("older")
        finished = self.magic_trace("run", "-o", output, harness.compile_program("recursion"))
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual((output.parent / "t.fxt.old").read_text(), "older")

    def test_snapshot_size(self):
        """-snapshot-size bounds what is kept, and is rounded up with a warning"""
        program = [harness.compile_program("branchy"), "200000"]
        small = self.trace(program, "-snapshot-size", "20K")
        self.assertIn("rounded up to 32,768", small.messages)
        whole = self.trace(program, "-full-execution")
        self.assertLess((small.directory / "perf.data").stat().st_size, 60000)
        self.assertGreater((whole.directory / "perf.data").stat().st_size, 100000)

    def test_foreign_folder(self):
        """a folder with the user's perf.data is not overwritten; an older recording of ours is"""
        folder = self.folder / "mine"
        folder.mkdir()
        (folder / "perf.data").write_text("precious")
        (folder / "images").mkdir()
        program = harness.compile_program("recursion")
        finished = self.magic_trace("run", "-working-directory", folder, program)
        self.assertEqual(finished.status, 2)
        self.assertEqual((folder / "perf.data").read_text(), "precious")
        for _ in range(2):
            finished = self.magic_trace("run", "-no-decode", "-working-directory", self.folder / "ours",
                                        program)
            self.assertEqual(finished.status, 0, finished.stderr)
            (self.folder / "ours" / "perf.data.old").write_text("precious")
        self.assertEqual((self.folder / "ours" / "perf.data.old").read_text(), "precious")
        finished = self.magic_trace("run", "-no-decode", "-working-directory", self.folder / "ours", program)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual((self.folder / "ours" / "perf.data.old").read_text(), "precious")

    def test_links_of_others(self):
        """root follows no link of another user, neither to the trace nor to the recording, which would be removed"""
        if os.geteuid() != 0:
            self.skipTest("only root can make a link of another user")
        precious, program = self.folder / "precious", harness.compile_program("recursion")
        self.assertEqual(self.magic_trace("run", "-no-decode", "-working-directory", precious, program).status, 0)
        before = sorted(path.name for path in precious.iterdir())
        link = self.folder / "link"
        link.symlink_to(precious)
        for options in (["-working-directory", link], ["-working-directory", link / "sub"], ["-o", link / "trace.fxt"]):
            os.chown(link, 0, 0, follow_symlinks=False)
            own = self.magic_trace("run", "-o", self.folder / "t.fxt", *options, program)
            self.assertEqual(own.status, 0, own.stderr)
            shutil.rmtree(precious / "sub", ignore_errors=True)
            (precious / "trace.fxt").unlink(missing_ok=True)
            os.chown(link, 65534, 65534, follow_symlinks=False)
            finished = self.magic_trace("run", "-o", self.folder / "t.fxt", *options, program)
            self.assertEqual(finished.status, 1, finished.stderr)
            self.assertIn(f"{link} is a symbolic link of another user".encode(), finished.stderr)
            self.assertEqual(sorted(path.name for path in precious.iterdir()), before)

    def test_decode_twice(self):
        """decode of a folder and of its perf.data gives the trace that run wrote"""
        traced = self.trace([harness.compile_program("recursion")])
        expected = self.spans(traced.trace)
        for number, recording in enumerate((traced.directory, traced.directory / "perf.data")):
            output = self.folder / f"again{number}.fxt.gz"
            finished = self.magic_trace("decode", recording, "-o", output)
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertEqual(self.spans(output), expected)

    def test_reports(self):
        """table, tree and folded stacks, of a trace and of a recording alike"""
        traced = self.trace([harness.compile_program("recursion")])
        # -around, the last one, makes the index, from which quantiles are exact.
        for options in ([], ["-sort", "total"], ["-folded"], ["-tree", "-fold"], ["-tree", "-around", "is_even#2"]):
            of_trace = self.magic_trace("report", *options, traced.trace)
            self.assertEqual(of_trace.status, 0, of_trace.stderr)
            self.assertEqual(self.magic_trace("report", traced.directory, *options).stdout, of_trace.stdout)
        table = self.magic_trace("report", traced.trace).stdout.decode()
        engine = traced.session()["engine"]
        words = {"translator": "Recorded by the translator: ", "qemu": "Recorded under emulation by qemu: "}
        self.assertRegex(table, f"(?m)^{words[engine]}.*; clock: default(; when threads were not running is unknown.*)?[.]$")  # and so does the tree, and the page
        self.assertRegex(self.magic_trace("report", "-tree", traced.trace).stdout.decode(), f"^{words[engine]}")
        self.assertRegex(table, r"(?m)^\s*21,?891\s.*\bfib$")
        top = self.magic_trace("report", "-top", "3", traced.trace).stdout.decode()
        self.assertRegex(top, r"and [\d,]+ more functions\n$")

    def test_snapshots(self):
        """of a folder with several snapshots the first is decoded, the others are named and can be decoded"""
        traced = self.trace([harness.compile_program("recursion")])
        second = traced.directory / "perf.data.1"
        second.write_bytes((traced.directory / "perf.data").read_bytes())
        (traced.directory / "perf.data.old").write_bytes(b"")
        for recording, others in ((traced.directory, 1), (second, 0)):
            finished = self.magic_trace("decode", recording, "-o", self.folder / "again.fxt")
            self.assertEqual(finished.status, 0, finished.stderr)
            self.assertEqual(finished.stderr.decode().count(f"magic-trace decode {second} ]"), others)
            self.assertEqual(self.spans(self.folder / "again.fxt"), self.spans(traced.trace))

    def test_strange_names(self):
        """files and folders with blanks, quotes, commas, line ends and other bytes in their names"""
        folder = self.folder / "a b, it's\nso \udcff"
        folder.mkdir()
        program = folder / "my program"
        shutil.copy(harness.compile_program("recursion"), program)
        finished = self.magic_trace("run", "-o", folder / "a trace", "-working-directory", folder / "r", program)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(self.spans(folder / "a trace")["fib"], 21891)
        # What a message says to type works when it is typed.
        command = re.search(rb"as text: magic-trace (report .*) \]\n$", finished.stderr, re.DOTALL).group(1)
        typed = subprocess.run(["sh", "-c", os.fsencode(harness.Settings.binary) + b" " + command],
                               stdout=subprocess.PIPE, check=True)
        self.assertEqual(typed.stdout, self.magic_trace("report", folder / "r").stdout)

    def test_output_that_is_no_file(self):
        """-o of a device says nothing of opening it; with -no-decode, -o is said to do nothing"""
        finished = self.magic_trace("run", "-o", "/dev/null", "true")
        self.assertIn(b"[ The trace was written to /dev/null. ]", finished.stderr)
        self.assertNotIn(b"perfetto", finished.stderr)
        finished = self.magic_trace("run", "-no-decode", "-working-directory", self.folder / "r", "-o", "t", "true")
        self.assertEqual(finished.status, 0)
        self.assertIn(b"Warning: -output, -format and -filter have no effect with -no-decode", finished.stderr)

    def test_folded_format(self):
        """-format folded writes what `report -folded` prints"""
        traced = self.trace([harness.compile_program("recursion")])
        output = self.folder / "stacks"
        finished = self.magic_trace("decode", traced.directory, "-format", "folded", "-o", output)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(output.read_bytes(),
                         self.magic_trace("report", "-folded", traced.directory).stdout)


class Installation(harness.TestCase):
    def test_installed(self):
        """an installed magic-trace finds its plugin, wherever it was installed to, and has its man pages"""
        root = self.folder / "root"
        build = pathlib.Path(harness.Settings.binary).parent
        harness.run(["meson", "install", "--no-rebuild", "-C", build, "--destdir", root])
        binary, = root.rglob("bin/magic-trace")
        program = harness.compile_program("recursion")
        finished = harness.run([binary, "run", "-o", self.folder / "t.fxt", program])
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertEqual(self.spans(self.folder / "t.fxt")["fib"], 21891)
        commands = re.findall(r"^  (\w+) ", self.magic_trace("help").stdout.decode(), re.MULTILINE)
        pages = {page.name for page in root.rglob("man1/*")}
        self.assertEqual(pages, {f"magic-trace-{command}.1" for command in commands} | {"magic-trace.1"})
