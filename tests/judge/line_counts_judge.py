#!/usr/bin/env python3
"""Holds how often lines ran (export -format lcov) against what gcov counts, program by program, line by line.

    line_counts_judge.py MAGIC-TRACE [PROGRAMS.json]

PROGRAMS.json: [{"name", "sources": [path, ...], "flags": [...], "arguments": [...], "input": path or null}, ...]; relative
paths are relative to that file. Without it: the programs of this repository that REPOSITORY names. Each is built twice with -O0: with -g, which
magic-trace records, and with --coverage, which counts by itself. Programs must do the same in each run.

Not compared are lines to which gcov gives a count although they have no code of their own, or of which the line table of the build with -g says
nothing; how many these are is printed. Exit status: 0 all equal, 1 some differ.
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


def lines_of_gcov(program, folder):
    """{source: {line: count}}"""
    folder.mkdir()
    output = folder / "program"
    build(program, output, "--coverage")
    run(program, [output])
    counts = collections.defaultdict(collections.Counter)
    for data in folder.glob("*.gcda"):
        text = subprocess.run(["gcov", "--json-format", "--stdout", data], cwd=folder, stdout=subprocess.PIPE, check=True).stdout
        for document in text.splitlines():
            for file in json.loads(document)["files"]:
                for line in file["lines"]:
                    counts[os.path.realpath(folder / file["file"])][line["line_number"]] += line["count"]
    return counts


def lines_of_ours(program, folder, magic_trace):
    folder.mkdir()
    output, recording, exported = folder / "program", folder / "recording", folder / "lcov.info"
    build(program, output, "-g")
    run(program, [magic_trace, "run", "-engine", "translator", "-full-execution", "-no-decode", "-working-directory", recording, "--", output])
    subprocess.run([magic_trace, "export", "-format", "lcov", "-o", exported, recording], check=True, stderr=subprocess.DEVNULL)
    counts = {}
    for path, body in re.findall(r"(?ms)^SF:(.*?)\n(.*?)^end_of_record$", exported.read_text()):
        counts[os.path.realpath(path)] = {int(line): int(count) for line, count in re.findall(r"(?m)^DA:(\d+),(\d+)", body)}
    return counts


def judge(program, folder, magic_trace):
    theirs, ours = lines_of_gcov(program, folder / "gcov"), lines_of_ours(program, folder / "ours", magic_trace)
    compared, without_code, differ = 0, 0, []
    for source in map(os.path.realpath, program["sources"]):
        text = open(source, encoding="latin-1").read().splitlines()
        for line, count in sorted(theirs[source].items()):
            mine = ours.get(source, {}).get(line)
            if mine is None and count > 0:
                without_code += 1
                continue
            compared += 1
            if (mine or 0) != count:
                differ.append((source, line, count, mine, text[line - 1] if line <= len(text) else ""))
    return compared, without_code, differ


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
            compared, without_code, differ = judge(program, pathlib.Path(folder), arguments.magic_trace.resolve())
        print(f"{program['name']}: {compared} lines compared, {len(differ)} differ, {without_code} without code", flush=True)
        for source, line, count, mine, text in differ[:SHOWN]:
            print(f"    {os.path.basename(source)}:{line}: gcov {count}, ours {mine}: {text.strip()}")
        failed = failed or bool(differ)
    return 1 if failed else 0


sys.exit(main())
