"""`magic-trace query`: answers that Python's sqlite3 gives too, from what `export -format csv` printed; the recipes of the man
page; and what is refused."""
import json
import os
import pty
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import urllib.parse

import harness
from harness import Settings
from made_trace import MadeTrace
from viewer import Served

sys.path.insert(0, str(harness.TESTS / "judge"))
import query_judge  # noqa: E402  (found through the path just set)

FLEET = harness.TESTS.parent / "docs" / "fleet.md"
MANUAL = harness.TESTS.parent / "docs" / "man" / "magic-trace-query.1.in"
NAMES = ["parse", "read_line", "handle_request", "write_log", "std::vector<int>::push_back(int&&)", "=cmd()", "it's", "größe"]
TABLES = ("calls", "functions", "threads", "stacks", "places", "args", "hits", "marks", "gaps", "counters", "trace")


def made_spans(trace, chance, thread, spans, begin=0):
    """Calls that end at random, some at the same moment as they began; the first of all has the others in it."""
    time, depth = begin, 0
    trace.begin(time, thread, "main")
    depth = 1
    while spans > 0 or depth > 1:
        time += chance.choice((0, 0, 1, 3, 10, 10, 40, 1000 if chance.random() < 0.02 else 5))
        if spans > 0 and (depth < 2 or chance.random() < (0.5 if depth < 12 else 0.3)):
            trace.begin(time, thread, chance.choice(NAMES))
            depth, spans = depth + 1, spans - 1
        else:
            values = {"args.size": str(depth * 1000), "result": '"x"'} if time % 4 == 0 else {}
            trace.end(time, thread, **values)
            depth -= 1
    trace.end(time, thread)
    return time


class Asking(harness.TestCase):
    def query(self, trace, sql, *options, expect=0, **process):
        finished = self.magic_trace("query", *options, trace, sql, **process)
        self.assertEqual(finished.status, expect, finished.stderr.decode())
        if expect == 2:
            self.assertEqual(finished.stdout, b"")
        return finished.stderr.decode() if expect else finished.stdout.decode()

    def rows(self, trace, sql):
        return query_judge.read_results(self.query(trace, sql, "-json"))[0]

    def made(self, spans=3000, seed=1):
        chance, trace = random.Random(seed), MadeTrace()
        end = 0
        for number in range(3):
            end = made_spans(trace, chance, trace.thread(77, 77 + number, "program", "worker" if number else "main"), spans, end)
            trace.instant(end, trace.thread(77, 77 + number), "[lost]")
        trace.counter(end, trace.thread(77, 77), "load", "percent", 12.5)
        return trace.write(self.folder / f"made{seed}.fxt")


class Query(Asking):
    def judge(self, trace):
        exported = self.magic_trace("export", "-format", "csv", "-output", "-", trace)
        self.assertEqual(exported.status, 0, exported.stderr.decode())
        threads = self.rows(trace, "SELECT process, pid, thread, tid FROM threads ORDER BY id")
        return query_judge.Judge(exported.stdout.decode().splitlines(keepends=True), [tuple(row) for row in threads])

    def check_random(self, trace, count, seed):
        judge = self.judge(trace)
        questions = query_judge.Questions(judge, random.Random(seed))
        asked = [questions.next() for _ in range(count)]
        answers = query_judge.read_results(self.query(trace, ";\n".join(asked), "-json"))
        self.assertEqual(len(answers), count)
        for sql, ours in zip(asked, answers):
            theirs = judge.answer(sql)
            self.assertTrue(query_judge.same(ours, theirs), f"{sql}\nours:   {ours[:5]}\ntheirs: {theirs[:5]}")
        return judge

    def check_ranges(self, trace, judge, count, seed):
        chance = random.Random(seed)
        end = max(call["end"] for call in judge.calls)
        names = ", ".join(query_judge.FUNCTION_COLUMNS)
        for _ in range(count):
            since, until = sorted(chance.randint(0, end + 1) for _ in range(2))
            thread = chance.choice((None, 0, len(judge.threads) - 1))
            arguments = f"{since}, {until}" + ("" if thread is None else f", {thread}")
            ours = self.rows(trace, f"SELECT {names} FROM functions({arguments}) WHERE calls ORDER BY 1")
            theirs = [list(row) for row in sorted(judge.functions(since, until, thread))]
            self.assertEqual(ours, theirs, f"functions({arguments})")

    def test_random_queries_of_a_made_trace(self):
        trace = self.made()
        judge = self.check_random(trace, 100 if Settings.quick else 500, 5)
        self.check_ranges(trace, judge, 5 if Settings.quick else 20, 6)

    def test_random_queries_of_a_recording(self):
        traced = self.trace([harness.compile_program("threads")], "-multi-thread")
        judge = self.check_random(traced.trace, 100 if Settings.quick else 500, 7)
        self.check_ranges(traced.trace, judge, 5, 8)
        self.assertGreater(len(judge.threads), 1)

    def test_random_queries_of_a_long_trace(self):
        """Long enough for levels of detail, in which long calls are searched, and for calls that are open over many chunks."""
        trace = self.made(spans=20000 if Settings.quick else 70000, seed=2)
        judge = self.check_random(trace, 10 if Settings.quick else 40, 9)
        for limit in (900, 2000, 100000):
            sql = f"SELECT id, parent, self FROM calls WHERE duration >= {limit} ORDER BY id"
            self.assertEqual(self.rows(trace, sql), judge.answer(sql), sql)
        valued = "SELECT id, arguments, result FROM calls WHERE arguments IS NOT NULL ORDER BY id"
        self.assertEqual(self.rows(trace, valued), judge.answer(valued))
        self.assertGreater(len(judge.answer(valued)), 1000)
        sums = "SELECT sum(id), sum(parent), sum(self), sum(start), count(*) FROM calls"
        self.assertEqual(self.rows(trace, sums), judge.answer(sums))

    def test_recipes(self):
        """Each example of the man page runs and gives rows."""
        self.made(seed=3).rename(self.folder / "trace.fxt.gz")
        text = MANUAL.read_text().replace("\\-", "-")
        recipes = re.findall(r"\.Bd -literal -offset indent\n(magic-trace query .*?)\.Ed", text, re.DOTALL)
        self.assertGreaterEqual(len(recipes), 10)
        for recipe in recipes:
            command = recipe.replace("magic-trace query", f"{Settings.binary} query", 1)
            finished = harness.run(["sh", "-c", command], cwd=self.folder)
            self.assertEqual(finished.status, 0, f"{recipe}\n{finished.stderr.decode()}")
            self.assertGreater(finished.stdout.count(b"\n"), 1, recipe)

    def test_hits_marks_and_counters(self):
        traced = self.trace([harness.compile_program("hits"), "third"], "-multi-thread", "-trigger", "target")
        hits = self.rows(traced.trace, "SELECT function, start <= time, tid FROM hits")
        self.assertGreaterEqual(len(hits), 1)
        self.assertTrue(all("target" in name and ordered for name, ordered, _ in hits), hits)
        self.assertEqual(self.rows(traced.trace, "SELECT count(*) FROM calls WHERE thread LIKE '%hits%' AND tid = 0"), [[0]])
        made = self.made(10)
        self.assertEqual(self.rows(made, "SELECT kind, text, tid FROM gaps ORDER BY tid"), [["gap", "[lost]", 77 + i] for i in range(3)])
        self.assertEqual(self.rows(made, "SELECT counter, pid, value FROM counters"), [["load percent", 77, 12.5]])
        self.assertEqual(self.rows(made, "SELECT count(*) FROM marks"), [[3]])
        self.assertEqual(self.rows(made, "SELECT calls, damage FROM trace"), [[33, None]])

    def test_all_columns_of_all_tables(self):
        trace = self.made(50)
        for table in TABLES:
            names = json.loads(self.query(trace, f"SELECT * FROM {table}", "-json"))
            self.assertEqual(len(names), self.rows(trace, f"SELECT count(*) FROM {table}")[0][0])

    def test_forms(self):
        trace = self.made(5)
        sql = "SELECT 1 AS a, '=x,\"y\"' AS b, NULL AS c, x'00ff' AS d, 1.5 AS a"
        self.assertEqual(self.query(trace, sql, "-csv"), 'a,b,c,d,a\n1,"\'=x,""y""",,00ff,1.5\n')
        self.assertEqual(json.loads(self.query(trace, sql, "-json")), [{"a": 1, "b": '=x,"y"', "c": None, "d": "00ff", "a_2": 1.5}])
        self.assertEqual(self.query(trace, "SELECT 12 AS number, 'x' AS text UNION ALL SELECT 3, 'yy'"),
                         "number  text\n    12  x\n     3  yy\n")
        self.assertEqual(json.loads(self.query(trace, "SELECT 1 AS a WHERE 0", "-json")), [])
        self.assertNotIn("\x1b", self.query(trace, "SELECT char(27) || '[31m'"))
        many = self.query(trace, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) SELECT i FROM n")
        self.assertEqual([int(line) for line in many.split()[1:]], list(range(1, 3001)))

    def test_sql_from_standard_input(self):
        trace = self.made(5)
        given = self.folder / "queries.sql"
        given.write_text("-- two statements\nSELECT 1 AS one;\nSELECT 2 AS two;\n")
        with given.open() as stdin:
            finished = self.magic_trace("query", "-csv", trace, stdin=stdin)
        self.assertEqual((finished.status, finished.stdout), (0, b"one\n1\ntwo\n2\n"), finished.stderr)

    def test_prompt(self):
        trace = self.made(5)
        controller, terminal = pty.openpty()
        with subprocess.Popen([Settings.binary, "query", trace], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=Settings.environment) as process:
            os.close(terminal)
            os.write(controller, b".tables\n.schema gaps\nSELECT count(*) AS n\nFROM threads;\nSELECT nosuch;\n.json\n"
                                 b"SELECT 7 AS seven;\n.quit\n")
            out, messages = process.communicate()
        os.close(controller)
        self.assertEqual(process.returncode, 0, messages)
        self.assertEqual(out.decode(), 'n\n3\n[\n {"seven": 7}\n]\n')
        for text in (b"sql> ", b"...> ", b"stacks ", b"thread_id", b"no such column: nosuch", b"(1 row)"):
            self.assertIn(text, messages)

    def test_only_reading_is_allowed(self):
        trace = self.made(5)
        victim = self.folder / "victim.db"
        before = sorted(os.listdir(self.folder))
        for sql in (f"ATTACH '{victim}' AS v", f"VACUUM INTO '{victim}'", "VACUUM", "CREATE TABLE t(x)", "CREATE TEMP TABLE t(x)",
                    "CREATE VIEW v AS SELECT 1", "CREATE VIRTUAL TABLE v USING calls", "INSERT INTO calls(id) VALUES (1)",
                    "DELETE FROM calls", "UPDATE calls SET id = 1", "DROP TABLE calls", "PRAGMA writable_schema = ON",
                    "PRAGMA query_only = OFF", "PRAGMA temp_store_directory = '/'", "SELECT load_extension('/tmp/x.so')", "BEGIN",
                    "SAVEPOINT s", "REINDEX", "ANALYZE", "DETACH main", "SELECT * FROM pragma_database_list",
                    "SELECT 1; DROP TABLE calls", f"SELECT 1; ATTACH '{victim}' AS v"):
            message = self.query(trace, sql, expect=2)
            self.assertRegex(message, "may only read|does not understand", sql)
        self.assertEqual(sorted(set(os.listdir(self.folder)) - {"made1.fxt.magic-trace-index"}), before)

    def test_bad_sql(self):
        trace = self.made(5)
        for sql, text in (("SELEC 1", 'near "SELEC"'), ("SELECT * FROM call", "The tables are calls, functions"),
                          ("SELECT nme FROM functions", "functions has id, function"), ("SELECT 1; SELECT (", "incomplete input"),
                          ("", "there is no SQL"), (" -- nothing", "there is no SQL"), ("SELECT 'x", "unrecognized token"),
                          ("SELECT percentile(1, 200)", "0 to 100")):
            message = self.query(trace, sql, expect=2)
            self.assertIn(text, message, sql)
        self.assertIn("cannot open", self.query(self.folder / "none.fxt", "SELECT 1", expect=1))
        for arguments in ([], ["-csv", "-json", trace, "SELECT 1"], [trace, "SELECT", "1"], ["-"]):
            self.assertEqual(self.magic_trace("query", *arguments, stdin=subprocess.DEVNULL).status, 2, arguments)

    def test_memory_is_bounded(self):
        trace = self.made(5)
        message = self.query(trace, "SELECT median(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                    "LIMIT 20000000) SELECT i FROM n)", expect=1)
        self.assertIn("more memory than queries get", message)

    def test_damaged_trace(self):
        trace = self.made(200)
        content = trace.read_bytes()
        trace.write_bytes(content[:len(content) // 2 - 3])
        finished = self.magic_trace("query", trace, "SELECT count(*) AS n FROM calls")
        self.assertEqual(finished.status, 1)
        self.assertRegex(finished.stdout.decode(), r"^ *n\n *\d+\n$")
        self.assertIn("made1.fxt", finished.stderr.decode())
        (self.folder / "none.fxt").write_bytes(b"no trace at all, but long enough to look like something")
        self.assertEqual(self.magic_trace("query", self.folder / "none.fxt", "SELECT 1").stdout, b"")


class Exported(Asking):
    """`magic-trace export -format sqlite`."""

    def export(self, trace, *options, expect=0, path="out.db"):
        finished = self.magic_trace("export", "-format", "sqlite", "-output", self.folder / path, *options, trace)
        self.assertEqual(finished.status, expect, finished.stderr.decode())
        return sqlite3.connect(self.folder / path) if expect == 0 else finished.stderr.decode()

    def test_the_file_has_the_same_tables(self):
        recorded = self.trace([harness.compile_program("hits"), "third"], "-multi-thread", "-trigger", "target").trace
        for trace in (self.made(spans=5000), recorded):
            database = self.export(trace)
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            for table in TABLES:
                cursor = database.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
                ours = self.query(trace, f"SELECT * FROM {table} ORDER BY 1, 2, 3", "-json")
                theirs = [dict(zip([column[0] for column in cursor.description], row)) for row in cursor]
                self.assertEqual(json.loads(ours), theirs, table)
            database.close()

    def test_a_part(self):
        trace = self.made(spans=2000)
        end = self.rows(trace, "SELECT duration FROM trace")[0][0]
        part = ("-from", f"{end // 3}ns", "-to", f"{end // 2}ns")
        exported = self.magic_trace("export", "-format", "csv", "-output", "-", *part, trace).stdout.decode().splitlines()
        lines = [line for line in query_judge.csv.DictReader(exported) if line["kind"] in ("call", "special")]
        expected = sorted((query_judge.plain(line["function"]), int(line["start_ns"]), int(line["duration_ns"]),
                           int(line["self_ns"]), line["ended"], line["seen"]) for line in lines)
        database = self.export(trace, *part)
        found = database.execute("SELECT function, start, duration, self, end_reason, seen FROM calls").fetchall()
        database.close()
        self.assertGreater(len(found), 10)
        self.assertEqual(sorted(found), expected)

    def test_what_cannot_be_written(self):
        trace = self.made(20)
        self.assertIn("never compressed", self.export(trace, path="out.db.gz", expect=2))
        finished = self.magic_trace("export", "-format", "sqlite", "-output", "-", trace)
        self.assertEqual((finished.status, finished.stdout), (2, b""))
        self.assertIn(b"Give a file", finished.stderr)
        self.export(trace, path="none/out.db", expect=1)
        (self.folder / "out.db").write_text("older")
        self.export(self.folder / "missing.fxt", expect=1)
        self.assertEqual((self.folder / "out.db").read_text(), "older")
        self.export(trace).close()
        self.assertEqual((self.folder / "out.db.old").read_text(), "older")
        self.assertEqual([name for name in os.listdir(self.folder) if "magic-trace-index" in name], [])

    def test_traces_of_several_machines(self):
        """The commands of docs/fleet.md."""
        if not shutil.which("sqlite3"):
            self.skipTest("sqlite3 is not installed")
        for seed, name in ((1, "first"), (2, "second")):
            self.export(self.made(spans=300, seed=seed), path=f"{name}.db").close()
        blocks = re.findall(r"\n\n((?:    .*\n)+)", FLEET.read_text())
        outputs = []
        for block in blocks:
            if "sqlite3 " in block and "clickhouse" not in block:  # which needs a server
                finished = harness.run(["sh", "-c", block], cwd=self.folder)
                self.assertEqual((finished.status, finished.stderr), (0, b""), block)
                outputs.append(finished.stdout.decode().splitlines())
        self.assertEqual([len(lines) for lines in outputs], [9, 9])  # one line a function
        self.assertRegex(outputs[1][0], r"\|(first|second)$")

    def test_a_damaged_trace_is_exported_as_far_as_it_goes(self):
        trace = self.made(200)
        content = trace.read_bytes()
        trace.write_bytes(content[:len(content) // 2 - 3])
        self.export(trace, expect=1)
        database = sqlite3.connect(self.folder / "out.db")
        calls, damage = database.execute("SELECT calls, damage FROM trace").fetchone()
        database.close()
        self.assertGreater(calls, 50)
        self.assertIn("made1.fxt", damage)


class OnThePage(Asking):
    """/api/sql of the server that `magic-trace view` starts."""

    def test_answers_and_bounds(self):
        trace = self.made(spans=500)
        served = Served(self, ["view", "-no-browser", trace])
        try:
            for sql in ("SELECT * FROM functions ORDER BY id", "SELECT * FROM calls ORDER BY id LIMIT 50",
                        "SELECT 1.5 AS a, NULL AS a, 'x' AS b"):
                answer = served.get("/api/sql", sql=sql)
                self.assertEqual([list(row) for row in answer["rows"]], self.rows(trace, sql))
                self.assertFalse(answer["more"])
            self.assertEqual(served.get("/api/sql", sql="SELECT 1 AS one;")["columns"], ["one"])
            answer = served.get("/api/sql", sql="SELECT id FROM calls", limit=7)
            self.assertEqual((len(answer["rows"]), answer["more"]), (7, True))
            numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
            for sql, words in (("", "no SQL"), ("SELECT 1; SELECT 2", "one by one"), ("SELEC", "does not understand"),
                               ("DROP TABLE calls", "may only read"), (f"ATTACH '{self.folder}/x.db' AS x", "may only read"),
                               (f"{numbers} count(*) FROM n", "processor time"), (f"{numbers} median(i) FROM n", "memory|processor time")):
                status, _, body = served.request("/api/sql?" + urllib.parse.urlencode({"sql": sql}))
                self.assertEqual(status, 200, sql)
                self.assertRegex(json.loads(body)["error"], words)
            self.assertEqual(served.request("/api/sql")[0], 400)
            base, served.base = served.base, "/" + "0" * 32
            self.assertIn(served.request("/api/sql?sql=SELECT+1")[0], (401, 403, 404))
            served.base = base
        finally:
            served.end()
        self.assertFalse((self.folder / "x.db").exists())
