"""Completion of command lines: what magic-trace answers, and that bash, zsh and fish complete by it."""
import contextlib
import os
import shutil
import subprocess

import harness


class Completion(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.program = harness.compile_program("recursion")
        self.path = f"{os.path.dirname(harness.Settings.binary)}:{os.environ['PATH']}"

    def candidates(self, *words, cursor=None):
        """The words that may stand at the cursor, which is at the last one unless said."""
        finished = self.magic_trace("completion", "-at", str(len(words) if cursor is None else cursor), "--", "magic-trace", *words)
        self.assertEqual((finished.status, finished.stderr), (0, b""))
        return [line.split("\t")[0] for line in finished.stdout.decode().splitlines()]

    @contextlib.contextmanager
    def running(self, *command):
        """A process; its number."""
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE)
        try:
            yield str(process.pid), process
        finally:
            process.kill()
            process.communicate()

    def script(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        return self.magic_trace("completion", shell).stdout.decode()

    def shell(self, *command):
        finished = harness.run(command, cwd=self.folder, env=dict(harness.Settings.environment, PATH=self.path))
        self.assertEqual((finished.status, finished.stderr), (0, b""), finished.stdout)
        return finished.stdout.decode().splitlines()

    def test_names(self):
        """commands and options, with one dash or two"""
        self.assertEqual(self.candidates("vi"), ["view"])
        self.assertEqual(self.candidates("help", "att"), ["attach"])
        self.assertEqual(self.candidates("run", "-trigg"), ["-trigger"])
        self.assertEqual(self.candidates("run", "--trigg"), ["--trigger"])
        self.assertEqual(self.candidates("completion", ""), ["bash", "zsh", "fish"])
        self.assertIn("-pid", self.candidates("attach", ""))

    def test_values(self):
        """engines, formats and other words, also after `=` and as bash splits it"""
        self.assertEqual(self.candidates("run", "-engine", "trans"), ["translator"])
        self.assertEqual(self.candidates("run", "-engine=trans"), ["-engine=translator"])
        self.assertEqual(self.candidates("run", "-engine", "=", "trans"), ["translator"])
        self.assertIn("speedscope", self.candidates("export", "-format", ""))
        self.assertEqual(self.candidates("run", "-output", "x"), [":files"])
        self.assertEqual(self.candidates("install", "-prefix", "x"), [":folders"])
        self.assertEqual(self.candidates("run", "-snapshot-size", ""), [])

    def test_operands(self):
        """files, and the program with its arguments"""
        self.assertEqual(self.candidates("report", "tra"), [":files"])
        self.assertEqual(self.candidates("run", "-follow", "l"), [":program 3"])
        self.assertEqual(self.candidates("run", "-engine", "auto", "ls", "-engine", "x"), [":program 4"])
        self.assertEqual(self.candidates("run", "--", "l"), [":program 3"])
        self.assertEqual(self.candidates("run", "--", "ls", "-"), [":program 3"])
        self.assertEqual(self.candidates("attach", "-pid", "1", "--", "l"), [":program 5"])
        self.assertEqual(self.candidates("attach", "-pid", "1", "--", "ls", "-"), [":program 5"])
        self.assertEqual(self.candidates("attach", "-pid", "1", "--", cursor=5), [":program 5"])
        self.assertIn("-trigger", self.candidates("attach", "-pid", "1", ""))
        self.assertEqual(self.candidates("check", "-baseline", "counts", "l"), [":program 4"])
        self.assertEqual(self.candidates("help", cursor=2)[0], self.candidates("")[0])

    def test_functions(self):
        """functions of the program after -trigger, wherever the program stands, and of the process"""
        self.assertEqual(self.candidates("run", "-trigger", "mai", self.program, cursor=3), ["main"])
        self.assertEqual(self.candidates("run", "-trigger", "mai", cursor=3), [])
        self.assertEqual(self.candidates("run", "-trigger", "mai", "no such program", cursor=3), [])
        self.assertIn("main", self.candidates("run", "-trigger", "", self.program, cursor=3))
        self.assertEqual(self.candidates("run", "-record-from=mai", self.program, cursor=2), ["-record-from=main"])
        with self.running(harness.compile_program("dozing")) as (pid, process):
            harness.read_until(process.stdout, b"ready")
            self.assertEqual(self.candidates("attach", "-pid", pid, "-trigger", "doz"), ["doze"])
            self.assertEqual(self.candidates("attach", "-trigger", "doz", "-pid", pid, cursor=3), ["doze"])
            self.assertEqual(self.candidates(*f"attach -pid = {pid} -symbol = doz".split()), ["doze"])
            self.assertLessEqual({"main", "doze", "compute"}, set(self.candidates("attach", "-p", pid, "-trigger", "")))
            self.assertIn("nanosleep", self.candidates("attach", "-p", pid, "-trigger", "nanosl"))
        self.assertEqual(self.candidates("attach", "-pid", pid, "-trigger", "doz"), [])

    def test_functions_of_libraries(self):
        """where the program has no function of that name, and may have no names at all"""
        stripped = self.folder / "stripped"
        subprocess.run(["strip", "-o", stripped, self.program], check=True)
        self.assertIn("malloc", self.candidates("run", "-trigger", "mallo", self.program, cursor=3))
        self.assertIn("malloc", self.candidates("run", "-trigger", "", stripped, cursor=3))
        self.assertNotIn("malloc", self.candidates("run", "-trigger", "", self.program, cursor=3))

    def test_lists_of_functions(self):
        """the last name of -only and -args"""
        self.assertEqual(self.candidates("run", "-only", "mai", self.program, cursor=3), ["main"])
        self.assertEqual(self.candidates("run", "-args", "f<int, char>,mai", self.program, cursor=3), ["f<int, char>,main"])
        self.assertEqual(self.candidates("run", "-args=fib,mai", self.program, cursor=2), ["-args=fib,main"])

    def test_processes(self):
        """processes after -pid, the second one after a comma"""
        own = str(os.getpid())
        self.assertIn(own, self.candidates("attach", "-pid", own[0]))
        self.assertIn(f"1,{own}", self.candidates("attach", "-pid", f"1,{own[0]}"))

    def test_bad_input(self):
        """lines that make no sense have no candidates"""
        for words in (["no-such", "x"], ["run", "-no-such", "=", ""], ["run", "="], ["run", "-engine", "=", "=", "t"], ["-"]):
            self.magic_trace("completion", "-at", str(len(words)), "--", "magic-trace", *words)
        for cursor in ("-1", "9", "x", ""):
            self.assertEqual(self.magic_trace("completion", "-at", cursor, "--", "magic-trace", "run").status, 2)

    def test_bash(self):
        """bash completes commands, values, functions and files"""
        script = self.script("bash")
        (self.folder / "some.fxt").touch()
        (self.folder / "some.fxt.magic-trace-index").touch()
        for words, expected in ((["vi"], ["view"]), (["run", "-engine", "=", "trans"], ["translator"]),
                                (["report", "som"], ["some.fxt"]), (["run", "-follow", "magic-tra"], None),
                                (["run", "--", "magic-tra"], None), (["attach", "-pid", "1", "--", "magic-tra"], None),
                                (["attach", "-pid", "1", "--", "ls", "som"], ["some.fxt", "some.fxt.magic-trace-index"])):
            line = " ".join(f"'{word}'" for word in ["magic-trace", *words])
            # compopt speaks to readline alone.
            found = self.shell("bash", "--norc", "-c", f"{script}\ncompopt() {{ :; }}\nCOMP_WORDS=({line})\n"
                               f"COMP_CWORD={len(words)}\n_magic_trace\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"")
            if expected is None:
                self.assertIn("magic-trace", found)
            else:
                self.assertEqual(sorted(found), expected)

    def test_fish(self):
        """fish completes values and files, with summaries"""
        script = self.folder / "script.fish"
        script.write_text(self.script("fish"))
        (self.folder / "some.fxt").touch()
        (self.folder / "some.fxt.magic-trace-index").touch()
        own = str(os.getpid())
        environment = f"set -x HOME {self.folder}; source {script}; "
        found = self.shell("fish", "--no-config", "-c", environment + "complete -C 'magic-trace run -engine trans'")
        self.assertEqual([line.split("\t")[0] for line in found], ["translator"])
        found = self.shell("fish", "--no-config", "-c", environment + "complete -C 'magic-trace report som'")
        self.assertEqual([line.split("\t")[0] for line in found], ["some.fxt"])
        for line, expected in (("run -engine ", "translator"), (f"run {self.program} som", "some.fxt"), ("run magic-tra", "magic-trace"),
                               ("run -- magic-tra", "magic-trace"), ("attach -pid 1 -- magic-tra", "magic-trace"),
                               ("attach -pid 1 -- ls som", "some.fxt"), (f"attach -pid {own[0]}", own),
                               (f"attach -pid {own} -- ", "magic-trace")):
            found = self.shell("fish", "--no-config", "-c", f"{environment}complete -C 'magic-trace {line}'")
            self.assertIn(expected, [line.split("\t")[0] for line in found], line)
            self.assertFalse([line for line in found if line.startswith("-")], line)

    def in_zsh(self, *words):
        """What the script hands to zsh for the last word."""
        line = " ".join(f"'{word}'" for word in ["magic-trace", *words])
        # These are zsh's own, and work in its line editor alone.
        own = "compdef() {}; compset() {}; compadd() { print -l -- $names; }; _files() { print _files $*; }; " \
              "_normal() { print _normal $words[CURRENT]; }"
        return self.shell("zsh", "-f", "-c", f"{own}\n. {self.folder}/script\nwords=({line})\nCURRENT={len(words) + 1}\n"
                          f"PREFIX='{words[-1]}'\n_magic_trace")

    def test_zsh(self):
        """zsh completes commands, values and files"""
        (self.folder / "script").write_text(self.script("zsh"))
        self.assertEqual(self.in_zsh("vi"), ["view"])
        self.assertEqual(self.in_zsh("run", "-engine", "transl"), ["translator"])
        self.assertEqual(self.in_zsh("run", "-engine=transl"), ["-engine=translator"])
        self.assertEqual(self.in_zsh("report", "som"), ["_files -F *.magic-trace-index"])
        self.assertEqual(self.in_zsh("install", "-prefix", "som"), ["_files -/"])
        self.assertEqual(self.in_zsh("run", "-follow", "ls", "some"), ["_normal some"])
        self.assertEqual(self.in_zsh("run", "--", "l"), ["_normal l"])
        self.assertEqual(self.in_zsh("attach", "-pid", "1", "--", "l"), ["_normal l"])
        self.assertEqual(self.in_zsh("attach", "-pid", "1", "--", "ls", "some"), ["_normal some"])
