# SPDX-License-Identifier: GPL-2.0-or-later
"""SPEC.md's part on controls agrees with slate_wire.h."""

import re
import subprocess
import unittest
from pathlib import Path

import support  # noqa: F401  (sets the path)

from slate_lib import account, counters

ROOT = Path(__file__).resolve().parents[2]
INCLUDES = [ROOT / "host-tools" / "libslate", ROOT / "ftl" / "common", ROOT / "nand-emu"]
HEADER = (ROOT / "host-tools" / "libslate" / "slate_wire.h").read_text(encoding="utf-8")
SPEC = (ROOT / "SPEC.md").read_text(encoding="utf-8").split("# Controls, version 1")[1]
PROSE = " ".join(SPEC.split())


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
        """The places in SPEC.md are fixed: new counters are appended behind them."""
        for group, begin in (
            ("op", "1, of an operation:"),
            ("ftl", "2, of the FTL"),
            ("source", "3, of a source:"),
            ("nand", "5, of the array"),
        ):
            fixed = spec_list(begin)
            self.assertEqual([name.replace("_", "-") for name in fixed], counters.names(group)[: len(fixed)], group)
            self.assertIn(f"({len(fixed)} or more)", SPEC)

    def test_sources(self) -> None:
        """The places of the sources are fixed, and later ones are appended."""
        paragraph = next(text for text in SPEC.split("\n\n") if text.startswith("| at |") and "source_words" in text)
        listed = paragraph.partition("has source_words for each of ")[2].partition(", later sources")[0]
        fixed = listed.split(", ")
        self.assertEqual(fixed, counters.sources()[: len(fixed)])
        self.assertIn(f"sources ({len(fixed)} or more)", paragraph)

    def test_series(self) -> None:
        """The places in a row of the series are fixed, too."""
        paragraph = next(text for text in SPEC.split("\n\n") if text.startswith("**0xd7 series**"))
        words = " ".join(paragraph.split())
        for group, first, last in (("series-op", "ios,", "; host"), ("series-drive", "host_units,", "; for each")):
            listed = re.sub(r" \(.*?\)", "", words[words.index(first) :]).partition(last)[0]
            fixed = re.findall(r"[a-z_]+", listed)
            self.assertEqual([name.replace("_", "-") for name in fixed], counters.names(group)[: len(fixed)], group)
            self.assertIn(f"_words ({len(fixed)} or more)", words)

    def test_every_counter_has_a_sentence(self) -> None:
        for group, rows in counters.declared().items():
            self.assertEqual(len({row.name for row in rows}), len(rows), group)
            for row in rows:
                self.assertRegex(row.says, r"^[A-Z][^\t]*\.$", row.name)
                self.assertIn(row.kind, ("COUNT", "LEVEL", "MIN", "MAX"), row.name)

    def test_levels(self) -> None:
        """The reports do not add up counters that are no sums."""
        levels = [row.name for rows in counters.declared().values() for row in rows if row.kind == "LEVEL"]
        self.assertEqual(levels, [*account.LEVELS, "free-blocks"])

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
                    *(f"-I{folder}" for folder in INCLUDES),
                ],
                input=source,
                text=True,
                check=True,
            )


if __name__ == "__main__":
    unittest.main()
