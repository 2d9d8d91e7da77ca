# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a kernel of the user's own for Slate's guest: what is taken and refused, modules, QEMU's command line."""

import gzip
import lzma
import os
import shlex
import struct
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import support

from slate_lib import cli, command, facts, kernelimage, kernelmodules, owncommand, ownguest, paths
from slate_lib.cuts import campaign as campaigns
from slate_lib.cuts import command as cuts
from slate_lib.errors import SlateError
from test_options import Case

sys.path.insert(0, str(support.ROOT / "host-tools" / "guest"))
RELEASE = "6.13.0-mine"
DEPENDENCIES = "nvme.ko: nvme-core.ko.xz\nnvme-core.ko.xz:\next4.ko.gz:\ncrc32c-intel.ko:\nother.ko: nvme-core.ko.xz\n"
BUILT_IN = (
    "64BIT BLK_DEV_INITRD RD_LZ4 BINFMT_ELF BINFMT_SCRIPT FUTEX PCI ACPI PROC_FS SYSFS DEVTMPFS TMPFS SERIAL_8250 "
    "SERIAL_8250_CONSOLE SMP BLK_DEV_NVME BLK_DEV_ZONED SQUASHFS SQUASHFS_LZ4 OVERLAY_FS BLK_DEV_LOOP EXT4_FS"
).split()


def config(*more: str, without: tuple[str, ...] = ()) -> str:
    """Return a .config with all that a run needs."""
    lines = [f"CONFIG_{name}=y" for name in BUILT_IN if name not in without]
    return "\n".join([*lines, *more, "# CONFIG_XFS_FS is not set"]) + "\n"


def elf(machine: int = 62, pvh: bool = True, release: str = RELEASE, ikconfig: str = "") -> bytes:
    """Return an ELF for 64 bits with a segment of notes, as much of one as is looked at."""
    note = struct.pack("<III", 4, 8, 18 if pvh else 17) + b"Xen\0" + bytes(8)
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQ", 2, machine, 1, 0, 64, 0)
    head += struct.pack("<IHHHHHH", 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(note), len(note), 4)
    said = f"Linux version {release} (someone@somewhere) #1\n\0".encode()
    kept = b"IKCFG_ST" + gzip.compress(ikconfig.encode(), mtime=0) + b"IKCFG_ED" if ikconfig else b""
    return head + segment + note + said + kept


def bzimage(kernel: bytes, release: str = RELEASE, bits64: bool = True, pack: Any = gzip.compress) -> bytes:
    """Return a bzImage: one sector of setup besides the first, and the packed kernel with its size."""
    packed: bytes = pack(kernel) + struct.pack("<I", len(kernel))
    head = bytearray(1024)
    head[0x1F1], head[0x202:0x206] = 1, b"HdrS"
    struct.pack_into("<H", head, 0x20E, 0x300 - 0x200)
    head[0x300 : 0x300 + len(release) + 10] = f"{release} (a@b) #1".encode()[: len(release) + 9] + b"\0"
    struct.pack_into("<H", head, 0x236, 1 if bits64 else 0)
    struct.pack_into("<II", head, 0x248, 0, len(packed))
    return bytes(head) + packed


def module(release: str = RELEASE, machine: int = 62) -> bytes:
    """Return a module."""
    return elf(machine)[:64] + f"\0license=GPL\0vermagic={release} SMP mod_unload \0".encode()


class OwnKernel(Case):
    """Files are made in the test's folder, and so are unpacked kernels."""

    def setUp(self) -> None:
        super().setUp()
        patch = mock.patch.object(paths, "OUT", self.folder / "out")
        patch.start()
        self.addCleanup(patch.stop)

    def kernel(self, data: bytes, name: str = "bzImage") -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def installed(self, release: str = RELEASE, **files: bytes) -> str:
        """Return a folder as 'make modules_install' leaves it: nvme needs nvme-core; ext4 softly needs a checksum."""
        root = self.folder / "mods" / "lib" / "modules" / release
        root.mkdir(parents=True, exist_ok=True)
        for name, suffix in (("nvme", ""), ("nvme-core", ".xz"), ("ext4", ".gz"), ("crc32c-intel", ""), ("other", "")):
            data = files.get(name.replace("-", "_"), module(release))
            packed = lzma.compress(data) if suffix == ".xz" else gzip.compress(data) if suffix == ".gz" else data
            (root / f"{name}.ko{suffix}").write_bytes(packed)
        for name, text in (
            ("dep", DEPENDENCIES),
            ("alias", "alias crc32c crc32c_intel\nalias fs-ext4 ext4\nalias fs-other other\n"),
            ("softdep", "# Soft dependencies\nsoftdep ext4 pre: crc32c\nsoftdep other pre: nvme\n"),
            ("builtin", "kernel/drivers/block/loop.ko\n"),
        ):
            (root / f"modules.{name}").write_text(text, encoding="utf-8")
        return str(self.folder / "mods")

    # ---- kernels

    def test_a_vmlinux(self) -> None:
        some = self.parse("--kernel", self.kernel(elf(), "vmlinux"))
        assert some.own_kernel
        self.assertIsNone(some.own)
        self.assertEqual((some.own_kernel.image.release, some.own_kernel.config), (RELEASE, None))
        line = command.build(some, command.Files(Path("i"), Path("c"), Path("r")))
        self.assertEqual(line[line.index("-kernel") + 1], str(self.folder / "vmlinux"))
        words = command.append_line(some).split()
        self.assertIn("slate.mods=none", words)
        self.assertIn("slate.wait=nvme0n1", words)

    def test_a_bzimage_is_unpacked(self) -> None:
        for pack in (gzip.compress, lambda data: lzma.compress(data, lzma.FORMAT_ALONE), lzma.compress):
            some = self.parse("--kernel", self.kernel(bzimage(elf(), pack=pack)))
            self.assertEqual(command.kernel_file(some).parent, self.folder / "out" / "kernels")
            self.assertEqual(command.kernel_file(some).read_bytes(), elf())
            self.assertEqual(some.own_kernel.image.release, RELEASE)
        self.assertEqual(len(list((self.folder / "out" / "kernels").iterdir())), 3)

    def test_the_oldest_unpacked_kernels_are_removed(self) -> None:
        """Other runs may be about to boot those of the last hour."""
        kept = self.folder / "out" / "kernels"
        for number in range(kernelimage.KEPT + 2):
            self.parse("--kernel", self.kernel(bzimage(elf(release=f"6.{number}"))))
        self.assertEqual(len(list(kept.iterdir())), kernelimage.KEPT + 2)
        for number, one in enumerate(sorted(kept.iterdir())):
            os.utime(one, (number, number))
        last = sorted(kept.iterdir())[3:]
        self.parse("--kernel", self.kernel(bzimage(elf(release="6.99"))))
        self.assertEqual(len(list(kept.iterdir())), kernelimage.KEPT)
        self.assertLessEqual(set(last), set(kept.iterdir()))

    def test_another_run_removes_an_unpacked_kernel(self) -> None:
        """Between a look for the file and its use, or it has left a part of it."""
        path = kernelimage.keep("c" * 64, ".vmlinux", b"content")
        with mock.patch.object(os, "utime", side_effect=FileNotFoundError):
            path.unlink()
            kernelimage.keep("c" * 64, ".vmlinux", b"content")
        self.assertEqual(path.read_bytes(), b"content")
        path.write_bytes(b"")
        kernelimage.keep("c" * 64, ".vmlinux", b"content")
        self.assertEqual(path.read_bytes(), b"content")
        self.assertEqual(list(path.parent.iterdir()), [path])
        with mock.patch.object(Path, "glob", return_value=[path.with_name("gone.vmlinux")] * 9):
            kernelimage.keep("c" * 64, ".vmlinux", b"content")

    def test_a_bzimage_without_pvh_boots_as_it_is(self) -> None:
        file = self.kernel(bzimage(elf(pvh=False)))
        self.assertEqual(command.kernel_file(self.parse("--kernel", file)), Path(file))
        file = self.kernel(bzimage(elf(), pack=lambda data: b"no known form" + data))
        self.assertEqual(command.kernel_file(self.parse("--kernel", file)), Path(file))

    def test_other_files(self) -> None:
        arm = bytes(0x38) + b"ARMd" + bytes(8)
        for data, words in (
            (elf(pvh=False), ("CONFIG_PVH", "bzImage")),
            (elf(machine=183), ("an ELF for ARM64",)),
            (elf()[:120].ljust(300, b"x"), ("an ELF without an entry for PVH",)),
            (elf().replace(b"Linux version", b"Linux wersion"), ("no Linux kernel",)),
            (b"\x7fELF\1\1\1", ("not for x86-64",)),
            (bzimage(elf(), bits64=False), ("32-bit x86", "CONFIG_64BIT")),
            (arm, ("a kernel for ARM64", "arch/x86/boot/bzImage")),
            (b"!<arch>\ndebian-binary", ("a Debian package", "slate guest make", "--name NAME")),
            (bzimage(elf())[:0x240], ("ends after 576 bytes",)),
            (bzimage(elf())[:0x206], ("ends after 518 bytes",)),
            (bzimage(elf())[:0x300], ("ends after 768 of 1024 bytes",)),
            (bzimage(elf(), release=""), ("names no release",)),
            (bzimage(elf(), release="6" * 70), ("names no release",)),
            (bzimage(elf())[:0x300] + b"6.13.0".ljust(0x100, b"x"), ("names no release",)),
            (elf()[:32] + b"\xff" * 8 + elf()[40:], ("an ELF without an entry for PVH",)),
            (elf(release="6" * 300), ("no Linux kernel",)),
            (elf(ikconfig="CONFIG_PCI=y").replace(b"IKCFG_ST\x1f", b"IKCFG_ST\x1e"), ("(IKCONFIG) is damaged",)),
            (elf(ikconfig="CONFIG_PCI=y")[:-20], ("(IKCONFIG) is damaged",)),
            (b"hello", ("no kernel for x86-64",)),
            (b"", ("no kernel for x86-64",)),
        ):
            with self.subTest(words=words):
                self.refused("--kernel", self.kernel(data), words=words)
        self.assertFalse((self.folder / "out").exists())

    def test_cut_short(self) -> None:
        """By the size in a bzImage's head, in units of 16 bytes, rounded up; by the segments of an ELF."""
        data = bytearray(bzimage(elf()))
        whole = 1024 + -(-(len(data) - 1024) // 16) * 16
        struct.pack_into("<I", data, 0x1F4, (whole - 1024) // 16)
        self.assertEqual(command.kernel_file(self.parse("--kernel", self.kernel(bytes(data)))).suffix, ".vmlinux")
        cut = whole - 16
        words = (f"is a bzImage that ends after {cut} of {whole} bytes", "copy it again")
        self.refused("--kernel", self.kernel(bytes(data[:cut])), words=words)
        words = ("is an ELF that ends after 143 of 144 bytes", "copy it again")
        self.refused("--kernel", self.kernel(elf()[:143]), words=words)

    # ---- the configuration

    def test_where_a_configuration_is_found(self) -> None:
        self.assertEqual(self.config_of(elf(ikconfig=config("CONFIG_NR_CPUS=8"))).get("NR_CPUS"), "8")
        self.assertEqual(self.config_of(bzimage(elf(ikconfig=config("CONFIG_NR_CPUS=7")))).get("NR_CPUS"), "7")
        (self.folder / ".config").write_text(config("CONFIG_NR_CPUS=6"), encoding="utf-8")
        self.assertEqual(self.config_of(elf()).get("NR_CPUS"), "6")
        (self.folder / ".config").unlink()
        (self.folder / f"config-{RELEASE}").write_text(config("CONFIG_NR_CPUS=5"), encoding="utf-8")
        self.assertEqual(self.config_of(elf(), f"vmlinuz-{RELEASE}").get("NR_CPUS"), "5")
        tree = self.folder / "linux"
        (tree / "arch" / "x86" / "boot").mkdir(parents=True)
        (tree / ".config").write_text(config("CONFIG_NR_CPUS=4"), encoding="utf-8")
        self.assertEqual(self.config_of(bzimage(elf()), "linux/arch/x86/boot/bzImage").get("NR_CPUS"), "4")

    def config_of(self, data: bytes, name: str = "k") -> Any:
        return self.parse("--kernel", self.kernel(data, name)).own_kernel.config

    def test_missing_parts_are_named(self) -> None:
        both = ("RD_LZ4", "DEVTMPFS")
        file = self.kernel(elf(ikconfig=config(without=both)))
        self.refused("--kernel", file, words=("CONFIG_RD_LZ4 (", "CONFIG_DEVTMPFS (/dev)", "(IKCONFIG)",
                                              "scripts/config -e RD_LZ4 -e DEVTMPFS; make olddefconfig"))
        file = self.kernel(elf(ikconfig=config(without=("BLK_DEV_NVME",))))
        self.refused("--kernel", file, words=("CONFIG_BLK_DEV_NVME (the drive)",))
        self.refused("--kernel", file, "--frontend", "virtio-blk", words=("CONFIG_VIRTIO_PCI", "CONFIG_VIRTIO_BLK"))

    def test_what_a_run_needs_besides(self) -> None:
        file = self.kernel(elf(ikconfig=config("CONFIG_NR_CPUS=2", "CONFIG_SERIAL_8250_RUNTIME_UARTS=4")))
        self.parse("--kernel", file, "--smp", "2")
        self.refused("--kernel", file, "--smp", "3", words=("CONFIG_NR_CPUS=2", "--set-val NR_CPUS 3"))
        self.refused("--kernel", file, "--app", "sqlite", "--app-arg", "fs=xfs", job=False, words=("CONFIG_XFS_FS",))
        file = self.kernel(elf(ikconfig=config("CONFIG_SERIAL_8250_RUNTIME_UARTS=1")))
        self.refused("--kernel", file, words=("CONFIG_SERIAL_8250_RUNTIME_UARTS=1", "needs 2"))
        file = self.kernel(elf(ikconfig=config(without=("BLK_DEV_LOOP",))))
        self.refused("--kernel", file, "--apps", words=("CONFIG_BLK_DEV_LOOP",))

    def test_images_are_files_without_persistent_memory(self) -> None:
        file = self.kernel(elf(ikconfig=config()))
        self.assertEqual(command.images(self.parse("--kernel", file, "--apps")), [])
        file = self.kernel(elf(ikconfig=config("CONFIG_X86_PMEM_LEGACY=y", "CONFIG_BLK_DEV_PMEM=y")))
        with mock.patch.object(paths, "APPS_IMAGE", Path(file)):
            self.assertEqual(len(command.images(self.parse("--kernel", file, "--apps"))), 1)

    # ---- modules

    def modular(self, **files: bytes) -> tuple[str, ...]:
        data = elf(ikconfig=config("CONFIG_BLK_DEV_NVME=m", without=("BLK_DEV_NVME",)))
        return "--kernel", self.kernel(data), "--modules", self.installed(RELEASE, **files)

    def test_modules_are_asked_for(self) -> None:
        file = self.kernel(elf(ikconfig=config("CONFIG_BLK_DEV_NVME=m", without=("BLK_DEV_NVME",))))
        self.refused("--kernel", file, words=("CONFIG_BLK_DEV_NVME", "add --modules DIR", "modules_install"))

    def test_the_guest_loads_them(self) -> None:
        some = self.parse(*self.modular())
        self.assertIn("slate.mods=nvme", command.append_line(some).split())
        names = self.names(some)
        top = f"usr/lib/modules/{RELEASE}/"
        self.assertEqual(
            [name.removeprefix(top) for name in names if name.startswith(top)],
            ["crc32c-intel.ko", "ext4.ko", "modules.alias", "modules.builtin", "modules.dep", "modules.softdep",
             "nvme-core.ko", "nvme.ko"],
        )  # fmt: skip
        text = {name.removeprefix(top): names[name].decode() for name in names if name.startswith(top + "modules.")}
        self.assertEqual(text["modules.dep"], "crc32c-intel.ko:\next4.ko:\nnvme.ko: nvme-core.ko\nnvme-core.ko:\n")
        self.assertEqual(text["modules.alias"], "alias crc32c crc32c_intel\nalias fs-ext4 ext4\n")
        self.assertEqual(text["modules.softdep"], "softdep ext4 pre: crc32c\n")
        self.assertEqual(names[top + "nvme-core.ko"], module())  # unpacked

    def test_a_script_asks_for_more(self) -> None:
        script = self.write("x.sh", "#!/bin/sh\nmodprobe -q other\n")
        self.assertNotIn("other.ko", str(list(self.names(self.parse(*self.modular())))))
        some = self.parse(*self.modular(), "--cmd", script, job=False)
        self.assertIn("other.ko", str(list(self.names(some))))

    def names(self, some: Any) -> dict[str, bytes]:
        """Return the files of the archive of modules."""
        data, at = some.own_kernel.archive(some), 0
        found: dict[str, bytes] = {}
        while True:
            size, length = int(data[at + 54 : at + 62], 16), int(data[at + 94 : at + 102], 16)
            name = data[at + 110 : at + 109 + length].decode()
            if name == "TRAILER!!!":
                return found
            at += 110 + length + 3 & ~3
            if size:
                found[name] = data[at : at + size]
            at += size + 3 & ~3
        return found

    def test_wrong_modules(self) -> None:
        data = elf(ikconfig=config("CONFIG_BLK_DEV_NVME=m", without=("BLK_DEV_NVME",)))
        file = self.kernel(data)
        self.refused("--kernel", file, "--modules", str(self.folder), words=("no lib/modules", "INSTALL_MOD_PATH="))
        self.refused("--kernel", self.kernel(elf(release="6.14.0")), "--modules", self.installed(),
                     words=(f"the modules of {RELEASE}, and the kernel is 6.14.0",))
        some = self.parse(*self.modular(nvme_core=module("6.14.0")))
        with self.assertRaisesRegex(SlateError, f"is a module of 6.14.0, and the kernel is {RELEASE}"):
            some.own_kernel.archive(some)
        for bad in (module(machine=183), b"xyz", b""):
            some = self.parse(*self.modular(nvme=bad))
            with self.assertRaisesRegex(SlateError, "is no module for x86-64"):
                some.own_kernel.archive(some)
        some = self.parse(*self.modular(nvme=module().replace(b"6.13.0-mine", b"6.13.0-\xff\xfe")))
        with self.assertRaisesRegex(SlateError, "is a module of 6.13.0-\ufffd\ufffd, and"):
            some.own_kernel.archive(some)
        root = Path(self.installed()) / "lib" / "modules" / RELEASE
        packed = gzip.compress(module())
        for name, data in (
            ("nvme-core.ko.xz", b"\xfd7zXZ\0damaged"),
            ("nvme-core.ko.xz", b"no xz"),
            ("nvme-core.ko.xz", lzma.compress(module())[:-9]),
            ("ext4.ko.gz", packed[:10] + b"\xff" + packed[11:]),  # zlib.error
            ("ext4.ko.gz", packed[:-9]),  # EOFError
            ("ext4.ko.gz", packed[:-8] + bytes(8)),  # gzip.BadGzipFile
            ("ext4.ko.gz", b"no gzip"),
        ):
            with self.subTest(name=name, data=data):
                self.installed()
                (root / name).write_bytes(data)
                some = self.parse("--kernel", file, "--modules", str(self.folder / "mods"))
                with self.assertRaisesRegex(SlateError, f"{name}: can not be read .*\n.*modules_install"):
                    some.own_kernel.archive(some)
        self.installed()
        (root / "modules.softdep").write_text(" \nsoftdep\n", encoding="utf-8")
        self.refused("--kernel", file, "--modules", str(self.folder / "mods"),
                     words=("modules.softdep: the line 'softdep' names no module", "depmod -b"))
        (root / "modules.softdep").write_text(" \nsoftdep ext4\n", encoding="utf-8")
        some = self.parse("--kernel", file, "--modules", str(self.folder / "mods"))
        self.assertIn(f"usr/lib/modules/{RELEASE}/ext4.ko", self.names(some))
        (root / "modules.dep").unlink()
        mods = self.folder / "mods"
        self.refused("--kernel", file, "--modules", str(mods), words=("no modules.dep", f"fix: depmod -b {mods} "))
        (mods / "usr").mkdir()
        (mods / "lib").rename(mods / "usr" / "lib")  # as packages have it
        self.refused("--kernel", file, "--modules", str(mods), words=(f"fix: ln -s usr/lib {mods}/lib; depmod -b ",))

    def test_modules_without_nvme(self) -> None:
        """Without a configuration the list of what is built in tells."""
        where = self.installed()
        root = Path(where) / "lib" / "modules" / RELEASE
        (root / "modules.dep").write_text("ext4.ko.gz:\n", encoding="utf-8")
        file = self.kernel(elf())
        self.refused("--kernel", file, "--modules", where, words=("CONFIG_BLK_DEV_NVME",))
        (root / "modules.builtin").write_text("kernel/drivers/nvme/host/nvme.ko\n", encoding="utf-8")
        self.assertIn("slate.mods=none", command.append_line(self.parse("--kernel", file, "--modules", where)))

    def test_signatures_stay_where_they_are_enforced(self) -> None:
        data = elf(ikconfig=config("CONFIG_MODULE_SIG_FORCE=y"))
        some = self.parse("--kernel", self.kernel(data), "--modules", self.installed())
        self.assertTrue(some.own_kernel.modules.keep_signatures)
        with mock.patch.object(kernelmodules, "_without_debugging", side_effect=AssertionError):
            debug = module() + b".debug_info\0"
            self.installed(nvme=debug)
            self.assertIn(debug, self.names(some).values())

    # ---- options

    def test_other_options(self) -> None:
        file = self.kernel(elf())
        self.refused("--kernel", file, "--append", "x", words=("--kernel-arg", "--initrd"))
        self.refused("--kernel", file, "--net", words=("--net is for a guest of your own", "boots Slate's"))
        self.refused("--modules", "x", words=("without --kernel FILE",))
        self.refused("--kernel", "small", "--modules", "x", words=("without --kernel FILE",))
        self.refused("--kernel", file, "--initrd", file, words=("--job", "leave --initrd out"))
        self.refused("--kernel", file, "--initrd", file, "--modules", "x", job=False, words=("--modules", "leave"))

    def test_an_image_on_the_kernel(self) -> None:
        """Slate's initramfs loads the modules and passes on to the image."""
        image = self.kernel(bytes(510) + b"\x55\xaa", "disk.img")
        built = config("CONFIG_VIRTIO_PCI=y", "CONFIG_VIRTIO_BLK=y")
        words = ("--kernel", self.kernel(bzimage(elf(ikconfig=built))), "--modules", self.installed(), "--image", image)
        guest = self.folder / "guest"
        guest.mkdir()
        with mock.patch.object(paths, "GUEST", guest), mock.patch.object(
            ownguest, "examine", return_value=("raw", 512)
        ):
            self.refused(*words, job=False, words=("add --append 'root=",))
            more = (*words, "--append", "root=/dev/vda1 quiet")
            self.refused(*more, job=False, words=("make guest",))
            (guest / "root.lz4").write_bytes(b"the root")
            some = self.parse(*more, job=False)
            self.refused("--kernel", self.kernel(elf(ikconfig=config()), "other"), *more[2:], job=False,
                         words=("CONFIG_VIRTIO_PCI", "CONFIG_VIRTIO_BLK"))
        line = owncommand.kernel_words(some.own)
        self.assertEqual(Path(line[1]).read_bytes(), elf(ikconfig=built))
        self.assertEqual(line[3], "root=/dev/vda1 quiet rdinit=/to-image")
        made = Path(line[5]).read_bytes()
        self.assertTrue(made.endswith(b"the root"))
        for part in (b"to-image\0", b"/ext4.ko\0", b"exec switch_root /mnt"):
            self.assertIn(part, made)
        repeat = shlex.split(facts.repeat_command(some))
        self.assertNotIn("--initrd", repeat)
        for option, value in (("--modules", more[3]), ("--append", more[7])):
            self.assertEqual(repeat[repeat.index(option) + 1], value)

    def test_the_record(self) -> None:
        words = self.modular()
        some = self.parse(*words)
        repeat = shlex.split(facts.repeat_command(some))
        self.assertEqual(repeat[repeat.index("--kernel") + 1], words[1])
        self.assertEqual(repeat[repeat.index("--modules") + 1], words[3])
        self.assertEqual(facts.settings(some)["modules"], words[3])
        self.assertEqual(facts.versions(some)["kernel"], RELEASE)

    def test_cuts(self) -> None:
        def campaign(*words: str) -> Any:
            args = cli.parser().parse_args(["cuts", *words])
            with mock.patch.object(command, "check_built"), mock.patch.object(paths, "guest_program"):
                return cuts.campaign_of(args, Path("/none"))

        file = self.kernel(elf(ikconfig=config()))
        found = campaign("--kernel", file)
        head = campaigns.header(found)
        self.assertEqual((head["kernel"], head["kernel_sha256"]), (RELEASE, facts.sha256(Path(file))))
        campaign(*self.modular())
        with self.assertRaisesRegex(SlateError, "CONFIG_EXT4_FS"):
            campaign("--kernel", self.kernel(elf(ikconfig=config(without=("EXT4_FS",)))))
        with self.assertRaisesRegex(SlateError, "CONFIG_XFS_FS"):
            campaign("--fs", "xfs", "--kernel", self.kernel(elf(ikconfig=config(without=("XFS_FS",)))))


if __name__ == "__main__":
    import unittest

    unittest.main()
