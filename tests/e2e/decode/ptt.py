"""The runner of libipt's test suite (tests/judge/ptt), on a suite of ours: that it finds agreement and difference."""
import hashlib
import json
import pathlib
import sys
import tarfile
import unittest.mock

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
#   PSB, MODE.Exec 64, PSBEND, TIP.PGE 1000, MTC 2, TNT T, FUP 1007, TIP.PGD
PACKETS = PSB + "9901" + "0223" + "71001000000000" + "5902" + "06" + "3d0710" + "01"
PTDUMP = """0000000000000000  psb
0000000000000010  mode.exec  cs.l
0000000000000012  psbend
0000000000000014  tip.pge    3: 0000000000001000
000000000000001b  mtc        2
000000000000001d  tnt.8      !
000000000000001e  fup        1: ????????????1007
0000000000000021  tip.pgd    0: ????????????????
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
        self.assertIn("FAIL  instruction (ptxed): line 4: 0000000000001005, expected: 0000000000001003", text)

    def test_time(self):
        """where ptdump prints the time, its packets are compared, and the time is an exception"""
        timed = PTDUMP.replace("mtc        2", "mtc        2       tsc +40").replace(
            "000000000000001d", "[1d: calibration error: no timing information]\n000000000000001d")
        status, text = self.suite(right={"ptdump": timed}, wrong={"ptdump": timed.replace("!", ".")})
        self.assertEqual(status, 1)
        self.assertIn("FAIL  wrong (ptdump): line 6: 000000000000001d tnt.8 !, expected: 000000000000001d tnt.8 .", text)
        self.assertIn("skip  1, * (ptdump:time): libipt's estimate of the time", text)
        self.assertEqual(text.splitlines()[-1], "0 passed, 1 failed, 1 skipped")

    def test_steps(self):
        """what ptxed says in other words is the same"""
        ours, theirs = ptt_steps.comparable("[overflow]\n0000000000001000\n[abort]\n",
                                            "[overflow]\n? 0000000000001000\n[begin transaction]\n[aborted, ip: "
                                            "0000000000001000]\n[interrupt]\n0000000000001010\n[end of trace]\n", 99)
        self.assertEqual(ours, theirs)
        ours, theirs = ptt_steps.comparable("[overflow]\n", "[0000000000001060  tick]\n"
                                            "[0000000000001080  overflow]\n", 99)
        self.assertEqual(ours, theirs)
        ours, theirs = ptt_steps.comparable("[start]\n", "[enabled]\n[18, 1000: error: no memory mapped]\n", 99)
        self.assertNotEqual(ours, theirs)
        ours, theirs = ptt_steps.comparable("", "[18, 1000: error: no memory mapped]\n", 0x18)
        self.assertEqual(ours, theirs)

    def test_release(self):
        """where the release installed is gone, one known comes from the same folder, if it is what it should be"""
        pool, folder = self.folder / "pool", self.folder / "fetched"
        pool.mkdir()
        folder.mkdir()
        archive = pool / "libipt_9.8.orig.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.addfile(tarfile.TarInfo("libipt-9.8/pttc"))
        gone = f"file://{pool}/libipt_2.0.5.orig.tar.gz"
        known = hashlib.sha256(archive.read_bytes()).hexdigest()
        with unittest.mock.patch.object(ptt_source, "RELEASES", [("9.9", known), ("9.8", known)]):
            ptt_source.fetch_release(gone, folder)
        self.assertTrue((folder / "libipt-9.8" / "pttc").exists())
        with unittest.mock.patch.object(ptt_source, "RELEASES", [("9.9", known), ("9.8", "0" * 64)]):
            with self.assertRaisesRegex(ptt_source.Unavailable, "9.9 from .*No such file.*; 9.8 from .* another file"):
                ptt_source.fetch_release(gone, folder)

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
        self.assertEqual((made / "debian.list").read_text(), "deb-src [arch=amd64] http://mirror/debian stable main\n")
        self.assertEqual((made / "debian.sources").read_text(), "Types: deb-src\nURIs: http://mirror/more\nSuites: stable\n"
                                                             "Components: main\nSigned-By: /key\n")
