#!/usr/bin/env python3
"""Holds how often lines, functions and branches ran (export -format lcov) against what gcov counts, program by program, line by line.

    line_counts_judge.py MAGIC-TRACE [PROGRAMS.json]

PROGRAMS.json: [{"name", "sources": [path, ...], "flags": [...], "arguments": [...], "input": path or null}, ...]; relative
paths are relative to that file. Without it: the programs of this repository that REPOSITORY names. Each is built twice with -O0: with -g, which
magic-trace records, and with --coverage, which counts by itself. Programs must do the same in each run.

Not compared are lines to which gcov gives a count although they have no code of their own, or of which the line table of the build with -g says
nothing, and branches of lines where gcov has more than conditional jumps: ways of calls that exceptions leave, cases of a switch, computed gotos;
how many these are is printed. Exit status: 0 all equal, 1 some differ.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = (
    ("programs/inlined.c", "70"), ("programs/recursion.c",), ("programs/callbacks.c",), ("programs/longjmp.c",), ("programs/branchy.c", "2000"),
    *((f"truth/programs/calls/{name}.c",) for name in (
        "alloca_stacks", "aligned_frames", "calls", "cold_recursion", "cold_split", "computed_goto", "deep_recursion", "library_recursion",
        "mutual_recursion", "nested_functions", "switch_tables", "tail_calls", "varargs")),
    *((f"truth/programs/setjmp/{name}.c",) for name in ("setjmp_loop", "longjmp_frames", "longjmp_every_level")),
    *((f"truth/programs/cpp/{name}.cpp",) for name in ("throw_frames", "nested_exceptions", "cleanup_calls")),
)
SHOWN = 60


def repository_programs():
    for path, *arguments in REPOSITORY:
        yield {"name": pathlib.Path(path).stem, "sources": [str(ROOT / path)], "flags": ["-pthread", f"-I{ROOT / 'truth'}"],
               "arguments": arguments, "input": None}


def compiler(program):
    return "g++" if any(source.endswith((".cpp", ".cc", ".cxx")) for source in program["sources"]) else "gcc"


def build(program, output, *flags):
    subprocess.run([compiler(program), "-O0", "-w", *flags, *program["flags"], "-o", output, *program["sources"], "-ldl", "-lm"],
                   check=True, cwd=output.parent)


def run(program, command):
    with open(program["input"] or os.devnull, "rb") as given:
        return subprocess.run([*command, *program["arguments"]], stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode


class Counts:
    """Of one source: line -> count, {(line, symbol): calls}, line -> [(number, count)] of branches."""

    def __init__(self):
        self.lines, self.functions, self.branches = collections.Counter(), {}, collections.defaultdict(list)
        self.without_branches = set()  # lines of which branches are not compared


def counts_of_gcov(program, folder):
    """{source: Counts}"""
    folder.mkdir()
    output = folder / "program"
    build(program, output, "--coverage")
    run(program, [output])
    counts = collections.defaultdict(Counts)
    for data in folder.glob("*.gcda"):
        text = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout", data], cwd=folder, stdout=subprocess.PIPE,
                              check=True).stdout
        for document in text.splitlines():
            for file in json.loads(document)["files"]:
                read_gcov(file, counts[os.path.realpath(folder / file["file"])])
    return counts


def read_gcov(file, counts):
    for function in file["functions"]:
        counts.functions[function["start_line"], function["name"]] = function["execution_count"]
    for line in file["lines"]:
        number = line["line_number"]
        counts.lines[number] += line["count"]
        never = line["unexecuted_block"] and line["count"] == 0  # as geninfo
        for way, branch in enumerate(line["branches"]):
            counts.branches[number].append((way, "-" if never else str(branch["count"])))
            if branch["throw"]:
                counts.without_branches.add(number)


def counts_of_ours(program, folder, magic_trace):
    folder.mkdir()
    output, recording, exported = folder / "program", folder / "recording", folder / "lcov.info"
    build(program, output, "-g")
    run(program, [magic_trace, "run", "-engine", "translator", "-full-execution", "-no-decode", "-working-directory", recording, "--", output])
    subprocess.run([magic_trace, "export", "-format", "lcov", "-o", exported, recording], check=True, stderr=subprocess.DEVNULL)
    all_counts = collections.defaultdict(Counts)
    for path, body in re.findall(r"(?ms)^SF:(.*?)\n(.*?)^end_of_record$", exported.read_text()):
        counts = all_counts[os.path.realpath(path)]
        counts.lines.update({int(line): int(count) for line, count in re.findall(r"(?m)^DA:(\d+),(\d+)", body)})
        calls = {name: int(count) for count, name in re.findall(r"(?m)^FNDA:(\d+),(.*)$", body)}
        counts.functions = {(int(line), name): calls[name] for line, name in re.findall(r"(?m)^FN:(\d+),(.*)$", body)}
        for line, way, count in re.findall(r"(?m)^BRDA:(\d+),0,(\d+),(\d+|-)$", body):
            counts.branches[int(line)].append((int(way), count))
    return all_counts


def compare_branches(theirs, ours, text):
    """Number of lines compared and left out, and those that differ."""
    left_out = theirs.without_branches | {line for line in theirs.branches if re.search(r"\bswitch\b|\bgoto \*", text[line - 1])}
    lines = (theirs.branches.keys() | ours.branches.keys()) - left_out
    differ = [(line, sorted(theirs.branches[line]), sorted(ours.branches[line])) for line in sorted(lines)
              if sorted(theirs.branches[line]) != sorted(ours.branches[line])]
    return len(lines), len(left_out), differ


def judge(program, folder, magic_trace):
    """Prints what differs; whether all is equal."""
    theirs, ours = counts_of_gcov(program, folder / "gcov"), counts_of_ours(program, folder / "ours", magic_trace)
    compared, without_code, functions, branches, left_out, differ = 0, 0, 0, 0, 0, []
    for source in map(os.path.realpath, program["sources"]):
        text = open(source, encoding="latin-1").read().splitlines()
        for line, count in sorted(theirs[source].lines.items()):
            mine = ours[source].lines.get(line)
            if mine is None and count > 0:
                without_code += 1
                continue
            compared += 1
            if (mine or 0) != count:
                differ.append((source, line, count, mine, text[line - 1] if line <= len(text) else ""))
        functions += len(theirs[source].functions)
        differ.extend((source, line, theirs[source].functions.get((line, name)), ours[source].functions.get((line, name)), name)
                      for line, name in sorted(theirs[source].functions.keys() | ours[source].functions.keys())
                      if theirs[source].functions.get((line, name)) != ours[source].functions.get((line, name)))
        lines, left, others = compare_branches(theirs[source], ours[source], text)
        branches, left_out = branches + lines, left_out + left
        differ.extend((source, line, gcov, mine, text[line - 1]) for line, gcov, mine in others)
    print(f"{program['name']}: {compared} lines, {functions} functions, branches of {branches} lines compared, {len(differ)} differ; "
          f"{without_code} lines without code, branches of {left_out} left out", flush=True)
    for source, line, count, mine, text in differ[:SHOWN]:
        print(f"    {os.path.basename(source)}:{line}: gcov {count}, ours {mine}: {text.strip()}")
    return not differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("magic_trace", type=pathlib.Path)
    parser.add_argument("programs", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    programs = json.loads(arguments.programs.read_text()) if arguments.programs else repository_programs()
    beside = arguments.programs.resolve().parent if arguments.programs else ROOT
    failed = False
    for program in programs:
        program["sources"] = [str((beside / source).resolve()) for source in program["sources"]]
        with tempfile.TemporaryDirectory() as folder:
            failed |= not judge(program, pathlib.Path(folder), arguments.magic_trace.resolve())
    return 1 if failed else 0


sys.exit(main())
