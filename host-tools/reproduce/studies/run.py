# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py - run a study: what 'make reproduce-pen' and its like call.

    reproduce run STUDY [--quick] [--traces DIR] [--scale N] [--seeds N] [--out DIR]
                 [--jobs N] [--executor local|slurm] [--dry-run]

Checks what the user gave and starts Snakemake (build/venv-reproduce). Tables of the
full study go to docs/results/STUDY, others under build/reproduce. After a full study the
summary (summary.py) is made again.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from reproduce.pages import summary
from reproduce.papers import bands
from reproduce.papers import study as studies
from reproduce.places import ROOT
from reproduce.rows import volumes
from reproduce.rows.points import StudyError

SNAKEMAKE = ROOT / "build/venv-reproduce/bin/snakemake"
REPLAY = ROOT / "build/core/slate-replay"
CLEAR = "\r\033[K"
_STEPS = re.compile(r"^(\d+) of (\d+) steps \((\d+)%\) done")


def tables(study: studies.Study, args: argparse.Namespace) -> str:
    """Return the folder of the tables."""
    usual = not study.quick and not study.originals and study.scale == study.kind.scale and study.seeds == bands.SEEDS
    return args.out or (f"docs/results/{study.name}" if usual else f"{study.folder}/results")


def command(study: studies.Study, args: argparse.Namespace) -> list[str]:
    """Return the command line of Snakemake."""
    out = tables(study, args)
    made = [
        str(SNAKEMAKE), "--snakefile", "host-tools/reproduce/Snakefile", "--directory", str(ROOT),
        "--scheduler", "greedy", "--rerun-incomplete", "--keep-going", "--quiet", "rules",
        "--nolock", "--jobs", str(args.jobs),
    ]  # fmt: skip
    if args.executor == "slurm":
        made += [
            "--executor", "slurm", "--slurm-no-account", "--slurm-status-command", "squeue",
            "--slurm-init-seconds-before-status-checks", "5", "--seconds-between-status-checks", "5",
            "--slurm-logdir", str(ROOT / study.folder / "slurm"),
        ]  # fmt: skip
    if args.dry_run:
        made += ["--dry-run"]
    return [
        *made, "--config", f"study={study.name}", f"quick={int(study.quick)}", f"scale={study.scale}",
        f"originals={study.originals.resolve() if study.originals else ''}", f"out={out}",
        f"seeds={study.seeds}",
    ]  # fmt: skip


def run(line: list[str], log_path: Path) -> int:
    """Run Snakemake. Show its progress, keep its output in a log, and show the log's end if it fails."""
    log_path.parent.mkdir(parents=True, exist_ok=True)
    terminal, shown = sys.stderr.isatty(), -1
    with open(log_path, "w+", encoding="utf-8", errors="replace") as log:
        done = subprocess.Popen(
            line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        assert done.stdout
        for said in done.stdout:
            log.write(said)
            match = _STEPS.search(said)
            if match and (terminal or int(match[3]) // 10 > shown):
                shown = int(match[3]) // 10
                print(f"{CLEAR if terminal else ''}reproduce  {match[1]} of {match[2]} steps, {match[3]} %",
                      end="" if terminal else "\n", file=sys.stderr, flush=True)
        status = done.wait()
        print(CLEAR if terminal else "", end="", file=sys.stderr)
        if status:
            log.seek(0)
            print("".join("  | " + said for said in log.readlines()[-30:]), end="", file=sys.stderr)
            print(f"reproduce run: snakemake ended with status {status}: all it said is in {log_path}", file=sys.stderr)
    return status


def alone() -> TextIO:
    """Take a lock, so that only one study runs at a time. It is released when the process ends for any reason."""
    folder = ROOT / "build/reproduce"
    folder.mkdir(parents=True, exist_ok=True)
    lock = open(folder / "lock", "w", encoding="ascii")  # noqa: SIM115 (open until the process ends)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StudyError("another study is at work in this tree: wait for it, or end it") from None
    return lock


def main(argv: list[str]) -> int:
    """Run the command line. Returns Snakemake's exit status, or 2 with a sentence on stderr for bad input."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="reproduce a paper's figures")
    parser.add_argument("study", choices=tuple(studies.KINDS))
    parser.add_argument("--quick", action="store_true", help="fewer traces and figures, within three minutes")
    parser.add_argument("--traces", metavar="DIR", help="of real traces (default: made ones)")
    parser.add_argument("--scale", type=int, metavar="N", help="divide drive and traces by N")
    parser.add_argument("--seeds", type=int, default=bands.SEEDS, metavar="N", help=f"of bands ({bands.SEEDS})")
    parser.add_argument("--out", metavar="DIR", help="of the tables")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="runs at once")
    parser.add_argument("--executor", choices=("local", "slurm"), default="local")
    parser.add_argument("--dry-run", action="store_true", help="only say what would run")
    args = parser.parse_args(argv)
    try:
        if args.scale is not None and args.scale < 1:
            raise StudyError(f"--scale {args.scale}: must be 1 or more")
        if args.jobs < 1:
            raise StudyError(f"--jobs {args.jobs}: must be 1 or more")
        if args.seeds < 2:
            raise StudyError(f"--seeds {args.seeds}: a band needs 2 or more")
        study = studies.of(args.study, args.quick, args.scale, args.traces or None, args.seeds)
        study.kind.drives(study.scale)
        recorders = [(ROOT / name, "make build guest-apps guest-content") for name in study.recorders()]
        for needed, target in ((SNAKEMAKE, "make venv-reproduce"), (REPLAY, "make core"), *recorders):
            if not needed.exists():
                raise StudyError(f"{needed.relative_to(ROOT)} is not there: '{target}' first")
        if study.originals and study.kind.beside:
            for path in volumes.found(study.originals).values():
                volumes.check(path, REPLAY, ROOT / "nand-emu/profiles/spread.ini")
        lock = alone()
    except StudyError as error:
        print(f"reproduce run: {error}", file=sys.stderr)
        return 2
    with lock:
        if args.dry_run:
            return subprocess.run(command(study, args), cwd=ROOT, check=False).returncode
        status = run(command(study, args), ROOT / study.folder / "snakemake.log")
    if not status and tables(study, args) == f"docs/results/{study.name}":
        summary.main([])
    if not status:
        print(f"reproduce  the tables are in {tables(study, args)}/README.md")
    return status
