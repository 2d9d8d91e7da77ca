# SPDX-License-Identifier: GPL-2.0-or-later
"""Test which files of a Python package host-tools/python/renew.py takes, and that each list has them."""

import importlib.util
import re
import unittest
from typing import Any

from support import ROOT

FOLDER = ROOT / "host-tools/python"
_SPEC = importlib.util.spec_from_file_location("renew", FOLDER / "renew.py")
renew: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(renew)


class Wheels(unittest.TestCase):
    def test_those_that_a_host_can_install(self) -> None:
        for name in (
            "a-1.0-py3-none-any.whl",
            "a-1.0-py2.py3-none-any.whl",
            "a-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            "a-1.0-cp314-cp314-manylinux_2_28_x86_64.whl",
            "a-1.0-cp39-abi3-manylinux_2_17_x86_64.whl",
            "a-1.0-py2.py3-none-manylinux1_x86_64.whl",
            "a-1.0-1-py3-none-any.whl",
        ):
            self.assertTrue(any(renew.fits(name, minor) for minor in renew.PYTHONS), name)

    def test_others(self) -> None:
        for name in (
            "a-1.0.tar.gz",
            "a-1.0-cp310-cp310-manylinux_2_17_x86_64.whl",
            "a-1.0-cp315-abi3-manylinux_2_17_x86_64.whl",
            "a-1.0-cp313-cp313t-manylinux_2_17_x86_64.whl",
            "a-1.0-cp311-cp311-musllinux_1_2_x86_64.whl",
            "a-1.0-cp311-cp311-manylinux_2_17_aarch64.whl",
            "a-1.0-cp311-cp311-win_amd64.whl",
            "a-1.0-pp311-pypy311_pp73-manylinux_2_17_x86_64.whl",
            "a-1.0-py2-none-any.whl",
        ):
            self.assertFalse(any(renew.fits(name, minor) for minor in renew.PYTHONS), name)

    def test_which_pythons(self) -> None:
        for tags, pythons in (
            ("cp312-cp312-manylinux_2_17_x86_64", [12]),
            ("cp313-abi3-manylinux_2_17_x86_64", [13, 14]),
            ("py312-none-any", [12, 13, 14]),
            ("cp312-none-any", [12]),
            ("py2.py3-none-any", [11, 12, 13, 14]),
        ):
            with self.subTest(tags):
                self.assertEqual([n for n in renew.PYTHONS if renew.fits(f"a-1.0-{tags}.whl", n)], pythons)

    def test_a_package_without_wheels_is_taken_as_source(self) -> None:
        package = {
            "name": "a", "version": "1.0", "marker": "python_version < '3.13'",
            "sdist": {"url": "x://y/a-1.0.tar.gz", "hashes": {"sha256": "1f"}},
            "wheels": [{"url": "x://y/a-1.0-cp311-cp311-win_amd64.whl", "hashes": {"sha256": "2e"}}],
        }  # fmt: skip
        self.assertEqual(renew.requirement(package), "a==1.0 ; python_version < '3.13' \\\n    --hash=sha256:1f")

    def test_a_python_without_a_wheel_takes_the_source(self) -> None:
        name = "a-1.0-cp3{0}-cp3{0}-manylinux_2_17_x86_64.whl"
        wheels = [{"name": name.format(n), "hashes": {"sha256": f"{n}"}} for n in (11, 12, 13)]
        sdist = {"name": "a-1.0.tar.gz", "hashes": {"sha256": "99"}}
        package = {"name": "a", "version": "1.0", "wheels": wheels, "sdist": sdist}
        lines = "".join(f" \\\n    --hash=sha256:{n}" for n in (11, 12, 13, 99))
        self.assertEqual(renew.requirement(package), f"a==1.0{lines}")
        del package["sdist"]
        with self.assertRaises(SystemExit) as caught:
            renew.requirement(package)
        self.assertEqual(caught.exception.code, "renew.py: a 1.0 has no file for CPython 3.14")

    def test_hashes_are_sorted(self) -> None:
        wheels = [{"name": f"a-1.0-py{n}-none-any.whl", "hashes": {"sha256": h}} for n, h in ((3, "ff"), (311, "0a"))]
        self.assertEqual(
            renew.requirement({"name": "a", "version": "1.0", "wheels": wheels}),
            "a==1.0 \\\n    --hash=sha256:0a \\\n    --hash=sha256:ff",
        )


class Lists(unittest.TestCase):
    def test_each_asked_package_is_pinned_with_a_hash(self) -> None:
        for source in sorted(FOLDER.glob("*.in")):
            text = source.with_suffix(".txt").read_text(encoding="utf-8")
            pinned = re.findall(r"^(\S+)==\S+.*\\\n    --hash=sha256:[0-9a-f]{64}", text, re.M)
            for line in source.read_text(encoding="utf-8").splitlines():
                if line and not line.startswith("#"):
                    with self.subTest(list=source.stem, package=line):
                        self.assertIn(re.sub(r"[._]", "-", re.split(r"[=<>!~]", line)[0]).lower(), pinned)


if __name__ == "__main__":
    unittest.main()
