"""Arguments and results of chosen functions (-args): equal to what gdb sees, however the program is optimised."""
import csv
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

import harness
from viewer import Served

FUNCTIONS = ("of_integers", "of_reals", "of_single", "of_texts", "of_enums", "of_point", "of_small", "of_box", "of_pointers",
             "of_many", "callee", "factorial", "returns_nothing")
TURNS = 20
OPTIONS = ("-engine", "translator", "-full-execution")

# Prints a line of JSON for each call: function, arguments in order, result.
GDB = """
import gdb, json
calls = []
class Return(gdb.FinishBreakpoint):
    def __init__(self, frame, call):
        super().__init__(frame, internal=True)
        self.silent, self.call = True, call
    def stop(self):
        self.call["result"] = None if self.return_value is None else str(self.return_value)
        return False
class Entry(gdb.Breakpoint):
    def __init__(self, name):
        super().__init__(name)
        self.silent, self.name = True, name
    def stop(self):
        frame = gdb.selected_frame()
        call = {"function": self.name, "arguments": [[s.name, str(s.value(frame))] for s in frame.block() if s.is_argument]}
        calls.append(call)
        Return(frame, call)
        return False
gdb.execute("set pagination off")
gdb.execute("set print elements 128")
for name in %r:
    Entry(name)
gdb.execute("run %d >/dev/null")
print("CALLS " + json.dumps(calls))
"""


def shown_by_gdb(text):
    """As magic-trace shows it: without the address of a text, with as few digits as a number needs, and a char[] without its
    zeros at the end."""
    text = re.sub(r'^0x[0-9a-f]+ (<[^>]*> )?(?=")', "", text)
    text = re.sub(r"^(0x[0-9a-f]+) <.*>$", r"\1", text)
    text = re.sub(r'(\\000)+(?=")', "", text)
    text = re.sub(r'"(, )?\'\\000\' <repeats \d+ times>', '"', text)
    return re.sub(r"-?\b\d+\.\d+(e[-+]\d+)?\b|-?\b\d+e[-+]\d+\b", lambda number: f"{float(number[0]):.15g}", text)


def shown_by_us(text):
    return re.sub(r"-?\b\d+\.\d+(e[-+]\d+)?\b|-?\b\d+e[-+]\d+\b", lambda number: f"{float(number[0]):.15g}", text)


class Arguments(harness.TestCase):
    def compile(self, *flags, name="arguments", compiler="gcc"):
        path = self.folder / name
        subprocess.run([compiler, "-g", "-no-pie", *flags, "-o", path, harness.PROGRAMS / "arguments.c"], check=True)
        return path

    def recorded(self, command, names, *options):
        """Calls as the tree has them, and the recording."""
        recording = self.folder / "recording"
        shutil.rmtree(recording, ignore_errors=True)
        finished = self.magic_trace("run", *OPTIONS, *options, "-args", names, "-working-directory", recording, "-no-decode",
                                    "--", *command)
        self.assertEqual(finished.status, 0, finished.stderr)
        return self.tree(recording), recording

    def tree(self, trace):
        finished = self.magic_trace("report", "-tree", "-json", "-max-bytes", "100000000", trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        return [call for call in json.loads(finished.stdout)["calls"] if "arguments" in call]

    def lines(self, trace):
        """(function, arguments, result) of each call, in the order in which they end."""
        finished = self.magic_trace("export", "-format", "csv", "-output", self.folder / "calls.csv", trace)
        self.assertEqual(finished.status, 0, finished.stderr)
        with open(self.folder / "calls.csv", encoding="utf-8") as file:
            return [(row["function"], row["arguments"].lstrip("'"), row["result"].lstrip("'")) for row in csv.DictReader(file)
                    if row["arguments"] or row["result"]]

    def gdb(self, program):
        script = self.folder / "judge.py"
        script.write_text(GDB % (FUNCTIONS, TURNS))
        finished = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", script, program], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False)
        found = re.search(r"^CALLS (.*)$", finished.stdout, re.MULTILINE)
        if not found:
            self.skipTest(f"gdb cannot run programs here: {finished.stdout[-500:]}{finished.stderr[-500:]}")
        return json.loads(found[1])

    def assert_as_gdb(self, judged, program, functions):
        _, recording = self.recorded([program, str(TURNS)], ",".join(FUNCTIONS))
        mine = self.lines(recording)
        for function in functions:
            # gdb's are in the order in which calls begin, ours in that in which they end.
            wanted = sorted((", ".join(f"{name}={shown_by_gdb(value)}" for name, value in call["arguments"]),
                             shown_by_gdb(call.get("result") or "")) for call in judged if call["function"] == function)
            got = sorted((shown_by_us(arguments), shown_by_us(result)) for name, arguments, result in mine if name == function)
            self.assertEqual(got, wanted, function)

    def test_as_gdb(self):
        """without optimisation, and with: there gdb finds less, so it is what it finds without it"""
        if not shutil.which("gdb"):
            self.skipTest("gdb is not installed")
        plain = self.compile("-O0", name="plain")
        judged = self.gdb(plain)
        self.assert_as_gdb(judged, plain, FUNCTIONS)
        same = [function for function in FUNCTIONS if function not in ("of_pointers", "factorial")]  # addresses; a loop
        self.assert_as_gdb(judged, self.compile("-O2", name="optimised"), same)
        if shutil.which("clang"):
            # It does not pass what a function does not use, and says of some that are used on the stack nowhere where they are.
            self.assert_as_gdb(judged, self.compile("-O2", name="by_clang", compiler="clang"),
                               ("of_reals", "of_single", "of_point", "callee", "returns_nothing"))

    def test_random_as_gdb(self):
        """random functions, called with random values of random types, in C and C++"""
        for language, compiler, seed in (("c", "gcc", 11), ("c++", "g++", 12), ("c", "clang", 13), ("c++", "clang++", 14)):
            if not shutil.which(compiler):
                continue
            judged = subprocess.run([sys.executable, harness.TESTS / "judge" / "arguments_judge.py", harness.Settings.binary, "--language",
                                     language, "--compiler", compiler, "--seed", str(seed), "--calls", "300", "--functions", "60",
                                     "--folder", self.folder / compiler], capture_output=True, text=True, check=False)
            if judged.returncode == 77:
                self.skipTest(judged.stdout)
            self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)

    def test_everywhere(self):
        program = self.compile("-O2")
        calls, recording = self.recorded([program, "3"], "of_t*,tail_caller,factorial,jumps,of_point")
        texts = [call for call in calls if call["function"] == "of_texts"]
        self.assertEqual([call["arguments"]["name"] for call in texts], ["", "a", 'hello, "world"\n'])
        self.assertEqual(texts[1]["result"], 'hello, "world"\n')
        self.assertEqual([call["result"] for call in calls if call["function"] == "factorial"], [1, 1, 2])
        # A call that ends by longjmp has no result; one that ends by a tail call has none of its own.
        self.assertEqual(["result" in call for call in calls if call["function"] == "jumps"], [True, False, True])
        trace = self.folder / "trace.fxt.gz"
        self.assertEqual(self.magic_trace("decode", recording, "-output", trace).status, 0)
        self.assertEqual(self.lines(trace), self.lines(recording))
        self.assertEqual([call["arguments"] for call in self.tree(trace)], [call["arguments"] for call in calls])
        packets = subprocess.run(["perf", "script", "-i", recording / "perf.data", "--itrace=we", "-F", "event,ip,sym"],
                                 capture_output=True, text=True, check=False) if shutil.which("perf") else None
        if packets and packets.returncode == 0:
            self.assertNotIn("error", packets.stdout)
            # A head, four words and three texts of a length and some words.
            self.assertGreater(packets.stdout.count("of_texts"), 3 * 8)

    def asked(self, trace, sql):
        finished = self.magic_trace("query", "-json", trace, sql)
        self.assertEqual(finished.status, 0, finished.stderr)
        return json.loads(finished.stdout)

    def test_in_tables(self):
        """the tables args and calls have what the CSV file has, of the recording and of the trace"""
        program = self.compile("-O2")
        _, recording = self.recorded([program, "3"], "of_t*,of_e*,of_i*,factorial,jumps")
        trace = self.folder / "trace.fxt.gz"
        self.assertEqual(self.magic_trace("decode", recording, "-output", trace).status, 0)
        for given in (recording, trace):
            calls = self.asked(given, "SELECT function, arguments, result FROM calls WHERE arguments IS NOT NULL ORDER BY id")
            self.assertEqual([(call["function"], call["arguments"], call["result"] or "") for call in calls],
                             [line for line in self.lines(given) if line[1]])
            found = self.asked(given, "SELECT a.name, a.position, a.value, a.text FROM args a JOIN calls c ON c.id = a.call"
                                      " WHERE c.function = 'of_texts' AND c.arguments LIKE '%hello%' ORDER BY c.id, a.rowid LIMIT 5")
            self.assertEqual([(row["name"], row["position"], row["value"]) for row in found],
                             [("name", 1, "a"), ("rest", 2, 'hello, "world"\n'), ("none", 3, 0), ("bytes", 4, "\1\x7fbytes"),
                              ("result", None, 'hello, "world"\n')])
            self.assertEqual(found[0]["text"], '"a"')
            numbers = self.asked(given, "SELECT DISTINCT typeof(value) AS type FROM args WHERE function = 'of_integers'")
            self.assertEqual(numbers, [{"type": "integer"}])
        # The trace has an index now, which answers the report, too.
        self.assertEqual(self.tree(trace), self.tree(recording))
        database = self.folder / "calls.db"
        self.assertEqual(self.magic_trace("export", "-format", "sqlite", "-output", database, trace).status, 0)
        with sqlite3.connect(database) as connection:
            rows = connection.execute("SELECT function, arguments, result FROM calls WHERE arguments IS NOT NULL ORDER BY id").fetchall()
        connection.close()
        self.assertEqual([(name, arguments, result or "") for name, arguments, result in rows], [line for line in self.lines(trace) if line[1]])

    def exported(self, trace, form):
        path = self.folder / f"exported.{form}"
        self.assertEqual(self.magic_trace("export", "-format", form, "-output", path, trace).status, 0)
        return path

    def test_in_formats(self):
        """chrome and perfetto: the ends of spans have the values, as numbers where they are some"""
        program = self.compile("-O2")
        _, recording = self.recorded([program, "3"], "of_texts,of_reals,of_enums")
        events = json.loads(self.exported(recording, "chrome").read_text())["traceEvents"]
        ends = [event["args"] for event in events if event["ph"] == "E" and "args.name" in event.get("args", {})]
        self.assertEqual([(end["args.name"], end["args.none"]) for end in ends], [("", "0x0"), ("a", "0x0"), ('hello, "world"\n', "0x0")])
        self.assertEqual([end["result"] for end in ends[:2]], ["", 'hello, "world"\n'])
        reals = [event["args"] for event in events if event["ph"] == "E" and "args.single" in event.get("args", {})]
        self.assertEqual([(end["args.single"], end["args.times"], end["args.real"]) for end in reals], [(0, 0, 0), (0.25, -1, 1.1e10), (0.5, 2, 2.2e10)])
        if not shutil.which("protoc"):
            self.skipTest("protoc is not installed")
        protos = harness.TESTS / "e2e" / "shared" / "protos"
        text = subprocess.run(["protoc", f"-I{protos}", "--decode=Trace", protos / "perfetto.proto"], check=True, capture_output=True,
                              input=self.exported(recording, "perfetto").read_bytes()).stdout.decode()
        found = re.findall(r'debug_annotations \{\s*(\w+_value): (\S+)\s*name: "([^"]*)"', text)
        self.assertEqual([(kind, value) for kind, value, name in found if name == "args.times"],
                         [("int_value", "0"), ("int_value", "-1"), ("int_value", "2")])
        self.assertEqual([(kind, value) for kind, value, name in found if name == "args.single"],
                         [("double_value", "0"), ("double_value", "0.25"), ("double_value", "0.5")])
        self.assertIn(("string_value", '"RED"', "args.colour"), found)
        self.assertIn(("pointer_value", "0", "args.none"), found)

    def test_on_the_page(self):
        """a span has its values, and calls are found by them"""
        program = self.compile("-O2")
        _, recording = self.recorded([program, "20"], "of_texts,factorial,returns_nothing")
        served = Served(self, ["view", "-no-browser", recording])
        try:
            def found(text):
                return {match["name"]: match["calls"] for match in served.get("/api/find", q=text)["matches"]}

            self.assertEqual(found("returns_nothing(n>=5, n<9)"), {"returns_nothing": 4})
            self.assertEqual(found("(n=3)"), {"returns_nothing": 1, "factorial": 3})
            self.assertEqual(found('texts(name="a")'), {"of_texts": 4})
            self.assertEqual(found("of_texts(result~hello, name!=a)"), {})
            self.assertEqual(found("returns_nothing(m=1)"), {})
            [match] = served.get("/api/find", q="returns_nothing(n>17)")["matches"]
            steps, place = [], {"track": 0, "depth": 0, "time": 0}
            while True:
                answer = served.get("/api/next", group=match["group"], direction="next", where="returns_nothing(n>17)", **place)
                self.assertEqual(answer["of"], 2)
                if answer["call"] is None:
                    break
                call = answer["call"]
                place = {"track": call["track"], "depth": call["depth"], "time": call["start"]}
                span = served.get("/api/span", **place)["span"]
                steps.append((answer["ordinal"], span["name"], span["values"], span["result"]))
            self.assertEqual(steps, [(1, "returns_nothing", [["n", "18"]], None), (2, "returns_nothing", [["n", "19"]], None)])
        finally:
            served.end()
        page = self.folder / "page.html"
        self.assertEqual(self.magic_trace("export", "-format", "html", "-output", page, recording).status, 0)
        carried = json.loads(re.search(r'id="trace">(.*?)</script>', page.read_text(), re.DOTALL)[1])
        values = [value for track in carried["tracks"] for value in track.get("values", {}).values()]
        self.assertEqual([value["values"] for value in values if len(value["values"]) == 1 and value["result"] is None],
                         [[["n", str(n)]] for n in range(20)])

    def test_without_debug_information(self):
        program = self.compile("-O2", "-g0")
        calls, _ = self.recorded([program, "2"], "factorial")
        self.assertEqual([list(call["arguments"]) for call in calls], [["rdi", "rsi", "rdx", "rcx", "r8", "r9"]] * 2)
        self.assertEqual([int(call["result"], 16) & 0xffffffff for call in calls], [1, 1])

    def test_of_cpp(self):
        """functions of several ranges of code, values that are passed by their addresses, exceptions"""
        source = self.folder / "values.cpp"
        source.write_text("""
            #include <string>
            enum class Kind : unsigned char { A, B = 7 };
            struct Point { int x; double y; };
            __attribute__((noinline)) int throws(int n) { if (n == 2) throw n; __asm__ volatile(""); return n; }
            __attribute__((noinline)) Kind kind(Kind kind, std::string name, const Point &point) {
                __asm__ volatile("" : : "r"(&point) : "memory");
                return name.size() > 2 ? Kind::B : kind;
            }
            int main() {
                for (int i = 0; i < 4; i++)
                    try { throws(i); kind(Kind::A, std::string(i, 'x'), Point{i, i + .5}); } catch (int) {}
            }""")
        for optimization in "-O0", "-O2":
            program = self.folder / f"values{optimization}"
            subprocess.run(["g++", "-g", optimization, "-o", program, source], check=True)
            calls, _ = self.recorded([program], "throws,kind")
            thrown = [call for call in calls if call["function"].startswith("throws")]
            self.assertEqual([call["arguments"] for call in thrown], [{"n": n} for n in range(4)])
            self.assertEqual([call.get("result") for call in thrown], [0, 1, None, 3])
            calls = [call for call in calls if call["function"].startswith("kind")]
            self.assertEqual([call["result"] for call in calls], ["A", "A", "B"])
            for call, n in zip(calls, (0, 1, 3)):
                self.assertEqual(call["arguments"]["kind"], "A")
                self.assertIn(f"_M_string_length = {n}", call["arguments"]["name"])
                self.assertEqual(call["arguments"]["point"], f"{{x = {n}, y = {n}.5}}")

    def test_of_many_registers(self):
        """numbers of more than one register, and of the x87, and structures whose class is not that of their members"""
        source = self.folder / "large.c"
        source.write_text("""
            #include <complex.h>
            #define KEPT __attribute__((noinline, noipa))
            #define USE(value) __asm__ volatile("" : : "r"(&value) : "memory")
            struct real { long double l; };
            struct __attribute__((packed)) odd { char c; long l; };
            struct __attribute__((packed)) bits { int a : 20, b : 20; };
            struct vector { float v __attribute__((vector_size(16))); };
            struct doubtful { double d; int : 32; };
            KEPT long double reals(int a, long double x, struct real s, int b) { USE(a); USE(s); USE(b); return x; }
            KEPT double complex both(float complex z, double complex w, double x) { USE(z); USE(x); return w; }
            KEPT struct odd odd(struct odd o, int n, struct bits b) { USE(n); USE(b); return o; }
            KEPT __float128 quad(__float128 q, struct vector v, float x) { USE(v); USE(x); return q; }
            KEPT int doubtful(int a, struct doubtful d, int b) { USE(a); USE(d); return b; }
            int main(void) {
                reals(1, 0.1L, (struct real){-2.5L}, 2);
                both(1 + 2 * I, 0.5 - 3 * I, 4.5);
                odd((struct odd){1, -99}, 7, (struct bits){5, -6});
                quad(1.5, (struct vector){{1, 2, 3, 4}}, 2.5f);
                return doubtful(1, (struct doubtful){1.5}, 3) != 3;
            }""")
        for compiler, optimization in (("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O0"), ("clang", "-O2")):
            if not shutil.which(compiler):
                continue
            program = self.folder / f"large{compiler}{optimization}"
            subprocess.run([compiler, "-g", "-w", optimization, "-o", program, source], check=True)
            calls, _ = self.recorded([program], "reals,both,odd,quad,doubtful")
            found = {call["function"]: (call["arguments"], call.get("result")) for call in calls}
            # clang 19 says of optimised code nowhere that x is on the stack.
            x = "?" if found["reals"][0]["x"] == "?" and (compiler, optimization) == ("clang", "-O2") else 0.1
            self.assertEqual(found["reals"], ({"a": 1, "x": x, "s": "{l = -2.5}", "b": 2}, None))
            self.assertEqual(found["both"], ({"z": "1 + 2i", "w": "0.5 + -3i", "x": 4.5}, "0.5 + -3i"))
            self.assertEqual(found["odd"], ({"o": "{c = 1 '\\001', l = -99}", "n": 7, "b": "{a = 5, b = -6}"}, "{c = 1 '\\001', l = -99}"))
            quad = "0x3fff8" + 27 * "0"
            self.assertEqual(found["quad"], ({"q": quad, "v": "{v = {1, 2, 3, 4}}", "x": 2.5}, quad))
            # gcc passes the bit-field without a name, clang does not: what debug information does not place is not shown.
            self.assertEqual(found["doubtful"][0]["a"], 1)
            for name, value in (("d", "{d = 1.5}"), ("b", 3)):
                self.assertIn(found["doubtful"][0][name], (value, "?"))
            if optimization == "-O0":
                self.assertEqual(found["doubtful"], ({"a": 1, "d": "?", "b": "?"}, 3))

    @unittest.skipUnless(shutil.which("clang"), "clang is not installed")
    def test_unused(self):
        """clang passes anything for what a function does not use, and debug information does not place it: it is unknown"""
        source = self.folder / "unused.c"
        source.write_text("""
            __attribute__((noinline)) int scale(int first, long unused, int third) { __asm__ volatile(""); return first + third; }
            int main(int argc, char **argv) { return scale(argc, 7777, 3) != 4; }""")
        program = self.folder / "unused"
        for optimization, unused in ("-O2", "?"), ("-O0", 7777):
            subprocess.run(["clang", "-g", optimization, "-o", program, source], check=True)
            calls, _ = self.recorded([program], "scale")
            self.assertEqual([(call["arguments"], call["result"]) for call in calls],
                             [({"first": 1, "unused": unused, "third": 3}, 4)])

    def test_templates(self):
        """instances of a function template, named without what its name begins and ends with"""
        source = self.folder / "templates.cpp"
        source.write_text("""
            template <class T> __attribute__((noinline)) T same(T x) { static volatile T seen; seen = x; return x; }
            int main() { return same(3) == same(2.5); }""")
        program = self.folder / "templates"
        subprocess.run(["g++", "-g", "-O2", "-o", program, source], check=True)
        for names, values in (("same", [3, 2.5]), ("same<int>", [3]), ("same<double>(double)", [2.5]), ("sa*", [3, 2.5])):
            calls, _ = self.recorded([program], names)
            self.assertEqual([call["arguments"]["x"] for call in calls], values, names)
        refused = self.magic_trace("run", "-args", "samme", program)
        self.assertIn(b"Did you mean same", refused.stderr)

    def test_clones(self):
        """a plain name means the function alone, not its clones and parts; a clone where there is no more, or by its own name"""
        program = harness.compile_program("cloned_names")
        for names, calls in (("request", [1]), ("request(int)", [1]), ("wait_for", [5]), ("cloned_alone", [8]),
                             ("_Z7requesti.constprop.0", [2])):
            found, _ = self.recorded([program], names)
            self.assertEqual([call["result"] for call in found], calls, names)

    def go(self, *flags):
        program = self.folder / "go_arguments"
        cache = harness.Settings.environment.get("GOCACHE", str(harness.Settings.work / "go"))
        subprocess.run(["go", "build", *flags, "-o", program, harness.PROGRAMS / "go_arguments.go"], check=True,
                       env={**harness.Settings.environment, "GOCACHE": cache})
        return program

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_of_go(self):
        """Go's own convention: registers and stack, strings, several results; with and without optimisation"""
        for flags in ((), ("-gcflags=-N -l",)):
            calls, _ = self.recorded([self.go(*flags)], "main.*", "-multi-thread")
            found, results = {}, []
            for call in calls:
                found.setdefault(call["function"].removeprefix("main."), []).append((call["arguments"], call.get("result")))
            wanted = {
                "add": [({"a": i, "b": -i}, 0) for i in range(3)],
                "text": [({"s": "hello, world", "at": i}, "hello, world"[i:]) for i in range(3)],
                "Point.Area": [({"p": f"{{X = {i}, Y = 2, Z = 0.5}}"}, float(i)) for i in range(3)],
                "many": [({name: number for number, name in enumerate("abcdefghij", 1)} | {"k": -i}, 55 - i) for i in range(3)],
                "array": [({"a": f"{{{i}, 1, 2}}", "b": f"{{{i}}}", "unused": 4}, 2 * i + 2) for i in range(3)],
                "mixed": [({"x": 1.5, "n": i, "ok": "false" if i == 1 else "true", "y": 2.25},
                           re.compile(f"{{{(0 if i == 1 else 1.5 * i + 2.25):g}, {{tab = 0x.*")) for i in range(3)],
                "wave": [({"a": f"1.5 + {i}i", "b": "{real = -2, imag = 0.5}", "x": 3.0}, f"2.5 + {i + .5:g}i") for i in range(3)],
                "sums": [({"v": re.compile(r"\{array = 0xc\w+, len = 3, cap = 3\}"), "p": re.compile("0xc.*"), "c": i},
                          f"{{sum = {6 + 2 * i}, found = true}}") for i in range(3)]}
            for function, expected in wanted.items():
                self.assertEqual(len(found[function]), 3, function)
                for (arguments, result), (wanted_arguments, wanted_result) in zip(found[function], expected):
                    self.assertEqual(list(arguments), list(wanted_arguments))
                    for name, value in arguments.items():
                        self.assert_is(value, wanted_arguments[name])
                    # A goroutine may have gone on in another thread, or its stack have been moved, during the call.
                    if result is not None:
                        self.assert_is(result, wanted_result)
                        results.append(function)
            self.assertGreater(len(results), 0)

    def assert_is(self, value, wanted):
        if isinstance(wanted, re.Pattern):
            self.assertRegex(value, wanted)
        else:
            self.assertEqual(value, wanted)

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_of_stripped_go(self):
        """without debug information: the registers of Go's convention, not of C's"""
        calls, _ = self.recorded([self.go("-ldflags=-s -w")], "main.add", "-multi-thread")
        # Where a goroutine was preempted in a call and goes on in another thread, the call has a second span there, without arguments.
        calls = [call for call in calls if call["arguments"]]
        self.assertEqual([list(call["arguments"]) for call in calls], [["rax", "rbx", "rcx", "rdi", "rsi", "r8", "r9", "r10", "r11"]] * 3)
        self.assertEqual([int(call["arguments"]["rax"], 16) for call in calls], [0, 1, 2])

    @unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
    def test_strings_of_rust(self):
        """a &str is its text, cut to its length"""
        source = self.folder / "texts.rs"
        source.write_text("""
            #[inline(never)] fn after(text: &str, at: usize) -> usize { text.bytes().filter(|byte| *byte == b'l').count() + text.len() - at }
            fn main() { let mut sum = 0; for i in 0..3 { sum += after(&std::hint::black_box("hello, world")[..5 + i], i); } println!("{}", sum); }""")
        program = self.folder / "texts"
        subprocess.run(["rustc", "-O", "-g", "-o", program, source], check=True)
        calls, _ = self.recorded([program], "*after*")
        self.assertEqual([(call["arguments"], call["result"]) for call in calls],
                         [({"text": "hello, world"[:5 + i], "at": i}, 7) for i in range(3)])

    def test_threads_and_children(self):
        source = self.folder / "threads.c"
        source.write_text("""
            #include <pthread.h>
            #include <unistd.h>
            #include <sys/wait.h>
            __attribute__((noinline)) int twice(int n) { __asm__ volatile(""); return 2 * n; }
            static void *work(void *first) { for (int i = 0; i < 50; i++) twice((int)(long)first + i); return 0; }
            int main(void) {
                pthread_t threads[4];
                for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, (void *)(1000 * i));
                for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
                pid_t child = fork();
                work((void *)(child ? 4000L : 5000L));
                if (child) wait(0);
                return 0;
            }""")
        program = self.folder / "threads"
        subprocess.run(["gcc", "-g", "-O2", "-pthread", "-o", program, source], check=True)
        calls, _ = self.recorded([program], "twice", "-multi-thread", "-follow")
        self.assertEqual(sorted(call["arguments"]["n"] for call in calls), [1000 * i + j for i in range(6) for j in range(50)])
        for call in calls:
            self.assertEqual(call["result"], 2 * call["arguments"]["n"])

    def test_of_file(self):
        """-args-all-of: every function of the source file that is called, and none of another file"""
        program = self.compile("-O0")
        by_name, _ = self.recorded([program, "3"], "main,of_t*")
        calls, _ = self.recorded([program, "3"], "main", "-args-all-of", "arguments.c")
        texts, by_file = ([(call["function"], call["arguments"], call.get("result")) for call in found
                           if call["function"].startswith("of_t")] for found in (by_name, calls))
        self.assertEqual(by_file, texts)
        self.assertLessEqual({"of_integers", "of_point", "factorial", "main"}, {call["function"] for call in calls})
        self.assertNotIn("_start", {call["function"] for call in calls})
        finished = self.magic_trace("run", "-engine", "translator", "-args-all-of", "argument.c", program)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"names no function of the source file argument.c", finished.stderr)

    def test_refused(self):
        for engine in ("pt", "perf", "sample"):
            finished = self.magic_trace("run", "-engine", engine, "-args", "main", "-working-directory", self.folder / "r", "/bin/true")
            self.assertEqual(finished.status, 1, finished.stderr)
        program = self.compile("-O2")
        finished = self.magic_trace("run", "-engine", "translator", "-args", "factorail", program)
        self.assertEqual(finished.status, 1)
        self.assertIn(b"factorial", finished.stderr)
        self.assertEqual(self.magic_trace("run", "-args", "", program).status, 2)
