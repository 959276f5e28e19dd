"""How often code ran: report -source counts lines as gcov does, report -annotate instructions and branches."""
import collections
import json
import re
import shutil
import subprocess

import harness

OPTIONS = ("-engine", "translator", "-full-execution", "-no-decode")
Line = collections.namedtuple("Line", "count cost")


def instructions(text):
    """[(count, address, instruction, taken, not taken)] of -annotate."""
    found = []
    for count, address, rest in re.findall(r"(?m)^ +(\d+) +([0-9a-f]+)  (\S.*)$", text):
        ways = re.search(r" taken (\d+), not taken (\d+)$", rest)
        found.append((int(count), int(address, 16), rest, *(map(int, ways.groups()) if ways else (None, None))))
    return found


def lines(text):
    """Line number -> Line, of -source."""
    found = {}
    for count, cost, number in re.findall(r"(?m)^(.{12})  (.{14})  +(\d+)(?:  |$)", text):
        if count.strip():
            found[int(number)] = Line(0, 0) if count.strip() == "never" else Line(int(count), int(cost))
    return found


def read_sample_profile(path):
    """Place, as a path of functions and lines -> what LLVM's text profile says of it: (total, head), total, or counts."""
    found, places = {}, []
    for row in path.read_text().splitlines():
        text = row.lstrip()
        depth = len(row) - len(text)
        if depth == 0:
            name, total, head = text.rsplit(":", 2)
            places = [name]
            found[(name,)] = int(total), int(head)
            continue
        del places[depth:]
        place, rest = text.split(": ", 1)
        if rest[0].isdigit():
            found[(*places, place)] = tuple(sorted(rest.split()))
        else:
            name, total = rest.rsplit(":", 1)
            places.append(f"{place}:{name}")
            found[tuple(places)] = int(total)
    return found


def of_gcov(compiler, source, folder, arguments):
    """[(line, symbol, calls)], and line -> [(number, count)] as geninfo makes of gcov's branches: numbered in each function."""
    folder.mkdir()
    subprocess.run([compiler, "-O0", "--coverage", "-pthread", "-o", "program", source, "-ldl"], cwd=folder, check=True)
    subprocess.run(["./program", *arguments], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    text = subprocess.run("gcov --branch-probabilities --json-format --stdout program-*.gcda", shell=True, cwd=folder, check=True,
                          stdout=subprocess.PIPE).stdout
    file = next(file for file in json.loads(text)["files"] if file["file"] == str(source))
    branches = collections.defaultdict(list)
    for line in file["lines"]:
        never = line["unexecuted_block"] and line["count"] == 0
        for number, branch in enumerate(line["branches"]):
            branches[line["line_number"]].append((number, "-" if never else str(branch["count"])))
    return ([(one["start_line"], one["name"], one["execution_count"]) for one in file["functions"]],
            {line: sorted(ways) for line, ways in branches.items()})


Profile = collections.namedtuple("Profile", "own calls")


def read_callgrind(path):
    """Instructions of each function alone, and (calls, instructions) of each pair of caller and callee."""
    names, own, calls = {}, collections.Counter(), {}
    function = callee = number = None

    def name(text):
        short, whole = re.match(r"(?:\((\d+)\))? ?(.*)$", text).groups()
        return names.setdefault(short, whole) if short else whole

    for line in path.read_text().splitlines():
        if line.startswith("fn="):
            function = name(line[3:])
        elif line.startswith("cfn="):
            callee = name(line[4:])
        elif line.startswith("calls="):
            number = int(line[6:].split()[0])
        elif re.match(r"[0-9+*-]", line):
            cost = int(line.split()[-1])
            if number is None:
                own[function] += cost
            else:
                before = calls.get((function, callee), (0, 0))
                calls[function, callee] = (before[0] + number, before[1] + cost)
            number = None
    return Profile(own, calls)


class CodeCounts(harness.TestCase):
    def record(self, name, *flags, arguments=()):
        program = self.folder / name
        subprocess.run(["gcc", "-g", "-pthread", *flags, "-o", program, harness.PROGRAMS / f"{name}.c", "-ldl"],
                       check=True)
        directory = self.folder / f"{name}.recording"
        finished = self.magic_trace("run", *OPTIONS, "-working-directory", directory, "--", program, *arguments)
        self.assertEqual(finished.status, 0, finished.stderr)
        return directory

    def report(self, *arguments, status=0):
        finished = self.magic_trace("report", *arguments)
        self.assertEqual(finished.status, status, finished.stderr)
        return (finished.stderr if status else finished.stdout).decode()

    def gcov(self, name, *arguments):
        """Line number -> count. gcov counts the way around an `else` at that; there is no code at these lines."""
        folder = self.folder / f"{name}.gcov"
        folder.mkdir()
        subprocess.run(["gcc", "-O0", "--coverage", "-pthread", "-o", "program", harness.PROGRAMS / f"{name}.c", "-ldl"],
                       cwd=folder, check=True)
        subprocess.run(["./program", *arguments], cwd=folder, check=False, stdout=subprocess.DEVNULL)
        subprocess.run("gcov program-*.gcda", shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        counts = {}
        for count, number, text in re.findall(r"(?m)^ *([0-9#=-]+)\*?: *(\d+):(.*)$",
                                              (folder / f"{name}.c.gcov").read_text()):
            without_code = re.match(r" *(} )?else( {)?$", text)
            if count != "-" and not without_code:
                counts[int(number)] = 0 if count[0] in "#=" else int(count)
        return counts

    def test_gcov(self):
        """as often as gcov says, line by line"""
        if not shutil.which("gcov"):
            self.skipTest("gcov is not installed")
        for name, arguments in (("inlined", ("70",)), ("recursion", ()), ("callbacks", ()), ("lines", ())):
            with self.subTest(program=name):
                directory = self.record(name, "-O0", arguments=arguments)
                ours = lines(self.report("-source", f"{name}.c", directory))
                expected = self.gcov(name, *arguments)
                self.assertGreater(len(expected), 10)
                self.assertEqual({number: ours[number].count if number in ours else 0 for number in expected}, expected)

    def test_annotate(self):
        """every conditional jump went somewhere as often as it ran; code in a row runs equally often"""
        directory = self.record("inlined", "-O2", arguments=("300",))
        found = instructions(self.report("-annotate", "walk", directory))
        self.assertGreater(len(found), 20)
        jumps = [(count, taken, not_taken) for count, _, _, taken, not_taken in found if taken is not None]
        self.assertGreater(len(jumps), 2)
        for count, taken, not_taken in jumps:
            self.assertEqual(taken + not_taken, count)
        self.assertEqual(sum(count for count, _, text, _, _ in found if re.match(r"ret\b", text)), 1)
        listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", self.folder / "inlined"], check=True,
                                stdout=subprocess.PIPE).stdout.decode()
        listed = re.search(r"<walk>:\n(.*?)\n\n", listed, re.DOTALL).group(1)
        addresses = [int(address, 16) for address in re.findall(r"(?m)^ +([0-9a-f]+):", listed)]
        self.assertEqual([address for _, address, *_ in found], addresses[:len(found)])
        calls = self.report("-annotate", "squares", directory)
        self.assertEqual(sum(int(number) for number in re.findall(r"-> look_up x(\d+)", calls)), 600)

    def test_annotate_many_targets(self):
        """of a call with many targets the most frequent are named, and how often the others were called; where a function returns to is not counted"""
        directory = self.trace([harness.compile_program("many_targets")], "-full-execution").directory
        targets = re.findall(r"-> (\w+.*)", self.report("-annotate", "run", directory))
        self.assertEqual(targets, [f"target_{number} x{number}" for number in range(12, 4, -1)] + ["4 more x10"])

    def test_annotate_inlined(self):
        """of a function that is inlined everywhere the message names one that it is in"""
        directory = self.record("inlined", "-O2", arguments=("300",))
        for name, outer in ("mix", "walk"), ("step", "walk"), ("digits", "squares"):
            message = self.report("-annotate", name, directory, status=1)
            self.assertIn(f"{name} has no code of its own: it is inlined wherever it ran", message)
            self.assertIn(f"such as {outer}, or", message)
        self.assertIn("no code of table ran", self.report("-annotate", "table", directory, status=1))

    def test_json(self):
        """-json: the counts of the text, with -annotate and with -source; what ran most is kept within a budget"""
        directory = self.record("inlined", "-O2", arguments=("300",))
        read = json.loads(self.report("-json", "-annotate", "walk", directory))
        found = instructions(self.report("-annotate", "walk", directory))
        self.assertEqual([(int(one["address"], 16), one["executed"], one.get("taken"), one.get("not_taken")) for one in read["instructions"]],
                         [(address, count, taken, not_taken) for count, address, _, taken, not_taken in found])
        self.assertEqual({(one["function"], one["file"].rpartition("/")[2]) for one in read["instructions"]}, {("walk", "inlined.c")})
        calls = json.loads(self.report("-json", "-annotate", "squares", directory))["instructions"]
        self.assertEqual(sum(target["count"] for one in calls for target in one.get("targets", ()) if target["function"] == "look_up"), 600)
        read = json.loads(self.report("-json", "-source", "inlined.c", directory))
        self.assertEqual({one["line"]: Line(one["executed"], one["instructions"]) for one in read["lines"]},
                         lines(self.report("-source", "inlined.c", directory)))
        least = self.report("-json", "-max-bytes", "600", "-source", "inlined.c", directory)
        kept = json.loads(least)
        self.assertLessEqual(len(least), 600)
        self.assertEqual(kept["omitted"] + len(kept["lines"]), len(read["lines"]))
        self.assertEqual(max(one["instructions"] for one in kept["lines"]), max(one["instructions"] for one in read["lines"]))
        self.report("-json", "-annotate", "walk", "-source", "inlined.c", directory, status=2)

    def test_indirect(self):
        """the targets of indirect calls"""
        directory = self.record("callbacks", "-O0")
        everything = "".join(self.report("-annotate", name, directory)
                             for name in ("main",))
        self.assertRegex(everything, r"-> \w+ x\d+")

    def test_parts(self):
        """one call, and two parts of the time that are the whole"""
        directory = self.record("inlined", "-O0", arguments=("50",))
        tree = self.report("-around", "squares", directory)
        middle = "".join(re.search(r"(?m)^ *([\d.]+) (\w+) .* digits", tree).groups())
        whole = lines(self.report("-source", "digits", directory))
        one = lines(self.report("-source", "digits", "-around", "digits#2", directory))
        self.assertEqual([whole[number].count for number in sorted(whole)][0], 50)
        self.assertEqual([one[number].count for number in sorted(one)][-1], 1)
        first, second = (sum(line.cost for line in lines(self.report("-source", "inlined.c", flag, middle, directory)).values())
                         for flag in ("-to", "-from"))
        cost = sum(line.cost for line in lines(self.report("-source", "inlined.c", directory)).values())
        self.assertEqual(first + second, cost)
        self.assertIn("was not recorded", self.report("-source", "digits", "-around", "digits#51", directory, status=1))

    def test_source_root(self):
        """source that was moved"""
        directory = self.record("inlined", "-O0")
        moved = self.folder / "moved"
        moved.mkdir()
        shutil.copy(harness.PROGRAMS / "inlined.c", moved)
        text = (moved / "inlined.c").read_text().replace("int count = 0;", "int count = 0; /* moved */")
        (moved / "inlined.c").write_text(text)
        shown = self.report("-source", "digits", "-source-root", f"{harness.PROGRAMS}={moved}", directory)
        self.assertIn("/* moved */", shown)
        missing = self.report("-source", "digits", "-source-root", f"{harness.PROGRAMS}=/nowhere", directory)
        self.assertIn("its text is not here", missing)
        self.assertEqual({number: line for number, line in lines(shown).items()}, lines(missing))

    def export(self, form, directory, *options):
        path = self.folder / f"export.{form}"
        path.unlink(missing_ok=True)
        finished = self.magic_trace("export", "-format", form, "-o", path, *options, directory)
        self.assertEqual(finished.status, 0, finished.stderr)
        return path

    def test_callgrind(self):
        """callgrind_annotate reads the profile; instructions and calls of each function are those that valgrind counts"""
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")
        directory = self.record("inlined", "-O2", arguments=("300",))
        profile = self.export("callgrind", directory)
        annotated = subprocess.run(["callgrind_annotate", "--auto=no", profile], stdout=subprocess.PIPE, check=True)
        self.assertRegex(annotated.stdout.decode(), r"inlined\.c:squares")
        judged = self.folder / "valgrind.out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={judged}", self.folder / "inlined", "300"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ours, theirs = read_callgrind(profile), read_callgrind(judged)
        for function in ("walk", "squares", "look_up"):
            self.assertEqual(ours.own[function], theirs.own[function], function)
        for call in (("main", "walk"), ("main", "squares"), ("squares", "look_up")):
            self.assertEqual(ours.calls[call], theirs.calls[call], call)
        self.assertEqual(sum(ours.own.values()), int(re.search(r"(?m)^summary: (\d+)$", profile.read_text()).group(1)))

    def test_replaced_library(self):
        """libraries that are loaded one after the other at the same addresses are counted each for itself"""
        versions, steps = 3, 10
        for version in range(versions):
            source = self.folder / f"version{version}.c"
            source.write_text(f"""static int version{version}_step(int value) {{ return value + {version + 2}; }}
int library_run(int steps) {{ int value = 0; while (steps-- > 0) value = version{version}_step(value); return value; }}
""")
            subprocess.run(["gcc", "-O0", "-g", "-shared", "-fPIC", "-o", f"version{version}.so", source.name],
                           cwd=self.folder, check=True)
        profile = read_callgrind(self.export("callgrind", self.record("replaced_library", "-O1", arguments=(str(versions),))))
        calls = {callee: number for (_, callee), (number, _) in profile.calls.items() if re.fullmatch(r"version\d_step", callee)}
        self.assertEqual(calls, {f"version{version}_step": steps for version in range(versions)})
        own = {profile.own[name] for name in calls}
        self.assertEqual(len(own), 1, "all versions have the same code but for a number")

    def test_lcov(self):
        """coverage of lines is gcov's, that of branches is as often as they ran; other libraries' code is left out"""
        directory = self.record("inlined", "-O0", arguments=("70",))
        text = self.export("lcov", directory).read_text()
        records = re.findall(r"(?ms)^SF:(.*?)\n(.*?)^end_of_record$", text)
        self.assertEqual([path for path, _ in records], [str(harness.PROGRAMS / "inlined.c")])
        body = records[0][1]
        counts = {int(line): int(count) for line, count in re.findall(r"(?m)^DA:(\d+),(\d+)$", body)}
        self.assertEqual(counts, {number: line.count for number, line in
                                  lines(self.report("-source", "inlined.c", directory)).items()})
        self.assertEqual(int(re.search(r"LF:(\d+)", body).group(1)), len(counts))
        self.assertEqual(int(re.search(r"LH:(\d+)", body).group(1)), sum(count > 0 for count in counts.values()))
        for whole, hit, counts in (("FNF", "FNH", re.findall(r"(?m)^FNDA:(\d+),", body)),
                                   ("BRF", "BRH", re.findall(r"(?m)^BRDA:\d+,\d+,\d+,(\d+|-)$", body))):
            self.assertEqual(len(counts), int(re.search(rf"{whole}:(\d+)", body).group(1)))
            self.assertEqual(sum(count not in ("0", "-") for count in counts), int(re.search(rf"{hit}:(\d+)", body).group(1)))

    def test_lcov_of_gcov(self):
        """functions and branches as geninfo writes those of gcov: their lines, order, counts, and what never ran"""
        if not shutil.which("gcov"):
            self.skipTest("gcov is not installed")
        for name, arguments in (("inlined.c", ("70",)), ("recursion.c", ()), ("callbacks.c", ()), ("lines.c", ()), ("branchy.c", ("500",)),
                                ("conditions.cpp", ("9",))):
            with self.subTest(program=name):
                source = harness.PROGRAMS / name
                compiler = "g++" if name.endswith(".cpp") else "gcc"
                program = (self.folder / name).with_suffix("")
                subprocess.run([compiler, "-O0", "-g", "-pthread", "-o", program, source, "-ldl"], check=True)
                directory = self.folder / f"{name}.recording"
                self.magic_trace("run", *OPTIONS, "-working-directory", directory, "--", program, *arguments)
                functions, branches = of_gcov(compiler, source, self.folder / f"{name}.gcov", arguments)
                body = re.search(rf"(?ms)^SF:{re.escape(str(source))}\n(.*?)^end_of_record$", self.export("lcov", directory).read_text()).group(1)
                counts = {function: int(count) for count, function in re.findall(r"(?m)^FNDA:(\d+),(.*)$", body)}
                self.assertEqual(sorted((int(line), function, counts[function]) for line, function in re.findall(r"(?m)^FN:(\d+),(.*)$", body)),
                                 sorted(functions))
                ours = collections.defaultdict(list)
                for line, number, count in re.findall(r"(?m)^BRDA:(\d+),0,(\d+),(\d+|-)$", body):
                    ours[int(line)].append((int(number), count))
                self.assertGreater(len(branches), 1)
                self.assertEqual({line: sorted(ways) for line, ways in ours.items()}, branches)

    def test_bolt(self):
        """rows by the grammar of perf2bolt -pa; calls and returns of the program balance"""
        directory = self.record("inlined", "-O2", arguments=("300",))
        rows = self.export("bolt", directory).read_text().splitlines()
        place = r"(?:(?:[0-9a-f]{8,40}|X):)?[0-9a-f]+"
        for row in rows:
            self.assertRegex(row, rf"^(B {place} {place} \d+ 0|F {place} {place} \d+)$")
        listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", self.folder / "inlined"], check=True,
                                stdout=subprocess.PIPE).stdout.decode()
        look_up = re.search(r"([0-9a-f]+) <look_up>:", listed).group(1).lstrip("0")
        branches = [row.split() for row in rows if row[0] == "B"]
        self.assertEqual(sum(int(row[3]) for row in branches if row[2] == look_up), 600)

    def profile_of_llvm(self, program, directory):
        """The text profile that llvm-profgen makes of the same counts of instructions and branches."""
        base = next(int(row.split()[2], 16) for row in subprocess.check_output(["readelf", "-lW", program], text=True)
                    .splitlines() if row.strip().startswith("LOAD") and " R E " in row)
        ran, is_own, is_call = {}, False, False
        for row in self.export("callgrind", directory).read_text().splitlines():
            if row.startswith("ob="):
                is_own = row[3:] == str(program)
            elif row.startswith("0x") and is_own and not is_call:
                address, _, count = row.split()
                ran[int(address, 16) - base] = int(count)
            is_call = row.startswith("calls=")
        branches = [f"{int(row[1], 16) - base:x}->{int(row[2], 16) - base:x}:{row[3]}"
                    for row in map(str.split, self.export("bolt", directory).read_text().splitlines())
                    if row[0] == "B" and ":" not in row[1] + row[2]]
        counts = self.folder / "counts.txt"
        counts.write_text("\n".join([str(len(ran)), *(f"{at:x}-{at:x}:{count}" for at, count in sorted(ran.items())),
                                     str(len(branches)), *branches, ""]))
        made = self.folder / "llvm.afdo"
        subprocess.run(["llvm-profgen-14", f"--unsymbolized-profile={counts}", f"--binary={program}", f"--output={made}",
                        "--format=text"], check=True, stderr=subprocess.DEVNULL)
        return made

    def test_autofdo(self):
        """the sample profile is what llvm-profgen makes of the counts of instructions; clang takes its numbers"""
        if not shutil.which("llvm-profgen-14"):
            self.skipTest("llvm-profgen-14 is not installed; others have other totals")
        source = harness.PROGRAMS / "sample_profile.cpp"
        program = (self.folder / "program").resolve()
        build = ["clang++", "-O2", "-g", "-fdebug-info-for-profiling", source]
        subprocess.run([*build, "-o", program], check=True)
        directory = self.trace([program], *OPTIONS).directory
        profile = self.export("autofdo", directory)
        ours, reference = read_sample_profile(profile), read_sample_profile(self.profile_of_llvm(program, directory))
        self.assertGreater(len(ours), 100)
        # Called by the C library, which llvm-profgen is not given.
        self.assertEqual((ours[("main",)][1], reference[("main",)][1]), (1, 0))
        reference[("main",)] = reference[("main",)][0], 1
        self.assertEqual(ours, {place: row for place, row in reference.items() if place in ours})
        # llvm-profgen has rows of line 0, which wrap around, and of code that did not run.
        left = {place: row for place, row in reference.items() if place not in ours}
        self.assertEqual({place for place, row in left.items()
                          if row not in (("0",), 0) and not (place[-1].isdigit() and int(place[-1]) > 60000)}, set())
        code = subprocess.check_output([*build, f"-fprofile-sample-use={profile}", "-S", "-emit-llvm", "-o", "-"], text=True)
        weights = dict(re.findall(r'(?m)^!(\d+) = !\{!"function_entry_count", i64 (\d+)\}', code))
        insert = re.search(r"(?m)^define .*@_Z6insertP4Nodei\(.*!prof !(\d+)", code).group(1)
        self.assertEqual(int(weights[insert]), ours[("_Z6insertP4Nodei",)][1] + 1)

    def test_refused(self):
        """a trace has no counts; formats of counts know no calls"""
        program = harness.compile_program("recursion")
        traced = self.trace([program], "-engine", "translator")
        for arguments in (("lcov", traced.trace), ("lcov", "-filter", "(main fib)", traced.directory)):
            finished = self.magic_trace("export", "-format", *arguments)
            self.assertEqual(finished.status, 2, finished.stderr)

    def test_nothing_to_count(self):
        """traces, unknown names and options that do not go together are refused"""
        program = harness.compile_program("recursion")
        traced = self.trace([program], "-engine", "translator")
        self.assertIn("Give the recording", self.report("-annotate", "main", traced.trace, status=2))
        self.assertIn("cannot open gone: No such file", self.report("-annotate", "main", "gone", status=1))
        self.assertIn("no code of nobody ran", self.report("-annotate", "nobody", traced.directory, status=1))
        self.assertIn("no code of a file or function", self.report("-source", "nobody", traced.directory, status=1))
        self.report("-annotate", "main", "-folded", traced.directory, status=2)
        self.report("-source-root", "a=b", traced.directory, status=2)
        self.report("-source", "main", "-source-root", "nonsense", traced.directory, status=2)
