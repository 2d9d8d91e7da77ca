# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes jobs by Snakemake, for --executor: on a cluster whose machines share the folders of clone and results.

Each job is a file, and a rule's job is 'slate study --job FILE': it executes the job and leaves NAME.done with the
reason of a failure, or an empty file. A job that fails so is no error for Snakemake, which goes on with the others.
"""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from .. import paths
from ..errors import MachineError, SlateError, quoted
from .jobs import Job
from .pool import Done, mib_of
from .store import Store, no_room

SNAKEMAKE = paths.BUILD / "venv-reproduce" / "bin" / "python3"
MINUTES_LEAST, ROOM = 10, 4  # of a job's time on a cluster; times what the last one of its family took
UNKNOWN_MINUTES = 120
SLURM = ("--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "5",
         "--seconds-between-status-checks", "5")  # fmt: skip
RULES = """\
import json, pathlib

HERE = pathlib.Path(workflow.basedir)
JOBS = json.loads((HERE / "jobs.json").read_text())


rule all:
    input:
        expand("{{name}}.done", name=JOBS),


rule job:
    input:
        "{{name}}.json",
    output:
        "{{name}}.done",
    resources:
        mem_mb=lambda wildcards: JOBS[wildcards.name]["mem_mb"],
        runtime=lambda wildcards: JOBS[wildcards.name]["minutes"],
    shell:
        "{command} study --job {{input}} >{{output}}.part && mv {{output}}.part {{output}}"
"""


def check() -> None:
    """Refuse an executor where there is no Snakemake."""
    if not SNAKEMAKE.exists():
        fix = "run the study in a clone" if paths.INSTALLED else paths.make("venv-reproduce")
        raise SlateError("--executor needs Snakemake, which is not there", fix)


def minutes(store: Store, job: Job) -> int:
    """Return the minutes that a cluster must grant a job."""
    took = store.seconds(job.family)
    return UNKNOWN_MINUTES if took is None else max(MINUTES_LEAST, round(took * ROOM / 60))


def command(folder: Path, executor: str, count: int) -> list[str]:
    """Return Snakemake's command line."""
    return [
        str(SNAKEMAKE), "-m", "snakemake", "--snakefile", str(folder / "Snakefile"), "--directory", str(folder),
        "--scheduler", "greedy", "--rerun-incomplete", "--keep-going", "--nolock", "--quiet", "all",
        "--jobs", str(count), "--executor", executor, *(SLURM if executor == "slurm" else ()),
    ]  # fmt: skip


def run_all(store: Store, jobs: list[Job], folder: Path, executor: str, count: int, done: Done) -> None:
    """Execute jobs by Snakemake, so many at once, and call done() for each in the end."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.done"):
            path.unlink()
        table = {job.hash: {"mem_mb": mib_of(store, job), "minutes": minutes(store, job)} for job in jobs}
        (folder / "jobs.json").write_text(json.dumps(table, indent=1), encoding="utf-8")
        launcher = f"{shlex.quote(sys.executable)} {shlex.quote(str(paths.TOOLS / 'slate'))}"
        (folder / "Snakefile").write_text(RULES.format(command=launcher), encoding="utf-8")
        for job in jobs:
            (folder / f"{job.hash}.json").write_text(job.text(), encoding="utf-8")
    except OSError as error:
        raise no_room(folder, error) from None
    log = folder / "snakemake.log"
    with open(log, "wb") as said:
        child = subprocess.Popen(command(folder, executor, count), stdout=said, stderr=said, start_new_session=True)
        try:
            status = child.wait()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)  # Snakemake ends its jobs
            child.wait()
            raise
    ended = [job for job in jobs if (folder / f"{job.hash}.done").is_file()]
    if status and not ended:
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:]
        raise MachineError(f"snakemake ended with status {status}:{quoted(tail)}", f"all that it said is in {log}")
    for job in jobs:
        path = folder / f"{job.hash}.done"
        reason = path.read_text(encoding="utf-8").strip() if path.is_file() else f"snakemake did not finish it: {log}"
        done(job, reason)
