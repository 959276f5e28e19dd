"""The runner of libipt's test suite (tests/judge/ptt), on a suite of ours: that it finds agreement and difference."""
import json
import pathlib
import sys

import harness

RUNNER = harness.TESTS / "judge" / "ptt" / "run"
sys.path.insert(0, str(RUNNER.parent))
import ptt_source  # noqa: E402  (found through the path just set)
import ptt_steps  # noqa: E402

PTTC = """#!/usr/bin/env python3
import json, pathlib, sys
case = pathlib.Path(sys.argv[-1])
made = json.loads(case.with_suffix(".json").read_text())
for name, content in made["bytes"].items():
    pathlib.Path(f"{case.stem}.{name}").write_bytes(bytes.fromhex(content))
for tool, content in made["expected"].items():
    pathlib.Path(f"{case.stem}-{tool}.exp").write_text(content)
    print(f"{case.stem}-{tool}.exp")
"""
PSB = "0282" * 8
#   1000 nop; 1001 jz 1005; 1003 nop; 1004 nop; 1005 nop; 1006 nop; 1007 ret
CODE = "907402" + "90" * 4 + "c3"
#   PSB, MODE.Exec 64, PSBEND, TIP.PGE 1000, TNT T, FUP 1007, TIP.PGD
PACKETS = PSB + "9901" + "0223" + "71001000000000" + "06" + "3d0710" + "01"
PTDUMP = """0000000000000000  psb
0000000000000010  mode.exec  cs.l
0000000000000012  psbend
0000000000000014  tip.pge    3: 0000000000001000
000000000000001b  tnt.8      !
000000000000001c  fup        1: ????????????1007
000000000000001f  tip.pgd    0: ????????????????
"""
PTXED = """[enabled]
0000000000001000
0000000000001001
0000000000001005
0000000000001006
[disabled]
"""


class Ptt(harness.TestCase):
    def suite(self, **cases):
        """Runs a suite of these cases: what each tool is expected to print."""
        pttc = self.folder / "pttc"
        pttc.write_text(PTTC)
        pttc.chmod(0o755)
        folder = self.folder / "suite"
        folder.mkdir(exist_ok=True)
        for name, expected in cases.items():
            (folder / f"{name}.ptt").write_text("org 0x1000\n; cpu 6/61\n")
            made = {"bytes": {"bin": CODE, "pt": PACKETS}, "expected": expected}
            (folder / f"{name}.json").write_text(json.dumps(made))
        finished = harness.run([RUNNER, "--suite", folder, "--pttc", pttc, "--work", self.folder / "work", "--judges",
                                harness.Settings.judges / "ptt"])
        self.assert_not_crashed(finished)
        return finished.status, finished.stdout.decode()

    def test_agreement(self):
        """packets and flow as expected pass, whatever the blanks between columns"""
        self.assertEqual(self.suite(good={"ptdump": PTDUMP, "ptxed": PTXED}), (0, "2 passed, 0 failed\n"))

    def test_difference(self):
        """a packet, an instruction or an event that is not the expected one fails and is shown"""
        status, text = self.suite(packet={"ptdump": PTDUMP.replace("tnt.8      !", "tnt.8      .")},
                                  instruction={"ptxed": PTXED.replace("1005\n", "1003\n")},
                                  event={"ptxed": PTXED.replace("[disabled]", "[interrupt]")},
                                  none={})
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines()[-1], "0 passed, 4 failed")
        self.assertIn("FAIL  instruction (ptxed): line 3: 0000000000001005, expected: 0000000000001003", text)

    def test_steps(self):
        """what ptxed tells in other words is the same"""
        ours, theirs = ptt_steps.comparable("[overflow]\n[start]\n0000000000001000\n[abort]\n",
                                            "[overflow]\n? 0000000000001000\n[begin transaction]\n[aborted, ip: "
                                            "0000000000001000]\n[interrupt]\n0000000000001010\n[end of trace]\n", 99)
        self.assertEqual(ours, theirs)
        ours, theirs = ptt_steps.comparable("[start]\n", "[enabled]\n[18, 1000: error: no memory mapped]\n", 99)
        self.assertNotEqual(ours, theirs)
        ours, theirs = ptt_steps.comparable("[start]\n", "[18, 1000: error: no memory mapped]\n", 0x18)
        self.assertEqual(ours, theirs)

    def test_sources(self):
        """where packages come from is where their sources come from"""
        etc = self.folder / "apt"
        (etc / "sources.list.d").mkdir(parents=True)
        (etc / "sources.list").write_text("# a comment\ndeb [arch=amd64] http://mirror/debian stable main\n"
                                          "deb-src http://other/debian stable main\n")
        (etc / "sources.list.d" / "more.sources").write_text(
            "Types: deb\nURIs: http://mirror/more\nSuites: stable\nComponents: main\nSigned-By: /key\n\n"
            "Enabled: no\nTypes: deb\nURIs: http://mirror/off\n")
        made = self.folder / "made"
        self.assertTrue(ptt_source.write_sources(pathlib.Path(etc), made))
        self.assertEqual((made / "ptt.list").read_text(), "deb-src [arch=amd64] http://mirror/debian stable main\n")
        self.assertEqual((made / "ptt.sources").read_text(), "Types: deb-src\nURIs: http://mirror/more\nSuites: stable\n"
                                                             "Components: main\nSigned-By: /key\n")
