# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the QEMU command line of a run, and the files it names.

Virtual time: the guest's clock counts instructions and skips idle time, so a run depends only on
its inputs. Devices and commands whose timing depends on the host (sockets that fill up,
virtio-serial, monitor commands) are not used while the guest runs.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from . import fioseed, namespaces, paths
from .drives import Drive
from .errors import SlateError
from .options import RunOptions

NODE = "ssd0"  # the first drive's node
MARKS = "slate-marks"  # device of slate-mark in a guest with several drives
GUEST_CONTROL = "logs"  # the default of a nand-ssd
# A guest does not need these parts of the boot; host-tools/guest/README.md says why.
BOOT_FAST = (
    "cryptomgr.notests",
    "no_timer_check",
    "init_on_alloc=0",
    "rodata=off",
    "tsc=reliable",
    "random.trust_cpu=on",
)
# In virtual time the time-stamp counter counts ns. Linux would measure that, by 2.5 million reads of the PIT,
# and find 1 ppm less.
VIRTUAL_TSC = "tsc_early_khz=1000000"
# Linux would measure for a millisecond how long an access to the HPET takes, by 800,000 reads and as many writes.
# Only programs that use /dev/hpet need the result.
NO_HPET_CALIBRATION = "initcall_blacklist=hpet_late_init"
# The firmware only has to start the kernel. It would wait for disks at each of six SATA ports, by 290,000 reads
# of a timer, and identify 256 namespaces of the drive to boot from.
NO_OTHER_BOOT = ("-M", "sata=off", "-boot", "strict=on")
# The small kernel's tick is never stopped: stopping and starting it would make the cost of
# an I/O vary.
SMALL_WORDS = ("nohz=off",)
# Images lie in the guest's memory from here on, above the kernel and below the initramfs,
# which ends where memory does. Blocks of persistent memory begin at multiples of 2 MiB.
IMAGES_AT = 256 << 20
IMAGE_ALIGN = 2 << 20
# These CPU features are off in virtual time. A vCPU that waits by MWAIT would spin. Each step of a
# repeated string instruction counts as an instruction. Without ERMS and FSRM Linux copies and
# clears 8 bytes in a step, 32 GB/s at a rate of 4; with them it would be one byte.
VIRTUAL_CPU = "max,-monitor,-erms,-fsrm"
# Linux need not calibrate the delay loop of each further processor if the time-stamp counter's rate never changes.
# Only Slate's guest gets the feature: it boots with tsc=reliable, so Linux trusts the vCPUs' counters although they
# differ by up to a quantum.
SEVERAL_CPUS = ",+invtsc"
# Up to the moment when it gets its job, a guest has this seed instead of the run's, so that a snapshot serves all.
BOOT_SEED = 1
sys.path.insert(0, str(paths.GUEST_TOOLS))


@dataclass
class Files:
    """Holds the paths of QEMU's input and output."""

    initrd: Path
    console: Path
    results: Path
    qmp_fd: int = -1
    job: Path = Path("job")  # the archive for a guest that gets its job after the boot
    ram: Path | None = None  # the guest's memory is this file
    restored: bool = False  # from a snapshot, whose memory that is


def kernel_file(options: RunOptions) -> Path:
    """Return the kernel that QEMU boots for Slate's guest."""
    return options.own_kernel.boot if options.own_kernel else paths.kernel(options.kernel, options.smp)


def check_built(options: RunOptions) -> None:
    """Check that everything that a run needs has been built."""
    small = options.kernel == "small"
    needed = [
        (paths.QEMU, "qemu"),
        (kernel_file(options), "guest-kernel" if small else "guest"),
        *((path, "guest") for path in (*paths.archives(options.kernel), paths.firmware())),
    ]
    handoff = paths.GUEST / "programs" / "slate-handoff"
    if options.handoff and kernel_file(options).exists() and not handoff.exists():
        raise SlateError(
            f"guest {paths.GUEST.name} was made by an earlier build: it has no slate-handoff",
            "run 'make guest', or for a guest of your own the 'slate guest make' that made it",
        )
    if options.apps:
        needed.append((paths.APPS_IMAGE, "guest-apps"))
    needed += [(path, "guest-content") for path in options.work.images()]
    for path, phase in needed:
        if not path.exists():
            raise SlateError(f"{paths.short(path)} is not there: {_BUILT_BY[phase]} not been built", _fix(phase, small))


_BUILT_BY = {
    "qemu": "QEMU has", "guest": "the guest has", "guest-kernel": "the small kernel has",
    "guest-apps": "the guest's image of applications has", "guest-content": "the guest's programs for --content have",
}  # fmt: skip


def _fix(phase: str, small: bool) -> str:
    """Return the target that builds a part, and for the default guest the one that builds all that a run needs."""
    if paths.INSTALLED or paths.GUEST.name != paths.DEFAULT_GUEST:
        return paths.make(phase)
    everything = {"guest-apps": "make run APP=NAME", "guest-content": "make guest-content"}.get(
        phase, "make run KERNEL=small" if small else "make run"
    )
    return f"run 'make {phase}', or '{everything}', which builds everything first"


def check_qemu() -> None:
    """Check that QEMU has been built, which is all that a guest of the user's own needs."""
    if not paths.QEMU.exists():
        raise SlateError(f"{paths.short(paths.QEMU)} is not there: QEMU has not been built", paths.make("qemu"))


def job_entries(options: RunOptions) -> list[tuple[str, int, bytes]]:
    """Return the files of the job, for its cpio archive."""
    text, script = 0o100644, 0o100755
    entries: list[tuple[str, int, bytes]] = []
    environment = [
        f"SLATE_DEV={options.device}",
        f"SLATE_SEED={options.seed}",
        f"SLATE_FIO_SEED={fioseed.of(options.seed, fioseed.JOB)}",
        *(f"{name}={shlex.quote(value)}" for name, value in (options.environment | options.work.environment()).items()),
    ]
    if options.handoff and options.work.script_args:
        entries.append(("job/args", text, (",".join(options.work.script_args) + "\n").encode()))
    if options.more:
        devices = " ".join(f"/dev/{drive.block}" for drive in options.drives)
        environment += [f"SLATE_DEVS='{devices}'", ". ./drives.sh"]
        entries += [
            ("job/drives.sh", text, paths.DRIVES_SCRIPT.read_bytes()),
            ("job/slate-mark", script, paths.guest_program(MARKS).read_bytes()),
        ]
    entries.append(("job/env", text, "".join(line + "\n" for line in environment).encode()))
    own = [(f"job/{name}", mode, data) for name, mode, data in options.work.files(options.device)]
    handed = [(f"job/{name}", script, data) for name, data in options.programs.items()]
    entries += [*own[:1], *handed, *own[1:]]  # the job or script first
    if options.precondition == "device" and (options.fill or options.age):
        entries.append(("job/precondition.fio", text, precondition_job(options).encode()))
    return entries


def handoff_entries() -> list[tuple[str, int, bytes]]:
    """Return the files with which a guest boots that gets its job after the boot."""
    program = paths.guest_program("slate-handoff").read_bytes()
    return [("job/run.sh", 0o100755, paths.HANDOFF.read_bytes()), ("job/slate-handoff", 0o100755, program)]


def precondition_job(options: RunOptions) -> str:
    """Return a fio job that fills and ages the drive by I/O."""
    fill, age = options.fill or 0, options.age or 0
    whole, rest = int(age), round(age % 1 * 100)
    lines = [
        "[global]",
        f"filename={options.device}",
        "direct=1",
        "ioengine=io_uring",
        "iodepth=32",
        f"randseed={fioseed.of(options.seed, fioseed.PRECONDITION)}",
        "randrepeat=0",
        "norandommap=1",
        f"size={fill or 100:g}%",
        "[pre-fill]",
        "rw=write",
        "bs=128k",
    ]
    if not fill:
        lines = lines[:-3]
    if whole:
        lines += ["[pre-age]", "stonewall=1", "rw=randwrite", "bs=4k", f"loops={whole}"]
    if rest:
        lines += ["[pre-age-rest]", "stonewall=1", "rw=randwrite", "bs=4k", f"io_size={rest}%"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Image:
    """Describes a read-only file system in the guest's memory, visible as /dev/pmemN."""

    path: Path
    start: int
    bytes: int

    @property
    def words(self) -> list[str]:
        """Return the words for QEMU, which loads the image again at every reset."""
        where = {"file": str(self.path), "addr": hex(self.start), "force-raw": "on"}
        return ["-device", "loader," + keyval(**where)]


def image_files(options: RunOptions) -> list[Path]:
    """Return the images of applications and of the data of content workloads."""
    return [*([paths.APPS_IMAGE] if options.apps else []), *options.work.images()]


def has_pmem(options: RunOptions) -> bool:
    """Has the kernel a driver for images in memory? The small one has none."""
    return options.own_kernel.has_pmem if options.own_kernel else options.kernel != "small"


def images(options: RunOptions) -> list[Image]:
    """Return the images in memory, pmem0 and pmem1."""
    found, start = [], IMAGES_AT
    for path in image_files(options) if has_pmem(options) else []:
        size = -(-path.stat().st_size // IMAGE_ALIGN) * IMAGE_ALIGN
        found.append(Image(path, start, size))
        start += size
    return found


def write_job(options: RunOptions, path: Path) -> None:
    """Write the job's archive for a guest that gets it after the boot."""
    import cpio  # host-tools/guest

    path.write_bytes(cpio.newc(job_entries(options)))


def write_initrd(options: RunOptions, path: Path) -> None:
    """Write the job's archive, the modules of a kernel of the user's, and the guest's root, which the kernel unpacks.

    Images are files of the root for a kernel that has no driver for them.
    """
    import cpio  # host-tools/guest

    with open(path, "wb") as out:
        out.write(cpio.newc(handoff_entries() if options.handoff else job_entries(options)))
        if options.own_kernel:
            out.write(options.own_kernel.archive(options))
        for image in image_files(options) if not has_pmem(options) else []:
            out.write(cpio.newc([(image.name, 0o100444, image.read_bytes())]))
        for archive in [options.root] if options.root else paths.archives(options.kernel):
            out.write(archive.read_bytes())


def hpet_ticks(options: RunOptions) -> bool:
    """Does the guest use the HPET's ticks?

    It does with one vCPU, because calibrating the local APIC's timer takes 0.1 s of virtual time.
    """
    return not options.realtime and options.smp == 1


def append_line(options: RunOptions) -> str:
    """Return the kernel's command line."""
    words = ["console=ttyS0", "nokaslr", "quiet", "panic=-1", *BOOT_FAST]
    if not options.realtime:
        words += [VIRTUAL_TSC, NO_HPET_CALIBRATION]
    if hpet_ticks(options):
        words.append("nolapic_timer")
    if options.own_kernel:
        loaded = ",".join(options.own_kernel.loads(options.frontend)) or "none"
        words += [f"slate.mods={loaded}", f"slate.wait={Path(options.device).name}"]
    elif options.kernel == "small":  # its drivers are built in
        words += [*SMALL_WORDS, "slate.mods=none", f"slate.wait={Path(options.device).name}"]
    elif options.frontend == "virtio-blk":
        words += ["slate.mods=virtio_pci,virtio_blk", "slate.wait=vda"]
    if options.shell:
        words.append("slate.sh")
    if options.handoff:
        words.append("slate.mods=none")  # handoff.sh loads them
    elif options.work.script_args:
        words.append("slate.arg=" + ",".join(options.work.script_args))
    words += [f"memmap={image.bytes:#x}!{image.start:#x}" for image in images(options)]
    words += options.kernel_args
    return " ".join(words)


def keyval(**pairs: str) -> str:
    """Format QEMU's key=value,... and double the commas in values."""
    return ",".join(f"{key}={str(value).replace(',', ',,')}" for key, value in pairs.items())


def blockdev(options: RunOptions, drive: Drive | None = None) -> str:
    """Return the -blockdev of a drive, by default of the first one."""
    drive = drive or options
    pairs = {"driver": "nand-ssd", "node-name": drive.node}
    if drive.profile:
        pairs["profile"] = str(drive.profile.resolve())
    if drive.drive:
        pairs["drive-file"] = str(drive.drive.resolve())
    if drive.ephemeral:
        pairs["ephemeral"] = "on"
    if drive.record:
        pairs["record"] = str(drive.record.resolve())
    if drive.record_content:
        pairs["record-content"] = str(drive.record_content.resolve())
    if options.spin_ns is not None:
        pairs["spin-ns"] = str(options.spin_ns)
    if options.guest_control != GUEST_CONTROL:
        pairs["guest-control"] = options.guest_control
    pairs |= {f"set.{i}": line for i, line in enumerate(drive.overrides())}
    return keyval(**pairs)


def device(drive: Drive, front: str, **more: str) -> list[str]:
    """Return QEMU's options for the guest's device. With placement handles, the one namespace uses them all."""
    if drive.one_controller:
        words = keyval(drive=drive.node, bus="controller", nsid=str(drive.number + 1), **more)
        return [*_controller(drive.number), "-device", f"nvme-ns,{words}"]
    count = drive.handles() if front == "nvme" and not drive.has_table() else 0
    if not count:
        more |= namespaces.device_property(drive.namespaces)
        words = keyval(driver=front, serial=drive.serial, drive=drive.node, **more)
        return ["-device", words.removeprefix("driver=")]
    group, controller = f"group{drive.number}", f"fdp{drive.number}"
    groups = f",fdp.nrg={drive.groups()}" if drive.groups() > 1 else ""
    words = keyval(drive=drive.node, bus=controller, shared="off", **{"fdp.ruhs": f"0-{count - 1}"}, **more)
    return [
        *("-device", f"nvme-subsys,id={group},fdp=on,fdp.nruh={count}{groups}"),
        *("-device", f"nvme,id={controller},serial={drive.serial},subsys={group}"),
        *("-device", f"nvme-ns,{words}"),
    ]


def _controller(number: int) -> list[str]:
    """Return the words of the controller of several drives, which stand before the first drive's."""
    return [] if number else ["-device", "nvme,id=controller,serial=slate"]


def machine_words(options: RunOptions, more_cpu: str = "") -> list[str]:
    """Return the words for QEMU, its clock and the machine."""
    line = [str(paths.QEMU), "-accel", options.accel]
    if not options.realtime:
        sleep = "on" if options.shell else "off"
        line += ["-icount", f"rate={options.cpu_rate},quantum={options.cpu_quantum},sleep={sleep}"]
        line += ["-rtc", "base=2024-01-01T00:00:00,clock=vm"]
    cpu = "host" if options.accel == "kvm" else "max" if options.realtime else VIRTUAL_CPU
    line += ["-seed", str(options.seed), "-M", "q35", "-cpu", cpu + more_cpu]
    if paths.firmware().is_dir():
        line += ["-L", str(paths.firmware())]
    return [*line, "-m", f"{options.mem >> 20}M", "-smp", str(options.smp)]


def qmp_words(options: RunOptions) -> list[str]:
    """Return the words for another monitor, which slatectl may use."""
    if not options.qmp:
        return []
    where = keyval(path=str(options.qmp.resolve()), server="on", wait="off")
    return ["-chardev", f"socket,id=others,{where}", "-mon", "chardev=others,mode=control"]


def build(options: RunOptions, files: Files) -> list[str]:
    """Return the whole command line."""
    line = _machine(options)
    if not (options.cuts and options.cuts.then == "reset"):
        line.append("-no-reboot")
    line += _restored(options, files) if files.restored else _booted(options, files)
    front = "nvme" if options.frontend == "nvme" else "virtio-blk-pci"
    for drive in options.drives:
        line += ["-blockdev", blockdev(options, drive), *device(drive, front)]
    if options.handoff:
        line += ["-device", "guest-handoff," + keyval(file=str(files.job), seed=str(options.seed))]
    line += consoles(options, files)
    if files.qmp_fd >= 0:
        line += ["-chardev", f"socket,id=qmp,fd={files.qmp_fd}", "-mon", "chardev=qmp,mode=control"]
    return line + qmp_words(options) + options.qemu_args


def build_snapshot(options: RunOptions, files: Files) -> list[str]:
    """Return the command line of a machine that boots up to the moment when it would get its job.

    Its controllers have no drives: a controller that was never used has no state but PCI's.
    """
    line = [*_machine(options), "-no-reboot", *_memory(options, files, "on"), *_booted(options, files)]
    for _ in options.drives[:1] if options.one_controller else options.drives:
        line += ["-device", "nvme,serial=slate"]
    line += ["-device", "guest-handoff,stop=on", *consoles(options, files)]
    return [*line, "-chardev", f"socket,id=qmp,fd={files.qmp_fd}", "-mon", "chardev=qmp,mode=control"]


def _machine(options: RunOptions) -> list[str]:
    several = SEVERAL_CPUS if options.smp > 1 and not options.realtime else ""
    booted = dataclasses.replace(options, seed=BOOT_SEED) if options.handoff else options
    line = [*machine_words(booted, several), *NO_OTHER_BOOT]
    return line + "-nodefaults -display none -vga none -no-shutdown".split()


def _booted(options: RunOptions, files: Files) -> list[str]:
    """Return the words for a guest that boots."""
    line = ["-kernel", str(kernel_file(options).resolve()), "-initrd", str(files.initrd)]
    line += ["-append", append_line(options)]
    return line + [word for image in images(options) for word in image.words]


def _restored(options: RunOptions, files: Files) -> list[str]:
    """Return the words for a guest that goes on from a snapshot, whose memory it changes for itself alone."""
    return [*_memory(options, files, "off"), "-incoming", "defer"]


def _memory(options: RunOptions, files: Files, share: str) -> list[str]:
    """Return the words for memory in a file, which the state of the machine leaves out."""
    where = keyval(id="ram", size=f"{options.mem >> 20}M", **{"mem-path": str(files.ram)}, share=share)
    return ["-object", f"memory-backend-file,{where}", "-machine", "memory-backend=ram"]


def consoles(options: RunOptions, files: Files) -> list[str]:
    """Return the two UARTs: the console, and the results. A restored guest goes on with its console's file."""
    if options.shell:
        line = ["-chardev", "stdio,id=con,mux=on,signal=off", "-mon", "chardev=con,mode=readline"]
    else:
        more = {"append": "on"} if files.restored else {}
        line = ["-chardev", "file," + keyval(id="con", path=str(files.console), **more)]
    line += ["-serial", "chardev:con", "-chardev", "file," + keyval(id="res", path=str(files.results))]
    return [*line, "-serial", "chardev:res"]


def text(line: list[str]) -> str:
    """Return the command line as text, one option a line."""
    parts: list[str] = []
    for word in line:
        if word.startswith("-") or not parts:
            parts.append(shlex.quote(word))
        else:
            parts[-1] += " " + shlex.quote(word)
    return " \\\n  ".join(parts)


def firmware_missing() -> bool:
    """Is the PC's firmware missing?"""
    return not any((folder / "bios-256k.bin").exists() for folder in (paths.firmware(), *paths.HOST_FIRMWARE))
