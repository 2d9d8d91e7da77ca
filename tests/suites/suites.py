#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run blktests, xfstests or tests of fio, from a checkout of the user's, on the drive in the Debian guest.

    suites.py DIR [--tests 'WORD ...'] [--beside-raw] [--fs FS] [--profile NAME ...] [--realtime] ...

DIR is packed, unpacked in the guest (build/image/debian.qcow2 stays as it is: the guest writes to
an overlay), and its ./check runs there as root on the drive; guest.sh does that. --raw runs it on
a raw file behind QEMU's nvme in the same guest instead, --beside-raw on one after the other.
With --profile twice there are two drives (or raw files), TEST_DEV and SCRATCH_DEV of xfstests; a third is
SCRATCH_RTDEV, the realtime device of XFS, which may have zones. blktests takes up to four. Of fio, --tests names one
program, zbd (t/zbd/test-zbd-support), pi or fdp (t/nvmept_*.py), and its options. The guest finds programs in DIR/bin
before its own.

What every test came to is in results.json and table.md in --out; ./check's own words are in
check.txt. The exit status is 0 if no test failed on the drive, 1 if one did, 2 for bad input, 3
if the guest did not get to the end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SLATE = ROOT / "host-tools" / "slate"
GUESTS = ROOT / "build" / "guest"
IMAGES = ROOT / "build" / "image"  # of the default guest; --guest names another
QEMU_IMG = ROOT / "build" / "qemu" / "qemu-img"
SHARE = "mkdir -p /run/share; mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share /run/share; "
# systemd ignores SIGPIPE for what it starts; zgrep -q then fails, and blktests finds no option of the kernel.
RUN = "env --default-signal=PIPE sh"
APPEND = "root=LABEL=root rw quiet console=ttyS0 fsck.mode=skip systemd.run=\"/bin/sh -c '{}'\""
FILE_SYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
MOST = {"fio": 1, "xfstests": 3, "blktests": 4}  # drives
REALTIME = 2  # number of the drive that is XFS's realtime device
ELF = b"\x7fELF"


class Refused(Exception):
    """Means bad input; says what is wrong, and what to do."""


@dataclass(frozen=True)
class Suite:
    """Says how to recognise a suite, and what it runs by default."""

    name: str
    marks: tuple[str, ...]  # files that it has
    programs: str  # where its compiled programs are; empty: it has none
    default: str


SUITES = (
    Suite("blktests", ("check", "common/rc", "tests/block", "tests/nvme"), "src", "block nvme"),
    Suite("xfstests", ("check", "common/rc", "ltp/fsstress.c", "tests/generic"), "ltp", "-g generic/quick"),
    Suite("fio", ("t/zbd/test-zbd-support", "t/nvmept_pi.py", "t/nvmept_fdp.py"), "", "pi"),
)


@dataclass
class Outcome:
    """One test."""

    name: str
    status: str  # pass, fail, notrun
    reason: str = ""


# ---- the checkout


def recognise(name: str) -> Suite:
    """Return the suite of a checkout, ready to run."""
    folder = Path(name)
    if not name:
        raise Refused("DIR is missing: make suites DIR=FOLDER, a built checkout of blktests or xfstests, or one of fio")
    if not folder.is_dir():
        raise Refused(f"DIR={folder}: there is no such folder; name a checkout of blktests, xfstests or fio")
    for suite in SUITES:
        if all((folder / mark).exists() for mark in suite.marks):
            if suite.programs and not is_built(folder / suite.programs):
                raise Refused(
                    f"DIR={folder}: this {suite.name} is not built: {suite.programs}/ has no program; "
                    "build it as its README says, with the compiler and libraries of the image's Debian, or older ones"
                )
            return suite
    raise Refused(
        f"DIR={folder}: is neither blktests nor xfstests nor fio; name the folder that has their 'check', or fio's 't'"
    )


def is_built(programs: Path) -> bool:
    """Is one of the files a program?"""
    for path in programs.rglob("*"):
        if path.is_file() and os.access(path, os.X_OK):
            with open(path, "rb") as file:
                if file.read(len(ELF)) == ELF:
                    return True
    return False


def check_image(guest: str | None) -> None:
    """Check that the guest's image has been built."""
    images, name = images_of(guest), f"SLATE_GUEST={guest} " if guest else ""
    for path, target in (
        (images / "debian.qcow2", f"{name}make guest-image"),
        (images / "vmlinuz", f"{name}make guest-image"),
        (QEMU_IMG, "make qemu"),
    ):
        if not path.exists():
            raise Refused(f"{path.relative_to(ROOT)} is not there: run '{target}'")


def images_of(guest: str | None) -> Path:
    """Return the folder with the disk image, the kernel and the initramfs of a guest; None: of the default one."""
    return GUESTS / guest / "image" if guest else IMAGES


# ---- the drives


def is_zoned(profile: str, settings: list[str], number: int) -> bool:
    """Has nvmeN zones? A profile that has errors has none here: 'slate run' will refuse it."""
    command = [str(SLATE), "profiles", "show", profile, "--json"]
    for line in settings:  # N:SECTION.KEY=VALUE is for nvmeN alone
        only, _, setting = line.rpartition(":") if re.match(r"\d+:", line) else ("", "", line)
        command += ["--set", setting] if only in ("", str(number)) else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and bool(json.loads(done.stdout)["ftl"] == "zns")


def check_drives(suite: Suite, place: str, args: argparse.Namespace) -> None:
    """Refuse drives on which the suite's file system cannot be."""
    most = MOST[suite.name]
    if len(args.profile) > most:
        drives = f"{most} drives" if most > 1 else "a drive"
        raise Refused(f"--profile {len(args.profile)} times: {suite.name} uses {drives} at most")
    if suite.name == "fio" and args.tests and args.tests.split()[:1] not in (["zbd"], ["pi"], ["fdp"]):
        raise Refused(f"--tests '{args.tests}': of fio name zbd, pi or fdp first, then options of that program")
    if suite.name != "xfstests":
        return
    if place == "raw":
        where, zoned = "--raw-zones", bool(args.raw_zones) and len(args.profile) <= REALTIME
    else:
        found = [name for i, name in enumerate(args.profile) if is_zoned(name, args.set, i)
                 and not (args.fs == "xfs" and i == REALTIME)]
        where, zoned = f"--profile {' '.join(found)}", bool(found)
    if len(args.profile) > REALTIME and args.fs != "xfs":
        raise Refused(f"--profile {len(args.profile)} times: the third is XFS's realtime device; use --fs xfs")
    if zoned and args.fs != "btrfs":
        why = "has no zones in Linux 6.1" if args.fs == "ext4" else "has zones on the third drive alone"
        if args.fs == "f2fs":
            why = "needs an ordinary drive for its metadata beside a zoned one, which this program does not set up"
        raise Refused(f"{where}: --fs {args.fs} {why}; use --fs btrfs, or drives without zones")
    if zoned and len(args.profile) < 2:
        raise Refused(f"{where}: a zoned drive is not halved; give --profile twice, for TEST_DEV and for SCRATCH_DEV")


# ---- one boot


def serials(place: str, args: argparse.Namespace) -> list[str]:
    """Return the serial numbers of the drives under test."""
    return [f"{place}{number or ''}" for number in range(len(args.profile))]


def stage(folder: Path, suite: Suite, place: str, args: argparse.Namespace) -> Path:
    """Make the folder that the guest shares."""
    share = folder / "share"
    share.mkdir(parents=True)
    settings = {
        "KIND": suite.name,
        "SERIALS": " ".join(serials(place, args)),
        "FS": args.fs,
        "TESTS": args.tests or suite.default,
        "QUICK_S": str(args.test_seconds),
        "QUICK": "" if args.slow else "1",
        "FORMAT": args.format,
    }
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in settings.items()]
    (share / "settings").write_text("".join(lines), encoding="utf-8")
    shutil.copy(HERE / "guest.sh", share)
    words = ["tar", "-C", str(args.dir), "--exclude=.git", "--exclude=*.o", "--exclude=./results"]
    subprocess.run([*words, "-cf", str(share / "suite.tar"), "."], check=True)
    if args.modules:
        stage_modules(share, args)
    return share


def qemu_words(raw: Path, size: str, zones: str | None) -> list[str]:
    """Return QEMU's words for a raw file behind QEMU's nvme, as a further drive; its name is the serial number."""
    serial = raw.stem
    subprocess.run(["truncate", "-s", size, str(raw)], check=True)
    node = f"driver=raw,node-name={serial},discard=unmap,file.driver=file,file.filename={str(raw).replace(',', ',,')}"
    words = ["-blockdev", node, "-device", f"nvme,serial={serial},drive={serial}"]
    if zones:
        zone_size, _, limit = zones.partition(",")
        words[-1] = f"nvme,serial={serial},id=nvme-{serial}"
        front = f"nvme-ns,bus=nvme-{serial},drive={serial},zoned=on,zoned.zone_size={zone_size}"
        words += ["-device", front + (f",zoned.max_open={limit},zoned.max_active={limit}" if limit else "")]
    return [f"--qemu-arg={word}" for word in words]


def kernel_words(args: argparse.Namespace) -> list[str]:
    """Return the options of 'slate run' for the image's kernel or the user's."""
    if not args.kernel:
        images = images_of(args.guest)
        return ["--kernel", str(images / "vmlinuz"), "--initrd", str(images / "initrd.img")]
    return ["--kernel", args.kernel, "--modules", args.modules]


def stage_modules(share: Path, args: argparse.Namespace) -> None:
    """Copy all modules of the user's kernel to the shared folder; guest.sh mounts them."""
    for top in ("lib/modules", "usr/lib/modules"):
        if (Path(args.modules) / top).is_dir():
            ignored = shutil.ignore_patterns("build", "source")
            shutil.copytree(Path(args.modules) / top, share / "modules", symlinks=True, ignore=ignored)
            return


def run(suite: Suite, place: str, args: argparse.Namespace) -> list[Outcome]:
    """Boot, and read the results."""
    folder = args.out / place
    share = stage(folder, suite, place, args)
    image = folder / "guest.qcow2"
    base = str((images_of(args.guest) / "debian.qcow2").resolve())
    subprocess.run(
        [str(QEMU_IMG), "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", base, str(image)], check=True
    )
    command = [str(SLATE), "run", "--image", str(image), *kernel_words(args)]
    checked = " no_timer_check" if args.realtime else ""  # a busy host may miss the kernel's check (docs/guests.md)
    command += ["--append", APPEND.format(f"{SHARE}{RUN} /run/share/guest.sh") + checked]
    command += ["--share", str(share), "--out", str(folder / "run"), "--fill", "0"]
    command += ["--mem", args.mem, "--smp", str(args.smp), "--timeout", str(args.timeout), "--net", "none"]
    command += [word for profile in args.profile for word in ("--profile", profile)]
    command += [word for setting in args.set for word in ("--set", setting)]
    command += ["--realtime"] if args.realtime else ["--cpu-rate", args.cpu_rate]
    raws = [folder / f"{name}.img" for name in serials(place, args)] if place == "raw" else []
    for number, raw in enumerate(raws):
        zones = args.raw_zones if len(raws) <= REALTIME or number == REALTIME else None
        command += qemu_words(raw, args.raw_size, zones)
    print(f"suites: {suite.name} on {'a raw file' if place == 'raw' else 'the drive'}: {folder}", flush=True)
    status: int | None = None
    with contextlib.suppress(subprocess.TimeoutExpired):  # what is known by then is kept
        status = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=args.limit, check=False).returncode
    for path in (image, share / "suite.tar", *raws):
        path.unlink(missing_ok=True)
    shutil.rmtree(share / "modules", ignore_errors=True)
    said = share / "check.txt"
    found = read(suite, said.read_text(encoding="utf-8", errors="replace")) if said.exists() else []
    if status == 2:  # 'slate run' has said what it refuses
        raise Refused(f"'slate run' refused: see its message above; nothing has run ({folder})")
    if status != 0 or not (share / "status").exists():
        print(f"suites: the guest did not get to the end: {len(found)} tests are known, see {folder}", file=sys.stderr)
        args.cut_short = True
    return found


# ---- what ./check says

_XFS_NAME = re.compile(r"^((?:generic|shared|xfs|ext4|btrfs|f2fs|overlay)/\d{3,4})\b(.*)$")
_BLK_NAME = re.compile(r"^(\w+/\d{3})(.*?)\s+\[(passed|failed|not run)\]\s*$")
_WORDS = {"passed": "pass", "failed": "fail", "not run": "notrun"}


def read(suite: Suite, text: str) -> list[Outcome]:
    """Return every test that ./check names."""
    return {"xfstests": read_xfstests, "blktests": read_blktests, "fio": read_fio}[suite.name](text)


def read_xfstests(text: str) -> list[Outcome]:
    """Parse 'NAME [not run] WHY', 'NAME 2s ... 3s', 'NAME [failed, ...', 'NAME - output mismatch ...'."""
    found = []
    failed = {name for line in text.splitlines() if line.startswith("Failures: ") for name in line.split()[1:]}
    for line in text.splitlines():
        match = _XFS_NAME.match(line)
        if not match:
            continue
        name, rest = match[1], match[2].strip()
        if "[not run]" in rest:
            found.append(Outcome(name, "notrun", rest.split("[not run]", 1)[1].strip()))
        elif "[expunged]" in rest:
            found.append(Outcome(name, "notrun", "expunged"))
        elif re.search(r"(^|\s)\d+s$", rest) and name not in failed:
            found.append(Outcome(name, "pass"))
        elif why := re.sub(r"^\d+s \.\.\.\s*", "", rest):
            found.append(Outcome(name, "fail", why))
        elif "\nRan: " in text:  # otherwise the run ended in this test, and it has no result
            found.append(Outcome(name, "fail", "no result"))
    return found


def read_blktests(text: str) -> list[Outcome]:
    """Parse 'NAME (WHAT) [passed]', with reasons of '[not run]' on the lines below."""
    found: list[Outcome] = []
    for line in text.splitlines():
        match = _BLK_NAME.match(line)
        if match:
            where = re.search(r"\(((?:tr|bd)=[^)]*)\)", match[2])
            name = match[1] + (f" {where[1]}" if where else "")
            found.append(Outcome(name, _WORDS[match[3]]))
        elif found and found[-1].status != "pass" and not found[-1].reason and re.match(r"    (?!\s*runtime\b)", line):
            found[-1].reason = line.strip()
    return found


_ZBD = re.compile(r"^Running test (\d+) \.\.\. (PASS|FAIL|SKIP)\b *(.*)$")
_NVMEPT = re.compile(r"^Test (\d+) (PASSED|FAILED|SKIPPED)\b:? *(.*)$")
_FORMAT = re.compile(r"^lbaf: \{'lbaf': (\d+),.*\}, pil: (\d), pitype: (\d), elba: (\d)$")


def read_fio(text: str) -> list[Outcome]:
    """Parse 'Running test N ... PASS', and 'Test N PASSED (WHAT)' below 'lbaf: ..., pil: ...' of its format."""
    found = []
    form = ""
    for line in text.splitlines():
        if where := _FORMAT.match(line):
            form = "lbaf{}/pil{}/type{}/elba{} ".format(*where.groups())
        elif (match := _ZBD.match(line)) or (match := _NVMEPT.match(line)):
            status = {"P": "pass", "F": "fail", "S": "notrun"}[match[2][0]]
            found.append(Outcome(f"{form}{match[1]}", status, match[3] if status != "pass" else ""))
    return found


# ---- tables


def summary(found: list[Outcome]) -> str:
    """Return how many of each outcome were found."""
    count = {status: sum(one.status == status for one in found) for status in ("pass", "fail", "notrun")}
    return f"{count['pass']} passed, {count['fail']} failed, {count['notrun']} not run"


def table(results: dict[str, list[Outcome]]) -> str:
    """Return a table of the tests by name, with a column for each drive."""
    names = list(dict.fromkeys(one.name for found in results.values() for one in found))
    lines = [f"| test | {' | '.join(results)} | why |", "|---" * (len(results) + 2) + "|"]
    for name in names:
        row, why = [], ""
        for found in results.values():
            one = next((one for one in found if one.name == name), None)
            row.append(one.status if one else "-")
            why = why or (one.reason if one else "")
        lines.append(f"| {name} | {' | '.join(row)} | {why.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


# ---- the command line


def parse() -> argparse.Namespace:
    """Parse the options; DIR is given by its position."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dir", metavar="DIR", help="a built checkout of blktests or xfstests, or one of fio")
    parser.add_argument("--tests", help="the words for ./check (default: 'block nvme', '-g generic/quick'), or fio's")
    parser.add_argument("--fs", default="ext4", choices=FILE_SYSTEMS, help="of xfstests (default ext4)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--raw", action="store_true", help="on a raw file behind QEMU's nvme instead of the drive")
    where.add_argument("--beside-raw", action="store_true", help="on the drive, then on a raw file")
    parser.add_argument(
        "--profile",
        action="append",
        metavar="NAME",
        help="the drive (default: default); once more for a second: of xfstests TEST_DEV and SCRATCH_DEV, "
        "instead of two halves, and a third SCRATCH_RTDEV; with --raw as many raw files",
    )
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="override the profile")
    parser.add_argument("--raw-size", default="4G", help="of the raw file (default 4G)")
    parser.add_argument(
        "--raw-zones",
        metavar="SIZE[,N]",
        help="the raw file has zones of this size, such as 4M; N: so many may be open and active",
    )
    parser.add_argument(
        "--guest", metavar="NAME", help="another guest's disk image, such as forky: SLATE_GUEST=NAME make guest-image"
    )
    parser.add_argument(
        "--format",
        default="",
        metavar="WORDS",
        help="format the drives before the tests, with these options of 'nvme format': --format='--lbaf=1 --pi=1'",
    )
    parser.add_argument("--kernel", metavar="FILE", help="a bzImage or vmlinux instead of the image's kernel")
    parser.add_argument("--modules", metavar="DIR", help="its modules: make modules_install INSTALL_MOD_PATH=DIR")
    parser.add_argument("--realtime", action="store_true", help="the host's clock instead of virtual time")
    parser.add_argument("--cpu-rate", default="1", help="instructions a ns of virtual time (default 1)")
    parser.add_argument("--smp", type=int, default=2, help="processors (default 2)")
    parser.add_argument("--mem", default="2G", help="memory (default 2G)")
    parser.add_argument("--test-seconds", type=int, default=10, help="blktests' TIMEOUT (default 10)")
    parser.add_argument("--slow", action="store_true", help="also blktests' tests that are not marked as quick")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds of silence that end a run (default 1800)")
    parser.add_argument("--limit", type=int, help="end a run after so many seconds, whatever is left to do")
    parser.add_argument("--out", type=Path, help="where results go; it must not be there (default out/suites-NNN)")
    return parser.parse_args()


def check_words(args: argparse.Namespace) -> None:
    """Check what argparse does not."""
    args.profile = args.profile or ["default"]
    if bool(args.kernel) != bool(args.modules):
        raise Refused("--kernel FILE and --modules DIR belong together; give both")
    if not re.fullmatch(r"[1-9]\d*[MG]", args.raw_size):
        raise Refused(f"--raw-size {args.raw_size}: give a number and M or G, such as 4G")
    if args.raw_zones and not re.fullmatch(r"[1-9]\d*[MG](,[1-9]\d*)?", args.raw_zones):
        raise Refused(f"--raw-zones {args.raw_zones}: give a number and M or G, such as 4M, or a limit, too: 4M,14")


def folder_for(args: argparse.Namespace) -> Path:
    """A new folder."""
    if args.out:
        if args.out.exists():
            raise Refused(f"--out {args.out}: is there already; name a new folder")
        return Path(args.out.resolve())
    number = 1
    while (ROOT / "out" / f"suites-{number:03}").exists():
        number += 1
    return ROOT / "out" / f"suites-{number:03}"


def main() -> int:
    """Run the command line."""
    args = parse()
    args.cut_short = False
    try:
        suite = recognise(args.dir)
        check_words(args)
        places = ["raw"] if args.raw else ["slate", "raw"] if args.beside_raw else ["slate"]
        for place in places:
            check_drives(suite, place, args)
        check_image(args.guest)
        args.out = folder_for(args)
        results = {place: run(suite, place, args) for place in places}
    except Refused as refused:
        print(f"suites: {refused}", file=sys.stderr)
        return 2
    (args.out / "results.json").write_text(
        json.dumps({serial: [asdict(one) for one in found] for serial, found in results.items()}, indent=1) + "\n",
        encoding="utf-8",
    )
    (args.out / "table.md").write_text(table(results), encoding="utf-8")
    print(table(results), end="")
    for serial, found in results.items():
        print(f"{serial}: {summary(found)}")
    print(f"results: {args.out}")
    if args.cut_short:
        return 3
    return int(any(one.status == "fail" for one in results.get("slate", [])))


if __name__ == "__main__":
    # Raise an exception in place of the signal's own end, so that subprocess.run() ends the guest.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
