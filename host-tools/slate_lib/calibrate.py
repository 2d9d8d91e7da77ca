# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate calibrate' finds the rate of the guest's processors that makes them as fast as a server's.

The server runs fio-jobs/calibrate.fio on null_blk, whose reads complete inline: the mean latency
is the time in which its processor executes fio's, the kernel's and null_blk's instructions for
a 4 KiB read. The guest runs the same job at a known rate R0. Instructions of a read are about
as many on both, so the server's rate is R0 x guest's mean / server's mean.

The packaged kernel is used, because it is configured like a server's; the rate then holds for
both kernels. Between rates, the guest's mean times the rate differs by 0.1 %, because timer
interrupts come by time: the result has two decimals. null_blk has a queue of one request,
because the search for a free one begins at random and then costs up to ten instructions more.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from fractions import Fraction
from pathlib import Path

from . import fioresult, launch, paths, processors, units
from .commands import Option
from .errors import MACHINE_FAILED, OK, SlateError
from .shape import Json

JOB = paths.JOBS / "calibrate.fio"
NAME = "calibrate"
GUEST_IOS = 20_000
LEAST_IOS = 10_000
# An I/O that sleeps switches to another task, and one that completes inline does not: more switches are refused.
SWITCHES_PER_IO = 0.1
EXAMPLES = """\
on the server, as root:
  modprobe null_blk queue_mode=2 hw_queue_depth=1 irqmode=0
  echo none >/sys/block/nullb0/queue/scheduler
  fio --output-format=json --output=fio.json calibrate.fio      fio-jobs/calibrate.fio of the clone
then here:
  slate calibrate fio.json
"""
_AGAIN = f"run fio-jobs/{JOB.name} as it is on the server: fio --output-format=json --output=fio.json {JOB.name}"
_NULL_BLK = "modprobe -r null_blk; modprobe null_blk queue_mode=2 hw_queue_depth=1 irqmode=0; then run the job again"
# fio must have used these options: (option, its value, fio's default).
_ASKED = (
    ("ioengine", "psync", "psync"),
    ("rw", "randread", "read"),
    ("direct", "1", "0"),
    ("iodepth", "1", "1"),
    ("numjobs", "1", "1"),
    ("clocksource", "clock_gettime", "cpu"),
)
# The shipped job has these options, as fio names them in its result. Any other may change what a read costs.
_KNOWN = {key for key, _, _ in _ASKED} | {"bs", "filename", "name", "norandommap", "cpus_allowed", "number_ios"}
_KNOWN |= {"clat_percentiles", "lat_percentiles"}
_SCRIPT = """\
modprobe null_blk queue_mode=2 hw_queue_depth=1 irqmode=0 || exit 1
echo none >/sys/block/nullb0/queue/scheduler
cat >/tmp/{name} <<'END'
{job}
END
cd "$OUT" && exec fio --output-format=json --eta=never --output=fio.json /tmp/{name}
"""


OPTIONS = (Option("result", "FIO.JSON", "what fio wrote on the server for fio-jobs/calibrate.fio"),)


# ---- the result of the server


def read(path: Path) -> float:
    """Return the mean latency in ns of fio's result. Raises a SlateError if the result cannot be used."""
    return _checked(path, fioresult.load(path, "name the fio.json of the server", _AGAIN))


def _checked(path: Path, fio: Json) -> float:
    names = fioresult.sections(fio)
    if names != [NAME] or len(fio["jobs"]) != 1:
        told = ", ".join(names) or "none"
        raise SlateError(f"{path}: it holds other jobs than one [{NAME}]: {told}", _AGAIN)
    job = fio["jobs"][0]
    _check_options(path, {**fio.get("global options", {}), **job.get("job options", {})})
    if errors := fioresult.errors(fio):
        raise SlateError(f"{path}: {errors[0]}", "correct that on the server, then run the job again")
    rows = fioresult.rows(fio)
    if [row.op for row in rows] != ["read"] or rows[0].ios < LEAST_IOS:
        ios = rows[0].ios if rows else 0
        raise SlateError(
            f"{path}: {units.count(ios)} reads are too few for a mean", f"{_AGAIN} (at least {units.count(LEAST_IOS)})"
        )
    switches = job.get("ctx", 0)
    if isinstance(switches, int) and switches > SWITCHES_PER_IO * rows[0].ios:
        raise SlateError(
            f"{path}: {units.count(switches)} context switches in {units.count(rows[0].ios)} reads: null_blk did not "
            "complete them inline",
            _NULL_BLK,
        )
    if rows[0].mean_ns <= 0:
        raise SlateError(f"{path}: the mean latency (lat_ns) is 0", _AGAIN)
    return rows[0].mean_ns


def _check_options(path: Path, told: dict[str, str]) -> None:
    """Check the job's options, which must be those of the shipped job."""
    for key, wanted, default in _ASKED:
        if (value := told.get(key, default)) != wanted:
            raise SlateError(f"{path}: it is of a job with {key}={value}, not {key}={wanted}", _AGAIN)
    size = told.get("bs", "4096")
    try:
        same = units.parse_size(size) == 4096
    except ValueError:
        same = False
    if not same:
        raise SlateError(f"{path}: it is of a job with bs={size}, not bs=4k", _AGAIN)
    device = told.get("filename", "no device")
    if not re.fullmatch(r"/dev/nullb\d+", device):
        raise SlateError(
            f"{path}: it was run on {device}, not on null_blk (/dev/nullb0), so its latency is not the processor's",
            _NULL_BLK,
        )
    for key, value in told.items():
        if key not in _KNOWN:
            option = f"{key}={value}" if value else key
            raise SlateError(f"{path}: it is of a job with {option}, which {JOB.name} has not", _AGAIN)


# ---- the result of the guest


def script(text: str) -> str:
    """Return the script that runs the job in the guest, with I/Os for some seconds of the host's time."""
    job, found = re.subn(r"^number_ios=\d+$", f"number_ios={GUEST_IOS}", text, flags=re.M)
    if found != 1:
        raise SlateError(f"{paths.short(JOB)} has no line number_ios=N", "restore the file from the clone")
    return _SCRIPT.format(name=JOB.name, job=job)


def guest(rate: str) -> float:
    """Return the mean latency in ns of the guest at a rate."""
    with tempfile.TemporaryDirectory(prefix="slate-calibrate-") as folder:
        job, out = Path(folder) / "calibrate.sh", Path(folder) / "run"
        job.write_text(script(JOB.read_text(encoding="utf-8")), encoding="utf-8")
        words = ["--cmd", str(job), "--out", str(out), "--profile", str(paths.PROFILES / "small.ini")]
        launch.quietly([*words, "--fill", "0", "--cpu-rate", rate])
        try:
            return read(out / "fio.json")
        except SlateError as error:  # the server is not the cause
            raise SlateError(f"the guest's result is no good: {error.message}", code=MACHINE_FAILED) from None


# ---- the rate


def rate_of(server_ns: float, guest_ns: float, guest_rate: str) -> str:
    """Return the server's rate. Raises a SlateError if --cpu-rate would refuse it."""
    found = Fraction(guest_rate) * Fraction(guest_ns) / Fraction(server_ns)
    if not processors.RATE_MIN <= found <= processors.RATE_MAX:
        raise SlateError(
            f"the server's mean of {server_ns:,.0f} ns, where the guest has {guest_ns:,.0f} ns at {guest_rate} GIPS, "
            f"is a rate of {float(found):.3g}: --cpu-rate takes {float(processors.RATE_MIN):g} to "
            f"{float(processors.RATE_MAX):g}",
            "look whether the server was busy or its null_blk has other parameters (queue_mode=2 hw_queue_depth=1 "
            "irqmode=0, no memory_backed, no completion_nsec), and run the job again",
        )
    return processors.rate(f"{float(found):.2f}")


def run_command(args: argparse.Namespace) -> int:
    """Execute 'slate calibrate'."""
    server_ns = read(Path(args.result))
    print(f"server    {server_ns:,.1f} ns: the mean of 4 KiB reads on null_blk", flush=True)
    guest_rate = processors.RATE
    guest_ns = guest(guest_rate)
    rate = rate_of(server_ns, guest_ns, guest_rate)
    instructions = guest_ns * float(guest_rate)
    print(f"guest     {guest_ns:,.1f} ns at {guest_rate} GIPS: {instructions:,.0f} instructions in each")
    print(f"rate      {rate} = {guest_rate} x {guest_ns:,.1f} / {server_ns:,.1f}: slate run --cpu-rate {rate}")
    return OK
