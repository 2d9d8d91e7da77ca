# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes QEMU's command line for the user's own guest, and the same as a domain of libvirt.

Unlike the line of a run of jobs, the printed line works as it is: every file in it belongs to the user or is
kept (the seed of cloud-init).
"""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as xml
from pathlib import Path

from . import command, paths, seed
from .command import keyval
from .errors import SlateError
from .options import RunOptions
from .ownguest import LOOPBACK, OwnGuest

QEMU_XML = "http://libvirt.org/schemas/domain/qemu/1.0"  # the name of an XML namespace
SHARE_TAG = "share"
LIBVIRT_SLOT = 0x10  # on q35's bus; libvirt numbers its own devices from slot 1 upward
OFF_BUS = ("nvme-ns", "nvme-subsys")  # devices of an NVMe controller, which have no slot


def own_of(options: RunOptions) -> OwnGuest:
    """Return the user's own guest, which must be set."""
    assert options.own
    return options.own


def build(options: RunOptions, files: command.Files) -> list[str]:
    """Return the whole command line. Without the file descriptor of a monitor, it can be run by hand."""
    own = own_of(options)
    line = [*command.machine_words(options), "-machine", "graphics=off"]  # firmware and GRUB use the serial line
    line += ["-nodefaults", "-display", "none", "-vga", "none"]
    line += iommu_words(own)  # before the devices that it translates for
    line += kernel_words(own)
    line += _disks(own)
    line += drive_words(options)
    line += network_words(own)
    if own.share:
        where = keyval(id=SHARE_TAG, path=str(own.share.resolve()), security_model="none", multidevs="remap")
        line += ["-fsdev", "local," + where, "-device", f"virtio-9p-pci,fsdev={SHARE_TAG},mount_tag={SHARE_TAG}"]
    log = {"logfile": str(files.console)} if files.qmp_fd >= 0 else {}
    line += ["-chardev", "stdio," + keyval(id="con", mux="on", signal="off", **log)]
    line += ["-mon", "chardev=con,mode=readline", "-serial", "chardev:con"]
    if files.qmp_fd >= 0:
        line += ["-no-shutdown", "-chardev", f"socket,id=qmp,fd={files.qmp_fd}", "-mon", "chardev=qmp,mode=control"]
    return line + command.qmp_words(options) + options.qemu_args


def iommu_words(own: OwnGuest) -> list[str]:
    """Return an IOMMU, if requested. With caching-mode the emulated device sees the mappings of the guest."""
    return ["-device", "intel-iommu,intremap=on,caching-mode=on"] if own.iommu else []


def kernel_words(own: OwnGuest) -> list[str]:
    """Return the words for the user's own kernel."""
    if not own.kernel:
        return []
    line = ["-kernel", str((own.kernel_boots or own.kernel).resolve()), "-append", own.append]
    return line + (["-initrd", str(own.initrd.resolve())] if own.initrd else [])


def _disks(own: OwnGuest) -> list[str]:
    """Return the image, as /dev/vda, and the seed after it. QEMU locks the image while it runs."""
    line = []
    if own.image and not own.from_ssd:
        file = {"node-name": "image", "file.driver": "file", "file.filename": str(own.image.resolve())}
        line += ["-blockdev", keyval(driver=own.image_format, discard="unmap", **file)]
        first = {} if own.kernel else {"bootindex": "0"}
        line += ["-device", "virtio-blk-pci," + keyval(drive="image", **first)]
    if own.key:
        where = str(seed.path(own).resolve())
        file = {"node-name": "seed", "read-only": "on", "file.driver": "file", "file.filename": where}
        line += ["-blockdev", keyval(driver="raw", **file), "-device", "virtio-blk-pci,drive=seed"]
    return line


def drive_words(options: RunOptions) -> list[str]:
    """Return the words for Slate's drives."""
    front = "nvme" if options.frontend == "nvme" else "virtio-blk-pci"
    first = {"bootindex": "0"} if own_of(options).from_ssd and not own_of(options).kernel else {}
    line = []
    for drive in options.drives:
        line += ["-blockdev", command.blockdev(options, drive), *command.device(drive, front, **first)]
        first = {}
    return line


def network_words(own: OwnGuest) -> list[str]:
    """Return QEMU's user network. An empty romfile prevents a boot from the network."""
    if not own.nic:
        return []
    forward = f"tcp:{LOOPBACK}:{own.ssh_port}-:22"
    return ["-netdev", f"user,id=net0,hostfwd={forward}", "-device", f"{own.nic},netdev=net0,romfile="]


# ---- libvirt


def _child(parent: xml.Element, tag: str, text: str | None = None, /, **attributes: str) -> xml.Element:
    found = xml.SubElement(parent, tag, attributes)
    found.text = text
    return found


def libvirt(options: RunOptions) -> str:
    """Return a domain. libvirt does not know nand-ssd, so the drive is in <qemu:commandline>."""
    own = own_of(options)
    if not options.realtime:
        raise SlateError("--print-libvirt: libvirt runs guests in real time only", "add --realtime")
    xml.register_namespace("qemu", QEMU_XML)
    domain = xml.Element("domain", type="kvm" if options.accel == "kvm" else "qemu")
    _child(domain, "name", f"slate-{own.name}")
    _child(domain, "memory", str(options.mem >> 10), unit="KiB")
    _child(domain, "vcpu", str(options.smp))
    _os(domain, own)
    features = _child(domain, "features")
    _child(features, "acpi")
    _child(features, "apic")
    if own.iommu:
        _child(features, "ioapic", driver="qemu")
    _child(domain, "cpu", mode="host-passthrough" if options.accel == "kvm" else "maximum")
    _child(domain, "on_poweroff", "destroy")
    _devices(domain, options)
    more = _child(domain, f"{{{QEMU_XML}}}commandline")
    for word in [*_addressed([*drive_words(options), *network_words(own)]), *options.qemu_args]:
        _child(more, f"{{{QEMU_XML}}}arg", value=word)
    xml.indent(domain)
    return xml.tostring(domain, encoding="unicode") + "\n"


def _addressed(words: list[str]) -> list[str]:
    """Return the words with a slot for each device on the bus.

    libvirt gives the first free slots to its own devices, and QEMU makes the devices of the command line first,
    so without an address both want the same slots.
    """
    slot = LIBVIRT_SLOT
    found = []
    for before, word in zip(["", *words], words):
        if before == "-device" and word.partition(",")[0] not in OFF_BUS:
            word += f",bus=pcie.0,addr={slot:#x}"
            slot += 1
        found.append(word)
    return found


def _os(domain: xml.Element, own: OwnGuest) -> None:
    system = _child(domain, "os")
    _child(system, "type", "hvm", arch="x86_64", machine="q35")
    if own.kernel:
        _child(system, "kernel", str((own.kernel_boots or own.kernel).resolve()))
        if own.initrd:
            _child(system, "initrd", str(own.initrd.resolve()))
        _child(system, "cmdline", own.append)
    _child(system, "bios", useserial="yes")


def _devices(domain: xml.Element, options: RunOptions) -> None:
    """Turn off the devices that libvirt would add and that this QEMU lacks."""
    own = own_of(options)
    devices = _child(domain, "devices")
    _child(devices, "emulator", str(paths.QEMU.resolve()))
    if own.image and not own.from_ssd:
        _disk(devices, own.image, own.image_format, "vda", first=not own.kernel)
    if own.key:
        _disk(devices, seed.path(own), "raw", "vdb", first=False)
    _child(devices, "controller", type="usb", model="none")
    if own.share:
        folder = _child(devices, "filesystem", type="mount", accessmode="passthrough")
        _child(folder, "source", dir=str(own.share.resolve()))
        _child(folder, "target", dir=SHARE_TAG)
    _child(devices, "console", type="pty")
    _child(_child(devices, "video"), "model", type="none")
    _child(devices, "memballoon", model="none")
    if own.iommu:
        _child(_child(devices, "iommu", model="intel"), "driver", intremap="on", caching_mode="on")


def _disk(devices: xml.Element, path: Path, form: str, name: str, first: bool) -> None:
    disk = _child(devices, "disk", type="file", device="disk")
    _child(disk, "driver", name="qemu", type=form)
    _child(disk, "source", file=str(path.resolve()))
    _child(disk, "target", dev=name, bus="virtio")
    if name == "vdb":
        _child(disk, "readonly")
    if first:
        _child(disk, "boot", order="1")


def convert_words(options: RunOptions, drive: Path) -> list[str]:
    """Return the command that makes the drive file with the image's content."""
    own = own_of(options)
    pairs = {"driver": "nand-ssd", "drive-file": str(drive.resolve())}
    if options.profile:
        pairs["profile"] = str(options.profile.resolve())
    pairs |= {f"set.{i}": line for i, line in enumerate(options.overrides())}
    words = [str(paths.QEMU.with_name("qemu-img")), "convert", "-n", "-f", own.image_format, str(own.image)]
    return [*words, "--target-image-opts", keyval(**pairs)]


def text(options: RunOptions, boot: RunOptions, files: command.Files, drive: Path | None) -> str:
    """Return the text printed in place of a run: one or two commands, and how to log in.

    boot: options of the second command, which uses the existing drive.
    """
    own = own_of(options)
    said = ""
    if drive:
        said = shlex.join(convert_words(options, drive)) + "\n"
    said += command.text(build(boot, files)) + "\n"
    if own.nic:
        said += f"# {shlex.join(own.ssh_words())}\n"
    return said
