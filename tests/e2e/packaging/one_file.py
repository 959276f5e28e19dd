"""The one static file that `make dist` makes: the same bytes wherever it is built, and it traces where there is little else."""
import os
import pathlib
import shutil

import harness

ROOT = harness.TESTS.parent
UNAVAILABLE = 77  # the sources of libraries cannot be fetched
NOBODY = "65534"


class OneFile(harness.TestCase):
    def build(self, source):
        """The file, built in the folder `source`; neither the commit, which a copy lacks, nor the time is to show."""
        environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
        finished = harness.run([source / "packaging/dist", "--file-only", "--release", "0.0.1+test"], cwd=source, env=environment)
        if finished.status == UNAVAILABLE:
            self.skipTest(finished.stderr.decode().strip())
        self.assertEqual(finished.status, 0, finished.stdout + finished.stderr)
        return source / "build-dist/dist/magic-trace"

    def copy_of_source(self):
        """The source in a folder of another name and depth, without what is built. There may be no git, and no clone."""
        built = {ROOT / ".git", ROOT / "build", *ROOT.glob("build-*"), ROOT / "tests/.work"}

        def ignore(folder, names):
            return [name for name in names if pathlib.Path(folder, name) in built]
        return shutil.copytree(ROOT, self.folder / "another folder" / "source", symlinks=True, ignore=ignore)

    def programs(self, root):
        """Paths in `root` of the same program, linked in each way that there is here, with the libraries it needs."""
        made = {"dynamic": harness.compile_program("recursion"),
                "static": harness.compile_program("recursion_static", ["-static"], harness.PROGRAMS / "recursion.c")}
        if shutil.which("musl-gcc"):
            made["musl"] = self.folder / "musl"
            built = harness.run(["musl-gcc", "-O0", "-g", "-static", harness.PROGRAMS / "recursion.c", "-o", made["musl"]])
            self.assertEqual(built.status, 0, built.stderr)
        for name, path in made.items():
            shutil.copy(path, root / name)
        for library in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"):
            (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, root / library[1:])
        return list(made)

    def in_container(self, root, *command):
        """Runs a command as nobody in a root that cannot be written to, but for /tmp, without a home or any variable."""
        (root / "dev").mkdir(exist_ok=True)
        (root / "dev/null").touch()
        # On /mnt, because the way to the clone may be closed to nobody: /root is.
        setup = ("mount --bind $0 /mnt && mount -t proc proc /mnt/proc && mount --bind /dev/null /mnt/dev/null && "
                 "mount -o remount,bind,ro /mnt && mount --bind $1 /mnt/tmp && cd /mnt && shift && "
                 f"exec env -i setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --no-new-privs "
                 "unshare --user --map-root-user --root=/mnt --wd=/tmp \"$@\"")
        return harness.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", setup, root, self.folder / "tmp", *command])

    def test_everywhere(self):
        """it is the same from another folder, and traces static, glibc and musl programs as nobody in a read-only container"""
        if harness.Settings.quick:
            self.skipTest("it is built without sanitizers")
        if os.geteuid() != 0:
            self.skipTest("only root makes containers here")
        first, second = self.build(ROOT), self.build(self.copy_of_source())
        self.assertTrue(first.read_bytes() == second.read_bytes(), f"{first} depends on the folder in which it was built")
        self.assertLess(first.stat().st_size, 25 << 20)
        self.assertIn(b"not a dynamic executable", harness.run(["ldd", first]).stderr)
        mounts = harness.run(["unshare", "--mount", "--pid", "--fork", "true"])
        if mounts.status != 0:  # in a chroot
            self.skipTest(f"no container can be made here: {mounts.stderr.decode().strip()}")
        root = self.folder / "root"
        for folder in (root / "proc", root / "tmp", self.folder / "tmp"):
            folder.mkdir(parents=True)
        (self.folder / "tmp").chmod(0o1777)
        shutil.copy(first, root / "magic-trace")
        for program in self.programs(root):
            with self.subTest(program=program):
                self.trace_in_container(root, program)

    def trace_in_container(self, root, program):
        finished = self.in_container(root, "/magic-trace", "run", "-engine", "translator", "-full-execution", "-o",
                                     f"/tmp/{program}.fxt", f"/{program}")
        self.assertEqual(finished.status, 0, finished.stderr.decode())
        counts = harness.counts_in(finished.stdout)
        self.assertIn("fib", counts)
        spans = self.spans(self.folder / "tmp" / f"{program}.fxt")
        self.assertEqual({name: spans.get(name, 0) for name in counts}, counts, finished.stderr.decode())
        reported = self.in_container(root, "/magic-trace", "report", "-top", "20", f"/tmp/{program}.fxt")
        self.assertIn("fib", reported.stdout.decode(), reported.stderr)
