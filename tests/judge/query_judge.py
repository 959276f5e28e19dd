"""SQL answered twice: by `magic-trace query` from the index, and by Python's sqlite3 from what `export -format csv` printed.

The tables are made here from the lines of the CSV file alone, by the definitions of magic-trace-query(1) and in the
plainest way; the queries are random. Used by tests/e2e/analysis/query.py.
"""
import collections
import csv
import json
import math
import sqlite3

NOT_SEEN = ("gap", "end of trace")
CALL_COLUMNS = ("id", "parent", "function", "thread", "thread_id", "process", "pid", "tid", "depth", "start", "end", "duration",
                "self", "whole", "end_reason", "seen", "symbol", "file", "line", "code", "arguments", "result")
FUNCTION_COLUMNS = ("function", "calls", "total", "self", "whole", "sum", "mean", "min", "median", "p90", "p95", "p99", "p999", "max")
STACK_COLUMNS = ("path", "function", "depth", "calls", "total", "self")
THREAD_COLUMNS = ("id", "process", "pid", "thread", "tid", "calls", "levels", "start", "end")
NUMBERS = ("id", "parent", "thread_id", "pid", "tid", "depth", "start", "end", "duration", "self", "whole", "line", "function_id")
TEXTS = ("function", "thread", "process", "end_reason", "seen", "symbol", "file", "code")


def plain(cell):
    """A cell as it was before a formula was defused."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def nearest_rank(values, percent):
    values = sorted(values)
    return values[max(0, math.ceil(round(percent * len(values) / 100, 6)) - 1)] if values else None


class Percentile:
    """The aggregates median(x) and percentile(x, p)."""

    def __init__(self):
        self.values, self.percent = [], 50

    def step(self, value, percent=50):
        self.percent = percent
        if value is not None:
            self.values.append(value)

    def finalize(self):
        return nearest_rank(self.values, self.percent)


class Judge:
    """`lines`: the CSV file; `threads`: (process, pid, thread, tid) in the order of the trace."""

    def __init__(self, lines, threads):
        self.threads = threads
        self.calls = self.read_calls(lines)
        self.add_numbers()
        self.database = sqlite3.connect(":memory:")
        self.database.create_aggregate("median", 1, Percentile)
        self.database.create_aggregate("percentile", 2, Percentile)
        self.fill("calls", CALL_COLUMNS, [[call[column] for column in CALL_COLUMNS] for call in self.calls])
        self.fill("functions", FUNCTION_COLUMNS, self.functions())
        self.fill("stacks", STACK_COLUMNS, self.stacks())
        self.fill("threads", THREAD_COLUMNS, self.thread_rows())

    @staticmethod
    def read_calls(lines):
        rows = list(csv.DictReader(lines))
        begin = min(int(row["start_ns"]) for row in rows)
        calls = []
        for row in rows:
            if row["kind"] not in ("call", "special", "samples"):
                continue
            start, duration, seen = int(row["start_ns"]) - begin, int(row["duration_ns"]), row["seen"]
            calls.append({
                "function": plain(row["function"]), "process": plain(row["process"]), "pid": int(row["pid"]),
                "thread": plain(row["thread"]), "tid": int(row["tid"]), "depth": int(row["depth"]), "start": start,
                "end": start + duration, "duration": duration, "self": int(row["self_ns"]), "end_reason": row["ended"],
                "seen": seen, "whole": int("inferred" not in seen and row["ended"] not in NOT_SEEN),
                "symbol": plain(row["symbol"]) or None, "file": plain(row["file"]) or None,
                "line": int(row["line"]) if row["line"] else None, "code": row["code"],
                "arguments": plain(row["arguments"]) or None, "result": plain(row["result"]) or None})
        return calls

    def add_numbers(self):
        """Ids and callers: in the file a call comes right after those that it made."""
        order = {key: number for number, key in enumerate(self.threads)}
        for call in self.calls:
            call["thread_id"] = order[call["process"], call["pid"], call["thread"], call["tid"]]
        self.calls.sort(key=lambda call: call["thread_id"])  # stable
        for number, call in enumerate(self.calls, 1):
            call["id"] = number
        path, thread = {}, None
        for call in reversed(self.calls):
            if call["thread_id"] != thread:
                path, thread = {}, call["thread_id"]
            path[call["depth"]] = call
            call["caller"] = path[call["depth"] - 1] if call["depth"] else None
            call["parent"] = call["caller"]["id"] if call["caller"] else None

    def fill(self, table, columns, rows):
        kinds = ", ".join(f"{column} {'TEXT' if column in TEXTS or column == 'path' else 'INTEGER'}" for column in columns)
        self.database.execute(f"CREATE TABLE {table} ({kinds})")
        self.database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)

    def functions(self, since=0, until=None, thread=None):
        """Rows of the table of functions, with what lies between two moments in a thread."""
        until = max(call["end"] for call in self.calls) + 1 if until is None else until
        sums = collections.defaultdict(lambda: [0, 0, 0])
        whole = collections.defaultdict(list)

        def clipped(call):
            return max(0, min(call["end"], until) - max(call["start"], since))

        for call in self.calls:
            start, end = call["start"], call["end"]
            overlaps = since <= start < until if start == end else start < until and end > since
            if thread not in (None, call["thread_id"]) or not overlaps:
                continue
            entry = sums[call["function"]]
            entry[0] += 1
            entry[2] += clipped(call)
            if call["caller"]:
                sums[call["caller"]["function"]][2] -= clipped(call)
            outer = call["caller"]
            while outer and outer["function"] != call["function"]:
                outer = outer["caller"]
            entry[1] += 0 if outer else clipped(call)
            if call["whole"] and start >= since and end <= until:
                whole[call["function"]].append(call["duration"])
        rows = []
        for name, (calls, total, self_time) in sums.items():
            lengths = whole[name]
            ranks = [nearest_rank(lengths, percent) for percent in (50, 90, 95, 99, 99.9)]
            of_whole = (sum(lengths), sum(lengths) // len(lengths), min(lengths), *ranks, max(lengths)) if lengths else (None,) * 9
            if calls:
                rows.append((name, calls, total, self_time, len(lengths), *of_whole))
        return rows

    def stacks(self):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        paths = {}
        for call in reversed(self.calls):
            caller = call["caller"]
            paths[call["id"]] = (paths[caller["id"]] if caller else ()) + (call["function"],)
            entry = sums[paths[call["id"]]]
            entry[0] += 1
            entry[1] += call["duration"]
            entry[2] += call["self"]
        return [(";".join(path), path[-1], len(path) - 1, *values) for path, values in sums.items()]

    def thread_rows(self):
        rows = []
        for number, (process, pid, thread, tid) in enumerate(self.threads):
            calls = [call for call in self.calls if call["thread_id"] == number]
            rows.append((number, process, pid, thread, tid, len(calls), max((call["depth"] + 1 for call in calls), default=0),
                         min((call["start"] for call in calls), default=None), max((call["end"] for call in calls), default=None)))
        return rows

    def answer(self, sql):
        return [list(row) for row in self.database.execute(sql)]


class Questions:
    """Random queries whose rows come in one order, or whose order does not matter."""

    def __init__(self, judge, random):
        self.judge, self.random = judge, random
        self.columns = [column for column in CALL_COLUMNS if column in NUMBERS or column in TEXTS]

    def value(self, column):
        """As a literal: one that occurs, or one near it, or what people mistype."""
        value = self.random.choice(self.judge.calls)[column]
        if column in TEXTS:
            return "NULL" if value is None else "'" + value.replace("'", "''") + "'"
        odd = self.random.random()
        if value is None or odd < 0.03:
            return self.random.choice(("NULL", "-1", "'x'", "1e30", "-1e30", "9223372036854775807", "0.5"))
        if odd < 0.2:
            return f"{value + self.random.choice((-1, -0.5, 0.5, 1))}"
        return f"'{value}'" if odd < 0.23 else str(value)

    def condition(self, table=""):
        column = self.random.choice(("start", "end", "duration", "duration", "function", "function", "thread", "thread_id", "tid",
                                     "pid", "depth", "self", "id", "parent", "whole", "seen", "end_reason", "code", "line"))
        name = f'{table}"{column}"'
        kind = self.random.random()
        if kind < 0.1:
            return f"{name} IN ({', '.join(self.value(column) for _ in range(self.random.randint(1, 4)))})"
        if column in NUMBERS and kind < 0.3:
            low, high = sorted((self.random.choice(self.judge.calls)[column] or 0 for _ in range(2)))
            return f"{name} BETWEEN {low} AND {high}"
        if kind < 0.35:
            return f"{name} IS NOT {self.value(column)}"
        operator = self.random.choice(("=", "<", "<=", ">", ">=", "<>")) if column in NUMBERS else \
            self.random.choice(("=", "=", "=", "<>", ">", "LIKE"))
        return f"{name} {operator} {self.value(column)}"

    def conditions(self, table=""):
        parts = [self.condition(table) for _ in range(self.random.randint(0, 3))]
        if not parts:
            return "1"
        if len(parts) > 1 and self.random.random() < 0.15:
            return f"({' OR '.join(parts)})"
        return " AND ".join(parts)

    def names(self, count, table=""):
        return [f'{table}"{name}"' for name in self.random.sample(self.columns, count)]

    def rows(self):
        names = ", ".join(["id"] + self.names(self.random.randint(1, 5)))
        order = self.random.choice(("id", "id DESC", "start, depth, id", "duration DESC, id"))
        return f"SELECT {names} FROM calls WHERE {self.conditions()} ORDER BY {order} LIMIT {self.random.randint(1, 200)}"

    def sums(self):
        name = self.names(1)[0]
        sums = self.random.sample(("count(*)", "sum(duration)", "min(start)", "max(self)", "sum(depth)", "avg(whole)",
                                   "median(duration)", "percentile(self, 99)", "count(parent)", "count(DISTINCT thread_id)"), 3)
        return f"SELECT {name}, {', '.join(sums)} FROM calls WHERE {self.conditions()} GROUP BY 1 ORDER BY 1"

    def functions(self):
        """What is answered by the table of functions, or nearly so."""
        sums = self.random.sample(("count(*)", "sum(duration)", "sum(self)", "avg(duration)", "min(duration)", "max(duration)", "median(duration)",
                                   "percentile(duration, 90)", "percentile(duration,95)", "Percentile(duration, 99)", "percentile(duration, 99.9)",
                                   "percentile(duration, 98)", "sum(duration) / count(*)", "round(avg(duration), 1)", "max(depth)"), 3)
        where = self.random.choice(("", "", "WHERE whole", "WHERE whole = 1", "WHERE thread_id = 0", "WHERE thread_id = 99", "WHERE NOT whole",
                                    "WHERE thread_id = 1 AND whole"))
        key, name = self.random.choice((("function", "function"), ("1", "function AS f")))
        having = self.random.choice(("", "", "HAVING count(*) > 3", f"HAVING x >= {self.random.choice(self.judge.calls)['duration']}"))
        order = self.random.choice(("", "ORDER BY 1", "ORDER BY 2, 1 DESC", "ORDER BY count(*) DESC, 1", "ORDER BY x DESC, 1"))
        limit = self.random.choice(("", "LIMIT 4", "LIMIT 2 OFFSET 1"))
        return f"SELECT {name}, {sums[0]} x, {sums[1]} AS y, {sums[2]} FROM calls {where} GROUP BY {key} {having} {order} {limit}"

    def callers(self):
        both = " AND ".join((self.conditions("c."), self.conditions("p.")))
        kind = self.random.choice(("JOIN", "JOIN", "LEFT JOIN"))
        return (f"SELECT c.function, p.function, count(*), sum(c.duration), max(p.depth) FROM calls c {kind} calls p "
                f"ON p.id = c.parent WHERE {both} GROUP BY 1, 2 ORDER BY 1, 2")

    def callees(self):
        call = self.random.choice(self.judge.calls)
        return f"SELECT id, function, duration FROM calls WHERE parent = {call['parent'] or call['id']} AND {self.conditions()} ORDER BY 1"

    def nested(self):
        return (f"SELECT id, self FROM calls WHERE duration > (SELECT avg(duration) FROM calls WHERE {self.conditions()}) "
                f"AND {self.conditions()} ORDER BY id LIMIT 100")

    def stack(self):
        return (f"WITH RECURSIVE s(id, parent, function) AS (SELECT id, parent, function FROM calls WHERE id = "
                f"{self.random.choice(self.judge.calls)['id']} UNION ALL SELECT c.id, c.parent, c.function FROM s "
                f"JOIN calls c ON c.id = s.parent) SELECT * FROM s")

    def tables(self):
        table, columns = self.random.choice((("functions", FUNCTION_COLUMNS), ("stacks", STACK_COLUMNS), ("threads", THREAD_COLUMNS)))
        names = self.random.sample(columns, self.random.randint(1, 4))
        numbers = [name for name in columns if name not in ("function", "path", "process", "thread")]
        column = self.random.choice(numbers)
        row = self.random.choice(self.judge.answer(f'SELECT "{column}" FROM {table}'))[0] or 0
        quoted = ", ".join(f'"{name}"' for name in names)
        return f'SELECT {quoted} FROM {table} WHERE "{column}" {self.random.choice("<>=")} {row} ORDER BY {quoted}'

    def threads(self):
        return (f"SELECT t.id, t.thread, count(c.id), sum(c.self) FROM threads t LEFT JOIN calls c ON c.thread_id = t.id "
                f"AND {self.conditions('c.')} GROUP BY 1, 2 ORDER BY 1")

    def next(self):
        kinds = (self.rows, self.rows, self.rows, self.sums, self.sums, self.functions, self.functions, self.callers, self.callees, self.nested, self.stack,
                 self.tables, self.threads)
        return self.random.choice(kinds)()


def read_results(text):
    """The arrays that `query -json` printed, one for each statement, each a list of rows."""
    decoder, results, at = json.JSONDecoder(object_pairs_hook=lambda pairs: [value for _, value in pairs]), [], 0
    while at < len(text):
        result, at = decoder.raw_decode(text, at)
        results.append(result)
        at += len(text) - at - len(text[at:].lstrip())
    return results


def same(ours, theirs):
    if len(ours) != len(theirs):
        return False
    for mine, other in zip(ours, theirs):
        for a, b in zip(mine, other):
            if a != b and not (isinstance(a, float) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-12)):
                return False
    return True
