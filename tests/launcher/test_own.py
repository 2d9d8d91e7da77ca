# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the user's own guest: options that are refused, QEMU's command line, the seed, libvirt's domain."""

import contextlib
import itertools
import json
import re
import socket
import subprocess
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import support  # noqa: F401  (sets the path)

from slate_lib import command, facts, owncommand, ownguest, ownrun, paths, seed
from slate_lib.errors import MachineError, SlateError
from slate_lib.watch import Watcher
from test_options import Case

MIB = 1 << 20
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDqQv0 me@here"
PROFILE = str(paths.PROFILES / "small.ini")  # exports 256 MiB
NO_FILES = command.Files(Path(), Path(), Path())


def tool(*words: Any) -> None:
    """Run the built qemu-img."""
    subprocess.run([str(paths.QEMU.with_name("qemu-img")), *map(str, words)], check=True, capture_output=True)


class OwnCase(Case):
    """Makes a raw image with a boot sector, a key, and the options of a run."""

    def setUp(self) -> None:
        super().setUp()
        self.profile = str(PROFILE)
        self.image = self.folder / "disk.img"
        self.image.write_bytes(bytes(510) + b"\x55\xaa" + bytes(MIB - 512))
        self.key = self.write("key.pub", KEY + "\n")
        patch = mock.patch.object(paths, "OUT", self.folder / "out")
        patch.start()
        self.addCleanup(patch.stop)

    def own(self, *args: Any) -> Any:
        """Return checked options of a real profile."""
        return self.parse(*map(str, args), job=False)

    def refuse(self, *args: Any, words: tuple[str, ...]) -> None:
        self.refused(*map(str, args), words=words, job=False)

    def line(self, *args: Any) -> list[str]:
        return owncommand.build(self.own(*args), NO_FILES)


class Images(OwnCase):
    """--image."""

    def test_format_and_size(self) -> None:
        self.assertEqual(ownguest.examine(self.image, True), ("raw", MIB))
        other = self.folder / "disk.qcow2"
        tool("create", "-f", "qcow2", other, "3M")
        self.assertEqual(ownguest.examine(other, True), ("qcow2", 3 * MIB))

    def test_not_there(self) -> None:
        self.refuse("--image", "/none/a.img", words=("--image /none/a.img", "no such file"))
        self.refuse("--image", self.folder, words=("is not a file",))

    def test_unknown_formats(self) -> None:
        for head, name in ((b"KDMV", "VMDK"), (b"vhdxfile", "VHDX"), (b"\xfd7zXZ\0", "xz")):
            self.image.write_bytes(head.ljust(MIB, b"\0"))
            self.refuse("--image", self.image, words=(f"is in the format {name}", "qemu-img convert"))

    def test_no_boot_sector(self) -> None:
        self.image.write_bytes(bytes(MIB))
        self.refuse("--image", self.image, words=("no boot sector", "--kernel FILE"))
        self.image.write_bytes(b"")
        self.refuse("--image", self.image, words=("no boot sector",))
        kernel = self.write("vmlinuz", "x")
        self.image.write_bytes(bytes(MIB))
        self.assertEqual(self.own("--image", self.image, "--kernel", kernel).own.image_format, "raw")

    @contextlib.contextmanager
    def in_a_guest(self, image: Path) -> Iterator[Any]:
        """Let a QEMU use the image."""
        guest = [str(paths.QEMU), "-M", "q35", "-S", "-nodefaults", "-display", "none", "-monitor", "stdio"]
        guest += ["-drive", f"if=none,id=a,file={image}", "-device", "virtio-blk-pci,drive=a"]
        with subprocess.Popen(guest, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
            try:
                other.stdin.write(b"info status\n")
                other.stdin.flush()
                while b"VM status" not in other.stdout.readline():  # it answers when the devices exist
                    pass
                yield
            finally:
                other.kill()

    def test_in_use(self) -> None:
        said = ("another program has it open", "qemu-img create")
        with self.in_a_guest(self.image):
            self.refuse("--image", self.image, words=said)
            self.refuse("--image", self.image, "--boot-from-ssd", words=said)
        self.own("--image", self.image)

    def test_in_use_below_an_overlay(self) -> None:
        """The guest of an overlay reads the image and forbids others to write."""
        top = self.folder / "top.qcow2"
        tool("create", "-f", "qcow2", "-F", "raw", "-b", self.image, top)
        with self.in_a_guest(top):
            self.refuse("--image", self.image, words=("another program has it open",))
            self.assertEqual(self.own("--image", self.image, "--boot-from-ssd").own.image_format, "raw")

    def test_backing_file_is_gone(self) -> None:
        top = self.folder / "top.qcow2"
        tool("create", "-f", "qcow2", "-F", "raw", "-b", self.image, top)
        self.assertEqual(self.own("--image", top).own.image_format, "qcow2")
        self.image.unlink()
        self.refuse("--image", top, words=("disk.img", "No such file"))


class Refusals(OwnCase):
    """Test options that exclude each other."""

    def test_jobs_are_for_slates_guest(self) -> None:
        for word in (
            ("--job", "quick"),
            ("--cmd", "x"),
            ("--app", "pgbench"),
            ("--shell",),
            ("--cut-at", "1s", "--after-cut", "x"),
            ("--verbose",),
        ):
            name = "--after-cut" if "--after-cut" in word else word[0]
            self.refuse("--image", self.image, *word, words=(name, "Slate's own guest only"))

    def test_a_power_cut(self) -> None:
        options = self.own("--image", self.image, "--cut-at", "mark:go+1ms", "--cut-then", "reset")
        self.assertEqual((options.cuts.plans[0].mark, options.cuts.plans[0].at_ns), ("go", 10**6))
        self.assertIn("mark:go+1000000ns", facts.repeat_command(options))
        self.refuse("--image", self.image, "--cut-at", "1s,2s", words=("a further boot",))
        libvirt = ("--realtime", "--print-libvirt", "--cut-at", "1s")
        self.refuse("--image", self.image, *libvirt, words=("libvirt plans none",))

    def test_options_of_an_own_guest(self) -> None:
        for word in (
            ("--append", "a"),
            ("--net",),
            ("--ssh-port", "2222"),
            ("--share", "/tmp"),
            ("--iommu",),
            ("--print-libvirt",),
        ):
            self.refuse(*word, words=(f"{word[0]} is for a guest of your own", "--image FILE"))

    def test_kernels(self) -> None:
        self.refuse("--kernel", "smal", words=("--kernel: there is no smal", "did you mean small", "debian, small"))
        self.refuse("--kernel", "/none/vmlinuz", words=("--kernel /none/vmlinuz: no such file",))
        self.refuse("--image", self.image, "--kernel", "small", words=("boots Slate's own guest only",))
        self.refuse("--image", self.image, "--initrd", self.key, words=("--initrd without --kernel FILE",))

    def test_ssh(self) -> None:
        self.refuse("--image", self.image, "--ssh-port", "2222", words=("--ssh-port 2222", "no network", "--net"))
        self.refuse("--image", self.image, "--net", "--ssh-port", "0", words=("out of range",))
        private = self.write("key", "-----BEGIN OPENSSH PRIVATE KEY-----\n")
        self.refuse("--image", self.image, "--ssh-key", private, words=("is a private key", "key.pub"))
        self.refuse("--image", self.image, "--ssh-key", self.image, words=("no public key",))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            self.refuse(
                "--image", self.image, "--net", "--ssh-port", port, words=(f"--ssh-port {port}", "already in use")
            )

    def test_share(self) -> None:
        self.refuse("--image", self.image, "--share", self.image, words=("there is no such folder",))

    def test_boot_from_ssd(self) -> None:
        self.refuse("--boot-from-ssd", words=("the drive holds no system", "--image FILE"))
        self.refuse("--image", self.image, "--boot-from-ssd", "--fill", "50", words=("--fill", "leave it out"))
        self.refuse("--image", self.image, "--boot-from-ssd", "--namespace", "size=1M", words=("the whole drive",))
        tool("resize", "-f", "raw", self.image, "257M")
        self.refuse("--image", self.image, "--boot-from-ssd", words=("has 257 MiB, and the drive 256 MiB",))
        drive = self.folder / "a.slate"
        drive.write_bytes(b"x")
        self.refuse(
            "--image",
            self.image,
            "--boot-from-ssd",
            "--drive",
            drive,
            words=("holds a drive already", "leave --image out"),
        )


class Lines(OwnCase):
    """QEMU's command line."""

    def test_virtual_time_has_no_network(self) -> None:
        line = self.line("--image", self.image)
        self.assertNotIn("-netdev", line)
        self.assertIn("rate=4,quantum=1000,sleep=on", line)
        self.assertIn("virtio-blk-pci,drive=image,bootindex=0", line)
        self.assertNotIn("-no-shutdown", line)  # only a monitor could end it
        self.assertIn("-netdev", self.line("--image", self.image, "--net"))

    def test_real_time_has_a_network(self) -> None:
        line = self.line("--image", self.image, "--realtime")
        forward = line[line.index("-netdev") + 1]
        self.assertRegex(forward, r"^user,id=net0,hostfwd=tcp:127\.0\.0\.1:\d+-:22$")
        self.assertIn("virtio-net-pci,netdev=net0,romfile=", line)
        self.assertIn("e1000e,netdev=net0,romfile=", self.line("--image", self.image, "--realtime", "--net", "e1000e"))
        self.assertNotIn("-netdev", self.line("--image", self.image, "--realtime", "--net", "none"))

    def test_own_kernel(self) -> None:
        kernel, initrd = self.write("vmlinuz", "k"), self.write("initrd", "i")
        line = self.line("--kernel", kernel, "--initrd", initrd, "--append", "root=/dev/vda1 quiet")
        for option, value in (("-kernel", kernel), ("-initrd", initrd), ("-append", "root=/dev/vda1 quiet")):
            self.assertEqual(line[line.index(option) + 1], str(Path(value).resolve()) if option != "-append" else value)
        line = self.line("--kernel", kernel, "--initrd", initrd)
        self.assertEqual(line[line.index("-append") + 1], "console=ttyS0")
        self.assertIn("virtio-blk-pci,drive=image", self.line("--kernel", kernel, "--image", self.image))

    def test_iommu_comes_before_the_devices(self) -> None:
        line = self.line("--image", self.image, "--iommu", "--share", self.folder)
        devices = [value for option, value in itertools.pairwise(line) if option == "-device"]
        self.assertTrue(devices[0].startswith("intel-iommu,"))
        self.assertEqual(devices[-1], "virtio-9p-pci,fsdev=share,mount_tag=share")

    def test_boot_from_ssd(self) -> None:
        drive = self.folder / "new.slate"
        options = self.own("--image", self.image, "--boot-from-ssd", "--drive", drive)
        self.assertEqual((options.fill, options.age), (0, 0))
        line = owncommand.build(options, NO_FILES)
        self.assertIn("nvme,serial=slate,drive=ssd0,bootindex=0", line)
        self.assertFalse(any("node-name=image" in word for word in line))
        words = owncommand.convert_words(options, drive)
        self.assertIn(f"drive-file={drive.resolve()}", words[-1])
        self.assertIn("set.0=precondition.fill_permille=0", words[-1])

    def test_repeat_command_is_taken_again(self) -> None:
        options = self.own("--image", self.image, "--boot-from-ssd", "--realtime", "--iommu")
        words = facts.repeat_command(options)
        for word in ("--image", "--boot-from-ssd", "--iommu", "--net virtio", "--realtime"):
            self.assertIn(word, words)
        for word in ("--shell", "--job", "--kernel"):
            self.assertNotIn(word, words)

    def test_default_run_is_as_it_was(self) -> None:
        line = command.build(self.parse(), NO_FILES)
        self.assertIn("-no-reboot", line)
        self.assertFalse({"-netdev", "-machine", "-fsdev"} & set(line))


class Seeds(OwnCase):
    """Test the seed that cloud-init reads."""

    def test_files(self) -> None:
        found = seed.files(self.own("--image", self.image, "--ssh-key", self.key).own)
        head, config = found["user-data"].split("\n", 1)
        self.assertEqual(head, "#cloud-config")
        user = json.loads(config)["users"][0]
        self.assertEqual((user["name"], user["ssh_authorized_keys"]), ("slate", [KEY]))
        self.assertRegex(json.loads(found["meta-data"])["instance-id"], "^slate-[0-9a-f]{12}$")

    def test_disk_is_labelled_and_holds_them(self) -> None:
        own = self.own("--image", self.image, "--ssh-key", self.key).own
        path = seed.write(own)
        made = path.stat().st_mtime_ns
        self.assertEqual(seed.write(own).stat().st_mtime_ns, made)
        words = ["mtype", "-i", str(path), "::user-data"]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        self.assertEqual(told, seed.files(own)["user-data"])
        label = subprocess.run(["mlabel", "-s", "-i", str(path), "::"], capture_output=True, text=True, check=True)
        self.assertIn("CIDATA", label.stdout)


class Libvirt(OwnCase):
    """--print-libvirt."""

    def check(self, *args: Any) -> str:
        domain = self.folder / "domain.xml"
        domain.write_text(owncommand.libvirt(self.own(*args)), encoding="utf-8")
        done = subprocess.run(["virt-xml-validate", str(domain), "domain"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return domain.read_text(encoding="utf-8")

    def test_image_with_everything(self) -> None:
        text = self.check(
            *("--image", self.image, "--realtime", "--ssh-key", self.key, "--share", self.folder, "--iommu")
        )
        self.assertIn("driver=nand-ssd", text)
        self.assertIn("nvme,serial=slate,drive=ssd0", text)

    def test_slots(self) -> None:
        """libvirt fills q35's bus from slot 1 upward; the devices that it does not know lie above."""
        text = self.check(*("--image", self.image, "--realtime", "--ssh-key", self.key))
        devices = re.findall(r'value="-device" />\s*<qemu:arg value="(.*?)"', text)
        self.assertEqual([re.search(r",bus=pcie.0,addr=(.*)", one)[1] for one in devices], ["0x10", "0x11"])

    def test_namespaces_have_no_slot(self) -> None:
        """A namespace is on its controller's bus, and a subsystem is on none."""
        for words, want in (
            (
                ("--profile", PROFILE, "--one-controller"),  # the second drive
                [
                    "nvme,id=controller,serial=slate,bus=pcie.0,addr=0x10",
                    "nvme-ns,drive=ssd0,bus=controller,nsid=1",
                    "nvme-ns,drive=ssd1,bus=controller,nsid=2",
                ],
            ),
            (
                ("--set", "ftl.placement_handles=2"),
                [
                    "nvme-subsys,id=group0,fdp=on,fdp.nruh=2",
                    "nvme,id=fdp0,serial=slate,subsys=group0,bus=pcie.0,addr=0x10",
                    "nvme-ns,drive=ssd0,bus=fdp0,shared=off,fdp.ruhs=0-1",
                ],
            ),
        ):
            text = self.check(*("--image", self.image, "--realtime", "--net", "none"), *words)
            self.assertEqual(re.findall(r'value="-device" />\s*<qemu:arg value="(.*?)"', text), want)

    def test_kernel(self) -> None:
        files = ("--kernel", self.write("vmlinuz", "k"), "--initrd", self.write("initrd", "i"))
        text = self.check(*files, "--append", "a & b", "--realtime")
        self.assertIn("<cmdline>a &amp; b</cmdline>", text)

    def test_virtual_time(self) -> None:
        with self.assertRaises(SlateError) as caught:
            owncommand.libvirt(self.own("--image", self.image))
        self.assertIn("--realtime", caught.exception.fix)


class Lives(OwnCase):
    """Test a guest that does not boot."""

    def life(self, text: str, timeout: float = 0.0) -> Any:
        own = self.own("--image", self.image).own
        console = self.folder / "console.log"
        console.write_text(text, encoding="utf-8")
        watcher = Watcher(console, self.folder / "results", 1, mock.Mock(), False)
        return ownrun.Life(own, watcher, timeout)

    def test_silence(self) -> None:
        life = self.life("Booting from Hard Disk...\n", 0.0)
        life._listen()
        with self.assertRaises(MachineError) as caught:
            life._listen()
        self.assertIn("did not come up", str(caught.exception))
        self.assertIn("| Booting from Hard Disk...", str(caught.exception))

    def test_what_it_said_does_not_steer_the_terminal(self) -> None:
        """SeaBIOS begins with sequences that would clear the screen, and the message with it."""
        life = self.life("\033c\033[?7l\033[2J\033[0mSeaBIOS (version 1)\r\n\033(B\033]0;a\atab\there\b\x9b2J\n", 0.0)
        life._listen()
        with self.assertRaises(MachineError) as caught:
            life._listen()
        self.assertIn("lines:\n  | SeaBIOS (version 1)\n  | 0;atab  here2J\n  fix:", str(caught.exception))

    def test_panic(self) -> None:
        life = self.life("VFS: Unable to mount root\nKernel panic - not syncing: VFS\n", 99.0)
        life._listen()
        life.panic -= 60
        with self.assertRaises(MachineError) as caught:
            life._listen()
        self.assertIn("panicked", str(caught.exception))
        self.assertIn("| VFS: Unable to mount root", str(caught.exception))

    def test_prompt(self) -> None:
        life = self.life("slate login: ", 0.0)
        life._listen()
        self.assertTrue(life.prompt)
        life._listen()


if __name__ == "__main__":
    unittest.main()
