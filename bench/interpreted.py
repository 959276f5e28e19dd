"""What bench/decode records of the Python interpreter: strings, tables, sorting, JSON, regular expressions.

    python3 -S -E interpreted.py ROUNDS
"""
import collections
import json
import re
import sys


def words(count):
    state, made = 1, []
    for _ in range(count):
        state = state * 1103515245 + 12345 & 0x7fffffff
        made.append("w%d" % (state >> 8 & 1023))
    return made


def one_round():
    text = words(2000)
    counts = collections.Counter(text)
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:100]
    back = json.loads(json.dumps({"most": most, "text": text[:500]}))
    return sum(len(re.sub("[0-4]", "x", word)) for word in back["text"])


print(sum(one_round() for _ in range(int(sys.argv[1]))))
