"""What the benchmarks share: measured commands, tables, inputs."""
import hashlib
import os
import re
import statistics
import subprocess
import tempfile
import time


class Measured:
    """One finished command: wall seconds, CPU seconds (children included), peak resident bytes, stderr and, if it is
    kept, stdout."""

    def __init__(self, command, keep_output=False, **options):
        with tempfile.TemporaryFile() as output:
            began = time.perf_counter()
            process = subprocess.Popen([str(word) for word in command],
                                       stdout=output if keep_output else subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, **options)
            self.stderr = process.stderr.read().decode(errors="replace")
            process.stderr.close()
            _, status, usage = os.wait4(process.pid, 0)
            self.wall = time.perf_counter() - began
            output.seek(0)
            self.stdout = output.read().decode(errors="replace")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(map(str, command))}: status {process.returncode}\n{self.stderr}")


def median_wall(command, repeat):
    return statistics.median(Measured(command).wall for _ in range(repeat))


def table(title, header, rows):
    print(f"\n{title}\n")
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for number, line in enumerate(lines):
        first, *rest = (cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(line, widths)))
        print("  " + "  ".join([first, *rest]).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def english_text(folder, megabytes):
    """A file of text that compresses about as English does."""
    path = folder / f"text{megabytes}"
    if not path.exists():
        words = [hashlib.md5(str(i).encode()).hexdigest()[:2 + i % 9] for i in range(5000)]
        state, content, size = 1, [], 0
        while size < megabytes * 1000000:
            state = (state * 1103515245 + 12345) % (1 << 31)
            word = words[state % 4999 if state >> 8 & 1 else state % 97]
            content.append(word)
            size += len(word) + 1
        path.write_text(" ".join(content))
    return path


def packet_bytes(messages):
    """Bytes of packets, from the summary line ("... from 4.19 MB of packets.")."""
    number, unit = re.search(r"from ([\d.]+) (bytes|kB|MB|GB) of packets", messages).groups()
    return float(number) * {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
