"""Naming and choosing triggers: wrong names, parts of names, fzf and the numbered list, with and without a terminal."""
import os
import pty
import re
import shutil
import subprocess

import harness
from harness import Settings

SYMBOLS = 50000
# Notes what it is offered and picks the line that holds CHOOSE.
FAKE_FZF = """#!/bin/sh
cat >"$FZF_SEEN"
grep -m1 -F -- "$FZF_CHOOSE" "$FZF_SEEN"
"""


def compile_many_symbols():
    """A program with SYMBOLS functions besides main, which calls number_777_of_many."""
    program = Settings.work / "programs" / "many_symbols"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    source = program.with_suffix(".S")
    with source.open("w") as text:
        text.write(".text\n")
        for number in range(SYMBOLS):
            name = f"number_{number}_of_many"
            text.write(f".globl {name}\n.type {name}, @function\n{name}: ret\n.size {name}, 1\n")
        text.write(".globl main\n.type main, @function\nmain: call number_777_of_many\nxor %eax, %eax\nret\n"
                   '.section .note.GNU-stack,"",@progbits\n')
    subprocess.run(["gcc", "-o", program, source], check=True)
    return program


class Choosing(harness.TestCase):
    def at_a_terminal(self, arguments, answers=(), environment=None, path=None):
        """Runs magic-trace with a terminal of its own; types each answer when its prompt has appeared. Returns what
        the terminal showed and the exit status."""
        environment = {**Settings.environment, **(environment or {})}
        if path is not None:
            environment["PATH"] = path
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(Settings.binary, ["magic-trace", *map(str, arguments)], environment)
        seen = bytearray()
        answers = list(answers)
        while True:
            try:
                block = os.read(terminal, 65536)
            except OSError:
                break
            if not block:
                break
            seen += block
            while answers and seen.count(answers[0][0].encode()) >= answers[0][2]:
                answer = answers.pop(0)[1]
                answer = answer(seen.decode()) if callable(answer) else answer
                os.write(terminal, answer.encode() + b"\n")
        os.close(terminal)
        return seen.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def path_with_fzf(self):
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "fzf").write_text(FAKE_FZF)
        (folder / "fzf").chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def path_without_fzf(self):
        """A folder with what is on PATH, except for fzf."""
        folder = self.folder / "without"
        folder.mkdir()
        (folder / "qemu-x86_64").symlink_to(shutil.which("qemu-x86_64"))
        return str(folder)

    def test_wrong_name(self):
        """a wrong name suggests the nearest ones; a wrong flag, too"""
        program = harness.compile_program("hits")
        finished = self.magic_trace("run", "-trigger", "tarqet", program)
        self.assertEqual(finished.status, 1)
        self.assertRegex(finished.stderr.decode(), r"Did you mean target\b")
        finished = self.magic_trace("run", "-triger", "target", program)
        self.assertEqual(finished.status, 2)
        self.assertIn(b"Did you mean -trigger?", finished.stderr)

    def test_no_code_at_line(self):
        """a line without code: the nearest ones that have some"""
        finished = self.magic_trace("run", "-trigger", "hits.c:2", harness.compile_program("hits"))
        self.assertEqual(finished.status, 1)
        self.assertRegex(finished.stderr.decode(), r"nearest line with code is \d+")

    def test_stripped(self):
        """a program without symbols: says what to do"""
        program = self.folder / "stripped"
        subprocess.run(["strip", "-o", program, harness.compile_program("hits")], check=True)
        finished = self.magic_trace("run", "-trigger", "my_function_of_mine", program)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"my_function_of_mine", finished.stderr)

    def test_options_that_do_not_fit(self):
        """thresholds and snapshots without what they need are usage errors that say so"""
        program = harness.compile_program("hits")
        for options, words in ((["-delay-thresh", "1ms"], b"-delay-thresh needs a function"),
                               (["-multi-snapshot"], b"-multi-snapshot needs a place"),
                               (["-immediate-stop"], b"-immediate-stop needs a place"),
                               (["-duration-thresh", "soon"], b"length of time"),
                               (["-duration-thresh", "1ms", "-trigger", "target"], b"mark_start"),
                               (["-longer-than", "1ms"], b"-longer-than needs a function"),
                               (["-longer-than", "1ms", "-duration-thresh", "1ms", "-trigger", "."], b"give one"),
                               (["-on-cpu", "-trigger", "target"], b"-longer-than"),
                               (["-trigger", "target", "-symbol", "x"], b"give one"),
                               (["-filter", "A B"], b"in parentheses"),
                               (["-trigger", "target", "-delay-thresh", "1ms", "-clock", "instructions"], b"-clock")):
            finished = self.magic_trace("run", *options, program)
            self.assertEqual(finished.status, 2, (options, finished.stderr))
            self.assertIn(words, finished.stderr)

    def test_without_terminal(self):
        """without a terminal the candidates of a part of a name are listed"""
        command = [Settings.binary, "run", "-symbol", "number_77", compile_many_symbols()]
        finished = harness.run(command, stdin=subprocess.DEVNULL, start_new_session=True, cwd=self.folder)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"number_77_of_many", finished.stderr)
        self.assertIn(b"no terminal", finished.stderr)

    def test_part_that_names_one(self):
        """-symbol with a part that one function alone has is taken without asking; one that none has is said"""
        program = compile_many_symbols()
        finished = self.magic_trace("run", "-symbol", "_777_of_m", program)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"Attaching to number_777_of_many", finished.stderr)
        self.assertIn(b"[ Snapshot taken. ]", finished.stderr)
        finished = self.magic_trace("run", "-symbol", "no_such_part", program)
        self.assertEqual(finished.status, 0, finished.stderr)
        self.assertIn(b"Couldn't find symbol. Will still snapshot on end", finished.stderr)

    def test_fzf(self):
        """-trigger ? offers 50,000 functions to fzf and takes the chosen one"""
        seen = self.folder / "offered"
        shown, status = self.at_a_terminal(
            ["run", "-trigger", "?", compile_many_symbols()],
            environment={"FZF_SEEN": str(seen), "FZF_CHOOSE": "number_777_of_many"}, path=self.path_with_fzf())
        self.assertEqual(status, 0, shown)
        self.assertIn("Attaching to number_777_of_many", shown)
        offered = seen.read_text().splitlines()
        self.assertGreaterEqual(len(offered), SYMBOLS)

    def test_fzf_line(self):
        """line:? offers files, then the lines of the chosen one"""
        seen = self.folder / "offered"
        shown, status = self.at_a_terminal(
            ["run", "-trigger", "line:?", harness.compile_program("hits")],
            environment={"FZF_SEEN": str(seen), "FZF_CHOOSE": "hits.c"}, path=self.path_with_fzf())
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown, r"Attaching to \S*hits\.c:\d+ @ 0x")
        self.assertTrue(all(re.search(r"hits\.c:\d+$", line) for line in seen.read_text().splitlines()))

    def test_numbered_list(self):
        """without fzf: a part of the name first, then a number of the list"""
        def number_before(text):
            return re.search(r"(\d+)  number_777_of_many", text).group(1)

        shown, status = self.at_a_terminal(
            ["run", "-symbol", "number_77", compile_many_symbols()],
            answers=[("part of its name: ", "_777_", 1), ("part of its name: ", number_before, 2)],
            path=self.path_without_fzf())
        self.assertEqual(status, 0, shown)
        self.assertIn("too many to list", shown)
        self.assertIn("Attaching to number_777_of_many", shown)

    def test_nothing_chosen(self):
        """an empty answer chooses nothing, and nothing runs"""
        shown, status = self.at_a_terminal(["run", "-symbol", "", harness.compile_program("hits")],
                                           answers=[("part of its name: ", "", 1)], path=self.path_without_fzf())
        self.assertEqual(status, 1, shown)
        self.assertIn("selected", shown)
        self.assertNotIn("done", shown)
