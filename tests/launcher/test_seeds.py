# SPDX-License-Identifier: GPL-2.0-or-later
"""Test which seed fio has, and the warning of a job that repeats one order."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support

from slate_lib import command, fioseed, jobcheck, warn
from slate_lib.jobfile import JobFile
from slate_lib.options import RunOptions
from test_report import one_job

RUN_FIO = support.ROOT / "host-tools" / "guest" / "run-fio.sh"
JOB_1, JOB_0, PRECONDITION_1 = 1934370296, 447007732, 1968291990
# In place of fio: the last argument is the job file.
FAKE_FIO = '#!/bin/sh\nfor job; do :; done\ncat "$job" >>"$OUT/given"\n'


class RunFio(unittest.TestCase):
    """What run-fio adds to the jobs."""

    def given(self, job: str, seed: str | None = "5") -> dict[str, list[str]]:
        """Return the options of seeds that fio finds in each section."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "fio").write_text(FAKE_FIO, encoding="utf-8")
            (folder / "fio").chmod(0o755)
            (folder / "job.fio").write_text(job, encoding="utf-8")
            environment = {"PATH": f"{folder}:{os.environ['PATH']}", "OUT": name, "TMPDIR": name}
            environment |= {} if seed is None else {"SLATE_FIO_SEED": seed}
            done = subprocess.run(
                ["sh", RUN_FIO, folder / "job.fio"], env=environment, capture_output=True, text=True, check=False
            )
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            lines = (folder / "given").read_text(encoding="utf-8").splitlines()
        found: dict[str, list[str]] = {}
        for line in lines:
            if line.startswith("["):
                section = found.setdefault(line, [])
            elif "rand" in line.partition("=")[0]:
                section.append(line)
        return found

    def test_every_job_is_seeded(self) -> None:
        found = self.given("[global]\nrw=randread\n[a]\nbs=4k\n[b]\nnumjobs=2\n")
        both = ["randseed=5", "randrepeat=0"]
        self.assertEqual(found, {"[global]": [], "[a]": both, "[b]": both})

    def test_a_seed_of_the_job_stays(self) -> None:
        """fio before 3.35 heeds it with randrepeat=0 only."""
        own = "[d]\nrandseed=3\nrandrepeat=0\n"
        found = self.given("[a]\nrandseed=7\n[b]\nbs=4k\n[global]\nrandseed=9\n[c]\nbs=4k\n" + own)
        self.assertEqual(found["[a]"], ["randseed=7", "randrepeat=0"])
        self.assertEqual(found["[b]"], ["randseed=5", "randrepeat=0"])
        self.assertEqual(found["[c]"], ["randrepeat=0"])
        self.assertEqual(found["[d]"], ["randseed=3", "randrepeat=0", "randrepeat=0"])

    def test_the_fixed_seed_stays(self) -> None:
        both = "[d]\nrandseed=4\nrandrepeat=1\n"
        found = self.given("[a]\nrandrepeat=1\n[b]\nallrandrepeat\n[c]\nrandrepeat = 0 # x\n" + both)
        self.assertEqual(found["[a]"], ["randrepeat=1"])
        self.assertEqual(found["[b]"], ["allrandrepeat"])
        self.assertEqual(found["[c]"], ["randrepeat = 0 # x", "randseed=5", "randrepeat=0"])
        self.assertEqual(found["[d]"], ["randseed=4", "randrepeat=1"])

    def test_verification_that_needs_the_fixed_seed(self) -> None:
        """fio 3.33 and 3.41 report errors with experimental_verify and another seed; 3.33 with randrw and loops."""
        found = self.given(
            "[global]\nverify=crc32c\n[a]\nrw=randwrite\nexperimental_verify=1\n[b]\nrw=randrw\nloops=2\n"
            "[c]\nrw=randwrite\nloops=2\n[d]\nrw=randrw\n"
        )
        both = ["randseed=5", "randrepeat=0"]
        self.assertEqual(found, {"[global]": [], "[a]": [], "[b]": [], "[c]": both, "[d]": both})
        self.assertTrue(fioseed.own({"verify": "crc32c", "rw": "randwrite", "experimental_verify": "1"}))
        self.assertTrue(fioseed.own({"verify": "crc32c", "rw": "randrw", "loops": "2"}))
        self.assertFalse(fioseed.own({"verify": "crc32c", "rw": "randwrite", "loops": "2"}))

    def test_both_readers_agree(self) -> None:
        """run-fio's awk and fioseed read a job in the same way; a job that is fixed gets no seed."""
        verifies = "rw=randwrite\nverify=crc32c\n"
        fixed = [
            *(f"{verifies}experimental_verify{value}" for value in ("=true", " = 1 # =0", "", " ; =0", "=yes", "\r")),
            *("randrepeat ; comment", "randrepeat=true", "randrepeat #", "allrandrepeat=1\nrandrepeat=0", "randseed"),
            *("rw=randrw\nverify=md5\nloops=2 ; x", "verify\nreadwrite=randrw\nloops", "randseed = 3 # x"),
        ]
        free = [
            *(f"{verifies}experimental_verify{value}" for value in ("=0", "=false ; x", " = 0 #1")),
            *("randrepeat=0;=1", "randrepeat = false", "randrepeat=1\nrandrepeat=0", "allrandrepeat=0", "#randseed=1"),
            *(";randrepeat", "rw=randread # randrw\nverify=md5\nloops=2", f"{verifies}experimental_verify=1\n"
              "experimental_verify=0", "verify_only=1\nexperimental_verify=1", "rw=randwrite\nverify=md5\nloops=2"),
        ]
        for texts, is_fixed in ((fixed, True), (free, False)):
            for text in texts:
                for job in (f"[a]\n{text}\n", f"[global]\n{text}\n[a]\nbs=4k\n"):
                    with self.subTest(job=job):
                        options = jobcheck.sections("x", job)[0].options
                        self.assertEqual(fioseed.own(options), is_fixed)
                        self.assertEqual("randseed=5" not in self.given(job)["[a]"], is_fixed)

    def test_without_the_launcher_there_is_no_seed(self) -> None:
        self.assertEqual(self.given("[a]\nrw=randread\n", seed=None), {"[a]": []})


class Seeds(unittest.TestCase):
    """fio's seed of a run's seed."""

    def test_values(self) -> None:
        """The first four bytes of SHA-256 (sha256sum), modulo 2^31 - 1, plus 1."""
        self.assertEqual(fioseed.of(1, "job"), JOB_1)
        self.assertEqual(fioseed.of(1, "precondition"), PRECONDITION_1)
        self.assertEqual(fioseed.of(0, "job"), JOB_0)

    def test_no_thread_has_the_seed_of_another(self) -> None:
        """fio multiplies the seed by the thread's number."""
        parts = [(seed, what) for seed in range(100) for what in (fioseed.JOB, fioseed.PRECONDITION)]
        products = [fioseed.of(*part) * thread % 2**32 for part in parts for thread in range(1, 17)]
        self.assertEqual(len(set(products)), len(products))

    def test_the_guest_is_told(self) -> None:
        entries = {name: data.decode() for name, _, data in command.job_entries(RunOptions(Path("a.ini"), seed=1))}
        self.assertIn(f"SLATE_SEED=1\nSLATE_FIO_SEED={JOB_1}\n", entries["job/env"])

    def test_the_precondition_job(self) -> None:
        options = RunOptions(Path("a.ini"), seed=1, precondition="device", fill=100, age=2)
        self.assertIn(f"randseed={PRECONDITION_1}\nrandrepeat=0\n", command.precondition_job(options))

    def test_jobs_that_another_seed_does_not_change(self) -> None:
        text = "[a]\nrandseed=7\n[b]\nrw=randread\n[c]\nrandrepeat=1\n[d]\nrandseed=${SLATE_SEED}\n[e]\nrandrepeat=0\n"
        job = JobFile(Path("x.fio"), text)
        self.assertEqual(fioseed.fixed_jobs(job, 2), ["a", "c"])
        self.assertEqual(fioseed.fixed_jobs(job, fioseed.DEFAULT), [])


class Repeats(unittest.TestCase):
    """The warning of a repeated order: the drive has 256 MiB."""

    def told(self, mib: int, **options: str) -> str:
        dev, result = one_job()
        result["jobs"][0] |= {"job options": options, "write": {"io_bytes": mib << 20}}
        del result["jobs"][0]["read"]
        return " ".join(warn._repeated(result, dev["capacity"]))

    def test_fio_repeats_by_default(self) -> None:
        self.assertIn("job-a: fio repeated one order of addresses in each pass over 256 MiB",
                      self.told(512, rw="randwrite", loops="2"))
        self.assertIn("256 MiB", self.told(320, rw="randwrite", io_size="320m"))
        self.assertIn("100 MiB", self.told(101, rw="randwrite", size="100m", time_based="1"))
        self.assertIn("256 MiB", self.told(512, rw="randrw", loops="2", randrepeat="1"))

    def test_one_pass(self) -> None:
        self.assertEqual(self.told(256, rw="randwrite"), "")
        self.assertEqual(self.told(200, rw="randwrite", size="100m", numjobs="2", group_reporting="1"), "")

    def test_another_order_in_each_pass(self) -> None:
        self.assertEqual(self.told(512, rw="randwrite", randseed="5", randrepeat="0"), "")
        self.assertEqual(self.told(512, rw="randwrite", randrepeat="0"), "")
        self.assertEqual(self.told(512, rw="randwrite", randrepeat="1", randseed="5"), "")

    def test_neither_sequences_nor_reads_matter(self) -> None:
        self.assertEqual(self.told(512, rw="write", loops="2"), "")
        self.assertEqual(self.told(512, rw="randread", loops="2"), "")

    def test_a_shift_register(self) -> None:
        said = self.told(512, rw="randwrite", random_generator="lfsr", randseed="5")
        self.assertIn("Leave random_generator=lfsr out", said)

    def test_verification_reads_again(self) -> None:
        _dev, result = one_job()
        sides: Any = {"write": {"io_bytes": 256 << 20}, "read": {"io_bytes": 256 << 20}}
        result["jobs"][0] |= {"job options": {"rw": "randwrite", "verify": "crc32c"}, **sides}
        self.assertEqual(warn._repeated(result, 256 << 20), [])


class CutBlocks(unittest.TestCase):
    """The warning of blocks that fio cut (findings/fio-map-shortens-blocks.sh has the counts)."""

    def told(self, **options: str) -> list[str]:
        _dev, result = one_job()
        result["jobs"][0] |= {"job options": options}
        return warn._cut_blocks(result)

    def test_mixed_sizes_and_a_map(self) -> None:
        for sizes in ({"bssplit": "4k/50:64k/50"}, {"bssplit": "4k/100,4k/50:64k/50"}, {"bsrange": "4k-64k"}):
            said = self.told(rw="randrw", **sizes)
            self.assertEqual(len(said), 1)
            self.assertTrue(said[0].startswith("job-a: fio cuts a random block"))
            self.assertIn("Set norandommap", said[0])

    def test_no_map_or_one_size(self) -> None:
        mixed = {"bssplit": "4k/50:64k/50"}
        self.assertEqual(self.told(rw="randwrite", norandommap="1", **mixed), [])
        self.assertEqual(self.told(rw="randwrite", norandommap="", **mixed), [])
        self.assertEqual(self.told(rw="randwrite", random_distribution="zipf:1.1", **mixed), [])
        self.assertEqual(self.told(rw="write", **mixed), [])
        self.assertEqual(self.told(rw="randwrite", bs="64k"), [])
        self.assertEqual(self.told(rw="randwrite", bsrange="4k-4k"), [])
        self.assertEqual(self.told(rw="randrw", bssplit="16k/100,4k/100"), [])


if __name__ == "__main__":
    unittest.main()
