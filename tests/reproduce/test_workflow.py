# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the workflow of a study: exact numbers of quick studies, a killed run that is resumed, and runs on
original traces.
"""

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import support

import quick
from reproduce.papers import study
from reproduce.studies import run as reproduce_program
from reproduce.traces import standin

SMALL = ("--scale", "64")  # runs of further studies that these tests start


def reproduce(*args: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a study."""
    command = [sys.executable, str(support.REPRODUCE), "run", *args]
    return subprocess.run(command, cwd=support.ROOT, capture_output=True, text=True, check=False, **more)


class Quick(unittest.TestCase):
    """The tables of quick studies are exact, because virtual time is."""

    maxDiff = None

    def check(self, name: str) -> None:
        out = f"build/reproduce/test-{name}"
        done = quick.run(name, out)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertEqual(done.stdout, f"reproduce  the tables are in {out}/README.md\n")
        have, want = quick.rows(support.ROOT / out), quick.expected(name).read_text(encoding="utf-8")
        self.assertEqual(have, want, f"if that is meant: python3 tests/reproduce/quick.py {name}")
        self.assertTrue((support.ROOT / out / "README.md").exists())
        pictures = {path.stem for path in (support.ROOT / out).glob("*.svg")}
        tables = {path.stem for path in (support.ROOT / out).glob("*.csv")}
        self.assertEqual(pictures, tables & set(study.KINDS[name].pictures))

    def test_pen(self) -> None:
        self.check("pen")

    def test_ippbe(self) -> None:
        self.check("ippbe")

    def test_spread(self) -> None:
        self.check("spread")

    def test_rps(self) -> None:
        self.check("rps")

    def test_dac(self) -> None:
        self.check("dac")


class Runs(unittest.TestCase):
    """Start, kill and start a study again."""

    def test_dry_run(self) -> None:
        for name in study.KINDS:
            done = reproduce(name, "--dry-run")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_rule_says_what_it_needs(self) -> None:
        """Every rule names its run time, because many clusters refuse a job without one."""
        text = (support.REPRODUCE / "Snakefile").read_text(encoding="utf-8")
        rules = re.split(r"^ *rule(?: \w+)?:$", text, flags=re.M)[2:]  # except the first rule, which runs nothing
        self.assertEqual(len(rules), 7)
        for rule in rules:
            self.assertEqual((rule.count("mem_mb="), rule.count("runtime=")), (1, 1), rule)

    def test_what_is_shown(self) -> None:
        """Progress is shown in steps of ten per cent or more; the end of a failed job's log is shown."""
        said = (
            "import sys; [print(f'{n} of 20 steps ({5 * n}%) done') for n in (1, 2, 3, 4)]; print('why'); sys.exit(3)"
        )
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as shown:
            log = Path(folder) / "made" / "snakemake.log"
            self.assertEqual(reproduce_program.run([sys.executable, "-c", said], log), 3)
            self.assertEqual(len(log.read_text(encoding="utf-8").splitlines()), 5)
        lines = shown.getvalue().splitlines()
        self.assertEqual(lines[:3], [f"reproduce  {n} of 20 steps, {5 * n} %" for n in (1, 2, 4)])
        self.assertEqual(
            lines[-2:], ["  | why", f"reproduce run: snakemake ended with status 3: all it said is in {log}"]
        )

    def test_killed_and_resumed(self) -> None:
        made = study.of("ippbe", True, 64, None)
        folder = support.ROOT / made.folder
        shutil.rmtree(folder, ignore_errors=True)
        out = f"{made.folder}/results"
        command = [sys.executable, str(support.REPRODUCE), "run", "ippbe", "--quick", *SMALL, "--jobs", "1"]
        process = subprocess.Popen(
            command, cwd=support.ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 300
        while len(list(folder.glob("points/*/*.json"))) < 3:
            self.assertIsNone(process.poll(), "it ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = {path: path.stat().st_mtime_ns for path in folder.glob("points/*/*.json")}
        self.assertLess(len(before), len(made.points()))
        done = reproduce("ippbe", "--quick", *SMALL)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        after = {path: path.stat().st_mtime_ns for path in folder.glob("points/*/*.json")}
        self.assertEqual(len(after), len(made.points()))
        again = [path for path in before if before[path] != after[path]]
        self.assertLessEqual(len(again), 1)  # the job whose end Snakemake had not yet recorded
        self.assertEqual(list(folder.rglob("*.part")), [])
        resumed = quick.rows(support.ROOT / out)
        shutil.rmtree(folder)
        self.assertEqual(reproduce("ippbe", "--quick", *SMALL).returncode, 0)
        self.assertEqual(quick.rows(support.ROOT / out), resumed)
        self.assertEqual(reproduce("ippbe", "--quick", *SMALL).returncode, 0)
        self.assertIn("Nothing to be done", (folder / "snakemake.log").read_text(encoding="utf-8"))

    def test_originals(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, volume in (("hm_0", "hm_0"), ("src1_2", "src1_2"), ("stg_0", "stg_0-1M")):
                with open(Path(folder) / f"{name}.csv", "w", encoding="ascii") as trace:
                    for now, op, offset, size in standin.rows(volume, 500):
                        trace.write(f"{now // 100},h,0,{op.title()},{offset},{size},0\n")
            out = Path(folder) / "out"
            done = reproduce("ippbe", "--quick", "--traces", folder, *SMALL, "--out", str(out))
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            text = (out / "README.md").read_text(encoding="utf-8")
        self.assertIn("on the originals, at scale 1/64", text)
        self.assertIn("| stg_0 | IPPBE |", text)
        self.assertNotIn("stand-in for", text)
        shutil.rmtree(support.ROOT / study.of("ippbe", True, 64, None).folder.replace("standins", "originals"))

    def test_bad_input(self) -> None:
        for args, message in (
            (("pen", "--traces", "/nonexistent"), "TRACES=/nonexistent: is no folder"),
            (("pen", "--traces", str(support.ROOT / "tests/reproduce")), ": has no prn_0.csv"),
            (("pen", "--scale", "7"), "scale 7 does not divide"),
            (("rps", "--traces", str(support.ROOT / "tests")), "rps's traces were never published"),
            (("dac", "--traces", str(support.ROOT / "tests")), "dac's traces were never published"),
            (("spread", "--traces", "/nonexistent"), "TRACES=/nonexistent: is no folder"),
            (("spread", "--traces", str(support.ROOT / "tests")), "has no volume prj*, proj*, usr* or stg*"),
            (("dac", "--scale", "1024"), "scale 1024 does not divide DAC's 16384"),
            (("ippbe", "--scale", "0"), "--scale 0: must be 1 or more"),
            (("ippbe", "--jobs", "0"), "--jobs 0: must be 1 or more"),
        ):
            with self.subTest(args):
                done = reproduce(*args)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
