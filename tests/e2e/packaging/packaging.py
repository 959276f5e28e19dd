"""What is built to be installed, and what is installed."""
import os
import pathlib
import re
import shutil
import subprocess

import harness


class Packaging(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.build = pathlib.Path(harness.Settings.binary).parent
        if not (self.build / "build.ninja").exists():
            self.skipTest("the binary is in no build folder")

    def test_program_alone(self):
        """make builds neither tests nor benchmarks, and make install no more than is installed"""
        commands = harness.run(["ninja", "-C", self.build, "-t", "commands", "program"])
        self.assertEqual(commands.status, 0, commands.stderr)
        outputs = re.findall(r" -o (\S+)", commands.stdout.decode())
        self.assertIn("magic-trace", outputs)
        self.assertEqual([output for output in outputs if output.startswith(("tests/", "bench/", "fuzz/"))], [])

    def test_installed(self):
        """the program, what it loads, its man pages and the client library are installed"""
        folder = self.folder / "installed"
        finished = harness.run(["meson", "install", "--no-rebuild", "-C", self.build],
                               env=dict(os.environ, DESTDIR=str(folder)))
        self.assertEqual(finished.status, 0, finished.stderr)
        files = {path.name for path in folder.rglob("*") if path.is_file()}
        for name in ("magic-trace", "magic-trace-qemu.so", "magic-trace-branches.so", "libmagic_trace.a", "magic_trace.h",
                     "magic-trace.pc", "magic-trace.1", "magic-trace-run.1"):
            self.assertIn(name, files)
        # Debian's loader and pkg-config look in lib and in that of the architecture, and not in lib64.
        self.assertIn(next(folder.rglob("libmagic_trace.a")).parent.name, ("lib", "x86_64-linux-gnu"))
        binary = next(folder.rglob("bin/magic-trace"))
        version = subprocess.run([binary, "version"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(version, self.magic_trace("version").stdout)

    def test_unpacked(self):
        """magic-trace install unpacks man pages, completion and the client library, and the copy unpacks the same"""
        first, second = self.folder / "a b", self.folder / "second"
        self.assertEqual(self.magic_trace("install", "-prefix", first).status, 0)
        self.assertEqual(harness.run([first / "bin/magic-trace", "install", "-prefix", second]).status, 0)
        self.assertEqual(harness.run(["diff", "-r", first, second]), (0, b"", b""))
        for page in (self.build / "docs/man").glob("*.1"):
            self.assertEqual((first / "share/man/man1" / page.name).read_bytes(), page.read_bytes())
        for shell, path in (("bash", "bash-completion/completions/magic-trace"), ("zsh", "zsh/site-functions/_magic-trace"),
                            ("fish", "fish/vendor_completions.d/magic-trace.fish")):
            self.assertEqual(self.magic_trace("completion", shell).stdout, (first / "share" / path).read_bytes())

    def test_unpacked_library(self):
        """a program builds with the unpacked client library by its pkg-config file"""
        prefix, source = self.folder / "prefix", self.folder / "program.c"
        self.assertEqual(self.magic_trace("install", "-prefix", prefix).status, 0)
        source.write_text("#include <magic_trace.h>\nint main(void) { magic_trace_take_snapshot(); return 0; }\n")
        flags = harness.run(["pkg-config", "--cflags", "--libs", "magic-trace"],
                            env=dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig")))
        self.assertEqual(flags.status, 0, flags.stderr)
        words = flags.stdout.decode().split()
        built = harness.run(["gcc", source, "-o", self.folder / "program", *words])
        self.assertEqual(built.status, 0, built.stderr)
        ran = harness.run([self.folder / "program"], env=dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib")))
        self.assertEqual(ran.status, 0, ran.stderr)

    def test_copied_alone(self):
        """a copied program says what unpacks the part of it that perf loads, and what is installed so has it"""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        traced = self.trace([harness.compile_program("recursion")])
        copy, prefix = self.folder / "magic-trace", self.folder / "prefix"
        shutil.copy(harness.Settings.binary, copy)
        decode = ["decode", "-decoder", "perf", "-o", self.folder / "again.fxt", traced.directory]
        refused = harness.run([copy, *decode])
        if refused.status == 0:
            self.skipTest("the part for perf is installed on this machine")
        self.assertEqual(refused.status, 1, refused.stderr)
        self.assertIn(b"Unpack it with `magic-trace install`", refused.stderr)
        self.assertEqual(harness.run([copy, "install", "-prefix", prefix]).status, 0)
        self.assertEqual(harness.run([prefix / "bin/magic-trace", *decode]).status, 0)

    def test_install_refused(self):
        """without a home, and where nothing can be written, install says so"""
        environment = {key: value for key, value in harness.Settings.environment.items() if key != "HOME"}
        if os.geteuid() != 0:
            self.assertIn(b"-prefix", self.magic_trace("install", env=environment).stderr)
        (self.folder / "file").touch()
        finished = self.magic_trace("install", "-prefix", self.folder / "file")
        self.assertEqual(finished.status, 1)
        self.assertIn(b"cannot make the folder", finished.stderr)
