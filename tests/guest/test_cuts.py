# SPDX-License-Identifier: GPL-2.0-or-later
"""Test power cuts from outside at a nanosecond of virtual time, and the guest's data after it."""

import json
import re
import subprocess
import unittest
from pathlib import Path
from typing import Any

from support import HERE, PROFILES, SLATE, GuestTest, Result

_SYNCED = re.compile(r"^SYNCED (\d+)\r?$", re.MULTILINE)
WRITE = HERE / "cut-write.sh"


class CutAt(GuestTest):
    """Run slate run --cut-at."""

    def cut(self, *args: Any, **more: Any) -> Result:
        return self.slate("--kernel", "small", "--fill", "0", "--mem", "400M", *args, **more)

    def test_what_was_synced_is_there_and_equal_cuts_are_equal(self) -> None:
        runs = [self.cut("--cmd", WRITE, "--cut-at", "800ms", "--after-cut", WRITE) for _ in range(2)]
        cuts = [run.json("run.json")["power_cuts"] for run in runs]
        self.assertEqual(cuts[0], cuts[1])
        self.assertEqual(len(cuts[0]), 1)
        self.assertEqual(cuts[0][0]["cut-ns"], 800_000_000)
        self.assertGreater(cuts[0][0]["mount-reads"], 0)
        self.assertGreater(cuts[0][0]["mount-ns"], 0)
        for name in ("device.json", "report.txt", "whole.txt", "console-1.log"):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        synced = int(_SYNCED.findall(runs[0].text("console-1.log"))[-1])
        self.assertGreater(synced, 10)
        self.assertIn(int(runs[0].text("whole.txt")), (synced, synced + 1))
        self.assertRegex(runs[0].text("report.txt"), r"power cut 1 +at 800\.000000 ms: \d+ requests in flight")
        self.assert_clean(runs[0].device)
        self.assertIn("--cut-at 800000000ns --cut-seed 1 --cut-then off", runs[0].json("run.json")["repeat"])
        self.assertEqual([path.name for path in runs[0].folder.glob(".*")], [])

    def test_after_a_mark(self) -> None:
        """The drive plans the cut when the guest sets the mark, to the nanosecond; without the mark there is no cut."""
        script = self.folder / "mark.sh"
        script.write_text("#!/bin/sh\nsleep 0.1\nslate-mark point go\nsleep 100\n", encoding="utf-8")
        result = self.cut("--cmd", script, "--cut-at", "mark:go+0.2ms")
        (mark,) = [mark["at-ns"] for mark in result.json("device.json")["marks"] if mark["label"] == "go"]
        self.assertEqual(result.json("run.json")["power_cuts"][0]["cut-ns"], mark + 200_000)
        script.write_text("#!/bin/sh\nslate-mark point goo\n", encoding="utf-8")
        result = self.cut("--cmd", script, "--cut-at", "mark:go+200ms", code=3)
        self.assertIn("which is 200000000 ns after the mark 'go'\n", result.err)

    def test_the_machine_is_reset(self) -> None:
        """The second boot runs in the same QEMU and finds what the first one synced."""
        runs = [self.cut("--cmd", WRITE, "--cut-at", "800ms", "--cut-then", "reset") for _ in range(2)]
        for name in ("device.json", "whole.txt", "console.log"):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        console = runs[0].text("console.log")
        self.assertEqual(console.count("SLATE-PHASE job-start"), 2)
        synced = int(_SYNCED.findall(console)[-1])
        self.assertIn(int(runs[0].text("whole.txt")), (synced, synced + 1))
        cut = runs[0].json("run.json")["power_cuts"][0]
        self.assertEqual(cut["on-ns"], 800_000_000, "time stands from the cut to the reset")

    def test_the_drive_vanishes(self) -> None:
        """After 30 s of guest time the kernel removes the drive (6.1), or leaves one of 0 bytes; the guest ends."""
        result = self.cut("--cmd", HERE / "cut-vanish.sh", "--cut-at", "700ms", "--cut-then", "vanish")
        removed = result.json("run.json")["versions"]["kernel"].startswith("6.1.")
        self.assertEqual(result.text("vanish.txt"), "gone\n" if removed else "0\n")
        cut = result.json("run.json")["power_cuts"][0]
        self.assertEqual(cut["cut-ns"], 700_000_000)
        self.assertIn(cut["lost-requests"], (0, 1), "dd has one in flight, or is between two")
        self.assertGreater(cut["torn-programs"], 0)

    def test_slatectl_in_the_guest_takes_the_power_itself(self) -> None:
        """A drive without power does not answer, so the command waits for a second and then succeeds."""
        result = self.cut("--cmd", HERE / "cut-now.sh")
        status, seconds = map(int, result.text("cut.txt").split())
        self.assertEqual(status, 0, result.text("said.txt"))
        self.assertLess(seconds, 5, result.text("kernel.txt"))
        self.assertRegex(result.text("said.txt"), r"^slatectl: /dev/nvme0n1: .*\n$")
        self.assertIn("controller is down", result.text("kernel.txt"))

    def test_in_real_time(self) -> None:
        """The cut comes at a time of the drive's clock at any speed of the host, and data synced before it survive."""
        early = self.cut("--realtime", "--cmd", WRITE, "--cut-at", "1ms").json("run.json")["power_cuts"]
        self.assertEqual([(cut["cut-ns"], cut["lost-requests"]) for cut in early], [(1_000_000, 0)])
        result = self.cut("--realtime", "--cmd", WRITE, "--cut-after-commands", "400", "--after-cut", WRITE)
        cut = result.json("run.json")["power_cuts"][0]
        self.assertGreater(cut["mount-reads"], 0)
        synced = [int(n) for n in _SYNCED.findall(result.text("console-1.log"))]
        self.assertEqual(synced, list(range(1, len(synced) + 1)))
        self.assertGreater(len(synced), 3)
        self.assertIn(int(result.text("whole.txt")), (len(synced), len(synced) + 1))
        self.assert_clean(result.device)

    def test_the_guest_was_faster(self) -> None:
        result = self.cut("--cmd", HERE / "quiet.sh", "--cut-at", "1000s", code=3)
        self.assertIn("no power cut: the guest had powered off before its moment", result.err)


class Cuts(GuestTest):
    """Run slate cuts; 'make power-cuts' makes a hundred."""

    def cuts(self, *args: Any, code: int = 0) -> str:
        done = subprocess.run(
            [SLATE, "cuts", *map(str, args)],
            capture_output=True,
            text=True,
            timeout=3600,
            cwd=self.folder,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_three_cuts_in_two_runs_and_one_again(self) -> None:
        log = self.folder / "cuts.jsonl"
        self.cuts("--count", "1", "--seed", "7", "--log", log)
        with open(log, "a", encoding="utf-8") as file:
            file.write('{"id": "7:1", "go')  # killed in the middle of a line
        out = self.cuts("--count", "3", "--seed", "7", "--log", log)
        self.assertIn("1 are in", out)
        self.assertIn("3 power cuts: 3 left everything that was announced", out)
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([line["id"] for line in lines[1:]], ["7:0", "7:1", "7:2"])
        self.assertTrue(all(line["good"] and line["operations"] > 0 for line in lines[1:]))
        again = json.loads(self.cuts("--id", "7:1").partition("}")[0] + "}")
        for key in ("cut_ns", "operations", "lost_requests", "torn_programs", "torn_erases", "gc_runs"):
            self.assertEqual(again[key], lines[2][key], key)

    def test_checked_on_the_host(self) -> None:
        """The images have what the drives have, so a lying drive is found out, and an honest one is good."""
        small = ("--set", "geometry.blocks_per_plane=16", "--set", "ftl.capacity_mib=40", "--check-on-host", "--seed=7")
        log, lying = self.folder / "host.jsonl", self.folder / "lying.jsonl"
        self.assertIn("4 power cuts: 4 left", self.cuts(*small, "--count", "4", "--log", log))
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertTrue(all(line["operations"] > 0 for line in lines))
        again = json.loads(self.cuts(*small, "--id", "7:1").partition("}")[0] + "}")
        for key in ("cut_ns", "operations", "lost_requests", "torn_programs", "torn_erases", "gc_runs"):
            self.assertEqual(again[key], lines[1][key], key)
        out = self.cuts(*small, "--count", "4", "--kind", "lying", "--log", lying, code=1)
        self.assertIn("4 power cuts: 0 left", out)

    def test_ready_works_are_checked_on_the_host(self) -> None:
        """Records on ext4 and on the drive itself; a drive that ignores flushes loses some."""
        words = ("--check-on-host", "--set", "geometry.blocks_per_plane=16", "--set", "ftl.capacity_mib=40",
                 "--count", "4", "--seed", "9", "--ready")  # fmt: skip
        for work in ("calls:fsync-ext4", "calls:split-raw"):
            log, lying = (self.folder / f"{kind}-{work[6:]}.jsonl" for kind in ("off", "lying"))
            self.assertIn("4 power cuts: 4 left", self.cuts(*words, work, "--log", log))
            lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]
            self.assertTrue(all(line["operations"] > 0 for line in lines))
            out = self.cuts(*words, work, "--kind", "lying", "--log", lying, code=1)
            self.assertIn("4 power cuts: 0 left", out)

    def test_at_nand_commands(self) -> None:
        """A die tears its command from 1 ns after the cells begin to 1 ns before the end.

        small has programs of 640,000 and erases of 3,500,000 ns. With one die and one plane no other is under way.
        """
        drive = ("geometry.channels=1", "geometry.planes_per_die=1", "geometry.blocks_per_plane=64",
                 "ftl.capacity_mib=40")  # fmt: skip
        log = self.folder / "nand.jsonl"
        words = [word for key in drive for word in ("--set", key)] + ["--check-on-host", "--seed", "9"]
        at = ",".join(f"{op}-begin:3,{op}-begin:3+1ns,{op}:3-1ns,{op}:3" for op in ("program", "erase"))
        self.assertIn("8 power cuts: 8 left", self.cuts(*words, "--cut-at", at, "--log", log))
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertEqual([line["torn_programs"] for line in lines], [0, 1, 1, 0, 0, 0, 0, 0])
        self.assertEqual([line["torn_erases"] for line in lines], [0, 0, 0, 0, 0, 1, 1, 0])
        self.assertEqual([line["cut_ns"] - lines[0]["cut_ns"] for line in lines[:4]], [0, 1, 639_999, 640_000])
        self.assertEqual([line["cut_ns"] - lines[4]["cut_ns"] for line in lines[4:]], [0, 1, 3_499_999, 3_500_000])

    def test_a_drive_that_is_not_safe_is_found_out(self) -> None:
        """The page FTL reports that pages in pairs are not safe; flex, on the same array, backs them up.

        About one cut in three meets a page that takes its pair along, so that fifteen cuts without
        any are practically impossible, whatever the guest does.
        """
        drive, log = ("--profile", PROFILES / "rps-small.ini"), self.folder / "cuts.jsonl"
        out = self.cuts(*drive, "--set", "ftl.type=page", "--count", "15", "--stop", "--log", log, code=1)
        last = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
        self.assertFalse(last["good"])
        self.assertGreater(last["torn_programs"], 0)
        self.assertIn(f"not so: {last['id']}\n", out)
        self.assertIn('"good": true', self.cuts(*drive, "--id", last["id"]))

    def scripts(self, **texts: str) -> list[str]:
        """Return the options for these scripts."""
        words = []
        for name, text in texts.items():
            path = self.folder / f"{name}.sh"
            path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
            words += [f"--{name}", str(path)]
        return [*words, "--kernel", "small"]

    def test_a_work_of_ones_own(self) -> None:
        """It writes blocks one after another, and announces each; the drive must have all that were announced."""
        work = """n=0
            while :; do
                n=$((n + 1))
                printf '%512d' $n | dd of=$SLATE_DEV seek=$n bs=512 conv=fsync 2>/dev/null
                slate-mark durable block $n
            done"""
        check = """last=$(tail -n 1 $DURABLE)
            n=${last#block }
            there=$(dd if=$SLATE_DEV skip=1 bs=512 count=${n:-0} 2>/dev/null | tr -s ' ' '\\n' | sed 1d)
            [ "$there" = "$(seq 1 ${n:-0})" ]"""
        log = self.folder / "own.jsonl"
        found = self.scripts(make="exit 0", work=work, check=check)
        self.assertIn("2 power cuts: 2 left", self.cuts(*found, "--count", "2", "--span", "0.1", "--log", log))
        for line in map(json.loads, log.read_text(encoding="utf-8").splitlines()[1:]):
            self.assertEqual((line["good"], line["verdict"]), (True, "good"))
            self.assertGreater(line["operations"], 3)
        marks = ("--span", "0.1", "--cut-at", "mark:block 3,mark:block 3-1ns,mark:block 3+0.000001ms")
        named = self.folder / "named.jsonl"
        self.assertIn("3 power cuts: 3 left", self.cuts(*found, *marks, "--log", named))
        head, *lines = map(json.loads, named.read_text(encoding="utf-8").splitlines())
        self.assertEqual(head["cut_at"], ["mark:block 3+0ns", "mark:block 3-1ns", "mark:block 3+1ns"])
        self.assertEqual([line["operations"] for line in lines], [3, 2, 3])
        self.assertEqual([line["cut_ns"] - lines[0]["cut_ns"] for line in lines], [0, -1, 1])
        again = json.loads(self.cuts(*found, *marks, "--id", "1:1").partition("}")[0] + "}")
        self.assertEqual((again["cut_ns"], again["operations"]), (lines[1]["cut_ns"], 2))
        ends, ended = ("--span", "0.1", "--cut-at", "flush:3..4,flush:3-1ns"), self.folder / "ends.jsonl"
        self.assertIn("3 power cuts: 3 left", self.cuts(*found, *ends, "--log", ended))
        lines = [json.loads(line) for line in ended.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertEqual([line["operations"] for line in lines], [2, 3, 2], "a block is announced after its flush")
        self.assertEqual(lines[2]["cut_ns"], lines[0]["cut_ns"] - 1)
        lazy = self.scripts(work=work.replace("conv=fsync", ""), check=check)
        words = ("--count", "1", "--span", "0.1", "--log", self.folder / "lazy.jsonl")
        self.assertIn("  LOST  ", self.cuts(*lazy, *words, code=1))

    def test_each_drive_of_a_boot_has_its_own_announcements(self) -> None:
        """Drive N is the namespace N; Linux 6.12 gives the names of many namespaces in another order."""
        check = """[ ${DURABLE##*-} = $(cat /sys/block/${SLATE_DEV##*/}/nsid) ]"""
        found = self.scripts(work="slate-mark durable x", check=check)
        words = ("--count", "32", "--span", "0.1", "--log", self.folder / "names.jsonl")
        self.assertIn("32 power cuts: 32 left", self.cuts(*found, *words))

    def test_kinds(self) -> None:
        """The work flushes and announces in turn, so a cut may take at most the last, unannounced write."""
        work = """n=0
            while :; do
                n=$((n + 1))
                printf '%65536d' $n | dd of=$SLATE_DEV seek=$n bs=65536 conv=fsync 2>/dev/null
                slate-mark durable $n
            done"""
        check = """n=$(tail -n 1 $DURABLE)
            for i in $(seq 1 ${n:-0}); do
                there=$(dd if=$SLATE_DEV skip=$i bs=65536 count=1 2>/dev/null | tr -d ' ')
                [ "$there" = $i ] || exit 1
            done
            printf x | dd of=$SLATE_DEV seek=100000000 bs=1 conv=fsync 2>/dev/null"""
        found = self.scripts(make="exit 0", work=work, check=check)
        for kind in ("controller", "torn", "recovery", "lying"):
            log = self.folder / f"{kind}.jsonl"
            words = (*found, "--kind", kind, "--count", "4", "--span", "0.2", "--log", log)
            out = self.cuts(*words, code=1 if kind == "lying" else 0)
            head, *lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
            self.assertEqual((head["kind"], len(lines)), (kind, 4))
            verdicts = {line["verdict"] for line in lines}
            if kind == "lying":
                self.assertIn("NONE HOLDS", out)
                self.assertIn("lost", verdicts)
                continue
            self.assertEqual(verdicts, {"good"}, out)
            self.assertGreater(sum(line["operations"] for line in lines), 8)
            if kind == "torn":
                self.assertGreater(sum(line["unflushed"] for line in lines), 0)
            if kind == "controller":
                self.assertEqual({line["torn_programs"] for line in lines}, {0})
            if kind == "recovery":
                self.assertTrue(all(line["second_cut_ns"] > 0 for line in lines))

    def test_verdicts(self) -> None:
        """The check of each of four drives ends with another status, and one does not end."""
        work = "i=0; while [ $i -lt 100 ]; do i=$((i + 1)); slate-mark durable $i; sleep 0.01; done"
        check = """case ${SLATE_DEV##*n} in
            1) echo torn; exit 2 ;;
            2) exit 3 ;;
            3) sleep 1000 ;;
            4) (setsid sleep 1000 &) ; sleep 1000 & printf fine ;;
            5) [ $(pidof sleep | wc -w) = 0 ] ;;
            esac"""
        log = self.folder / "own.jsonl"
        out = self.cuts(*self.scripts(work=work, check=check), "--count", "5", "--log", log, code=1)
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertEqual([line["verdict"] for line in lines], ["torn", "inconsistent", "check failed", "good", "good"])
        said = ["torn\n\nstatus 2\n", "\nstatus 3\n", "Killed\n\nstatus 137\n", "", ""]
        self.assertEqual([line["said"] for line in lines], said)
        self.assertIn("  CHECK FAILED ", out)
        self.assertIn("not so: 1:0, 1:1, 1:2\n", out)

    def test_a_work_that_fails(self) -> None:
        words = [*self.scripts(work="echo no drive; exit 5", check="exit 0"), "--count", "1"]
        done = subprocess.run([SLATE, "cuts", *words, "--log", str(self.folder / "x")], capture_output=True, text=True,
                              timeout=300, cwd=self.folder, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 3)
        self.assertIn("the guest ended by itself before it", done.stderr)
        self.assertIn("the work failed with status 5", done.stderr)

    def test_other_file_systems(self) -> None:
        for fs in ("xfs", "f2fs"):
            log = self.folder / f"{fs}.jsonl"
            self.assertIn("2 power cuts: 2 left", self.cuts("--fs", fs, "--count", "2", "--log", log))
            head, *lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
            self.assertEqual((head["fs"], head.get("kernel", "small")), (fs, "small"))
            self.assertGreater(lines[1]["operations"], 100)  # the first comes while the file system is mounted

    def test_zones(self) -> None:
        """Zonefs on a drive with zones of 1 MiB, whose files begin again; each cut has a guest of its own.

        A drive that ignores flushes loses records.
        """
        words = ["--profile", "zns-small", "--ready", "calls:fsync-zonefs"]
        for setting in ("geometry.pages_per_block=16", "ftl.capacity_mib=64", "ftl.zone_active_max=8",
                        "ftl.zone_open_max=8"):  # fmt: skip
            words += ["--set", setting]
        log, lying = self.folder / "zones.jsonl", self.folder / "lying.jsonl"
        self.assertIn("2 power cuts: 2 left", self.cuts(*words, "--count", "2", "--seed", "3", "--log", log))
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertTrue(all(line["operations"] > 100 for line in lines))
        at = f"{lines[0]['cut_ns']}ns"
        again = json.loads(self.cuts(*words, "--seed", "3", "--cut-at", at, "--id", "3:0").partition("}")[0] + "}")
        for key in ("cut_ns", "operations", "lost_requests", "torn_programs"):
            self.assertEqual(again[key], lines[0][key], key)
        out = self.cuts(*words, "--count", "1", "--kind", "lying", "--log", lying, code=1)
        self.assertIn("  LOST  ", out)

    def test_several_drives(self) -> None:
        """All lose their power at once. The work writes to both in turn, and then announces.

        If the second drive alone ignores flushes, what is lost is on that drive.
        """
        work = """n=0
            while :; do
                n=$((n + 1))
                for dev in $SLATE_DEVS; do
                    printf '%512d' $n | dd of=$dev seek=$n bs=512 conv=fsync 2>/dev/null
                done
                slate-mark durable $n
            done"""
        check = """n=$(tail -n 1 $DURABLE)
            for dev in $SLATE_DEVS; do
                there=$(dd if=$dev skip=1 bs=512 count=${n:-0} 2>/dev/null | tr -s ' ' '\\n' | sed 1d)
                [ "$there" = "$(seq 1 ${n:-0})" ] || { echo "not on $dev"; exit 1; }
            done"""
        log, lying = self.folder / "two.jsonl", self.folder / "lying.jsonl"
        words = [*self.scripts(work=work, check=check), "--profile", "small", "--profile", "small", "--span", "0.1"]
        self.assertIn("2 power cuts: 2 left", self.cuts(*words, "--count", "2", "--log", log))
        head, *lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        self.assertEqual([Path(one["profile"]).name for one in head["more"]], ["small.ini"])
        self.assertTrue(all(line["operations"] > 3 for line in lines), lines)
        self.cuts(*words, "--set", "1:drive.ignore_flush=yes", "--count", "1", "--log", lying, code=1)
        line = json.loads(lying.read_text(encoding="utf-8").splitlines()[1])
        self.assertEqual((line["verdict"], line["said"]), ("lost", "not on /dev/nvme1n1\n\nstatus 1\n"))

    def test_zoned_xfs(self) -> None:
        """Its files are on the zones of the second drive. Drives that ignore flushes lose records."""
        words = ["--guest", "forky", "--profile", "small", "--profile", "zns-small", "--ready", "calls:fsync-zonedxfs"]
        for setting in ("0:geometry.blocks_per_plane=16", "0:ftl.capacity_mib=40", "1:geometry.pages_per_block=16",
                        "1:ftl.capacity_mib=64", "1:ftl.zone_active_max=8", "1:ftl.zone_open_max=8"):  # fmt: skip
            words += ["--set", setting]
        words += ["--span", "2", "--id", "3:1"]
        for kind, code, verdict in (("off", 0, "good"), ("lying", 1, "lost")):
            line = json.loads(self.cuts(*words, "--kind", kind, code=code).partition("}")[0] + "}")
            self.assertEqual(line["verdict"], verdict)
            self.assertGreater(line["operations"], 10)

    def test_another_log_is_refused(self) -> None:
        log = self.folder / "cuts.jsonl"
        log.write_text('{"something": "else"}\n', encoding="utf-8")
        done = subprocess.run(
            [SLATE, "cuts", "--log", log], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("is of other cuts", done.stderr)


if __name__ == "__main__":
    unittest.main()
