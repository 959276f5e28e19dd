"""Files that are gone, replaced or rebuilt before the recording ends."""
import os
import shutil
import subprocess

import harness

SOURCE = """
int version%d_step(int value) { return value * %d + 1; }
int library_run(int steps)
{
    int value = 0;
    for (int i = 0; i < steps; i++) {
        value = version%d_step(value & 0xffff);
        if (value & %d)
            value -= %d;
    }
    return value;
}
"""
VERSIONS = 4
CLOCK = """
#include <time.h>
int main(void)
{
    struct timespec time;
    for (int i = 0; i < 30; i++)
        clock_gettime(CLOCK_MONOTONIC, &time);
    return 0;
}
"""


class Images(harness.TestCase):
    def test_replaced_library(self):
        """a library that is replaced and deleted between dlopens: every version decodes, by name"""
        for version in range(VERSIONS):
            source = self.folder / f"version{version}.c"
            source.write_text(SOURCE % (version, version + 2, version, 1 << version, version))
            subprocess.run(["gcc", "-O0", "-g", "-shared", "-fPIC", "-o", f"version{version}.so", source.name],
                           cwd=self.folder, check=True)
        command = [harness.compile_program("replaced_library"), str(VERSIONS)]
        traced = self.trace(command, "-full-execution")
        self.assert_same_as_untraced(traced, command, cwd=self.folder)
        self.assertFalse((self.folder / "library.so").exists())
        self.assert_no_gaps(traced)
        self.assert_perf_agrees(traced)
        self.judge_instructions(traced)
        self.assert_counts(traced, harness.counts_in(traced.stdout))

        moved = self.folder / "moved"
        os.rename(traced.directory, moved)
        again = self.magic_trace("decode", moved, "-o", self.folder / "again.fxt")
        self.assertNotIn(b"gap", again.stderr)
        self.assert_counts(traced, harness.counts_in(traced.stdout), self.spans(self.folder / "again.fxt"))

    def test_lone_perf_data(self):
        """a perf.data without its folder: the code of the kernel's [vdso] is this machine's, which is said"""
        source = self.folder / "clock.c"
        source.write_text(CLOCK)
        subprocess.run(["gcc", "-O1", "-g", "-o", "clock", source.name], cwd=self.folder, check=True)
        traced = self.trace([self.folder / "clock"], "-full-execution")
        lone = self.folder / "perf.data"
        shutil.copy(traced.directory / "perf.data", lone)
        finished = self.magic_trace("decode", lone, "-o", self.folder / "lone.fxt")
        self.assertNotIn(b"gap", finished.stderr)
        self.assertIn(b"lacks the code of [vdso]", finished.stderr)
        self.assertEqual(self.spans(self.folder / "lone.fxt"), self.spans(traced.trace))

    def test_debug_file_beside_the_program(self):
        """a debug file that .gnu_debuglink names, beside the program and not beside the recording's copy of it"""
        source = self.folder / "clock.c"
        source.write_text("static __attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
                          "int main(int count, char **all) { return all[0] && hidden(count) == 3 ? 0 : 1; }\n")
        for build_id in ("sha1", "none"):
            with self.subTest(build_id=build_id):
                program = self.folder / f"program_{build_id}"
                subprocess.run(["gcc", "-O1", "-g", f"-Wl,--build-id={build_id}", "-o", program, source], check=True)
                subprocess.run(["objcopy", "--only-keep-debug", program, f"{program}.debug"], check=True)
                subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={program}.debug", program], check=True)
                traced = self.trace([program], "-full-execution")
                self.assertEqual(self.spans(traced.trace)["hidden"], 1)

    def test_deleted_program(self):
        """a program that deletes itself, and a copy of it that lives in memory alone"""
        program = self.folder / "program"
        shutil.copy(harness.compile_program("deleted_program"), program)
        traced = self.trace([program], "-full-execution", "-follow")
        self.assertFalse(program.exists())
        shutil.copy(harness.compile_program("deleted_program"), program)
        self.assert_same_as_untraced(traced, [program])
        self.assert_no_gaps(traced)
        self.assert_perf_agrees(traced)
        self.judge_instructions(traced)
        self.assert_counts(traced, harness.counts_in(traced.stdout))
