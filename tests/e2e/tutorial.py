"""The tutorial's commands do what it says."""
import os
import pathlib
import re

import harness
from harness import Settings

ROOT = harness.TESTS.parent


class Tutorial(harness.TestCase):
    def test_commands(self):
        """every command of docs/tutorial.md, in order"""
        binary = pathlib.Path(Settings.binary)
        commands = (self.folder / "bin")
        commands.mkdir()
        (commands / "magic-trace").symlink_to(binary)
        environment = {**Settings.environment, "PATH": f"{commands}:{os.environ['PATH']}", "SOURCE": str(ROOT)}
        text = (ROOT / "docs" / "tutorial.md").read_text()
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 8)
        shown = {}
        for block in blocks:
            script = block.replace("$SOURCE/build", str(binary.parent))
            finished = harness.run(["bash", "-e", "-c", script], cwd=self.folder, env=environment)
            self.assertEqual(finished.status, 0, (block, finished.stderr.decode()))
            self.assert_not_crashed(finished)
            shown[block] = finished.stdout.decode()
        output = "".join(shown.values())
        self.assertIn("rebuild_table", output)
        self.assertIn("hit magic_trace_stop_indicator", output)
        self.assertEqual(self.spans(self.folder / "entries.fxt.gz")["rebuild_entry"], 256)
        self.assertEqual(self.spans(self.folder / "all.fxt.gz")["hit magic_trace_stop_indicator"], 100)
        attached = self.spans(self.folder / "attached.fxt.gz")
        self.assertEqual((attached["handle_request"], attached["look_up"]), (1, 10))
        requests = self.span_list(self.folder / "requests.fxt.gz")
        self.assertEqual(sum(span.name == "handle_request" for span in requests), 100)
