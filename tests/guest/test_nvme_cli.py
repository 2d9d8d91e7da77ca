# SPDX-License-Identifier: GPL-2.0-or-later
"""Run nvme-cli's own tests, from its Debian source, on the controller."""

import json
import re

from support import HERE, GuestTest

from slate_lib import paths

# The controller has these optional commands of NVMe 2.0, as bits of id-ctrl's oncs and oacs.
NAMESPACE_MANAGEMENT = 3

# Some tests need these optional commands, which QEMU's nvme does not have.
NOT_OFFERED = {
    "nvme_attach_detach_ns_test": ("oacs", NAMESPACE_MANAGEMENT),
    "nvme_create_max_ns_test": ("oacs", NAMESPACE_MANAGEMENT),
    "nvme_format_test": ("oacs", NAMESPACE_MANAGEMENT),
}
# smart_log looks for "data_units_read" in what 'nvme smart-log' of its own version calls "Data Units Read".
# get_features asks for Error Recovery (5), a feature of a namespace, without naming one.
OTHERS_THAT_FAIL = ("nvme_smart_log_test", "nvme_get_features_test")
PASS = (
    *(f"nvme_{name}_test" for name in ("compare", "copy", "dsm", "error_log", "flush", "fw_log", "id_ctrl", "id_ns",
                                       "lba_status_log", "read_write", "verify", "writeuncor", "writeuncor_4k",
                                       "writezeros")),
)  # fmt: skip


# From 2.13 on each test makes a namespace in its setUp, so the guest manages the drive's namespaces. The test of Copy
# takes a character of a text for a number (TypeError in its setUp), that of Get LBA Status gives a path for an NSID.
MANAGED = ("attach_detach_ns", "compare", "create_max_ns", "ctrl_reset", "dsm", "error_log", "flush", "format",
           "fw_log", "get_features", "id_ctrl", "id_ns", "lba_status_log", "read_write", "smart_log",
           "verify", "writeuncor", "writezeros")  # fmt: skip


class NvmeCli(GuestTest):
    """Uses the packaged kernel, because the tests read its sysfs."""

    kernel = "debian"

    def test_nvme_cli(self) -> None:
        (self.folder / "nvme-cli.sh").symlink_to(HERE / "nvme-cli.sh")
        packages = json.loads(paths.APPS_IMAGE.with_suffix(".json").read_text(encoding="utf-8"))["packages"]
        if not packages["src nvme-cli"].startswith("2.3-"):
            words = ("--set", "drive.namespaces=16", "--env", "MANAGED=1", "--cmd", "nvme-cli.sh")
            result = self.slate("--apps", "--fill", "0", *words, seconds=900)
            found = dict(line.split() for line in result.text("nvme-cli.txt").splitlines())
            self.assertEqual(found, {f"nvme_{name}_test": "ok" for name in MANAGED}
                             | {"nvme_copy_test": "FAIL", "nvme_get_lba_status_test": "FAIL"})
            self.assertIn("TypeError", result.text("nvme_copy_test.txt"))
            self.assertIn("Expected word argument for 'namespace-id'", result.text("nvme_get_lba_status_test.txt"))
            skipped = {name for name in MANAGED if "(skipped=" in result.text(f"nvme_{name}_test.txt")}
            self.assertEqual(skipped, set())
            self.assert_clean(result.device, unreadable=1)  # by writeuncor
            return
        result = self.slate("--apps", "--fill", "0", "--cmd", "nvme-cli.sh", seconds=600)
        found = dict(line.split() for line in result.text("nvme-cli.txt").splitlines())
        # Early versions of this test ask for action 11, which is reserved, instead of 11h.
        if found.pop("nvme_get_lba_status_test") != "ok":
            self.assertIn("(0x4002)", result.text("nvme_get_lba_status_test.txt"), "Invalid Field in Command")
        fails = dict.fromkeys((*NOT_OFFERED, *OTHERS_THAT_FAIL), "FAIL")
        self.assertEqual(found, dict.fromkeys(PASS, "ok") | fails)
        offered = result.text("id-ctrl.txt")
        for test, (field, bit) in NOT_OFFERED.items():
            value = int(re.search(rf"^{field}\s*: (0x[0-9a-f]+)", offered, re.M)[1], 16)
            self.assertFalse(value >> bit & 1, f"{test}: {field} {value:#x} has bit {bit}")
        self.assert_clean(result.device, unreadable=2)  # by writeuncor and writeuncor_4k
