"""Exceptions of OCaml programs: the decoder sees each handler come and go."""
import re
import shutil
import subprocess

import harness
from harness import PROGRAMS, Settings

EVENT = re.compile(r"^\d+ \d+!? (\S+) (0x\w+|0) -> (0x\w+|0) (.*)$", re.MULTILINE)


class HandlerChain:
    """What becomes of OCaml's exception handlers in a list of flow events."""

    def __init__(self, events):
        self.pushes = self.pops = self.raises = 0
        self.open = []
        self.faults = []
        handlers = {to for kind, _, to, _ in events if kind == "trap-push"}
        for event in events:
            self.follow(event, handlers)

    def follow(self, event, handlers):
        kind, _, to, _ = event
        if kind == "trap-push":
            self.pushes += 1
            self.open.append(to)
        elif kind == "trap-pop":
            self.pops += 1
            self.close(event, bool(self.open))
        elif kind in ("return", "jump") and to in handlers:
            self.raises += 1
            self.close(event, bool(self.open) and self.open[-1] == to)

    def close(self, event, fits):
        if fits:
            self.open.pop()
        else:
            self.faults.append(event)


class OCaml(harness.TestCase):
    def compile(self, *options):
        if not shutil.which("ocamlopt"):
            self.skipTest("ocamlopt is not installed")
        for name in ("handlers.ml", "handlers_stub.c"):
            shutil.copy(PROGRAMS / name, self.folder)
        command = ["ocamlopt", "-g", *options, "handlers_stub.c", "handlers.ml", "-o", "handlers"]
        subprocess.run(command, cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
        return self.folder / "handlers"

    def events(self, program, **environment):
        directory = self.folder / "recording"
        finished = self.magic_trace("run", "-no-decode", "-working-directory", directory, "--", program,
                                    env=Settings.environment | environment)
        self.assertEqual(finished.status, 0, finished.stderr)
        judged = harness.run([Settings.judges / "flow_judge", "-events", directory])
        self.assertEqual(judged.status, 0, judged.stderr)
        return finished, EVENT.findall(judged.stdout.decode())

    def check(self, program, **environment):
        """Every handler that is pushed is popped or raised to, the newest first."""
        finished, events = self.events(program, **environment)
        chain = HandlerChain(events)
        self.assertEqual(chain.faults, [])
        self.assertEqual(chain.open, [])
        self.assertEqual(chain.pushes, chain.pops + chain.raises)
        raised = harness.counts_in(finished.stdout)["raised"]
        self.assertGreater(raised, 150)
        # An exception that a handler does not want is raised again, from there.
        self.assertGreaterEqual(chain.raises, raised)
        return events

    def test_handlers(self):
        """handlers are pushed, popped and raised to in a position-independent program"""
        events = self.check(self.compile())
        names = {name.strip() for kind, _, _, name in events if kind == "trap-push"}
        self.assertIn("Handlers.climb", names)
        self.assertIn("caml_start_program", names)

    def test_backtraces(self):
        """the same while the runtime collects backtraces"""
        self.check(self.compile(), OCAMLRUNPARAM="b")

    def test_fixed_addresses(self):
        """the same in a program at fixed addresses"""
        self.check(self.compile("-fno-PIC", "-ccopt", "-no-pie"))

    def test_stripped(self):
        """the same in a static program without any symbols"""
        program = self.compile("-ccopt", "-static")
        subprocess.run(["strip", program], check=True)
        self.check(program)

    def test_no_ocaml(self):
        """a program without OCaml has no such handlers"""
        _, events = self.events(harness.compile_program("longjmp"))
        self.assertEqual([event for event in events if event[0].startswith("trap")], [])
