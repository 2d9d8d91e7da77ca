# SPDX-License-Identifier: GPL-2.0-or-later
"""record.py - record what programs of this machine write to a drive: content traces for reproduce-dac-long.

    reproduce record [--mib N] [--minutes N] [--seed N] [--out DIR] [NAME ...]

NAME is pc, synth, web or iot (default: all). Needs root, /dev/fuse and a loop device. For each NAME:
qemu-storage-daemon shows a new drive (host/drive.ini) as a file, by FUSE, and records it; a loop device and ext4 are on
the file; host/host_NAME.py runs programs on it until N MiB (default 4300) were written to the device, or N minutes
(default 60) are over. The recording is DIR/NAME.content (default: build/reproduce/content-long), whole or not there.
Debian packages that are missing (packages.d/more/recordings.txt) are installed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from reproduce import places
from reproduce.places import ROOT

DRIVE = places.PACKAGE / "host/drive.ini"
DAEMON = ROOT / "build/qemu/qemu-storage-daemon"
PACKAGES = ROOT / "host-tools/packages.d/more/recordings.txt"
NAMES = ("pc", "synth", "web", "iot")
DRIVE_MIB = 4096
SCRATCH_MIB = 2048  # inputs, and temporary files of programs


class RecordError(Exception):
    """Carries an error message for the user."""


def said(*words: object) -> str:
    """Run a program and return what it prints. Raises RecordError with that if it fails."""
    line = [str(word) for word in words]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RecordError(f"{' '.join(line)}: status {done.returncode}: {done.stdout.strip()}")
    return done.stdout.strip()


def check(daemon: Path, mib: int, out: Path) -> None:
    """Raise RecordError if something is missing."""
    if os.geteuid():
        raise RecordError("needs root, for a loop device and a file system on it")
    if not daemon.exists():
        raise RecordError(f"{daemon} is not there: 'make qemu' first")
    for device in ("/dev/fuse", "/dev/loop-control"):
        if not Path(device).exists():
            raise RecordError(f"{device} is not there: load the kernel module {device[5:].split('-', maxsplit=1)[0]}")
    there = next(folder for folder in (out, *out.parents) if folder.exists())  # it is made when all is well
    wanted, free = 2 * mib + SCRATCH_MIB, shutil.disk_usage(there).free >> 20
    if free < wanted:
        raise RecordError(f"{out} has {free} MiB free, and a recording may need {wanted}: name another folder by --out")
    rows = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    memory = int(rows["MemAvailable"].split()[0]) >> 10
    if memory < DRIVE_MIB * 3 // 2 + 1024:
        raise RecordError(f"{memory} MiB of memory are available, and the drive may need {DRIVE_MIB * 3 // 2 + 1024}")


def mounts(table: Path = Path("/proc/self/mountinfo")) -> list[str]:
    """Return the mount points; the kernel writes spaces and the like in octal."""
    rows = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), row.split()[4]) for row in rows]


@contextlib.contextmanager
def temporary(out: Path) -> Iterator[Path]:
    """Make a folder, and remove it unless something in it is still mounted: its files would be removed, too."""
    folder = Path(tempfile.mkdtemp(prefix="record-", dir=out.resolve()))
    try:
        yield folder
    finally:
        left = [one for one in mounts() if Path(one).is_relative_to(folder)]
        if left:
            still = f"{' and '.join(left)} {'is' if len(left) == 1 else 'are'} still mounted"
            print(f"reproduce record: {folder} is kept, since {still}: unmount that, then remove it", file=sys.stderr)
        else:
            shutil.rmtree(folder)


def running(pid: int) -> bool:
    """Is the process there? One that ended and waits for its parent is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def option(path: Path) -> str:
    """Return a path as a value in an option of QEMU, where a comma is doubled."""
    return str(path).replace(",", ",,")


@contextlib.contextmanager
def exported(daemon: Path, folder: Path, recording: Path) -> Iterator[Path]:
    """Show a new drive, which is recorded, as a file. The recording is complete when the context ends."""
    image, pid_file = folder / "drive.raw", folder / "daemon.pid"
    image.touch()
    drive = f"driver=nand-ssd,node-name=drive,profile={option(DRIVE)},record-content={option(recording)}"
    export = f"type=fuse,id=export,node-name=drive,mountpoint={option(image)},writable=on"
    said(daemon, "--daemonize", "--pidfile", pid_file, "--blockdev", drive, "--export", export)
    pid = int(pid_file.read_text(encoding="ascii"))
    try:
        yield image
    finally:
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 300
        while running(pid) and time.monotonic() < until:
            time.sleep(0.1)
        if running(pid):
            os.kill(pid, signal.SIGKILL)
            raise RecordError(f"qemu-storage-daemon ({pid}) did not end in five minutes")


@contextlib.contextmanager
def mounted(image: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Make an ext4 on a loop device on the file, and mount it. Yields the device's name and the folder.

    Tables and journal are not zeroed first, since the drive is new: these zeroes would be most of its first writes.
    """
    device, where = said("losetup", "--find", "--show", "--direct-io=on", image), folder / "drive"
    try:
        said("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1", device)
        where.mkdir()
        said("mount", "-t", "ext4", "-o", "noinit_itable", device, where)
        try:
            yield device.removeprefix("/dev/"), where
        finally:
            unmount(where)
    finally:
        said("losetup", "--detach", device)


def unmount(where: Path) -> None:
    """Unmount; a program that ends may hold files for some seconds."""
    for attempt in range(30):
        try:
            said("umount", where)
            return
        except RecordError:
            if attempt == 29:
                raise
            time.sleep(1)


def written(device: str) -> int:
    """Return the sectors written to the device since the machine started."""
    return int(Path(f"/sys/class/block/{device}/stat").read_text(encoding="ascii").split()[6])


def work(name: str, device: str, where: Path, folder: Path, args: argparse.Namespace) -> None:
    """Run the programs in a process group of their own, which ends with this context for any reason."""
    scratch = folder / "scratch"
    scratch.mkdir()
    env = {
        **os.environ, "RECORD_DRIVE": str(where), "RECORD_SCRATCH": str(scratch), "RECORD_DEVICE": device,
        "RECORD_BEFORE": str(written(device)),
        "RECORD_MIB": str(args.mib), "RECORD_MINUTES": str(args.minutes), "RECORD_SEED": str(args.seed),
        "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8", "TMPDIR": str(scratch),
    }  # fmt: skip
    line = [sys.executable, str(places.PACKAGE), f"host-{name}"]
    with subprocess.Popen(line, env=env, start_new_session=True) as programs:
        try:
            status = programs.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(programs.pid, signal.SIGKILL)
    if status:
        raise RecordError(f"host-{name}: status {status}")


def record(name: str, args: argparse.Namespace) -> None:
    """Make a recording."""
    args.out.mkdir(parents=True, exist_ok=True)
    check(args.daemon, args.mib, args.out)
    began = time.monotonic()
    with temporary(args.out) as folder:
        recording = folder / f"{name}.content"
        with (
            exported(args.daemon, folder, recording) as image,
            mounted(image, folder) as (device, where),
        ):
            print(f"{name}: on {device}", flush=True)
            before = written(device)
            work(name, device, where, folder, args)
            said("sync", "-f", where)
            mib = (written(device) - before) >> 11
        os.replace(recording, args.out / f"{name}.content")
    print(f"{name}: {mib} MiB written in {(time.monotonic() - began) / 60:.1f} minutes: {args.out / name}.content")


def ended(number: int, _: object) -> None:
    """End as after an error, with the clean-up, which another signal does not interrupt."""
    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    sys.exit(128 + number)


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing or fails."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="record what programs of this machine write")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--mib", type=int, default=4300, metavar="N", help="to be written to the device")
    parser.add_argument("--minutes", type=float, default=60, metavar="N", help="at most, for each")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--out", type=Path, default=ROOT / "build/reproduce/content-long", metavar="DIR")
    parser.add_argument("--daemon", type=Path, default=DAEMON, metavar="FILE", help="another qemu-storage-daemon")
    args = parser.parse_args(argv)
    args.out = args.out.absolute()
    # An interrupt, an end by 'kill' and a closed terminal clean up as an error does; 'nohup' ignores the last.
    signal.signal(signal.SIGTERM, ended)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, ended)
    try:
        for name in args.names:
            if name not in NAMES:
                raise RecordError(f"unknown workload '{name}'; expected one of {', '.join(NAMES)}")
        if args.mib < 1 or args.minutes <= 0:
            raise RecordError("--mib and --minutes must be more than 0")
        check(args.daemon, args.mib, args.out)
        said(ROOT / "host-tools/install-packages.sh", PACKAGES)
        for name in args.names or NAMES:
            record(name, args)
    except (RecordError, OSError) as error:
        print(f"reproduce record: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
