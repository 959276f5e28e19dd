#!/usr/bin/env python3
"""Holds which inlined functions an address belongs to, as our reader of debug information says, against llvm-symbolizer.

    inlined_chains_judge.py INLINED_JUDGE [--addresses N] PROGRAM...

About N addresses (default 50,000) of each program, at even distances in all its named functions. INLINED_JUDGE is
build/tests/judge/inlined_judge. Prints, for each program, how many addresses were compared, how many are in inlined code, and how many
differ, with the first differences. Exit status: 0 all equal, 1 some differ, 77 there is no llvm-symbolizer.
"""
import argparse
import shutil
import subprocess
import sys

SKIPPED = 77
SHOWN = 5
BATCH = 100_000


def code_size(program):
    """Bytes of the named functions."""
    rows = subprocess.run(["readelf", "-sW", program], stdout=subprocess.PIPE, check=True, text=True, errors="replace").stdout
    return sum(int(row[2], 0) for row in map(str.split, rows.splitlines()) if len(row) > 7 and row[3] == "FUNC" and row[6] != "UND")


def chains_of_llvm(program, addresses):
    for first in range(0, len(addresses), BATCH):
        given = "".join(address + "\n" for address in addresses[first:first + BATCH])
        said = subprocess.run(["llvm-symbolizer", "--inlines", "--no-demangle", "-e", program], input=given, stdout=subprocess.PIPE,
                              check=True, text=True, errors="replace").stdout
        yield from (place.strip().split("\n")[0::2] for place in said.split("\n\n") if place.strip())


def judge(inlined_judge, program, wanted):
    step = max(1, code_size(program) // wanted)
    rows = subprocess.run([inlined_judge, program, str(step)], stdout=subprocess.PIPE, check=True, text=True, errors="replace").stdout
    ours = [row.split(" ") for row in rows.splitlines()]
    inlined, differ, compared = 0, [], 0
    for (address, *chain), theirs in zip(ours, chains_of_llvm(program, [row[0] for row in ours])):
        compared += 1
        inlined += bool(chain)
        if chain != theirs[:-1]:
            differ.append((address, chain, theirs))
    return len(ours), compared, inlined, differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inlined_judge")
    parser.add_argument("--addresses", type=int, default=50_000)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    if not shutil.which("llvm-symbolizer"):
        print("llvm-symbolizer is not installed")
        return SKIPPED
    all_compared, all_differ = 0, 0
    for program in arguments.programs:
        count, compared, inlined, differ = judge(arguments.inlined_judge, program, arguments.addresses)
        print(f"{program}: {compared} of {count} addresses compared, {inlined} inlined, {len(differ)} differ", flush=True)
        for address, chain, theirs in differ[:SHOWN]:
            print(f"    {address}: ours {chain}\n        llvm-symbolizer's {theirs}")
        all_compared += compared
        all_differ += len(differ) + count - compared
    print(f"{len(arguments.programs)} programs, {all_compared} addresses, {all_differ} differ")
    return 1 if all_differ else 0


sys.exit(main())
