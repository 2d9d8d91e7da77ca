# SPDX-License-Identifier: GPL-2.0-or-later
"""SPEC.md's part on controls agrees with slate_wire.h."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "host-tools" / "libslate" / "slate_wire.h").read_text(encoding="utf-8")
SPEC = (ROOT / "SPEC.md").read_text(encoding="utf-8").split("# Controls, version 1")[1]
PROSE = " ".join(SPEC.split())


def header_list(group: str) -> list[str]:
    """Return the names of a list of counters."""
    body = re.search(rf"#define SLATE_{group}_COUNTERS\(X\)(.*?)\n\n", HEADER, re.S)
    assert body
    return re.findall(r"X\((\w+), ", body[1])


def spec_list(begin: str) -> list[str]:
    """Return the list '0 name, 1 name ...' of the paragraph with this beginning, in order."""
    paragraph = next(text for text in SPEC.split("\n\n") if text.startswith(begin))
    names: list[str] = []
    for number, name in re.findall(r"\b(\d+)\s+([a-z]\w+)", paragraph):
        if int(number) == len(names):
            names.append(name)
    return names


def enum(name: str) -> int:
    """Return the value of a name in the header."""
    found = re.search(rf"\b{name} = (\w+)", HEADER)
    assert found, name
    return int(found[1], 0)


class Specification(unittest.TestCase):
    """Names, numbers and sizes."""

    def test_counters(self) -> None:
        for group, begin in (
            ("OP", "1, of an operation:"),
            ("FTL", "2, of the FTL"),
            ("SOURCE", "3, of a source:"),
            ("NAND", "5, of the array"),
        ):
            names = header_list(group)
            self.assertEqual(spec_list(begin), names, group)
            self.assertIn(f"({len(names)})", SPEC)

    def test_log_pages(self) -> None:
        for name in ("IDENTITY", "COUNTERS", "LATENCY", "BLOCKS", "WEAR", "FAULTS", "ERROR"):
            self.assertIn(f"**{enum(f'SLATE_LOG_{name}'):#x} {name.lower()}", SPEC)

    def test_commands_and_statuses(self) -> None:
        for name, word in (("ADM_MARK", "Mark"), ("ADM_SET", "Set"), ("ADM_CONTROL", "Control")):
            self.assertIn(f"| {enum(f'SLATE_{name}'):#x} | {word} |", SPEC)
        for name, words in (
            ("RESET_COUNTERS", "reset counters"),
            ("FORCE_GC", "force GC"),
            ("FAULT_ADD", "add fault"),
            ("FAULT_CLEAR", "clear faults"),
            ("POWER_CUT", "power cut"),
            ("POWER_CUT_CANCEL", "cancel"),
        ):
            self.assertIn(f"| {enum(f'SLATE_{name}')} | {words} |", SPEC)
        for name, word in (("REFUSED", "refused"), ("UNSUPPORTED", "unsupported"), ("NO_ROOM", "no room")):
            self.assertIn(f"{enum(f'SLATE_{name}'):#x} {word}", PROSE)

    def test_it_compiles_by_itself(self) -> None:
        source = '#include "slate_wire.h"\nint size(void) { return (int)sizeof(struct slate_log_head); }\n'
        for standard in ("c99", "c11"):
            subprocess.run(
                [
                    "cc",
                    f"-std={standard}",
                    "-Wall",
                    "-Wextra",
                    "-Wpedantic",
                    "-Werror",
                    "-Wno-missing-prototypes",
                    "-x",
                    "c",
                    "-",
                    "-fsyntax-only",
                    "-I",
                    str(ROOT / "host-tools" / "libslate"),
                ],
                input=source,
                text=True,
                check=True,
            )


if __name__ == "__main__":
    unittest.main()
