"""The clients of tests/services/run: processes that send requests until they get SIGTERM, check each answer, and print how many
there were and how many of them were wrong or missing."""
import multiprocessing
import re
import signal
import socket
import subprocess
import threading
import time

THREADS = 8
PATIENCE = 60


class Counts:
    def __init__(self):
        self.answers = self.failed = 0
        self.ends = threading.Event()


def connect(port):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


# ---- one request ----

def ask_http(stream, number):
    stream.write(b"GET /%d HTTP/1.1\r\nHost: here\r\n\r\n" % number)
    stream.flush()
    status, length = stream.readline(), None
    while (line := stream.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return b" 200 " in status and stream.read(length) == b"the answer is 499500\n"


def ask_memcached(stream, number):
    value = b"x" * (number % 500)
    stream.write(b"set k%d 0 0 %d\r\n%s\r\nget k%d\r\n" % (number % 100 + 100 * threading.get_ident(), len(value), value,
                                                         number % 100 + 100 * threading.get_ident()))
    stream.flush()
    lines = [stream.readline() for _ in range(4)]
    return lines[0] == b"STORED\r\n" and lines[2:] == [value + b"\r\n", b"END\r\n"]


def ask_redis(stream, number):
    key = b"%d.%d" % (threading.get_ident(), number % 100)
    stream.write(b"SET %s %d\r\nGET %s\r\n" % (key, number, key))
    stream.flush()
    stored, _, value = stream.readline(), stream.readline(), stream.readline()
    return stored == b"+OK\r\n" and value == b"%d\r\n" % number


def send_requests(ask, port, counts):
    stream = connect(port).makefile("rwb")
    number = 0
    while not counts.ends.is_set():
        try:
            right = ask(stream, number)
        except (OSError, TypeError) as error:
            print("request", number, repr(error), flush=True)
            counts.failed += 1
            return
        counts.answers += 1
        counts.failed += not right
        number += 1


def run(ask, port, line):
    counts = Counts()
    signal.signal(signal.SIGTERM, lambda *_: counts.ends.set())
    workers = [threading.Thread(target=send_requests, args=(ask, port, counts)) for _ in range(THREADS)]
    for worker in workers:
        worker.start()
    while not counts.ends.wait(0.2):
        pass
    for worker in workers:
        worker.join()
    line.send((counts.answers, counts.failed))


ASK = {"http": ask_http, "memcached": ask_memcached, "redis": ask_redis}


# ---- starting and stopping ----

def start(name, port, folder):
    if name == "pgbench":
        return start_pgbench(port, folder)
    ours, its = multiprocessing.Pipe()
    process = multiprocessing.Process(target=run, args=(ASK[name], port, its))
    process.start()
    return process, ours


def stop(client):
    """(answers, failed)"""
    process, line = client
    if line is None:
        return stop_pgbench(process)
    process.terminate()
    counts = line.recv()
    process.join()
    return counts


# ---- pgbench ----

def start_pgbench(port, folder):
    end = time.monotonic() + PATIENCE
    while not (folder / "ready").exists() and time.monotonic() < end:
        time.sleep(0.1)
    return subprocess.Popen(["pgbench", "-h", folder, "-p", str(port), "-U", "postgres", "-c", "2", "-T", "100000", "-P", "1", "bench"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT), None


def stop_pgbench(process):
    """Transactions: tps of each second, and failed ones."""
    early = process.poll() is not None
    process.terminate()
    said = process.communicate()[0].decode()
    answers = sum(float(found) for found in re.findall(r"progress: .*? ([\d.]+) tps", said))
    failed = sum(map(int, re.findall(r"(\d+) failed", said))) + len(re.findall(r"ERROR|FATAL|aborted", said)) + early
    return int(answers), failed
