# SPDX-License-Identifier: GPL-2.0-or-later
"""Test names of profiles and jobs, in a clone and installed; suggestions for a wrong word."""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

from slate_lib import cli, jobcheck, jobfile, jobsizes, names, parsing, paths
from slate_lib.errors import USAGE, SlateError

SLATE = ROOT / "host-tools" / "slate"
ENGINES = ("psync", "libaio", "io_uring", "null")
TRACES = {"trace": [], "of-sda": ["/dev/sda"], "of-two": ["/dev/nvme0n1", "/dev/nvme1n1"],
          "of-nvme": ["dev/nvme0n1"]}


def said(*words: Any) -> tuple[int, str]:
    """Return the exit code of a command line, and its errors."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        with mock.patch.object(sys.stdout, "reconfigure", create=True), mock.patch.object(
            sys.stderr, "reconfigure", create=True
        ):
            code = cli.main(list(words))
    return code, errors.getvalue()


class Abbreviations(unittest.TestCase):
    """Every Python program refuses abbreviated options: --op must not become --open."""

    def parsers(self, path: Path) -> list[ast.Call]:
        """Return the calls in a file that make an argparse parser, other than those of a class of its own."""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return [call for call in calls if ast.unparse(call.func) == "argparse.ArgumentParser"]

    def test_all_programs(self) -> None:
        # Programs of host-tools/guest are called by Slate's own scripts.
        files = [path for folder in ("host-tools", "tests", "qemu-patches") for path in (ROOT / folder).rglob("*.py")]
        found = {path: self.parsers(path) for path in files if ROOT / "host-tools" / "guest" not in path.parents}
        self.assertGreater(sum(map(len, found.values())), 25)
        for path, calls in found.items():
            for call in calls:
                told = {word.arg: ast.unparse(word.value) for word in call.keywords}
                self.assertEqual(told.get("allow_abbrev"), "False", f"{path}:{call.lineno}")

    def test_the_launchers_own_parsers(self) -> None:
        self.assertFalse(parsing.Parser().allow_abbrev)
        self.assertFalse(parsing.Parser(description="x").allow_abbrev)


class Programs(unittest.TestCase):
    """A program of the core that the system refuses to execute is no full disk."""

    def test_what_the_system_says(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(paths, "PROGRAMS", [Path(folder)]):
            program = Path(folder, "slate-replay")
            program.write_text("no program\n", encoding="utf-8")
            for mode, what, fix in (
                (0o644, "permission denied", "look at its owner and permissions, and at those of its folders"),
                (0o755, "exec format error", "it is no program for this machine, or damaged: run 'make core'"),
            ):
                program.chmod(mode)
                self.assertEqual(
                    said("replay", "--version"),
                    (USAGE, f"slate: {program}: can not be executed: {what}\n  fix: {fix}\n"),
                )
            program.write_text(f"#!{folder}/none\n", encoding="utf-8")
            self.assertIn("can not be executed: no such file or directory\n", said("replay")[1])
            program.write_text("#!/bin/true\n", encoding="utf-8")
            code, errors = said("replay", "x" * (1 << 20))
            self.assertEqual((code, errors.splitlines()[-1]), (USAGE, "  fix: give fewer or shorter arguments"))


class Find(unittest.TestCase):
    """Find files by name, by name with suffix, and by path."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.folder = Path(holder.name)
        os.chdir(self.folder)

    def test_shipped(self) -> None:
        for word in ("small", "small.ini"):
            self.assertEqual(names.find(word, names.PROFILE), paths.PROFILES / "small.ini")
        self.assertEqual(names.find("quick", names.JOB), paths.JOBS / "quick.fio")
        self.assertIn("default", names.shipped(names.PROFILE))

    def test_a_file_of_ones_own(self) -> None:
        own = self.folder / "small.ini"
        own.touch()
        self.assertEqual(names.find("small.ini", names.PROFILE), Path("small.ini"))
        self.assertEqual(names.find("./small.ini", names.PROFILE), Path("./small.ini"))
        self.assertEqual(names.find("small", names.PROFILE), paths.PROFILES / "small.ini")
        (self.folder / "mine").touch()
        self.assertEqual(names.find("mine", names.PROFILE), Path("mine"))

    def test_no_such(self) -> None:
        for word, kind, what in (
            ("smal", names.PROFILE, "no such profile: smal; did you mean small?"),
            ("quikc.fio", names.JOB, "no such job: quikc.fio; did you mean quick?"),
            ("./x/none.ini", names.PROFILE, "no such profile: x/none.ini\n"),
        ):
            with self.assertRaises(SlateError) as caught:
                names.find(word, kind)
            self.assertIn(what, str(caught.exception))

    def test_replay_gets_a_path(self) -> None:
        small = str(paths.PROFILES / "small.ini")
        self.assertEqual(names.replay_words(["--profile", "small", "t"]), ["--profile", small, "t"])
        self.assertEqual(names.replay_words(["--profile=small"]), [f"--profile={small}"])
        self.assertEqual(names.replay_words(["--", "--profile=small"]), ["--", "--profile=small"])

    def test_programs_take_names(self) -> None:
        """Whole commands take names when they run in another directory."""
        done = subprocess.run(
            [SLATE, "replay", "--profile", "small", "--json", "-", "--fill", "12.5", "--age", "0.5",
             "gen:rand4k,foot=1M,n=10"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"precondition.fill_permille=125"', done.stdout.replace("\\/", "/"))
        done = subprocess.run([SLATE, "run", "--profile", "small", "--job", "quick", "--dry-run"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("small.ini", done.stdout)

    def test_dry_runs_refuse_what_the_drive_would(self) -> None:
        for setting, said in (("ftl.x=1", "no such key: ftl.x"), ("ftl.placement_handles=129", "0 .. 128")):
            done = subprocess.run([SLATE, "run", "--profile", "small", "--set", setting, "--dry-run"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)


class DidYouMean(unittest.TestCase):
    """Options, commands, choices."""

    def test_said(self) -> None:
        for words, what in (
            (
                ("run", "--jbo", "x"),
                "slate: --jbo: there is no such option; did you mean --job?\n  fix: see 'slate run --help'",
            ),
            (("run", "--prof", "small"), "--prof: there is no such option; did you mean --profile?"),
            (("run", "--reco=x"), "--reco=x: there is no such option; did you mean --record or --record-content?"),
            (("run", "--profile", "p4510"), "no such profile: p4510; did you mean p4500-1tb or p4500-2tb?"),
            (("run", "--profle=x"), "--profle=x: there is no such option; did you mean --profile?"),
            (("rnu",), "slate: rnu: there is no such command; did you mean run?\n  fix: use one of: run, report, "),
            (("run", "--kernel", "smal"), "--kernel: there is no smal; did you mean small?"),
            (("profiles", "shwo"), "did you mean show?\n  fix: use one of: show, keys, import; see 'slate profiles "),
            (("run", "extra"), "extra: nothing takes this argument\n  fix: see 'slate run --help'"),
            (("run", "--set", "buffer_units=0"), "not SECTION.KEY=VALUE; did you mean ftl.buffer_units?\n  fix: "),
            (("run", "--set", "seed=2"), "did you mean reliability.seed or precondition.seed?\n"),
            (("profiles", "show", "small", "--set", "bufer_units=0"), "; did you mean ftl.buffer_units?\n"),
            (("run", "--set", "buffer_units"), "not SECTION.KEY=VALUE\n"),
            (("run", "--app", "pgbnch"), "no such application; did you mean pgbench?"),
        ):
            with self.subTest(words=words):
                code, errors = said(*words)
                self.assertEqual(code, USAGE)
                self.assertIn(what, errors)

    def test_jobs_are_listed(self) -> None:
        done = subprocess.run([SLATE, "jobs"], capture_output=True, text=True, check=True)
        listed = {line.split()[0]: line for line in done.stdout.splitlines()[1:]}
        self.assertEqual(list(listed), names.shipped(names.JOB))
        self.assertIn("the six numbers of a data sheet", listed["quick"])
        for line in listed.values():
            self.assertGreater(len(line.split()), 2, line)
        shown = subprocess.run([SLATE, "jobs", "show", "quick"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown, (paths.JOBS / "quick.fio").read_text(encoding="utf-8"))

    def test_an_interrupt_while_python_starts(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c",
             "import sys, runpy\nclass Stop:\n def find_spec(self, name, *rest):\n"
             "  if name == 'slate_lib.cli': raise KeyboardInterrupt\n"
             f"sys.meta_path.insert(0, Stop())\nrunpy.run_path({str(SLATE)!r}, run_name='__main__')"],
            capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (130, "\nslate: interrupted\n"))


class Jobs(unittest.TestCase):
    """Test what is refused before a boot."""

    def check(self, text: str, *capacities: Any) -> None:
        drives = [one if isinstance(one, list) else [one] for one in capacities or (256 << 20,)]
        jobcheck.check("my.fio", text, {"SLATE_DEV": "/dev/nvme0n1"}, ENGINES, drives, TRACES)

    def test_refused(self) -> None:
        for text, what in (
            ("[a]\nrw=read\n", "my.fio, line 1: the job [a] names no file"),
            ("[a]\nfilename=/dev/sdb\n", "filename=/dev/sdb is not the drive\n  fix: in the guest it is /dev/nvme0n1"),
            (
                "[a]\nfilename=/dev/nvme0n1:/dev/nvme1n1\n",
                "filename=/dev/nvme1n1, and this run has one drive, /dev/nvme0n1\n  fix: give --profile 2 times",
            ),
            ("[a]\nfilename=/dev/ng2n1\n", "one drive, /dev/nvme0n1\n  fix: give --profile 3 times"),
            ("[a]\nfilename=x.dat\n", "filename=x.dat is a file in the guest's memory"),
            *((f"[a]\nfilename={file}\n", f"filename={file} is not the drive\n  fix: in the guest it is /dev/nvme0n1")
              for file in ("/dev/fioa", "/dev/XXX", "/dev/null", "/dev/disk/by-id/nvme-Samsung", "/dev/nvme0",
                           "/dev/md0", "/dev/shm/x")),
            ("[a]\nfilename_format=/dev/nvme$jobnum\nnumjobs=2\n", "filename=/dev/nvme0 is not the drive"),
            ("[fioa]\nfilename_format=/dev/$JOBNAME\n", "filename=/dev/fioa is not the drive"),
            ("[a]\nfilename_format=/dev/nvme${x}0n$filenum\nnrfiles=2\n", "filename=/dev/nvme0n0, and that drive has"),
            ("[a]\nfilename_format=/dev/nvme${jobnum}n1\nnumjobs=3\n", "filename=/dev/nvmen1 is not the drive"),
            ("[a]\nfilename_format=/dev/nvme$jobnumn1\nnumjobs=3\n",
             "filename=/dev/nvme1n1, and this run has one drive"),
            ("[/dev/nvme1n1]\nrw=read\n", "filename=/dev/nvme1n1, and this run has one drive, /dev/nvme0n1"),
            ("[/dev/nvme0n1]\nnrfiles=2\n", "names no file"),
            ("[/dev/nvme0n1]\noffset=1g\n", "offset=1g is beyond"),
            ("[/dev/sda]\nrw=read\n", "names no file"),
            ("[a]\nfilename=/dev/nvme0n1p1\n", "a new drive has no partitions"),
            ("[a]\nfilename=/dev/vda\n", "is not there, since the drive is /dev/nvme0n1"),
            ("[a]\ndirectory=/mnt\nsize=1m\n", "its files would be in /mnt, in the guest's memory"),
            ("[a]\nopendir=/tmp\n", "its files would be in /tmp, in the guest's memory"),
            ("[a]\nfilename=/dev/nvme0n1\noffset_increment=124g\nnumjobs=4\n",
             "with offset_increment=124g clone 2 of 4 (numjobs) begins beyond the drive's end, 256 MiB\n"
             "  fix: use a smaller offset_increment, numjobs=1"),
            ("[a]\nfilename=/dev/nvme0n1\noffset=20%\noffset_increment=30%\nnumjobs=4\n",
             "clone 4 of 4 (numjobs) begins beyond the drive's end, 256 MiB\n"
             "  fix: use a smaller offset_increment, numjobs=3"),
            ("[a]\nfilename=/dev/nvme0n1\nfileoffset=1g\n", "offset=1g is beyond"),
            ("[global]\nfilename=/dev/nvme0n1\n\n[a]\n[b]\nioengine=io_urin\n",
             "line 5: the job [b]: the guest's fio has no ioengine=io_urin; did you mean io_uring?"),
            ("[a]\nfilename=/dev/nvme0n1\noffset=256m\n", "offset=256m is beyond the drive's end, 256 MiB"),
            ("[a]\nfilename=/dev/nvme0n1\noffset=100%\n", "offset=100% is beyond"),
            ("[a]\nfilename=/dev/nvme0n1\nbs=1g\n", "bs=1g does not fit on the drive, 256 MiB"),
            ("[a]\nread_iolog=trace:trcae\n", "read_iolog=trcae is not in the guest\n  fix: add --file trcae"),
            ("[a]\nread_iolog=of-sda\n", "the job [a]: the file /dev/sda of read_iolog=of-sda is not the drive\n"
             "  fix: add replay_redirect=/dev/nvme0n1"),
            ("[a]\nread_iolog=trace:of-sda\nreplay_redirect=/dev/sdb\n", "replay_redirect=/dev/sdb is not the drive"),
            ("[a]\nread_iolog=of-two\n", "the file /dev/nvme1n1 of read_iolog=of-two, and this run has one drive"),
            ("[x]\nfilename=/dev/nvme0n1\n[a\n", "my.fio, line 3: '[a' begins a section and has no ']'"),
        ):
            self.refuses(text, what)

    def refuses(self, text: str, what: str) -> None:
        """Check that a job is refused, and that the message has these words."""
        with self.subTest(text=text), self.assertRaises(SlateError) as caught:
            self.check(text)
        self.assertIn(what, str(caught.exception))

    def test_sizes_of_blocks(self) -> None:
        """All sizes of the operations that a job does must fit on the drive."""
        for text, what in (
            *((f"[a]\nfilename=/dev/nvme0n1\n{text}\n",
               f"{text.splitlines()[-1]}{what}does not fit on the drive, 256 MiB\n")
              for text, what in (
                ("rw=randrw\nbs=4k,1g", ", its writes of 1 GiB, "),
                ("rw=write\nbs=4k,512MB,1k", ", its writes of 512 MiB, "),
                ("rw=randwrite\nbs=,1g", ", its writes of 1 GiB, "),
                ("rw=trimwrite\nbs=1g,4k,300m", ", its trims of 300 MiB, "),
                ("rw=trim\nbs=4k:8k-1g", ", its trims of 1 GiB, "),
                ("rw=rw\nbsrange=4k-8k,4k-1t", ", its writes of 1 TiB, "),
                ("bsrange=1g-4k", ", its reads of 1 GiB, "),
                ("rw=randrw\nbssplit=4k/50:8k/50,4k/90:1g/10", ", its writes of 1 GiB, "),
                ("bssplit=4k/50:257m", ", its reads of 257 MiB, "),
                ("rw=randread\nbs_is_seq_rand\nbs=4k,1g", ", its writes of 1 GiB, "),
              )),
            ("[a]\nfilename=/dev/nvme0n1\nblocksize_range=4k-1g\n", "bsrange=4k-1g, its reads of 1 GiB, does not fit"),
            ("[a]\nfilename=/dev/nvme0n1\noffset=255m\nrw=randrw\nbs=4k,2m\n", "its writes of 2 MiB, does not fit"),
        ):
            self.refuses(text, what)

    def test_files_in_directories(self) -> None:
        for text, what in (
            ("[a]\ndirectory=/dev\nsize=1m\n", "its files would be in /dev, in the guest's memory"),
            ("[a]\ndirectory=/dev\nfilename=x\n", "filename=x in directory=/dev is not the drive"),
            ("[a]\ndirectory=/dev\nfilename=nvme1n1\n", "filename=nvme1n1 in directory=/dev, and this run has one"),
            ("[a]\ndirectory=/dev:/mnt\nnumjobs=2\nfilename=nvme0n1\n",
             "filename=nvme0n1 in directory=/dev:/mnt is a file in the guest's memory"),
            ("[a]\ndirectory=/mnt\nfilename=/dev/nvme0n1\n", "in directory=/mnt is a file in the guest's memory"),
            ("[/dev/nvme0n1]\ndirectory=/mnt\n", "in directory=/mnt is a file in the guest's memory"),
            ("[a]\ndirectory=/dev\nfilename=nvme0n1\noffset=1g\n", "offset=1g is beyond"),
            ("[a]\nopendir=/dev\n", "opendir=/dev names all files below it, not the drive alone"),
            ("[a]\ndirectory=/dev\nread_iolog=of-sda\n", "the file /dev/sda of read_iolog=of-sda is not the drive"),
        ):
            self.refuses(text, what)

    def test_files_that_fio_names(self) -> None:
        """Without filename a job's file has the job's name, if that is a device, or the names of filename_format."""
        self.check("[/dev/nvme0n1]\nrw=read\n")
        self.check("[a]\nfilename_format=/dev/nvme${x}$jobnumn1\nnumjobs=2\n", 1 << 20, 1 << 20)
        self.check("[a]\nfilename_format=/dev/nvme0n$jobnum\nfilename=/dev/nvme0n1\n")

    def test_files_that_a_trace_names(self) -> None:
        for lines, found in (
            ("fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 0 4096\n/dev/sdb add\n",
             ["/dev/sda", "/dev/sdb"]),
            ("fio version 3 iolog\n0 /dev/sda add\n1 /dev/sda open\n\n2 /dev/sda read 0 4096\n", ["/dev/sda"]),
            ("#!/bin/sh\n/dev/sda add\n", []),
            ("", []),
        ):
            self.assertEqual(jobcheck.names_in_trace(lines.splitlines(True)), found)

    def test_several_drives(self) -> None:
        """A job's place is checked against the smallest drive that it names."""
        both = "[a]\nfilename=/dev/nvme0n1:/dev/nvme1n1\noffset=200m\n"
        self.check(both, 256 << 20, 256 << 20)
        self.check("[a]\nfilename=/dev/nvme1n1\noffset=200m\n", 128 << 20, 256 << 20)
        self.check(both, 128 << 20, None)
        for text, room, what in (
            (both, (256 << 20, 128 << 20), "offset=200m is beyond the drive's end, 128 MiB"),
            ("[a]\nfilename=/dev/nvme1n1\noffset=200m\n", (256 << 20, 128 << 20), "beyond the drive's end, 128 MiB"),
            ("[a]\nfilename=/dev/nvme2n1\n", (1 << 20, 1 << 20),
             "filename=/dev/nvme2n1, and this run has 2 drives, to /dev/nvme1n1\n  fix: give --profile 3 times"),
        ):
            with self.subTest(text=text, room=room), self.assertRaises(SlateError) as caught:
                self.check(text, *room)
            self.assertIn(what, str(caught.exception))

    def test_namespaces(self) -> None:
        two = "[a]\nfilename=/dev/nvme0n2\noffset=20m\n"
        self.check(two, [1 << 20, 32 << 20])
        self.check(two, [1 << 20, None])
        self.check("[a]\nfilename=/dev/nvme0n2:/dev/ng0n3\n", [None] * 3)
        for text, sizes, what in (
            (two, [32 << 20, 20 << 20], "offset=20m is beyond the drive's end, 20 MiB"),
            (two, [1 << 20], "and that drive has 1 namespace\n  fix: give --namespace 2 times, once for each"),
            ("[a]\nfilename=/dev/ng0n9\n", [None] * 8, "and that drive has 8 namespaces\n  fix: give --namespace 9"),
            ("[a]\nfilename=/dev/nvme0n0\n", [1 << 20], "  fix: namespaces count from 1: /dev/nvme0n1"),
        ):
            with self.subTest(text=text, sizes=sizes), self.assertRaises(SlateError) as caught:
                self.check(text, sizes)
            self.assertIn(what, str(caught.exception))

    def test_accepted(self) -> None:
        for text in (
            "[global]\nfilename=${SLATE_DEV}\n[a]\nrw=read\noffset=50%\nbs=4k,64k\n",
            "[a]\nioengine=null\nsize=1m\n",
            "[a]\nfilename=/mnt/x\nexec_prerun=mount\n",
            "[a]\nread_iolog=trace\n",
            "[a]\nread_iolog=trace:-:/run/made\n",
            "[a]\nread_iolog=of-sda\nreplay_redirect=/dev/nvme0n1\n",
            "[a]\nexec_prerun=mkfs\nread_iolog=of-sda\n",
            "[a]\nexec_prerun=blkparse\nread_iolog=made\n",
            "[a]\nfilename=/dev/nvme0n1\nwrite_iolog=made\n[b]\nstonewall\nread_iolog=made\n",
            "[a]\nfilename=/dev/ng0n1\n",
            "[a]\nfilename=/dev/nvme0n1 ; the drive\n[b] # note\nfilename=/dev/nvme0n1#p1\n",
            "[make]\nioengine=null\nsize=1m\nexec_prerun=mkfs\n[a]\ndirectory=/mnt\n[b]\nfilename=/dev/md0\n",
            "[a]\nfilename=/dev/nvme0n1\noffset_increment=64m\nnumjobs=4\n",
            "[a]\ndirectory=/dev\nfilename=nvme0n1:./ng0n1\n",
            "[a]\ndirectory=/dev:/mnt\nfilename=nvme0n1\n",  # the first clone alone
            "[a]\nfilename=/dev//nvme0n1:/dev/../dev/nvme0n1\n",
            "[a]\ndirectory=/\nread_iolog=of-nvme\n",
            *(f"[a]\nfilename=/dev/nvme0n1\n{text}\n" for text in (
                "rw=read\nbs=4k,1g", "rw=write\nbs=1g,", "rw=randrw\nbs=4k,8k,1g", "rw=randrw\nbs=256m,1k",
                "rw=write\nbsrange=4k-1g,4k-8k", "bssplit=4k/100:1g/0", "rw=read\nbs_is_seq_rand=1\nbs=4k,1g",
                "rw=write\nbs=1g\nbsrange=4k-8k", "rw=write\nbsrange=4k-1g\nbssplit=4k/50:8k/50",
            )),
        ):
            with self.subTest(text=text):
                self.check(text)

    def test_memory_of_clones(self) -> None:
        """A clone has 2,420 KiB twice, or once and what it needs while it runs; beside all are 190 MiB."""
        drive = 1 << 40
        for text, kib in (
            ("[a]\n", 190 * 1024 + 2 * 2420),
            ("[a]\nnumjobs=400\n", 190 * 1024 + 400 * 2 * 2420),
            ("[a]\nnumjobs=300\n[b]\nstonewall\nnumjobs=100\n", 190 * 1024 + 400 * 2 * 2420),
            ("[global]\ngroup_reporting\n[a]\nnumjobs=400\n", 190 * 1024 + 400 * (2420 + 300 + 4)),
            ("[a]\nnumjobs=2\niodepth=8\nbs=1m\n", 190 * 1024 + 2 * (2420 + 300 + 8 * 1024)),
            ("[global]\niodepth=8\nbs=1m\n[a]\n[b]\nstonewall\n", 190 * 1024 + 2 * 2420 + 300 + 8192),
            ("[a]\nrw=trim\niodepth=8\nbs=1m\n", 190 * 1024 + 2 * 2420),
            # a bit for each of 2^28 blocks of 4 KiB are 32 MiB
            ("[a]\nrw=randread\nnumjobs=4\n", 190 * 1024 + 4 * (2420 + 300 + 4 + (32 << 10))),
            ("[a]\nrw=randread\nsize=50%\nbsrange=4k-8k\n", 190 * 1024 + 2420 + 300 + 8 + (16 << 10)),
            ("[a]\nrw=randread\nnorandommap\n", 190 * 1024 + 2 * 2420),
            ("[a]\nrw=randread\nrandom_generator=lfsr\n", 190 * 1024 + 2 * 2420),
        ):
            with self.subTest(text=text):
                self.assertEqual(jobsizes.memory(jobcheck.sections("x", text), drive), kib << 10)
        text = "[a]\nnumjobs=${N}\n[b]\nnumjobs=2\n"
        jobcheck.check_memory("my.fio", text, {"N": "398"}, 1 << 28, 2081 << 20)
        with self.assertRaises(SlateError) as caught:
            jobcheck.check_memory("my.fio", text, {"N": "398"}, 1 << 28, 2 << 30)
        self.assertEqual(
            str(caught.exception),
            "my.fio, line 1: with 398 clones of [a], of 400 in all, fio needs 2,080 MiB of memory or more; the guest "
            "has 2,048 MiB\n  fix: give --mem 3G, or reduce numjobs, iodepth or bs",
        )

    def test_what_is_known_of_the_drives(self) -> None:
        for text, state in (("[a]\nfilename=/dev/vda\n", jobcheck.Drives(virtio=True)),
                            ("[a]\nfilename=/dev/nvme0n1\n", jobcheck.Drives(virtio=True)),
                            ("[a]\ndirectory=/dev\nfilename=vda\n", jobcheck.Drives(virtio=True)),
                            ("[a]\nfilename=/dev/nvme0n1p1\n", jobcheck.Drives(kept=True))):
            jobcheck.check("my.fio", text, {}, ENGINES, [[256 << 20]], {}, state)
        text = "[a]\ndirectory=/dev\nfilename=nvme0n1\n"  # the launcher replaces /dev/nvme0n1 alone
        with self.assertRaisesRegex(SlateError, "is not there, since the drive is /dev/vda"):
            jobcheck.check("my.fio", text, {}, ENGINES, [[256 << 20]], {}, jobcheck.Drives(virtio=True))

    def test_sections_are_those_of_fio(self) -> None:
        """Names and options are those that the guest's fio prints with --showcmd."""
        text = (
            "; a note\n[global]  # common\nioengine=sync\n[a b]\nrw=read ;seq\nsize=1m#x\n\n  [two] ; note\n"
            "  bs=8k\n rw=write\n[x]y]\nname=renamed\nreadwrite=randread\nblocksize=16k\n[globals]\nbs=64k\n"
            "[last]\ninclude part.fio\nsize=2m\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.fio"
            path.write_text(text, encoding="utf-8")
            (Path(folder) / "part.fio").write_text("rw=trim # all\ninclude more.fio\n", encoding="utf-8")
            (Path(folder) / "more.fio").write_text("fileoffset=4k\n", encoding="utf-8")
            found = jobcheck.sections(path, jobcheck.flat(path, text))
            own = {"ioengine": "sync"}
            self.assertEqual(
                [(one.name, one.options) for one in found],
                [("a b", {**own, "rw": "read", "size": "1m"}), ("two", {**own, "bs": "8k", "rw": "write"}),
                 ("renamed", {**own, "name": "renamed", "rw": "randread", "bs": "16k"}),
                 ("last", {**own, "bs": "64k", "rw": "trim", "offset": "4k", "size": "2m"})],
            )
            if fio := jobfile.guest_fio():
                told = subprocess.run([fio, "--showcmd", path], capture_output=True, text=True, check=True).stdout
                self.assertEqual(re.findall(r"--name=(\S+)", told), ["a", "two", "x]y", "renamed", "last"])
                self.assertIn("--name=a b --rw=read --size=1m --name=two --bs=8k --rw=write", told)
                self.assertIn("--name=last --rw=trim --offset=4k --size=2m", told)

    def test_faults_are_named_in_their_own_file(self) -> None:
        """An included file has two lines; the job after it begins at line 3 of the file that includes it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.fio"
            (Path(folder) / "part.fio").write_text("bs=4k\n[inside]\nfilename=/etc/x\n", encoding="utf-8")
            text = jobcheck.flat(path, "[global]\ninclude part.fio\n[outside]\nfilename=/dev/nvme0n1\n[half\n")
            places = [(str(place), number) for place, number, line in jobcheck.numbered(path, text) if line]
            part = str(Path(folder) / "part.fio")
            mine = [(str(path), number) for number in (1, 3, 4, 5)]
            self.assertEqual(places, [mine[0], *((part, number) for number in (1, 2, 3)), *mine[1:]])
            self.assertNotIn(folder, jobcheck.for_guest(text))  # no bytes of the guest's job depend on the host's paths
            with self.assertRaisesRegex(SlateError, "a.fio, line 5: '\\[half' begins a section"):
                jobcheck.sections(path, text)
            text = text.replace("[half", "")
            with self.assertRaisesRegex(SlateError, "part.fio, line 2: the job \\[inside\\]: filename=/etc/x"):
                jobcheck.check(path, text, {}, (), [[1 << 28]])

    def test_traces_that_go_with_the_job(self) -> None:
        """The guest calls fio in the folder of its results, and they are in the job's."""
        text = "[a]\nread_iolog = t:made:a\\:b ; two\nbs=4k\n"
        self.assertEqual(jobcheck.for_guest(text, {"t", "a:b"}),
                         "[a]\nread_iolog=/job/t:made:/job/a\\:b\nbs=4k\n")  # fmt: skip
        self.assertEqual(jobcheck.for_guest(text), text.replace(" ; two", "").replace(" = ", "="))

    def test_includes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.fio"
            (Path(folder) / "itself.fio").write_text("include itself.fio\n", encoding="utf-8")
            for name, what in (("none.fio", "a.fio, line 2: can not read the file none.fio that it includes: No such"),
                               ("itself.fio", "itself.fio, line 1: more than 16 files include each other")):
                with self.subTest(name=name), self.assertRaises(SlateError) as caught:
                    jobcheck.flat(path, f"[a]\ninclude {name}\n")
                self.assertIn(what, str(caught.exception))

    def test_every_shipped_job(self) -> None:
        variables = {"SLATE_DEV": "/dev/nvme0n1", "SIZE": "100%", "LOOPS": "1", "RUNTIME": "1", "IOS": "0"}
        for path in set(paths.JOBS.glob("*.fio")) - {paths.JOBS / "calibrate.fio"}:  # of a server
            jobcheck.check(path, path.read_text(encoding="utf-8"), variables, (), [[256 << 20]] * 2)


if __name__ == "__main__":
    unittest.main()
