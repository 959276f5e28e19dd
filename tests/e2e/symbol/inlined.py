"""Inlined functions: what debug information says is read as llvm-symbolizer reads it; they are spans as often as they are
called without inlining; and -no-inlined leaves them out everywhere."""
import collections
import csv
import gzip
import re
import shutil
import subprocess

import fxt_spans
import harness

CPP = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
struct Point {
    int x, y;
    int norm() const { return x * x + y * y; }
    bool operator<(const Point &other) const { return norm() < other.norm(); }
};
template <class T> static T limited(T v, T low, T high) { return v < low ? low : high < v ? high : v; }
static int hash_of(const std::string &s) { int h = 0; for (char c : s) h = h * 31 + c; return h; }
__attribute__((noinline)) int sum(const std::vector<Point> &v)
{
    int s = 0;
    for (auto &p : v)
        s += limited(p.norm() % 97, 3, 80) * (s & 7);
    return s;
}
// The code of the lambda is that of a function inside of a function.
template <class Function> struct Deferred {
    static void *held;
    static void (*call)();
    explicit Deferred(Function &function) { held = &function; call = [] { (*static_cast<Function *>(held))(); }; }
};
template <class Function> void *Deferred<Function>::held;
template <class Function> void (*Deferred<Function>::call)();
int main(int argc, char **)
{
    auto add = [&] { argc++; };
    Deferred<decltype(add)> prepared(add);
    Deferred<decltype(add)>::call();
    std::vector<Point> v;
    std::map<std::string, int> m;
    for (int i = 0; i < 100; i++) {
        v.push_back({i * 7919 % 1009, i * 104729 % 997});
        m["k" + std::to_string(i % 37)] += hash_of(std::to_string(i));
    }
    std::sort(v.begin(), v.end());
    try { v.at(1000); } catch (std::exception &e) { std::puts(e.what()); }
    std::printf("%d %zu %d\\n", sum(v), m.size(), argc);
}
"""
RUST = """
fn score(x: u64) -> u64 { (x ^ (x >> 7)).wrapping_mul(0x9e3779b97f4a7c15) }
fn main() {
    let mut v: Vec<u64> = (0..100).map(score).collect();
    v.sort();
    println!("{}", v.iter().filter(|x| *x % 3 != 0).count());
}
"""
OPTIONS = ("-engine", "translator", "-full-execution")
INLINED = ("mix", "step", "square_of", "digits")
COUNTED = ("walk", "look_up", "squares", *INLINED)
# Functions are the same ones, called as often, with inlining and without: none is split or copied for some of its callers.
ALIKE = ("-fno-ipa-sra", "-fno-ipa-cp", "-fno-partial-inlining")
# Called by the sources' functions, but the C library's: they are too short to be shown where they are inlined.
OF_LIBRARY = {"atoi", "printf", "puts"}
# Functions that have not as many spans as calls, and why.
UNLIKE = {
    "inlined_program.cpp": {
        "norm": "a few instructions between those of others, in runs that are merged into what surrounds them",
        "operator<": "likewise",
    },
}
# By newer versions of gcc than 12, which lay these out otherwise.
UNLIKE_BY_NEWER_GCC = {
    "inlined_loops.c": {"parse": "gcc 14 runs from the end of one call into the next one's loop: 2 spans of 7 calls"},
    "algorithms.cpp": {"make": "gcc 14 puts 9 of its 300 calls on both sides of what was inlined before it"},
}


def gcc_version():
    return int(subprocess.run(["gcc", "-dumpversion"], stdout=subprocess.PIPE, check=True, text=True).stdout.split(".")[0])


class Inlined(harness.TestCase):
    def compile(self, name, compiler, *flags, source=None):
        """The program, or nothing if this machine does not have the compiler."""
        if not shutil.which(compiler):
            return None
        path = self.folder / name
        subprocess.run([compiler, *flags, "-o", path, source or harness.PROGRAMS / "inlined.c"], check=True)
        return path

    def sources(self):
        cpp, rust = self.folder / "points.cpp", self.folder / "scores.rs"
        cpp.write_text(CPP)
        rust.write_text(RUST)
        c = harness.PROGRAMS / "inlined.c"
        yield "gcc", ("-O2", "-g"), c
        yield "gcc", ("-O3", "-g", "-gdwarf-4", "-static"), c
        yield "gcc", ("-O2", "-g", "-gz"), c
        yield "clang", ("-O2", "-g"), c
        for optimization in ("-O1", "-O2", "-O3"):
            yield "g++", (optimization, "-g"), cpp
        yield "clang++", ("-O2", "-g"), cpp
        yield "rustc", ("-O", "-g"), rust

    def assert_read_alike(self, program):
        """At every third address of every function: the judge's inlined functions are those of llvm-symbolizer."""
        judged = harness.run([harness.Settings.judges / "inlined_judge", program, 3])
        self.assertEqual(judged.status, 0, judged.stderr)
        lines = [line.split(" ") for line in judged.stdout.decode().splitlines()]
        addresses = "".join(line[0] + "\n" for line in lines).encode()
        said = subprocess.run(["llvm-symbolizer", "--inlines", "--no-demangle", "-e", program], input=addresses,
                              stdout=subprocess.PIPE, check=True).stdout.decode().split("\n\n")
        differ = [(line, place) for line, place in zip(lines, said)
                  if line[1:] != place.strip().split("\n")[0::2][:-1]]
        self.assertEqual(differ[:3], [], f"{len(differ)} of {len(lines)} addresses of {program}")
        self.assertGreater(sum(len(line) > 1 for line in lines), 10, program)
        return len(lines)

    def test_symbolizer(self):
        """the same inlined functions as llvm-symbolizer, in programs by gcc, clang and rustc"""
        if not shutil.which("llvm-symbolizer"):
            self.skipTest("llvm-symbolizer is not installed")
        for number, (compiler, flags, source) in enumerate(self.sources()):
            with self.subTest(compiler=compiler, flags=flags):
                program = self.compile(f"program{number}", compiler, *flags, source=source)
                if program:
                    self.assertGreater(self.assert_read_alike(program), 20)

    def counts_of(self, name, compiler, *flags):
        program = self.compile(name, compiler, "-O2", "-g", *flags)
        if not program:
            return None
        traced = self.trace([program, "300"], *OPTIONS)
        spans = self.spans(traced.trace)
        return {function: spans.get(function, 0) for function in COUNTED}

    def test_counts(self):
        """as many spans as a build without inlining has calls"""
        called = self.counts_of("called", "gcc", "-fno-inline")
        self.assertEqual(called["square_of"], 600)
        self.assertGreater(called["mix"], 300)
        by_gcc = self.counts_of("by_gcc", "gcc")
        self.assertEqual(by_gcc, called)

    def calls_by_name(self, source, compiler, arguments, *flags):
        """Calls by the function's name alone, without its class, arguments and parameters of templates, of those that the source defines."""
        program = self.compile("counted" + "".join(flags), compiler, "-O2", "-g", *ALIKE, *flags, source=source)
        trace = self.trace([program, *arguments], *OPTIONS).trace
        table = self.magic_trace("query", "-csv", trace, "SELECT function, count(*) FROM calls GROUP BY 1").stdout.decode()
        text, counts = source.read_text(), collections.Counter()
        for function, count in list(csv.reader(table.splitlines()))[1:]:
            while "<" in function and (shorter := re.sub(r"<[^<>]*>", "", function)) != function:
                function = shorter
            name = function.split("(")[0].split(" ")[-1].split("::")[-1]
            if name and "std::" not in function and re.search(rf"(?m)^(?!.*\bstd::{name}\().*\b{name}\(", text):
                counts[name] += int(count)
        return counts

    def test_counts_of_programs(self):
        """programs of C and C++, algorithms and containers too: what is not in UNLIKE is as many spans as calls without inlining"""
        for source, compiler, arguments, least in (
                (harness.PROGRAMS / "inlined.c", "gcc", ("70",), 7), (harness.PROGRAMS / "inlined_loops.c", "gcc", (), 7), (harness.PROGRAMS / "algorithms.cpp", "g++", (), 4),
                (harness.PROGRAMS / "sample_profile.cpp", "g++", ("2",), 5), (harness.TESTS.parent / "bench" / "inlined_program.cpp", "g++", ("3",), 4)):
            with self.subTest(program=source.name):
                if not shutil.which(compiler):
                    continue
                inlined, called = (self.calls_by_name(source, compiler, arguments, *flags) for flags in ((), ("-fno-inline",)))
                unlike = UNLIKE.get(source.name, {}) | (UNLIKE_BY_NEWER_GCC.get(source.name, {}) if gcc_version() > 12 else {})
                compared = called.keys() - unlike.keys() - OF_LIBRARY
                self.assertGreaterEqual(len(compared), least)
                self.assertEqual({name: inlined[name] for name in compared}, {name: called[name] for name in compared})

    def test_moved_code(self):
        """code that was moved out of an inlined loop, which gcc 14 does to `digits`, too, is no call of its own"""
        program = self.compile("moved", "gcc", source=harness.PROGRAMS / "moved_code.S")
        self.assertEqual(self.spans(self.trace([program], *OPTIONS).trace)["digits"], 20)

    def test_distinguished(self):
        """the category is "inlined", reports say [inlined]; physical functions have neither"""
        program = self.compile("program", "gcc", "-O2", "-g")
        traced = self.trace([program], *OPTIONS)
        categories = self.judge_trace(traced.trace)["categories"]
        for function in INLINED:
            self.assertIn(function, categories["inlined"])
        self.assertNotIn("walk", categories["inlined"])
        table = self.magic_trace("report", traced.trace).stdout.decode()
        self.assertRegex(table, r"(?m) step \[inlined\]$")
        self.assertRegex(table, r"(?m) walk$")
        tree = self.magic_trace("report", "-around", "square_of#2", traced.trace).stdout.decode()
        self.assertRegex(tree, r"(?m) square_of \[inlined\]$")
        self.assertRegex(tree, r"(?m)   look_up$")
        folded = self.magic_trace("report", "-folded", traced.trace).stdout.decode()
        self.assertIn("main;walk;step;mix ", folded)
        self.assertIn("squares;square_of;look_up ", folded)

    def test_no_inlined(self):
        """-no-inlined: of a recording and of a trace the same, and no inlined function in any form"""
        program = self.compile("program", "gcc", "-O2", "-g")
        traced = self.trace([program], *OPTIONS)
        without = self.folder / "without.fxt"
        self.magic_trace("decode", "-no-inlined", "-o", without, traced.directory)
        self.assertNotIn("inlined", self.judge_trace(without)["categories"])
        spans = self.spans(without)
        self.assertEqual([spans[function] for function in INLINED], [0] * len(INLINED))
        self.assertEqual(spans["look_up"], 200)

        def calls(*arguments):
            text = self.magic_trace("report", *arguments).stdout.decode()
            return sorted(re.findall(r"(?m)^ *(\d+) .*  (\S+)$", text))

        self.assertEqual(calls("-no-inlined", traced.trace), calls(without))
        self.assertEqual(calls("-no-inlined", traced.directory), calls(without))
        for form in ("csv", "chrome"):
            exported = self.folder / f"export.{form}"
            self.magic_trace("export", "-format", form, "-no-inlined", "-o", exported, traced.trace)
            self.assertFalse(re.search(rb"\binlined\b(?!\.c)", exported.read_bytes()), form)

    def test_without_debug_information(self):
        """a program without debug information: byte for byte the same trace"""
        program = self.compile("program", "gcc", "-O2", "-static")
        traced = self.trace([program], *OPTIONS)
        without = self.folder / "without.fxt.gz"
        self.magic_trace("decode", "-no-inlined", "-o", without, traced.directory)
        self.assertEqual(gzip.open(without).read(), gzip.open(traced.trace).read())

    def test_decoders_agree(self):
        """the fast path, and the slow path with branches by stock perf, give the same inlined functions"""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        cpp = self.folder / "points.cpp"
        cpp.write_text(CPP)
        for name, compiler, source in (("c", "gcc", None), ("cpp", "g++", cpp), ("by_clang", "clang++", cpp)):
            program = self.compile(name, compiler, "-O2", "-g", source=source)
            if not program:
                continue
            traced = self.trace([program], *OPTIONS)
            by_perf = self.folder / f"{name}.fxt"
            self.magic_trace("decode", "-decoder", "perf", "-o", by_perf, traced.directory)
            perf, native = self.spans(by_perf), self.spans(traced.trace)
        for spans in perf, native:  # less exact times cut a pause where it is not cut otherwise
            for name in fxt_spans.NOT_RUNNING:
                spans.pop(name, None)
        self.assertEqual(perf, native)

    def test_trigger(self):
        """a function that is inlined everywhere is a trigger: hit once for each of its spans, as is inlined:NAME"""
        program = self.compile("program", "gcc", "-O2", "-g")
        for trigger, name in (("square_of", "square_of"), ("inlined:digits", "digits")):
            traced = self.trace([program, "20"], *OPTIONS, "-multi-snapshot", "-trigger", trigger)
            spans = self.span_list(traced.trace)
            begins = [span.begin for span in spans if span.name == name]
            hits = [span.begin for span in spans if span.name.startswith(f"hit {name} [inlined]")]
            self.assertEqual(len(begins), 40 if name == "square_of" else 20)
            self.assertEqual(len(hits), len(begins))
        for trigger in "inlined:look_up", "inlined:squared_of":
            finished = self.magic_trace("run", "-trigger", trigger, "--", program, "1")
            self.assertEqual(finished.status, 1)
            self.assertIn(b"is inlined nowhere in", finished.stderr)

    def test_many_calls(self):
        """every call of 20,000"""
        program = self.compile("program", "gcc", "-O2", "-g")
        spans = self.spans(self.trace([program, "20000"], *OPTIONS).trace)
        self.assertEqual([spans[name] for name in ("square_of", "step", "digits")], [40000, 20000, 20000])
