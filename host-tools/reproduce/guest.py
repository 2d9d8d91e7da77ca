#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guest.py - what the drive counted of each fio job of a guest, in slate-replay's form.

    guest.py RUN POINTS JOB ...

RUN is the folder of 'slate run'; POINTS/JOB/guest.device.json are written: of measures.py's
keys those of bytes, times and read amplification.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from slate_lib.account import Device, JobAccount, raf_parts  # noqa: E402


def result_of(job: JobAccount) -> dict:
    """The keys that figure 18 needs."""
    host = {name: {"ios": op.ios, "bytes": op.bytes} for name, op in job.account.op.items()}
    parts = raf_parts(job.account)
    return {"time": {"begin_ns": job.begin_ns, "end_ns": job.end_ns}, "host": host, "raf_by": parts}


def main(argv: list[str]) -> int:
    """Returns 1 with a sentence on stderr when a job is missing."""
    if len(argv) < 3:
        print("usage: guest.py RUN POINTS JOB ...", file=sys.stderr)
        return 2
    device = Device(json.loads((Path(argv[0]) / "device.json").read_text(encoding="utf-8")))
    made = {}
    for name in argv[2:]:
        job = device.job(name)
        if job is None or job.shared:
            print(f"guest.py: {argv[0]}: no job '{name}' that ran alone: run fio-jobs/spread-reads.fio", file=sys.stderr)
            return 1
        made[name] = result_of(job)
    for name, result in made.items():
        path = Path(argv[1]) / name / "guest.device.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
