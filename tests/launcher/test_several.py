# SPDX-License-Identifier: GPL-2.0-or-later
"""Test several drives in one guest: options of each drive, and the report of all drives."""

import io
import itertools
import json
import os
import shlex
import subprocess
import sys
import unittest
import unittest.mock
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import support

import test_options
import test_run
from slate_lib import (
    account,
    command,
    drivesreport,
    facts,
    live,
    owncommand,
    paths,
    powercut,
    report,
    reports,
    runfiles,
)
from slate_lib.errors import SlateError


def files() -> Any:
    return command.Files(Path("i"), Path("c"), Path("r"))


class Options(test_options.Case):
    """The command line."""

    def setUp(self) -> None:
        super().setUp()
        self.other = self.write("other.ini", "[nand]\nchannels=2\n")
        self.two = ("--profile", self.other)

    def blockdevs(self, some: Any) -> list[str]:
        line = command.build(some, files())
        return [value for option, value in itertools.pairwise(line) if option == "-blockdev"]

    def test_one_drive_is_as_ever(self) -> None:
        line = command.build(self.parse(), files())
        self.assertEqual(self.blockdevs(self.parse())[0].split(",")[:2], ["driver=nand-ssd", "node-name=ssd0"])
        self.assertEqual(len(self.blockdevs(self.parse())), 1)
        self.assertIn("nvme,serial=slate,drive=ssd0", line)
        self.assertNotIn("drives", facts.settings(self.parse()))
        self.assertEqual([name for name, _, _ in command.job_entries(self.parse())], ["job/env", "job/job.fio"])

    def test_drives_in_the_order_given(self) -> None:
        some = self.parse(*self.two)
        self.assertEqual(some.name, "some-drive-other")
        self.assertEqual([drive.label for drive in some.drives], ["nvme0", "nvme1"])
        tail = "set.0=precondition.fill_permille=1000,set.1=precondition.age_permille=0,set.2=precondition.seed="
        self.assertEqual(
            self.blockdevs(some),
            [
                f"driver=nand-ssd,node-name=ssd0,profile={self.profile},{tail}1",
                f"driver=nand-ssd,node-name=ssd1,profile={self.other},{tail}2",
            ],
        )
        line = command.build(some, files())
        fronts = [value for option, value in itertools.pairwise(line) if option == "-device" and "nvme" in value]
        self.assertEqual(fronts, ["nvme,serial=slate,drive=ssd0", "nvme,serial=slate1,drive=ssd1"])

    def test_one_controller(self) -> None:
        some = self.parse(*self.two, "--one-controller")
        line = command.build(some, files())
        fronts = [value for option, value in itertools.pairwise(line) if option == "-device" and "nvme" in value]
        self.assertEqual(
            fronts,
            [
                "nvme,id=controller,serial=slate",
                "nvme-ns,drive=ssd0,bus=controller,nsid=1",
                "nvme-ns,drive=ssd1,bus=controller,nsid=2",
            ],
        )
        self.assertEqual([drive.label for drive in some.drives], ["nvme0n1", "nvme0n2"])
        self.assertIn("--one-controller", shlex.split(facts.repeat_command(some)))
        self.refused("--one-controller", words=["--one-controller with one drive", "give --profile once for each"])
        cut = ("--cut-at", "1s", "--cut-drive", "1")
        self.refused(*self.two, "--one-controller", *cut, words=["lose their power together", "leave --cut-drive out"])
        for key in ("ftl.placement_handles", "drive.namespaces"):
            self.refused(*self.two, "--one-controller", "--set", f"1:{key}=2", words=[f"nvme0n2 has {key}", "set"])

    def test_at_most_eight(self) -> None:
        self.assertEqual(len(self.parse(*self.two * 7).drives), 8)
        self.refused(*self.two * 8, words=["9 drives: a run has 8 at most", "fix: give --profile 8 times at most"])

    def test_set_is_of_all_or_of_one(self) -> None:
        some = self.parse(*self.two, "--set", "a.b=1", "--set", "1:a.b=2", "--set", "0:c.d=3", "--fill", "0")
        self.assertEqual([drive.settings for drive in some.drives], [["a.b=1", "c.d=3"], ["a.b=1", "a.b=2"]])
        self.assertEqual(self.parse("--set", "0:a.b=1").settings, ["a.b=1"])
        self.refused("--set", "1:a.b=1", words=["--set 1:a.b=1: there is no drive nvme1", "its only drive is nvme0"])
        self.refused(*self.two, "--set", "2:a.b=1", words=["no drive nvme2", "its drives are nvme0 to nvme1"])
        self.refused(*self.two, "--one-controller", "--set", "2:a.b=1",
                     words=["no drive nvme0n3", "its drives are nvme0n1 to nvme0n2"])
        self.refused(*self.two, "--set", "1:a=1", words=["--set a=1: not SECTION.KEY=VALUE"])
        again = shlex.split(facts.repeat_command(some))
        self.assertEqual(
            [word for word in again if word.startswith("--set=")],
            ["--set=0:a.b=1", "--set=0:c.d=3", "--set=1:a.b=1", "--set=1:a.b=2"],
        )

    def test_fill_and_age_are_of_all(self) -> None:
        some = self.parse(*self.two, "--fill", "50", "--age", "1.5", "--seed", "7")
        self.assertEqual([(drive.fill, drive.age) for drive in some.drives], [(50.0, 1.5)] * 2)
        self.assertEqual([drive.overrides()[2] for drive in some.drives],
                         ["precondition.seed=7", "precondition.seed=8"])
        self.write("other.ini", "[precondition]\nfill_permille = 500\n")
        mixed = self.parse(*self.two)
        self.assertEqual([drive.fill for drive in mixed.drives], [100.0, None])
        self.assertNotIn("--fill", facts.repeat_command(mixed))
        self.assertIn("--age 0", facts.repeat_command(mixed))
        one = self.parse(*self.two, "--set", "1:precondition.fill_permille=0")
        self.assertIn("precondition.fill_permille=1000", one.overrides())
        self.assertEqual(one.more[0].overrides()[-1], "precondition.fill_permille=0")

    def test_drive_files(self) -> None:
        names = [str(self.folder / name) for name in ("a.slate", "b.slate")]
        some = self.parse(*self.two, "--drive", names[0], "--drive", names[1])
        self.assertEqual([str(drive.drive) for drive in some.drives], names)
        self.refused(
            *self.two, "--drive", names[0],
            words=["--profile 2 times and --drive once: which file is of which drive?", "fix: give both as often"],
        )
        self.refused("--drive", names[0], "--drive", names[1], words=["--profile once and --drive 2 times"])
        self.refused(*self.two, "--drive", names[0], "--drive", names[0], words=["--drive names one file twice"])
        for name in names:
            support.drive_file(Path(name))
        kept = self.without_profile("--drive", names[0], "--drive", names[1], "--ephemeral")
        self.assertEqual([drive.drive_kept is not None for drive in kept.drives], [True, True])
        self.assertEqual(
            self.blockdevs(kept)[1], f"driver=nand-ssd,node-name=ssd1,drive-file={names[1]},ephemeral=on"
        )
        self.refused(*self.two, "--drive", names[0], "--drive", names[1], "--set", "1:precondition.age_permille=0",
                     words=["--set precondition.age_permille=0: ", "b.slate holds a drive already"])

    def without_profile(self, *args: Any) -> Any:
        from slate_lib import cli, options

        return options.from_arguments(cli.parser().parse_args(["run", "--job", self.job, *args]))

    def test_recordings(self) -> None:
        one, two = str(self.folder / "one.txt"), str(self.folder / "two.txt")
        some = self.parse(*self.two, "--record", one, "--record", two)
        self.assertEqual(
            [f",record={name}," in text for name, text in zip((one, two), self.blockdevs(some))], [True] * 2
        )
        self.refused(*self.two, "--record", one, words=["--record once, for 2 drives", "once for each drive"])
        self.refused("--record", one, "--record", two, words=["--record 2 times, for 1 drive", "give --record once"])
        self.refused(*self.two, "--record", one, "--record", one, words=["name one file"])
        self.refused("--record", one, "--record-content", one, words=["name one file"])

    def test_what_one_drive_alone_can_have(self) -> None:
        for words, what in (
            (("--app", "kv"), "--app does not go with 2 drives"),
            (("--content", "web"), "--content does not go with 2 drives"),
            (("--load", "gen:random"), "--load does not go with 2 drives"),
            (("--boot-from-ssd",), "--boot-from-ssd does not go with 2 drives"),
            (("--cut-after-commands", "5"), "--cut-after-commands does not go with 2 drives"),
            (("--precondition", "device", "--job", self.job), "--precondition device does not go with 2 drives"),
            (("--frontend", "virtio-blk"), "--frontend virtio-blk does not go with 2 drives"),
        ):
            with self.subTest(words=words):
                self.refused(*self.two, *words, words=[what], job=False)

    def test_a_guest_of_ones_own(self) -> None:
        some = self.parse(*self.two, "--kernel", self.job, "--initrd", self.job, "--frontend", "nvme", job=False)
        words = owncommand.drive_words(some)
        self.assertEqual(words[0::2], ["-blockdev", "-device"] * 2)
        self.assertEqual(words[3::4], ["nvme,serial=slate,drive=ssd0", "nvme,serial=slate1,drive=ssd1"])
        self.assertEqual([words[1::4]], [self.blockdevs(some)])

    def test_power_cuts(self) -> None:
        all_of_them = self.parse(*self.two, "--cut-at", "1s")
        self.assertEqual(powercut.drives_of(all_of_them), all_of_them.drives)
        self.assertEqual(all_of_them.cuts.then, "off")
        one = self.parse(*self.two, "--cut-at", "1s", "--cut-drive", "1")
        self.assertEqual([drive.label for drive in powercut.drives_of(one)], ["nvme1"])
        self.assertEqual((one.cuts.then, one.cuts.plans[0].then), ("vanish", "vanish"))
        self.assertIn("--cut-then vanish --cut-drive 1", facts.repeat_command(one))
        self.refused(*self.two, "--cut-at", "1s", "--cut-drive", "2", words=["--cut-drive 2: out of range", "0 to 1"])
        self.refused(*self.two, "--cut-at", "1s", "--cut-drive", "1", "--cut-then", "off",
                     words=["--cut-drive 1 with --cut-then off", "use --cut-then vanish"])
        self.refused(*self.two, "--cut-at", "1s", "--cut-then", "vanish", words=["--cut-then vanish", "--cut-drive N"])
        self.refused(*self.two, "--cut-at", "1s", "--cut-then", "reset", words=["--cut-then reset", "--cut-then off"])
        self.refused("--cut-at", "1s", "--cut-drive", "0", words=["--cut-drive 0: this run has one drive"])
        self.refused("--cut-drive", "1", words=["--cut-drive without a cut"])

    def test_what_goes_to_the_guest(self) -> None:
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "slate-marks").write_bytes(b"marks")
        with unittest.mock.patch.object(paths, "GUEST", self.folder):
            entries = {name: data for name, _, data in command.job_entries(self.parse(*self.two))}
        self.assertEqual(
            entries["job/env"],
            b"SLATE_DEV=/dev/nvme0n1\nSLATE_SEED=1\nSLATE_FIO_SEED=1934370296\n"
            b"SLATE_DEVS='/dev/nvme0n1 /dev/nvme1n1'\n. ./drives.sh\n",
        )
        self.assertEqual(entries["job/slate-mark"], b"marks")
        self.assertIn(b"for drive in $SLATE_DEVS", entries["job/drives.sh"])


class Sums(unittest.TestCase):
    """Test the sums over two drives."""

    def test_operations_are_added(self) -> None:
        each = [account.OpAccount(), account.OpAccount()]
        each[0].add(support.op([10, 12], size=512, cell=20))
        each[1].add(support.op([12, 15, 15], size=4096, cell=30))
        found = drivesreport.together(each)
        self.assertEqual((found.ios, found.bytes, found.latency_sum_ns, found.latency_max_ns), (5, 13312, 64, 15))
        self.assertEqual(found.histogram, {10: 1, 12: 2, 15: 2})
        self.assertEqual((found.parts_ns["cell"], found.percentile_ns(500)), (50, 12))
        self.assertEqual(each[0].histogram, {10: 1, 12: 1})

    def test_write_amplification(self) -> None:
        """One drive programs (6 + 2) units of 4 KiB for 4 written, the other 3 for 1: 11 / 5."""
        each = [
            account.Device(support.device(support.account(ftl, write=support.op([3] * ios))))
            for ftl, ios in (({"host-units": 6, "gc-units": 2}, 4), ({"host-units": 1, "pad-units": 2}, 1))
        ]
        self.assertEqual([drivesreport.programmed_bytes(device) for device in each], [32768, 12288])
        record = support.record(drives=[{"drive_name": "nvme0"}, {"drive_name": "nvme1"}])
        shown = [report.Report(device.raw, None, record) for device in each]
        table = dict(drivesreport.DrivesReport(shown, None, record)._table(each))
        self.assertEqual(table["WAF"], ["2.000", "3.000", "2.200"])
        self.assertEqual(table["writes"], ["4", "1", "5"])
        self.assertEqual(table["capacity"], ["256 MiB", "256 MiB", "512 MiB"])
        self.assertNotIn("reads", table)

    def test_jobs_whose_names_begin_alike(self) -> None:
        """Names are whole, and the columns stay below their titles."""
        names = ("sequential-write-1M", "sequential-write-4k")
        done = support.account(write=support.op([65536] * 4))
        marks = []
        for name, at in zip(names, (1_000_000, 3_000_000)):
            label = account.label_of(name)
            marks += [support.mark("begin", label, at), support.mark("end", label, at + 1_000_000, done)]
        record = support.record(drives=[{"drive_name": "nvme0"}, {"drive_name": "nvme1"}])
        result = {"jobs": [support.fio(name, "write", 8, 97000.0) for name in names]}
        shown = [report.Report(support.device(done, marks), None, record) for _ in range(2)]
        lines = drivesreport.DrivesReport(shown, result, record).text().splitlines()
        head = next(line for line in lines if line.startswith("latency"))
        for name in names:
            (row,) = [line for line in lines if line.startswith(f"{name} write ")]
            self.assertEqual(row[: head.index("IOPS") + 4].split(), [name, "write", "1,000"])

    def test_live_counters(self) -> None:
        one, two = live.Counters(5, 10, 4096, 3, 1), live.Counters(6, 20, 8192, 2, 4)
        self.assertEqual(live.together([one], [4096]), (one, 4096))
        self.assertEqual(live.together([one, two], [4096, 16384]), (live.Counters(6, 30, 12288, 45056, 5), 1))


class Runs(test_run.RunTest):
    """Run on a stand-in for QEMU; its second drive does one more read."""

    def test_files_and_report(self) -> None:
        code, out, err = self.slate("--profile", self.profile, "--set", "1:a.b=1")
        self.assertEqual((code, err), (0, ""))
        found = sorted(str(path.relative_to(self.out)) for path in self.out.rglob("*") if path.is_file())
        self.assertEqual(
            found,
            ["console.log", "fio.json", "fio.log", "nvme0/device.json", "nvme0/report.txt", "nvme1/device.json",
             "nvme1/report.txt", "report.txt", "run.json"],
        )
        text = (self.out / "report.txt").read_text(encoding="utf-8")
        self.assertIn(text, out)
        lines = [line for line in text.splitlines() if line.endswith(("nvme0", "nvme1", "  all", "guest"))][:4]
        # Rates of nine and of eight characters have a blank before them.
        columns = ((0, 22), (22, 32), (32, 41), (41, 50), (50, 59), (59, 68), (68, 77), (77, 86), (86, 95), (97, 102))
        self.assertIn(" 9,000,000 35,156.2 ", text)
        self.assertEqual(
            [[line[first:end].strip() for first, end in columns] for line in lines],
            [
                ["job-a            read", "1,000", "3.9", "97.0", "0.01", "0.02", "0.03", "-", "97.0", "guest"],
                ["", "4,000,000", "15,625.0", "65.5", "65.5", "65.5", "65.5", "-", "65.5", "nvme0"],
                ["", "5,000,000", "19,531.2", "131.1", "131.1", "131.1", "131.1", "-", "131.1", "nvme1"],
                ["", "9,000,000", "35,156.2", "101.9", "131.1", "131.1", "131.1", "-", "131.1", "all"],
            ],
        )
        self.assertIn("reads                      4           5           9\n", text)
        record = json.loads((self.out / "run.json").read_text(encoding="utf-8"))
        self.assertEqual([one["set"] for one in record["settings"]["drives"]], [[], ["a.b=1"]])
        made_of = {"profile", "profile-nvme1", "job", "qemu", "vmlinux", "root", "modules"}
        self.assertEqual(set(record["sha256"]), made_of)
        self.assertEqual(json.loads((self.out / "nvme1/device.json").read_text())["total"]["read"]["ios"], 5)

    def test_the_report_again(self) -> None:
        self.slate("--profile", self.profile)
        for name in ("", "nvme0", "nvme1"):
            text = io.StringIO()
            with redirect_stdout(text):
                reports.print_again(self.out / name)
            self.assertEqual(text.getvalue(), (self.out / name / "report.txt").read_text(encoding="utf-8"), name)
        with self.assertRaisesRegex(SlateError, "is a run with 2 drives\n  fix: name one of them: .*nvme0, .*nvme1"):
            runfiles.load(self.out)

    def compare(self, *folders: Any) -> str:
        run = subprocess.run(
            [sys.executable, test_run.SLATE, "compare", *folders],
            capture_output=True, text=True, check=False, env={**os.environ},
        )  # fmt: skip
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def test_drives_side_by_side(self) -> None:
        """job-a used both drives: nvme0 did 4 reads in 1 us, nvme1 5."""
        self.slate("--profile", self.profile)
        first = self.out
        said = self.compare(first / "nvme0", first / "nvme1")
        self.assertRegex(said, r"job-a read\n  IOPS +4,000,000 +5,000,000 \(1\.25x\)\n  drive mean, µs +65\.5 ")
        self.assertNotIn("guest", said.replace("guest_control", ""))
        self.assertRegex(said, rf"job-a: fio measured all drives together, .*'slate report .*{first.name}' has fio's")
        self.out = self.folder / "again"
        self.slate("--profile", self.profile)
        said = self.compare(first / "nvme0", self.out / "nvme0")
        self.assertRegex(said, r"job-a read\n  IOPS +1,000 +1,000\n  guest mean, µs +97\.0 +97\.0\n")
        self.assertNotIn("together", said)
        text = (first / "nvme1" / "report.txt").read_text(encoding="utf-8")
        self.assertIn("read: fio counted 4 I/Os on all drives, this one 5:", text)

    def test_recordings_of_each(self) -> None:
        paths = [self.folder / name for name in ("one", "two")]
        code, _, err = self.slate("--profile", self.profile, "--record", paths[0], "--record", paths[1])
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([path.read_bytes() for path in paths], [b"x", b"x"])
        self.out = self.folder / "again"
        code, _, err = self.slate("--profile", self.profile, "--record", paths[0], "--record", paths[1], fake="full")
        self.assertEqual(code, 3)
        self.assertIn(f"--record {paths[0]}: the recording was not written: ", err)

    def test_a_job_for_a_drive_that_is_not_there(self) -> None:
        self.job.write_text("[a]\nfilename=/dev/nvme1n1\nrw=read\n", encoding="utf-8")
        code, _, err = self.slate()
        self.assertEqual(code, 2)
        self.assertIn("filename=/dev/nvme1n1, and this run has one drive", err)
        self.assertFalse(self.out.exists())
        self.assertEqual(self.slate("--profile", self.profile)[0], 0)


if __name__ == "__main__":
    unittest.main()
