# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks drives without a boot (--check-on-host): each cut gives an image of what its drive has, for a check here.

slate-replay --cuts makes all cuts of a group in one replay, in copies of its process that mount the drive, write the
image and execute the check. So a cut costs neither a replay nor a boot's share, and the check is a native program. But
no kernel recovers the file system: e2fsck replays the journal.

How busy this machine is must not change a verdict. So a process of the check is killed after CHECK_SECONDS of CPU time,
not of wall time. The check's exit status is the verdict: it should treat a killed program as its own failure (status 4
or more). A check that has not ended after --timeout seconds has no verdict: the campaign ends with an error.
"""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path

from ..errors import MachineError
from ..shape import Json
from .campaign import CHECK_SECONDS, Campaign, Moment, Recorded
from .files import replayed, with_room
from .times import announced

# Runs the check of an image in the folder of the work's programs, as a guest does (jobs/cuts-check.sh). It fails, which
# ends the replay, and makes IMAGE.late if the check has not ended in time.
_RUN = """\
#!/bin/sh
cd "${{0%/*}}" || exit
export PATH="$PATH:/usr/sbin:/sbin" {environment}
ulimit -t {cpu_seconds}
read -r began _ </proc/uptime
SLATE_DEV=$1 DURABLE=$1.durable timeout -s KILL {seconds:g} ./check </dev/null >"$1.said" 2>&1
status=$?
read -r ended _ </proc/uptime
if [ $status -eq 137 ] && [ $((${{ended%.*}} - ${{began%.*}})) -ge {whole_seconds} ]; then
	: >"$1.late"
	exit 1
fi
printf '\\nstatus %s\\n' $status >>"$1.said"
"""


def lines(campaign: Campaign, work: Recorded, moments: list[Moment]) -> list[Json]:
    """Return the log's lines for some cuts, in their order."""
    began = time.monotonic()
    cuts = [
        (moment, campaign.folder / f"host-{at}.img", announced(work.report, moment.at_ns))
        for at, moment in enumerate(moments)
    ]
    room = campaign.folder / "host-image"
    room.touch()
    for _, image, durable in cuts:
        image.unlink(missing_ok=True)
        image.hardlink_to(room)  # all have one file, one after the other, so that none needs new room
        Path(f"{image}.durable").write_bytes(b"".join(durable))
        Path(f"{image}.late").unlink(missing_ok=True)
    listing = campaign.folder / "host-cuts"
    listing.write_text("".join(f"{moment.at_ns} {moment.plan.seed} {image}\n" for moment, image, _ in
                               sorted(cuts, key=lambda cut: cut[0].at_ns)), encoding="utf-8")  # fmt: skip
    try:
        with with_room(campaign.folder):
            replayed(f"cuts {moments[0].id} to {moments[-1].id}", "--drive", campaign.origin, "--ephemeral", "--open",
                     "--cuts", listing, "--cuts-run", _programs(campaign, work), *campaign.kind.replay,
                     work.trace)  # fmt: skip
    except MachineError:
        for moment, image, _ in cuts:
            if Path(f"{image}.late").exists():
                raise MachineError(f"cut {moment.id}: its check took longer than {campaign.base.timeout:g} s",
                                   "raise --timeout, or make the check faster") from None  # fmt: skip
        raise
    seconds = (time.monotonic() - began) / len(moments)
    return [_line(moment, image, durable, seconds) for moment, image, durable in cuts]


def _line(moment: Moment, image: Path, durable: list[bytes], seconds: float) -> Json:
    """Return a cut's line, and remove its files."""
    report, said = Path(f"{image}.json"), Path(f"{image}.said")
    account = json.loads(report.read_text(encoding="utf-8"))
    power = account["power"] | {"gc-runs": account["gc"]["calls"]}
    line = moment.line(power, durable, said.read_text(encoding="utf-8", errors="replace"), seconds)
    for path in (image, report, said, Path(f"{image}.durable")):
        path.unlink(missing_ok=path is image)
    return line


def _programs(campaign: Campaign, work: Recorded) -> Path:
    """Make a folder with the work's programs, and return the one that runs the check there."""
    folder = campaign.folder / "host"
    folder.mkdir(exist_ok=True)
    environment = campaign.workload.environment | {"CUTS_SEED": str(work.seed)}
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    run = _RUN.format(environment=words, cpu_seconds=CHECK_SECONDS, seconds=campaign.base.timeout,
                      whole_seconds=int(campaign.base.timeout))  # fmt: skip
    for name, data in (campaign.workload.programs | {"run": run.encode()}).items():
        path = folder / name
        path.write_bytes(data)
        path.chmod(0o755)
    return folder / "run"
