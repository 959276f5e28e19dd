"""What is said of names that are missing: what would give them, for this program and these files."""
import pathlib
import re
import shutil
import subprocess

import harness

HOT_SCRIPT = ("function hotInner(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }\n"
              "let t = 0; for (let i = 0; i < 3000; i++) t += hotInner(100000); console.log(t);\n")
HOT_CLASS = """class Hot {
    static long inner(int n) { long s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
    public static void main(String[] words) { long t = 0; for (int i = 0; i < 3000; i++) t += inner(100000); System.out.println(t); }
}
"""
JIT_HINT = "Code of a JIT compiler has no names in "


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]


class MissingNames(harness.TestCase):
    def objects_named(self, traced):
        """{path: the rest of what is said of it}"""
        return dict(re.findall(r"\[ Functions of (\S+) (.*) \]", traced.messages))

    def test_stripped(self):
        """a stripped program: its build id, and what to do; with its symbols it is not mentioned"""
        whole = harness.compile_program("recursion", ["-Wl,--build-id"])
        stripped = self.folder / "stripped"
        subprocess.run(["strip", "-o", stripped, whole], check=True)
        self.assertNotIn(whole, self.objects_named(self.trace([whole])))
        said = self.objects_named(self.trace([stripped]))[str(stripped)]
        self.assertEqual(said, f"(build id {build_id(whole)}) have no names but stripped+0x...: build it with symbols (not stripped), or "
                               "install its debug file, or decode with DEBUGINFOD_URLS=SERVER.")

    def test_package(self):
        """a program of the distribution: the package with its debug symbols"""
        if not shutil.which("dpkg-query"):
            self.skipTest("this is no Debian")
        program = pathlib.Path(shutil.which("ls")).resolve()
        found = build_id(program)
        if pathlib.Path(f"/usr/lib/debug/.build-id/{found[:2]}/{found[2:]}.debug").exists():
            self.skipTest("the symbols of coreutils are installed")
        said = self.objects_named(self.trace([program, "-l", "/usr/bin"]))
        self.assertIn(": install coreutils-dbgsym or coreutils-dbg, or decode with", said[str(program)])

    def test_node(self):
        """names of node's code: missing, which is said with what gives them; there with -jit-names"""
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        script = self.folder / "hot.js"
        script.write_text(HOT_SCRIPT)
        for options, named in (([], False), (["-jit-names"], True)):
            traced = self.trace(["node", script], "-sampling", *options)
            self.assertEqual(f"[ {JIT_HINT}node ([JIT code]). What gives them: magic-trace run -jit-names" in traced.messages, not named,
                             traced.messages)
            report = self.magic_trace("report", traced.trace).stdout
            self.assertEqual(b"hotInner" in report, named)

    def test_java(self):
        """names of Java's code: the options of this runtime alone; there with them"""
        if not shutil.which("javac"):
            self.skipTest("no Java compiler is installed")
        (self.folder / "Hot.java").write_text(HOT_CLASS)
        subprocess.run(["javac", "Hot.java"], cwd=self.folder, check=True)
        options = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]
        for chosen, named in (([], False), (options, True)):
            traced = self.trace(["java", *chosen, "-cp", self.folder, "Hot"], "-sampling", "-multi-thread")
            self.assertEqual(f"[ {JIT_HINT}java ([JIT code]). What gives them: java {' '.join(options)}" in traced.messages, not named,
                             traced.messages)
            report = self.magic_trace("report", traced.trace).stdout
            self.assertEqual(b"Hot.inner" in report, named)
