"""Programs of many kinds under the translator: output and exit status are those of a native run."""
import os
import shutil
import socket
import stat
import subprocess

import harness

LUA = "local s = 0 for i = 1, 200000 do s = s + i % 7 end print(s) print(pcall(error, 'caught'))"
PYPY = """
import threading
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
threads = [threading.Thread(target=fib, args=(12,)) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
try: 1 // 0
except ZeroDivisionError as error: print(fib(18), error)
"""
ERLANG = """S = self(), [spawn(fun() -> S ! X * X end) || X <- lists:seq(1, 200)],
io:format("~p~n", [lists:sum([receive N -> N end || _ <- lists:seq(1, 200)])]), halt()."""
GUILE = "(display (call/cc (lambda (k) (let loop ((i 0)) (if (= i 30000) (k i) (loop (+ i 1)))))))"
COMMANDS = ["SET key value", "INCR count", "INCR count", "LPUSH list a b c", "LRANGE list 0 -1",
            "EVAL 'local s = 0 for i = 1, 1000 do s = s + i % 7 end return s' 0", "GET key"]


class Unnoticed(harness.TestCase):
    OPTIONS = ["-engine", "translator", "-multi-thread", "-follow"]

    def check(self, name, *arguments):
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        command = [name, *arguments]
        self.assert_same_as_untraced(self.trace(command, *self.OPTIONS), command)

    def test_luajit(self):
        """luajit: code of a tracing compiler"""
        self.check("luajit", "-e", LUA)

    def test_pypy(self):
        """pypy3: code of a meta-tracing compiler, threads"""
        self.check("pypy3", "-c", PYPY)

    def test_erlang(self):
        """erl: 200 processes on its own schedulers"""
        self.check("erl", "+sbwt", "none", "-noshell", "-eval", ERLANG)

    def test_guile(self):
        """guile: continuations"""
        self.check("guile", "--no-auto-compile", "-c", GUILE)

    def test_ordinary_user(self):
        """an ordinary user's recording"""
        if os.geteuid() != 0 or not shutil.which("runuser"):
            self.skipTest("needs root and runuser")
        folder = self.folder / "theirs"
        folder.mkdir()
        shutil.copy(harness.Settings.binary, folder / "magic-trace")
        shutil.chown(folder, "nobody")
        for path in folder.parents:
            if path.stat().st_uid == 0 and not path.stat().st_mode & stat.S_IXOTH:
                self.skipTest(f"{path} is closed to others")
        command = ["bash", "-c", "id -u; for i in 1 2 3; do /bin/echo $i; done; exit 5"]
        as_nobody = ["runuser", "-u", "nobody", "--"]
        native = harness.run([*as_nobody, *command])
        traced = harness.run([*as_nobody, folder / "magic-trace", "run", *self.OPTIONS, "-forward-exit-status",
                              "-working-directory", folder / "r", "-o", folder / "t.fxt.gz", *command], cwd=folder)
        self.assertEqual((traced.status, traced.stdout), (native.status, native.stdout), traced.stderr)

    def test_redis(self):
        """redis-server: answers, a saved snapshot and an orderly end"""
        if not shutil.which("redis-server"):
            self.skipTest("redis-server is not installed")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with subprocess.Popen([harness.Settings.binary, "run", *self.OPTIONS, "-forward-exit-status", "-working-directory",
                               self.folder / "r", "-o", self.folder / "t.fxt.gz", "redis-server", "--port", str(port),
                               "--bind", "127.0.0.1", "--dir", self.folder, "--save", ""],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            client = ["redis-cli", "-p", str(port)]
            harness.wait_until(lambda: harness.run([*client, "PING"]).stdout == b"PONG\n")
            answers = subprocess.run(client, input="\n".join(COMMANDS), stdout=subprocess.PIPE, text=True, check=True).stdout
            harness.run([*client, "SAVE"])
            harness.run([*client, "SHUTDOWN", "NOSAVE"])
            self.assertEqual(server.wait(), 0)
        self.assertEqual(answers.split(), ["OK", "1", "2", "3", "c", "b", "a", "3003", "value"])
        self.assertTrue((self.folder / "dump.rdb").exists())
