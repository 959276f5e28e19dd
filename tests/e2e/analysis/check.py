"""`check` finds that a function needs more instructions, and nothing when none does."""
import math
import os
import random
import re
import shutil
import subprocess

import harness
from harness import Settings


class Check(harness.TestCase):
    def build(self, change):
        """All builds run under one path, as the next one takes the place of the last."""
        built = harness.compile_program(f"changes{change}", [f"-DCHANGE={change}"], harness.PROGRAMS / "changes.c")
        shutil.copy(built, self.folder / "database")

    def check(self, *options, command=("./database",), status=0):
        finished = self.magic_trace("check", "-baseline", "counts", *options, *command)
        self.assertEqual(finished.status, status, finished.stdout + finished.stderr)
        return finished.stdout.decode(), finished.stderr.decode()

    def test_changes(self):
        """the same build again, and changed ones"""
        self.build(0)
        shown, _ = self.check("-update")
        self.assertRegex(shown, r"counts has the counts of \d+ functions")
        self.assertTrue((self.folder / "counts.fxt.gz").exists())
        for _ in range(3):
            shown, messages = self.check()
            self.assertIn("No function needs more than the baseline allows.", shown)
            counted = re.search(r"([\d,]+) instructions from", messages)[1].replace(",", "")
            self.assertIn(f"All together: {counted} instructions, {counted} before", shown)
            self.assertNotIn("baseline is of", messages)
        for change, function in {1: "hash", 4: "audit", 7: "depth_of", 8: "hash", 10: "sort"}.items():
            with self.subTest(change):
                self.build(change)
                shown, _ = self.check("-markdown", "changes.md", status=3)
                self.assertRegex(shown, rf"\n.* {function} \(database\)\n")
                self.assertIn("Why: magic-trace compare counts.fxt.gz check.fxt.gz\n", shown)
                self.assertIn(f"| <code>{function}</code> | <code>database</code> | ",
                              (self.folder / "changes.md").read_text())
        compared = self.magic_trace("compare", "counts.fxt.gz", "check.fxt.gz")
        self.assertIn(b"sort: called 1x in A, 2x in B", compared.stdout)

    def test_links(self):
        """files are written through a link of one's own, and never through one of another user, nor in place of it"""
        self.build(0)
        (self.folder / "counts").symlink_to("kept")
        self.check("-update")
        self.check("-update")
        self.assertTrue((self.folder / "counts").is_symlink())
        self.assertIn("# command: ./database", (self.folder / "kept").read_text())
        self.assertFalse((self.folder / "kept.old").exists())
        if os.geteuid() != 0:
            self.skipTest("only root can make a link of another user")
        before = (self.folder / "kept").read_bytes()
        (self.folder / "elsewhere").mkdir()
        (self.folder / "folder").symlink_to("elsewhere")
        (self.folder / "changes.md").symlink_to("elsewhere/precious")
        (self.folder / "elsewhere" / "precious").write_text("mine")
        for link in "counts", "folder", "changes.md":
            os.lchown(self.folder / link, 65534, 65534)
        for options in (["-baseline", "counts", "-update"], ["-baseline", "folder/new", "-update"],
                        ["-baseline", "kept", "-markdown", "changes.md"]):
            finished = self.magic_trace("check", *options, "./database")
            self.assertEqual(finished.status, 1, finished.stdout)
            self.assertRegex(finished.stderr, b"is a symbolic link of another user [(]65534[)]")
            self.assertNotIn(b"Finished recording", finished.stderr)
        self.assertEqual((self.folder / "kept").read_bytes(), before)
        self.assertEqual((self.folder / "elsewhere" / "precious").read_text(), "mine")
        self.assertEqual(os.readlink(self.folder / "counts"), "kept")
        self.assertEqual(len(list((self.folder / "elsewhere").iterdir())), 1)

    def test_less(self):
        """a function that is not called any more is no failure"""
        self.build(0)
        self.check("-update")
        self.build(9)
        shown, _ = self.check()
        self.assertRegex(shown, r"gone +0 +60  log_query ")

    def test_threshold(self):
        """what the threshold allows"""
        self.build(0)
        self.check("-update")
        self.build(1)
        self.check(status=3)
        self.assertIn("No function needs more", self.check("-threshold", "200%")[0])

    def test_small_changes(self):
        """0.3 % more instructions of one function among others, in each of eight programs"""
        chance = random.Random(3)
        for number in range(8):
            turns = [chance.randrange(700, 4000) for _ in range(6)]
            chosen = chance.randrange(len(turns))
            for more in (0, 3):
                source = ["static volatile unsigned sum;\n"]
                for index, count in enumerate(turns):
                    added = math.ceil(count * more / 1000) if index == chosen else 0
                    source.append(f"__attribute__((noinline)) static void work_{index}(void) {{ for (int i = 0; i < {count + added}; i++) sum += i; }}\n")
                source.append(f"int main(void) {{ {' '.join(f'work_{index}();' for index in range(len(turns)))} return 0; }}\n")
                (self.folder / "small.c").write_text("".join(source))
                subprocess.run(["gcc", "-O1", "-o", self.folder / "small", self.folder / "small.c"], check=True)
                shown, _ = self.check(*(() if more else ("-update",)), command=("./small",), status=3 if more else 0)
            self.assertEqual(re.findall(r"work_\d", shown), [f"work_{chosen}"], (number, shown))

    def test_conditions(self):
        """another command is said, another exit status and other files are refused"""
        self.build(0)
        self.check("-update", command=("./database", "first"))
        _, messages = self.check(command=("./database", "other"))
        self.assertIn("The baseline is of another command: ./database first", messages)
        self.assertNotIn("The environment has", messages)
        larger = self.magic_trace("check", "-baseline", "counts", "./database", "first", env=Settings.environment | {"LARGER": "1"})
        self.assertIn(b"The environment has", larger.stderr)
        self.check(command=("false",), status=1)
        baseline = self.folder / "counts"
        whole = baseline.read_bytes()
        for text, words in ((b"", "no baseline"), (whole + b"x\n", "is damaged"), (None, "counts")):
            baseline.unlink(missing_ok=True)
            if text is not None:
                baseline.write_bytes(text)
            shown, messages = self.check(status=1)
            self.assertEqual(shown, "")  # not even the program's output: it has not run
            self.assertIn(words, messages)

    def test_held_inputs(self):
        """random numbers and the second of the day are the same in every run, but for -no-hold"""
        source = self.folder / "reads.c"
        source.write_text("#include <inttypes.h>\n#include <stdio.h>\n#include <sys/auxv.h>\n#include <fcntl.h>\n#include <sys/random.h>\n#include <sys/uio.h>\n#include <time.h>\n#include <unistd.h>\n"
                          "int main(void) { uint64_t n[3] = {0}; char odd[3]; getrandom(n, 24, 0); fread(odd, 1, 3, fopen(\"/dev/urandom\", \"r\")); time_t stored = 0, now = time(&stored);\n"
                          "const uint64_t *r = (void *)getauxval(AT_RANDOM); printf(\"%\" PRIx64 \" %\" PRIx64 \" %\" PRIx64, n[0], n[1], n[2]);\n"
                          "for (int i = 0; i < 3; i++) printf(\" %x\", odd[i]);\n"
                          "uint64_t more[4]; struct iovec parts[] = {{more, 3}, {(char *)more + 3, 21}}; int random = open(\"/dev/urandom\", O_RDONLY);\n"
                          "readv(random, parts, 2); pread(random, &more[3], 8, 0); for (int i = 0; i < 4; i++) printf(\" %\" PRIx64, more[i]);\n"
                          "printf(\" %\" PRIx64 \" %\" PRIx64 \" %ld %d\\n\", r[0], r[1], now, now == stored); return getrandom((void *)1, 8, 0) != -1; }\n")
        subprocess.run(["gcc", "-w", "-o", self.folder / "reads", source], check=True)
        first = self.check("-update", command=("./reads",))[0].splitlines()[0]
        again = self.check(command=("./reads",))[0].splitlines()[0]
        self.assertEqual(first, again)
        self.assertRegex(first, r" 946684800 1$")
        numbers = first.split()[:3]
        self.assertEqual(len(set(numbers)), 3, first)
        real = self.check("-no-hold", "-update", command=("./reads",))[0].splitlines()[0].split()
        self.assertFalse(set(real[:3]) & set(numbers))
        self.assertNotIn("946684800", real)

    def test_varying_inputs(self):
        """what the program reads that differs from run to run is named, when counts differ"""
        source = self.folder / "seeded.c"
        source.write_text("#include <stdio.h>\n#include <time.h>\n#include <unistd.h>\n"
                          "int main(void) { for (volatile int i = 0; i < TURNS; i++); return getpid() < 0 || time(NULL) < 0; }\n")
        for turns, status in ((100, None), (200, 3)):
            subprocess.run(["gcc", f"-DTURNS={turns}", "-o", self.folder / "seeded", source], check=True)
            shown, _ = self.check(*(() if status else ("-update",)), command=("./seeded",), status=status or 0)
        self.assertRegex(shown, r"The program reads what differs from run to run: .*its process id \(getpid\)\. ")
        self.build(0)
        self.check("-update")
        self.build(1)
        shown, _ = self.check(status=3)
        self.assertNotIn("differs from run to run", shown)

    def test_threads_that_wait(self):
        """that threads waited for one another is said, when counts differ"""
        source = self.folder / "waits.c"
        source.write_text("__attribute__((noinline)) static void futex_wait(void) { __asm__ volatile(\"\"); }\n"
                          "int main(void) { for (volatile int i = 0; i < TURNS; i++) futex_wait(); return 0; }\n")
        for turns, status in ((1, None), (2, 3)):
            subprocess.run(["gcc", f"-DTURNS={turns}", "-o", self.folder / "waits", source], check=True)
            shown, _ = self.check(*(() if status else ("-update",)), command=("./waits",), status=status or 0)
        self.assertIn("A thread had to wait for another one (futex_wait) 2 times, and 1 times before: ", shown)

    def test_refused(self):
        """command lines that make no sense"""
        for arguments, words in ((["./database"], b"no baseline"), (["-baseline", "counts"], b"no program"),
                                 (["-baseline", "counts", "-threshold", "much", "true"], b"-threshold"),
                                 (["-baseline", "counts", "-update", "-markdown", "x", "true"], b"-markdown")):
            finished = self.magic_trace("check", *arguments)
            self.assertEqual((finished.status, finished.stdout), (2, b""), arguments)
            self.assertIn(words, finished.stderr)
