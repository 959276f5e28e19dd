"""The servers of tests/services, and what they must not notice. Imported by run and stacks."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 60  # seconds for one attach, on a busy machine
BUILT = "built"


class Stuck(Exception):
    """A recorder that does not end. It and the server are left as they are."""


def take_signals():
    """Recorders inherit what nohup and the background jobs of shells ignore, and would not end by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_until(condition, patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def text_of(path):
    try:
        return pathlib.Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


# ---- services ----

class Service:
    """A server: `command` starts it, `client` is a function of clients.py, `trigger` a function that each request calls."""

    def __init__(self, command, client, port, trigger, options=("-multi-thread",), processes=None, source=None, build=None):
        self.command, self.client, self.port, self.trigger = command, client, port, trigger
        self.options, self.processes, self.source, self.build = options, processes, source, build

    def prepare(self, folder):
        """Builds the program; the program that is missing, or None."""
        for words in ([*self.build] if self.build else []), [*self.command]:
            if words and words[0] != BUILT and not shutil.which(words[0]):
                return words[0]
        if self.build:
            subprocess.run([*self.build, HERE / self.source], cwd=folder, check=True)
        return None

    def start(self, folder):
        words = [word.format(port=self.port, folder=folder, here=HERE) for word in self.command]
        if words[0] == BUILT:
            words[0] = str(folder / BUILT)
        return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=open(folder / "stderr", "wb"),
                                start_new_session=True)


def children(pid):
    return [int(child) for child in text_of(f"/proc/{pid}/task/{pid}/children").split()]


def backends(pid):
    """postgres: the processes that serve clients."""
    return [child for child in children(pid) if "[local]" in text_of(f"/proc/{child}/cmdline")]


PYTHON = sys.executable
SERVICES = {
    "redis": Service(["redis-server", "--port", "{port}", "--save", ""], "redis", 7901, "call"),
    "nginx": Service(["nginx", "-e", "{folder}/stderr", "-p", "{folder}", "-g", "daemon off;", "-c", "{here}/nginx.conf"],
                     "http", 7902, "ngx_http_process_request", processes=children),
    "postgres": Service(["sh", "{here}/postgres", "{folder}", "{port}"], "pgbench", 7903, "pg_parse_query", processes=backends),
    "python_threads": Service([PYTHON, "{here}/threads.py", "{port}"], "http", 7904, "PyEval_SaveThread"),
    "python_asyncio": Service([PYTHON, "{here}/tasks.py", "{port}"], "http", 7905, "PyEval_SaveThread"),
    "node": Service(["node", "{here}/server.js", "{port}"], "http", 7906, "uv__read"),
    "java": Service(["java", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-Dsun.net.httpserver.nodelay=true",
                     "{here}/Server.java", "{port}"], "http", 7907, "Java_sun_nio_ch_SocketDispatcher_read0"),
    "go": Service([BUILT, "{port}"], "http", 7908, "main.answer", source="server.go", build=["go", "build", "-o", BUILT]),
    "rust": Service([BUILT, "{port}"], "http", 7909, "answer", source="server.rs", build=["rustc", "-O", "-g", "-o", BUILT]),
    "memcached": Service(["memcached", "-u", "nobody", "-p", "{port}", "-t", "4"], "memcached", 7910, "sendmsg"),
}


# ---- what a server must not notice ----

def threads(pid):
    """[(state, tracer)]"""
    states = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        status = text_of(task / "status")
        if status:
            states.append((re.search(r"State:\s+(\S)", status)[1], int(re.search(r"TracerPid:\s+(\d+)", status)[1])))
    return states


def is_free(pid):
    return all(state not in "Tt" and tracer == 0 for state, tracer in threads(pid)) and not translator_mappings(pid)


def translator_mappings(pid):
    return [line for line in text_of(f"/proc/{pid}/maps").splitlines() if "translator/arena" in line]


def descriptors(pid):
    """What is open, but connections and files of data, which come and go."""
    names = []
    for entry in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(FileNotFoundError):
            name = os.readlink(entry)
            names.append(re.sub(r"\d+", "", name))
    return sorted(name for name in names if not name.startswith("socket:") and "/data/" not in name)


def mapped_files(pid):
    return sorted({line.split(None, 5)[5] for line in text_of(f"/proc/{pid}/maps").splitlines()
                   if len(line.split(None, 5)) > 5 and line.split(None, 5)[5].startswith("/")})


def dispositions(pid):
    return [line for line in text_of(f"/proc/{pid}/status").splitlines() if line.startswith(("SigIgn", "SigCgt"))]


def kilobytes(pid, key):
    found = re.search(rf"{key}:\s+(\d+)", text_of(f"/proc/{pid}/status"))
    return int(found[1]) if found else 0


class Seen:
    """A process before and after."""

    def __init__(self, pid):
        self.pid = pid
        self.facts = descriptors(pid), mapped_files(pid), dispositions(pid)
        self.virtual, self.resident = kilobytes(pid, "VmSize"), kilobytes(pid, "RssAnon")

    def changes(self, before):
        names = "descriptors", "mapped files", "signal dispositions"
        return [f"{name} of {self.pid}: {was} -> {now}" for name, was, now in zip(names, before.facts, self.facts) if was != now]
