"""Snapshots at a chosen moment: at a place in the code, after a request that took too long, in any thread."""
import pathlib
import re
import shutil
import subprocess

import harness
from harness import Settings

ROOT = harness.TESTS.parent


def compile_server():
    """demo/server.c, linked with the client library of the build under test."""
    return compile_client(ROOT / "demo" / "server.c")


def compile_client(source):
    library = pathlib.Path(Settings.binary).parent / "lib" / "libmagic_trace.a"
    program = Settings.work / "programs" / source.stem
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O1", "-g", f"-I{ROOT / 'include'}", "-o", program, source, library], check=True)
    return program


class Triggers(harness.TestCase):
    ENGINE = "qemu"

    def hits(self, traced):
        return traced.session()["hits"]

    def only(self, traced, name):
        found = [span for span in self.span_list(traced.trace) if span.name == name]
        self.assertEqual(len(found), 1, name)
        return found[0]

    def undisturbed(self, attempt):
        """The first result of `attempt` that is true: a call during which a busy machine ran something else took as long
        as the one that is looked for, and was rightly caught."""
        for _ in range(20):
            result = attempt()
            if result:
                return result
        return self.fail("never caught what was looked for")

    def last_branch(self, traced):
        """What stock perf sees last, without the end of tracing itself: its target's symbol."""
        finished = harness.run(["perf", "script", "--itrace=b", "-F", "flags,ip,sym,addr", "-i",
                                traced.directory / "perf.data"])
        lines = [line for line in finished.stdout.decode().splitlines() if line.strip() and "tr end" not in line]
        return lines[-1].split()[-1]

    def test_slow_request(self):
        """-duration-thresh catches the one slow request of 10,000, whole, and ends at its take_snapshot"""
        def catch():
            traced = self.trace([compile_server()], "-trigger", ".", "-duration-thresh", "2ms")
            self.assertIn(b"10000 requests handled", traced.stdout)
            [caught] = self.hits(traced)
            self.assertGreater(caught["time"] - caught["passed"], 2_000_000)
            return caught["argument"] == 618 and traced

        traced = self.undisturbed(catch)
        self.assertIn("[ Snapshot taken. ]", traced.messages)
        spans = self.span_list(traced.trace)
        rebuilt = [span for span in spans if span.name == "rebuild_entry"]
        self.assertEqual(len(rebuilt), 256)
        # On a busy machine a request without work may have taken longer.
        [slow] = [span for span in spans if span.name == "handle_request" and span.begin <= rebuilt[0].begin <= span.end]
        self.assertTrue(all(slow.begin <= span.begin and span.end <= slow.end for span in rebuilt))
        hit = self.only(traced, "hit magic_trace_stop_indicator")
        # Between two packets' times moments are placed by a guess.
        self.assertLessEqual(hit.begin, slow.begin + 1000)
        self.assertGreaterEqual(hit.end, slow.end - 1000)
        self.assertGreater(hit.end - hit.begin, 2_000_000)
        later = sum(span.name == "handle_request" and span.begin > hit.end for span in spans)
        self.assertLess(later, 2000, "of 9,381")

    def test_threshold_never_reached(self):
        """no request is slow enough: the snapshot is of the end, and that is said"""
        traced = self.trace([compile_server(), "500"], "-trigger", ".", "-duration-thresh", "10s")
        self.assertEqual(self.hits(traced), [])
        self.assertIn("was hit 500 times, never beyond the threshold", traced.messages)

    def test_long_cycle(self):
        """-delay-thresh catches the one long cycle of an event loop"""
        def catch():
            traced = self.trace([compile_server(), "cycles"], "-trigger", "run_one_cycle", "-delay-thresh", "2ms")
            self.assertEqual(len(self.hits(traced)), 1)
            cycles = [span for span in self.span_list(traced.trace) if span.name == "run_one_cycle"]
            long = max(range(len(cycles)), key=lambda number: cycles[number].end - cycles[number].begin)
            return long == 123 and (traced, cycles)

        traced, cycles = self.undisturbed(catch)
        hit = self.only(traced, "hit run_one_cycle")
        self.assertAlmostEqual(hit.begin, cycles[124].begin, delta=1000)  # its call ended the delay

    def test_threads(self):
        """hits in the third of five threads, and in one created later, count with -multi-thread"""
        program = harness.compile_program("hits")
        for which in ("third", "late"):
            traced = self.trace([program, which], "-trigger", "target", "-multi-thread", "-immediate-stop")
            self.assertEqual(len(self.hits(traced)), 1, which)
            self.assertNotEqual(self.hits(traced)[0]["tid"], self.hits(traced)[0]["pid"])
            self.assert_perf_agrees(traced)

    def test_other_threads(self):
        """without -multi-thread hits in other threads do not count, which is said"""
        traced = self.trace([harness.compile_program("hits"), "third"], "-trigger", "target")
        self.assertEqual(self.hits(traced), [])
        self.assertIn("ran 1 times in threads or processes that were not traced", traced.messages)
        self.assertIn("-multi-thread", traced.messages)

    def test_child(self):
        """a hit in a forked child counts with -multi-thread"""
        traced = self.trace([harness.compile_program("hits"), "child"], "-trigger", "target", "-multi-thread")
        self.assertEqual(len(self.hits(traced)), 1)
        self.assertIn(b"done", traced.stdout)
        self.assertIn("target", self.spans(traced.trace))
        # What the parent sleeps afterwards is not in it.
        spans = self.span_list(traced.trace)
        self.assertLess(max(span.end for span in spans), self.only(traced, "hit target").end + 200_000_000)

    def test_library(self):
        """a function of a library that the program needs"""
        traced = self.trace([harness.compile_program("hits")], "-trigger", "puts", "-immediate-stop")
        self.assertEqual(len(self.hits(traced)), 1)
        self.assertEqual(traced.session()["trigger"], "puts")

    def test_immediate_stop(self):
        """-immediate-stop: the last branch is the call of the symbol, for perf and for us"""
        traced = self.trace([harness.compile_program("hits"), "many", "300", "5"], "-trigger", "target",
                            "-immediate-stop")
        self.assertEqual(self.last_branch(traced), "target")
        spans = [span for span in self.span_list(traced.trace) if not span.name.startswith("hit ")]
        self.assertEqual(spans[-1].name, "target")
        self.assertEqual(sum(span.name == "target" for span in spans), 1)
        self.assert_perf_agrees(traced)

    def test_line_and_address(self):
        """FILE:LINE in the middle of a function, and addr:"""
        program = harness.compile_program("hits")
        source = (harness.PROGRAMS / "hits.c").read_text().splitlines()
        line = next(number for number, text in enumerate(source, 1) if "sink += value;" in text)
        traced = self.trace([program, "many", "3", "5"], "-trigger", f"hits.c:{line}", "-multi-snapshot")
        self.assertEqual(len(self.hits(traced)), 3)
        symbols = harness.run(["nm", program]).stdout.decode()
        address = re.search(r"^([0-9a-f]+) T target$", symbols, re.MULTILINE).group(1)
        traced = self.trace([program, "many", "3", "5"], "-trigger", f"addr:0x{address}", "-multi-snapshot")
        self.assertEqual(len(self.hits(traced)), 3)

    def test_many_snapshots(self):
        """10,000 hits with -multi-snapshot on a small ring: none is lost"""
        traced = self.trace([harness.compile_program("hits"), "many", "10000", "20"], "-trigger", "target",
                            "-multi-snapshot", "-snapshot-size", "16K")
        self.assertEqual(len(self.hits(traced)), 10000)
        self.assertEqual(self.spans(traced.trace)["target"], 10000)
        self.assert_perf_agrees(traced)

    def test_snapshots_far_apart(self):
        """what lies between snapshots is left out, every hit is in the trace, and all judges agree"""
        traced = self.trace([harness.compile_program("hits"), "many", "12", "3000000"], "-trigger", "target",
                            "-multi-snapshot", "-snapshot-size", "4K")
        self.assertEqual(len(self.hits(traced)), 12)
        self.assertEqual(self.spans(traced.trace)["target"], 12)
        self.assertIn("gaps in the trace", traced.messages)
        # Gaps are drawn with their length, inside the calls that go on across them.
        judged = self.judge_trace(traced.trace)
        spans = self.span_list(traced.trace)
        lost = [span for span in spans if span.name == "[lost]"]
        self.assertEqual(judged["instants"], {"[lost]": len(lost)})
        [main] = [span for span in spans if span.name == "main"]
        self.assertTrue(all(main.begin < span.begin < span.end < main.end for span in lost))
        self.assertGreater(sum(span.end - span.begin for span in lost), (main.end - main.begin) / 4)
        self.assertGreaterEqual(judged["arguments"]["across_gap"], len(lost))
        tree = self.magic_trace("report", "-tree", traced.trace).stdout.decode()
        self.assertEqual(len(re.findall(r"-- \[lost\] --\n +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s +\[lost\]\n", tree)), len(lost))
        self.assertRegex(tree, r" main .*\[goes on across a gap\]\n")
        self.assertLess((traced.directory / "perf.data").stat().st_size, 12 * 300_000)
        self.assert_perf_agrees(traced)

    def test_cold_code(self):
        """the first request, whose code is translated then, does not look slow"""
        def look_for_none():
            traced = self.trace([compile_server(), "50"], "-trigger", ".", "-duration-thresh", "500us")
            return not self.hits(traced)

        self.undisturbed(look_for_none)

    def test_full_execution(self):
        """with -full-execution hits are marked, and all is kept"""
        traced = self.trace([harness.compile_program("hits"), "many", "50", "20"], "-trigger", "target",
                            "-full-execution")
        self.assertEqual(len(self.hits(traced)), 50)
        spans = self.spans(traced.trace)
        self.assertEqual((spans["target"], spans["hit target"], spans["work"]), (50, 50, 50))
        for source in (traced.directory, traced.trace):
            table = self.magic_trace("report", source).stdout.decode()
            self.assertIn("Note: hit target, 50 times", table)
            self.assertIn(" in 1 thread ", table)
            tree = self.magic_trace("report", "-tree", source).stdout.decode()
            self.assertEqual(len(re.findall(r"-- hit target --\n.* target\n", tree)), 50)
            self.assertNotIn("Snapshot symbol hits", tree)

    def test_filter_takes_the_triggers_names(self):
        """-filter and -trigger name a C++ function in the same ways: with its parameters, without them, by its symbol"""
        source = self.folder / "overloaded.cpp"
        source.write_text("namespace n { __attribute__((noinline)) int work(int x) { asm volatile(\"\"); return x; }\n"
                          "__attribute__((noinline)) int rest(int x) { asm volatile(\"\"); return x; } }\n"
                          "int main() { return n::rest(n::work(0)); }\n")
        program = self.folder / "overloaded"
        subprocess.run(["g++", "-g", "-o", program, source], check=True)
        for work, rest in (("n::work", "n::rest"), ("n::work(int)", "n::rest(int)"), ("_ZN1n4workEi", "_ZN1n4restEi")):
            traced = self.trace([program], "-trigger", work, "-filter", f'("{work}" "{rest}")')
            spans = self.spans(traced.trace)
            self.assertEqual((spans["n::work(int)"], spans["n::rest(int)"]), (1, 0), traced.messages)

    def test_names_of_cpp(self):
        """a plain name means a C++ function alone, not its cold part, and all instances of a template; -filter, too"""
        source = self.folder / "named.cpp"
        source.write_text("""
            #include <cstdio>
            #include <stdexcept>
            __attribute__((noinline)) int work(int n)
            {
                if (n == 3)
                    throw std::runtime_error("x");
                asm volatile("");
                return n;
            }
            __attribute__((noinline)) int request(int n)
            {
                try { return work(n); } catch (std::exception &) { return -1; }
            }
            template <class T> __attribute__((noinline)) T twice(T value) { asm volatile(""); return value + value; }
            int main()
            {
                int sum = 0;
                for (int i = 0; i < 6; i++)
                    sum += request(i);
                std::printf("%d %d %.1f\\n", sum, twice(3), twice(2.5));
            }
            """)
        program = self.folder / "named"
        subprocess.run(["g++", "-O2", "-g", "-o", program, source], check=True)
        if b"_Z7requesti.cold" not in harness.run(["nm", program]).stdout:
            self.skipTest("this compiler makes no cold part of it")
        for name, hits in (("request", 6), ("twice", 2), ("twice<int>", 1), ("twice<double>(double)", 1)):
            traced = self.trace([program], "-trigger", name, "-multi-snapshot", "-filter", f'("{name}" main)')
            self.assertEqual(len(self.hits(traced)), hits, name)
            self.assertIn("[ 1 snapshot of 1 hit. ]" if hits == 1 else f"[ {hits} snapshots of {hits} hits. ]", traced.messages)

    def test_filter(self):
        """-filter: the spans are those of the whole trace, cut to the regions"""
        program = harness.compile_program("hits")
        whole = self.trace([program, "recursion"], "-full-execution", "-clock", "instructions")
        output = self.folder / "filtered.fxt"
        finished = self.magic_trace("decode", whole.directory, "-o", output, "-filter", "(begin end)")
        self.assertEqual(finished.status, 0, finished.stderr)
        spans = self.span_list(whole.trace)
        regions = []
        start = None
        for span in spans:
            if span.name == "begin" and start is None:
                start = span.begin
            elif span.name == "end" and start is not None:
                regions.append((start, span.begin))
                start = None
        if start is not None:
            regions.append((start, max(span.end for span in spans) + 1))
        self.assertEqual(len(regions), 5)
        expected = sorted((span.name, max(span.begin, first), min(span.end, last))
                          for first, last in regions for span in spans
                          if (span.begin < last and span.end > first) or first <= span.begin < last)
        found = sorted((span.name, span.begin, span.end) for span in self.span_list(output))
        self.assertEqual(found, expected)
        # A report filters by itself, a recording as well as a trace.
        expected = self.magic_trace("report", "-tree", output).stdout
        for source in (whole.directory, whole.trace):
            self.assertEqual(self.magic_trace("report", "-tree", "-filter", "(begin end)", source).stdout, expected)

    def test_filter_without_calls(self):
        """-filter of functions that were never called: said, with the nearest, and nothing is overwritten"""
        program = harness.compile_program("hits")
        whole = self.trace([program, "recursion"], "-full-execution")
        finished = self.magic_trace("decode", whole.directory, "-o", "x.fxt", "-filter", "(begins end)")
        self.assertEqual(finished.status, 1)
        self.assertIn(b"Did you mean begin", finished.stderr)
        self.assertFalse((self.folder / "x.fxt").exists())
        finished = self.magic_trace("report", "-filter", "(begins end)", whole.trace)
        self.assertEqual((finished.status, finished.stdout), (1, b""))
        self.assertIn(b"Did you mean begin", finished.stderr)


class TriggersTranslated(Triggers):
    ENGINE = "translator"

    def catch_long_call(self, how, *options):
        """Of `handle`'s thousands of calls all but one or two take microseconds, and those 400 ms."""
        command = [harness.compile_program("long_calls"), how]
        traced = self.trace(command, "-trigger", "handle", "-longer-than", "200ms", *options)
        self.assert_same_as_untraced(traced, command)
        [caught] = self.hits(traced)
        self.assertGreater(caught["time"] - caught["passed"], 200_000_000)
        self.assertIn("[ Snapshot taken. ]", traced.messages)
        return traced, self.span_list(traced.trace)

    def test_long_call(self):
        """-longer-than catches the one long call of a function among thousands, at its end, whole"""
        for how in ("sleeps", "recurses"):
            _, spans = self.catch_long_call(how)
            [sleeps] = [span for span in spans if span.name == "sleeps"]
            [hit] = [span for span in spans if span.name == "hit handle"]
            self.assertGreater(hit.end - hit.begin, 200_000_000)
            # Between two packets' times moments are placed by a guess.
            self.assertLessEqual(hit.begin, sleeps.begin + 1000)
            self.assertGreaterEqual(hit.end, sleeps.end - 1000)
            self.assertFalse([span for span in spans if span.begin > hit.end + 100_000_000])

    def test_long_call_on_processor(self):
        """-longer-than with -on-cpu: sleeping does not count"""
        _, spans = self.catch_long_call("burns", "-on-cpu")
        self.assertTrue([span for span in spans if span.name == "burns"])

    def test_slow_request_on_processor(self):
        """-duration-thresh with -on-cpu: sleeping does not count"""
        program = compile_client(ROOT / "tests" / "programs" / "marked_requests.c")
        options = ("-trigger", ".", "-duration-thresh", "200ms")
        [slept] = self.hits(self.trace([program], *options))
        self.assertEqual(slept["argument"], 100)
        traced = self.trace([program], *options, "-on-cpu")
        [computed] = self.hits(traced)
        self.assertEqual(computed["argument"], 200)
        self.assertGreater(computed["time"] - computed["passed"], 200_000_000)
        self.assertTrue([span for span in self.span_list(traced.trace) if span.name == "burns"])
        traced = self.trace([program, "sleeps"], *options, "-on-cpu")
        self.assertEqual(self.hits(traced), [])
        self.assertIn("was hit 300 times, never beyond the threshold of time on a processor", traced.messages)

    def test_on_processor_needs_the_mark(self):
        """-duration-thresh with -on-cpu, of a program without mark_start: said at once"""
        program = compile_client(ROOT / "tests" / "programs" / "marked_requests.c")
        stripped = self.folder / "stripped"
        shutil.copy(program, stripped)
        subprocess.run(["objcopy", "--strip-symbol=magic_trace_mark_start", stripped], check=True)
        finished = self.magic_trace("run", "-trigger", ".", "-duration-thresh", "200ms", "-on-cpu", stripped)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"magic_trace_mark_start", finished.stderr)
        finished = self.magic_trace("run", "-engine", "sample", "-trigger", ".", "-duration-thresh", "1ms", "-on-cpu", program)
        self.assertNotEqual(finished.status, 0)
        self.assertIn(b"translator", finished.stderr)

    def test_long_call_in_thread(self):
        """-longer-than in a second thread: caught with -multi-thread, else said"""
        traced, spans = self.catch_long_call("thread", "-multi-thread")
        self.assertNotEqual(self.hits(traced)[0]["tid"], self.hits(traced)[0]["pid"])
        self.assertTrue([span for span in spans if span.name == "sleeps"])
        program = harness.compile_program("long_calls")
        traced = self.trace([program, "thread"], "-trigger", "handle", "-longer-than", "200ms")
        self.assertEqual(self.hits(traced), [])
        self.assertRegex(traced.messages, r"handle ran [\d,]+ times in threads or processes that were not traced")

    def test_all_long_calls(self):
        """-longer-than with -multi-snapshot: each call that lasts long, one within the other, too"""
        program = harness.compile_program("long_calls")
        traced = self.trace([program, "burns"], "-trigger", "handle", "-longer-than", "200ms", "-multi-snapshot")
        self.assertEqual(len(self.hits(traced)), 1 + 3)
        self.judge_instructions(traced)

    def test_no_long_call(self):
        """-longer-than: no call is long enough, which is said"""
        traced = self.trace([harness.compile_program("long_calls"), "sleeps"], "-trigger", "handle", "-longer-than", "1000s")
        self.assertEqual(self.hits(traced), [])
        self.assertRegex(traced.messages, r"handle was hit [\d,]+ times, never beyond the threshold")


class Library(harness.TestCase):
    ENGINE = "qemu"

    def test_compilers(self):
        """magic_trace.h is clean C99 and C++11, and the library keeps the stop indicator a function"""
        source = '#include "magic_trace.h"\nint main(void) { magic_trace_take_snapshot(); return 0; }\n'
        library = pathlib.Path(Settings.binary).parent / "lib" / "libmagic_trace.a"
        for compiler, suffix, standard in (("gcc", "c", "-std=c99"), ("g++", "cc", "-std=c++11"),
                                           ("clang", "c", "-std=c99")):
            path = self.folder / f"user.{suffix}"
            path.write_text(source)
            program = self.folder / f"user-{compiler}"
            finished = harness.run([compiler, standard, "-O3", "-flto", "-Wall", "-Wextra", "-pedantic", "-Werror",
                                    "-ffunction-sections", "-Wl,--gc-sections", f"-I{ROOT / 'include'}", "-o", program,
                                    path, library])
            self.assertEqual(finished.status, 0, finished.stderr)
            traced = self.trace([program], "-trigger", ".")
            self.assertEqual([hit["argument"] for hit in traced.session()["hits"]], [0])

    def test_link_time_optimization(self):
        """the library's source as part of a program that compiler and linker strip of all they can: every hit is seen"""
        source = self.folder / "user.c"
        source.write_text("""
            #include "magic_trace.h"
            __attribute__((noinline)) intptr_t folds_with_it(intptr_t time, intptr_t argument)
            {
                __asm__ volatile("" : : "r"(time), "r"(argument) : "memory");
                return 1;
            }
            int main(void)
            {
                for (int i = 0; i < 3; i++) {
                    folds_with_it(1, 1);
                    magic_trace_take_snapshot_with_arg(i - 1);
                }
                return 0;
            }""")
        sections = ["-ffunction-sections", "-Wl,--gc-sections"]
        builds = [["gcc", "-flto"]]
        if shutil.which("ld.gold"):
            builds += [["gcc", "-fuse-ld=gold", "-Wl,--icf=all"], ["clang", "-fuse-ld=gold", "-Wl,--icf=all"]]
        if shutil.which("ld.lld"):
            builds.append(["clang", "-flto", "-fuse-ld=lld", "-Wl,--icf=all"])
        for number, options in enumerate(builds):
            program = self.folder / f"user{number}"
            finished = harness.run([*options, "-O3", *sections, f"-I{ROOT / 'include'}", "-o", program, source,
                                    ROOT / "lib" / "magic_trace.c"])
            self.assertEqual(finished.status, 0, finished.stderr)
            traced = self.trace([program], "-trigger", ".", "-multi-snapshot")
            self.assertEqual([hit["argument"] for hit in traced.session()["hits"]], [-1, 0, 1], options)

    def test_both_libraries(self):
        """a program that has the stop indicator of OCaml's library besides ours: the snapshots of both are seen"""
        (self.folder / "other.c").write_text("""
            #include <stdint.h>
            __attribute__((noinline)) intptr_t magic_trace_stop_indicator(intptr_t time, intptr_t argument)
            {
                __asm__ volatile("" : : "r"(time), "r"(argument) : "memory");
                return 1;
            }
            void other_take_snapshot(intptr_t argument) { magic_trace_stop_indicator(1, 2 * argument + 1); }
            """)
        (self.folder / "user.c").write_text("""
            #include "magic_trace.h"
            void other_take_snapshot(intptr_t argument);
            int main(void)
            {
                magic_trace_take_snapshot_with_arg(1);
                other_take_snapshot(2);
                return 0;
            }""")
        libraries = pathlib.Path(Settings.binary).parent / "lib"
        for name, link in (("static", [libraries / "libmagic_trace.a"]),
                           ("shared", [f"-L{libraries}", "-lmagic_trace", f"-Wl,-rpath,{libraries}"])):
            program = self.folder / name
            finished = harness.run(["gcc", "-O2", f"-I{ROOT / 'include'}", "-o", program, self.folder / "user.c",
                                    self.folder / "other.c", *link])
            self.assertEqual(finished.status, 0, finished.stderr)
            traced = self.trace([program], "-trigger", ".", "-multi-snapshot")
            self.assertEqual([hit["argument"] for hit in traced.session()["hits"]], [1, 2], name)

    def check_example(self, command, name):
        finished = harness.run(command, cwd=self.folder)
        self.assertEqual(finished.status, 0, finished.stderr)
        traced = self.trace([self.folder / name], "-trigger", ".", "-multi-snapshot")
        self.assertEqual([hit["argument"] for hit in traced.session()["hits"]], [0, 1, 2])

    def test_ocaml(self):
        """docs/examples/ocaml"""
        if not shutil.which("ocamlfind") and not shutil.which("ocamlopt"):
            self.skipTest("OCaml is not installed")
        example = ROOT / "docs" / "examples" / "ocaml"
        for name in ("example.ml", "magic_trace_stubs.c"):
            shutil.copy(example / name, self.folder)
        library = pathlib.Path(Settings.binary).parent / "lib" / "libmagic_trace.a"
        self.check_example(["ocamlopt", "-ccopt", f"-I{ROOT / 'include'}", "-o", "example", "magic_trace_stubs.c",
                            "example.ml", library], "example")

    def test_rust(self):
        """docs/examples/rust"""
        rustc = shutil.which("rustc")
        if not rustc or harness.run([rustc, "--version"]).status != 0:
            self.skipTest("Rust is not installed")
        shutil.copy(ROOT / "docs" / "examples" / "rust" / "example.rs", self.folder)
        library = pathlib.Path(Settings.binary).parent / "lib"
        self.check_example([rustc, "-O", "-o", "example", "example.rs", "-L", f"native={library}"], "example")


class LibraryTranslated(Library):
    ENGINE = "translator"
