# SPDX-License-Identifier: GPL-2.0-or-later
"""Test SPREAD with real volumes beside its mixes: which files are taken, which are refused, and a volume's rows."""

import csv
import gzip
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support

import test_workflow
from reproduce.papers import study
from reproduce.rows import volumes
from reproduce.rows.points import StudyError

REPLAY = support.ROOT / "build/core/slate-replay"
PROFILE = support.ROOT / "nand-emu/profiles/spread.ini"
SMALL = 32  # scale: the drive has 2 GiB, of which it exports 352 MiB
KIB = 1024


def msr(op: str, size: int, step: int, count: int) -> str:
    """Return rows of MSR-Cambridge's form."""
    return "".join(f"{128166372003061629 + n},usr,0,{op},{n * step},{size},9\n" for n in range(count))


def lines(sectors: int, step: int, count: int) -> str:
    """Return reads as 'arrival_ns device lba512 sectors op'."""
    return "".join(f"{n} 0 {n * step // 512} {sectors} 1\n" for n in range(count))


class Files(unittest.TestCase):
    """volumes.py."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def put(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def test_names(self) -> None:
        for name in "usr_1.csv.zst proj_2.csv stg_0.trace.gz prj.trace hm_0.csv usr.txt usr_1.csv.part".split():
            self.put(name, b"")
        have = {name: path.name for name, path in volumes.found(self.folder).items()}
        want = {"prj": "prj.trace", "proj_2": "proj_2.csv", "stg_0": "stg_0.trace.gz", "usr_1": "usr_1.csv.zst"}
        self.assertEqual(have, want)
        self.assertEqual([volumes.mix_of(name) for name in have], ["prj", "prj", "stg", "usr"])

    def test_missing_and_doubled(self) -> None:
        with self.assertRaisesRegex(StudyError, r"has no volume prj\*, proj\*, usr\* or stg\*: put NAME.csv"):
            volumes.found(self.folder)
        self.put("usr_0.csv", b"")
        self.put("usr_0.trace.gz", b"")
        with self.assertRaisesRegex(StudyError, "has usr_0.csv and usr_0.trace.gz: keep one file of a volume"):
            volumes.found(self.folder)

    def test_good(self) -> None:
        reads = msr("Read", 4096, 4096, 2000).encode()
        head = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
        some = lines(8, 4096, 5).encode()
        for name, data in (("usr_0.csv", reads), ("usr_1.csv.gz", gzip.compress(head + reads)), ("stg_0.trace", some)):
            volumes.check(self.put(name, data), REPLAY, PROFILE)

    def test_bad(self) -> None:
        packed = gzip.compress(msr("Read", 4096, 4096, 2000).encode())
        damaged = packed[:200] + bytes(8) + packed[208:]
        head = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
        for name, data, said in (
            ("usr_0.csv", b"", "usr_0.csv: is no trace: .*is empty"),
            ("usr_0.csv.gz", gzip.compress(b""), "usr_0.csv.gz: is no trace: .*is empty"),
            ("usr_0.csv", head, "usr_0.csv: has no requests: put NAME.csv"),
            ("usr_0.csv", b"hello\n", "usr_0.csv: is no trace: .*of no known format"),
            ("usr_0.csv", msr("Read", 4096, 4096, 2).encode() + b"foo\n", "is no trace: .*:3: bad row"),
            ("usr_0.csv.gz", packed[:-20], r"is no whole gzip file \(.*\): fetch it again"),
            ("usr_0.csv.gz", damaged, r"is no whole gzip file \(.*\): fetch it again"),
            ("usr_0.csv.gz", msr("Read", 4096, 4096, 2).encode(), r"is no whole gzip file \(Not a gzipped file"),
        ):
            with self.subTest(said), self.assertRaisesRegex(StudyError, said):
                volumes.check(self.put(name, data), REPLAY, PROFILE)
        (self.folder / "stg_0.csv").mkdir()
        with self.assertRaisesRegex(StudyError, "stg_0.csv: is no file"):
            volumes.check(self.folder / "stg_0.csv", REPLAY, PROFILE)


class Rows(unittest.TestCase):
    """Run a study with volumes that the test makes."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_study(self) -> Any:
        more = ("--scale", str(SMALL), "--out", str(self.folder / "out"))
        return test_workflow.reproduce("spread", "--quick", "--traces", str(self.folder), *more)

    def table(self, name: str) -> dict[tuple[str, str], dict[str, str]]:
        text = (self.folder / "out" / f"{name}.csv").read_text(encoding="utf-8")
        return {(row["trace"], row["what"]): row for row in csv.DictReader(text.splitlines())}

    def test_rows_of_volumes(self) -> None:
        """Each read is of other pages. Of 16 KiB, 4 KiB is a quarter: pageFTL reads 4 bytes for one, spFTL 1."""
        (self.folder / "usr_0.csv.gz").write_bytes(gzip.compress(msr("Read", 4 * KIB, 1024 * KIB, 200).encode()))
        (self.folder / "proj_3.trace").write_text(lines(32, 1024 * KIB, 200), encoding="ascii")
        done = self.run_study()
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        amplification = self.table("fig24")
        got = {key: row["ours"] for key, row in amplification.items() if key[0] in ("usr_0", "proj_3")}
        self.assertEqual(
            got,
            {("usr_0", "pageFTL"): "4", ("usr_0", "dmaFTL"): "1", ("usr_0", "spFTL"): "1",
             ("proj_3", "pageFTL"): "1", ("proj_3", "dmaFTL"): "1", ("proj_3", "spFTL"): "1"},
        )  # fmt: skip
        mixes = [float(amplification[f"mix {name}", "pageFTL"]["ours"]) for name in ("kv", "usr", "stg")]
        average = float(amplification["average", "pageFTL"]["ours"])
        self.assertAlmostEqual(average, sum(mixes) / 3, delta=0.001)  # of the mixes alone
        iops = self.table("fig22")
        self.assertEqual(iops["usr_0", "spFTL / pageFTL"]["paper"], "1.44")  # USR's
        self.assertEqual(iops["usr_0", "spFTL / dmaFTL"]["paper"], "not published in text")
        self.assertEqual(iops["proj_3", "spFTL / pageFTL"]["ours"], "1")
        self.assertNotIn(("usr_0", "spFTL / pageFTL"), self.table("gc-time"))  # there is no GC
        text = (self.folder / "out/README.md").read_text(encoding="utf-8")
        self.assertIn("on made workloads and the volumes of TRACES, at scale 1/32", text)
        made = {path.stem for path in (self.folder / "out").glob("*.csv")}
        self.assertEqual(made, {"fig22", "fig23", "fig24", "gc-time"})
        shutil.rmtree(support.ROOT / study.of("spread", True, SMALL, str(self.folder)).folder)

    def test_a_bad_file_ends_it_before_any_run(self) -> None:
        (self.folder / "usr_0.csv").write_bytes(b"")
        done = self.run_study()
        self.assertEqual(done.returncode, 2)
        self.assertIn("usr_0.csv: is no trace: ", done.stderr)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
