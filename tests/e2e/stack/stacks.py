"""Call stacks as a user sees them: whole from the first moment on."""
import shutil

import harness


class Stacks(harness.TestCase):
    ENGINE = "qemu"

    def open_at_first(self, traced):
        """Names, the outermost first, of the spans that are open when the trace begins."""
        spans = self.span_list(traced.trace)
        begin = min(span.begin for span in spans)
        first = [span for span in spans if span.begin == begin]
        # Of those that end at the same nanosecond, inner ones come first.
        return [span.name for span in sorted(reversed(first), key=lambda span: -span.end)]

    def test_snapshot_is_whole(self):
        """a snapshot begins with all callers, though their calls are long overwritten"""
        traced = self.trace([harness.compile_program("deep_snapshot", ["-O1"])], "-snapshot-size", "64K")
        names = self.open_at_first(traced)
        self.assertEqual(names.count("dig"), 21, names)
        callers = [name for name in names if name in ("_start", "main", "serve", "dig", "work")]
        self.assertEqual(callers, ["_start", "main", "serve"] + ["dig"] * 21 + ["work"])

    def test_snapshot_after_exceptions(self):
        """callers that an exception has left active are still known in snapshots that begin later"""
        if not shutil.which("g++"):
            self.skipTest("g++ is not installed")
        program = harness.compile_program("thrown_snapshot", ["-O1", "-Wl,--no-as-needed", "-lstdc++"],
                                          harness.PROGRAMS / "thrown_snapshot.cpp")
        traced = self.trace([program], "-snapshot-size", "64K")
        names = self.open_at_first(traced)
        callers = [name for name in names if name in ("_start", "main", "serve()", "dig(int)", "work_on()")]
        self.assertEqual(callers, ["_start", "main", "serve()"] + ["dig(int)"] * 21 + ["work_on()"])

    def test_child(self):
        """a child of fork or vfork begins with all callers of its parent"""
        for how in ("fork", "vfork"):
            program = harness.compile_program("child_callers", ["-O1"])
            traced = self.trace([program, how], "-multi-thread", "-follow")
            spans = self.span_list(traced.trace)
            [child] = [span for span in spans if span.name == "in_child"]
            # They may have the same times: the child exits within them, and its first time may be that of its call.
            callers = [span.name for span in spans
                       if span.tid == child.tid and span.begin <= child.begin and span.end >= child.end]
            self.assertEqual(sorted(name for name in callers if name in ("_start", "main", "outer", "start_child")),
                             ["_start", "main", "outer", "start_child"], how)


class StacksTranslated(Stacks):
    ENGINE = "translator"

    def test_stack_copies(self):
        """large copies of the stack in a small ring: the program goes on as ever, and so does its log"""
        command = [harness.compile_program("deep_snapshot", ["-O1"]), "x" * 20000]
        for _ in range(8):
            traced = self.trace(command, "-snapshot-size", "64K")
            self.assert_same_as_untraced(traced, command)
            self.assertEqual(self.open_at_first(traced).count("dig"), 21)
