"""What is built to be installed, and what is installed."""
import os
import pathlib
import re
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
        binary = next(folder.rglob("bin/magic-trace"))
        version = subprocess.run([binary, "version"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(version, self.magic_trace("version").stdout)
