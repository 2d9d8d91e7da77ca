# SPDX-License-Identifier: GPL-2.0-or-later
"""SPEC.md's part on controls agrees with slate_wire.h."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import support  # noqa: F401  (sets the path)

from slate_lib import account, counters

ROOT = Path(__file__).resolve().parents[2]
INCLUDES = [ROOT / "host-tools" / "libslate", ROOT / "ftl" / "common", ROOT / "nand-emu"]
HEADER = (ROOT / "host-tools" / "libslate" / "slate_wire.h").read_text(encoding="utf-8")
SPEC = (ROOT / "SPEC.md").read_text(encoding="utf-8").split("# Controls, version 1")[1]
PROSE = " ".join(SPEC.split())
PLACES = {  # of the counters in their groups of log 0xd1 and in the rows of log 0xd7: they never change
    "op": """
        ios bytes errors latency_sum_ns latency_min_ns latency_max_ns cell_ns bus_ns host_queue_ns gc_queue_ns
        buffer_ns map_ns other_ns link_ns controller_ns namespace_queue_ns""",
    "ftl": """
        fua_writes unwritten_reads unwritten_units buffer_hit_units coalesced_units merge_reads merge_read_bytes
        trimmed_units host_units meta_units pad_units gc_runs gc_units gc_ns gc_blocks wl_runs relocations wl_units
        merges mmerges second_victims search_reads backup_pages fast_pages slow_pages retired_blocks mounts host_pages
        gc_pages raw_units comp_units delta_units link_units comp_bytes delta_bytes plain_bytes reference_hits
        reference_reads refused_references link_to_host_busy_ns link_to_drive_busy_ns core_busy_ns slc_pages
        slc_direct_pages slc_fold_units slc_erases map_hits map_misses map_reads map_writes map_copies read_cache_hits
        read_ahead_units zone_appends zone_opens zone_closes zone_finishes zone_resets zone_reports stray_pages
        reclaim_units dram_busy_ns zone_retirements zone_commits zone_implicit_commits gc_pad_units flush_pad_units
        flush_pages flush_empty_bytes""",
    "source": """
        reads programs erases copybacks read_nj program_nj erase_nj copyback_nj die_busy_ns bus_busy_ns
        user_read_bytes""",
    "nand": """
        uncorrectable corrected retries program_fails erase_fails partial_erases parallel_erases subpage_reads
        read_bytes lower_reads suspends disturbs disturb_lost paired_lost programmed_pages erase_count_max
        erase_count_sum page_erases page_erases_sq damaged""",
    "series-op": """
        ios bytes latency_sum_ns latency_max_ns cell_ns bus_ns host_queue_ns gc_queue_ns buffer_ns map_ns other_ns
        link_ns controller_ns namespace_queue_ns""",
    "series-drive": """
        host_units gc_units wl_units pad_units meta_units gc_runs nand_reads nand_programs nand_erases free_blocks
        suspends link_to_host_busy_ns link_to_drive_busy_ns core_busy_ns dram_busy_ns read_cache_hits read_ahead_units
        map_hits map_misses slc_pages slc_direct_pages slc_fold_units""",
}


def enum(name: str) -> int:
    """Return the value of a name in the header."""
    found = re.search(rf"\b{name} = (\w+)", HEADER)
    assert found, name
    return int(found[1], 0)


def cells(begin: str) -> list[list[str]]:
    """Return the cells of the first table behind this text, row by row, without the two rows of its head."""
    table = next(text for text in SPEC[SPEC.index(begin) :].split("\n\n") if text.startswith("|"))
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.strip().splitlines()[2:]]


def plain(text: str) -> str:
    """Return the text without what is in parentheses."""
    inner = re.sub(r"\([^()]*\)", "", text)
    return inner if inner == text else plain(inner)


def runs(text: str) -> list[tuple[int, str]]:
    """Return size and name of the fields in a text like '4 op, 8 ios. 8 bytes each: a, b'."""
    size, found = 0, []
    for part in re.split(r"[,;.] *", plain(text)):
        each = re.match(r"(\d+) (?:bytes )?each: (.*)", part.strip())
        if each:
            size, part = int(each[1]), each[2]
        single = re.match(r"(\d+) (\S+)", part.strip())
        if single and not each:
            found.append((int(single[1]), single[2]))
        elif part.strip():
            found.append((size, part.strip()))
    return found


def table(struct: str, begin: str) -> list[tuple[str, str, int, int]]:
    """Return struct, field, place and size of each row of a table 'at, bytes, field' of SPEC.md."""
    found = []
    for at, size, field, *_ in cells(begin):
        place, fields = int(at), runs(re.sub(r"(?<!each): [^;]*", "", plain(field)))
        if not field.startswith("4 each"):
            fields = [(int(size), re.split(r"\W", field)[0])]
        for each, name in fields:
            found.append((struct, name, place, each))
            place += each
        assert place == int(at) + int(size), (field, "has another size than its row says")
    return found


def entry(log: str, struct: str, listed: str) -> list[tuple[str, str, int, int]]:
    """Return the same of a log's entries, which a sentence lists. They fill the entry."""
    size = int(next(row for row in cells("Logs 0xd2") if log in row[0])[1].partition("entry_bytes (")[2].split(")")[0])
    place, found = 0, []
    for each, name in runs(listed):
        found.append((struct, name, place, each))
        place += each
    assert place == size, (log, place, size)
    return [*found, (struct, "", 0, size)]


def compiled(fields: list[tuple[str, str, int, int]]) -> list[tuple[str, str, int, int]]:
    """Return the same fields with the places and sizes that the header gives them; without a name: the struct."""
    lines = [
        f'"{struct} {name or "-"} %zu %zu\\n", '
        + (f"offsetof(struct {struct}, {name}), sizeof(((struct {struct} *)0)->{name})" if name else "")
        + ("" if name else f"(size_t)0, sizeof(struct {struct})")
        for struct, name, _, _ in fields
    ]
    source = '#include <stddef.h>\n#include <stdio.h>\n#include "slate_wire.h"\nint main(void)\n{\n'
    source += "".join(f"printf({line});\n" for line in lines) + "return 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "layout"
        include = [f"-I{path}" for path in INCLUDES]
        subprocess.run(["cc", "-x", "c", "-", "-o", program, *include], input=source, text=True, check=True)
        printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in printed.splitlines()]
    return [(struct, name.strip("-"), int(place), int(size)) for struct, name, place, size in words]


class Layout(unittest.TestCase):
    """SPEC.md gives the places and sizes of fields that the structs have."""

    maxDiff = None

    def check(self, fields: list[tuple[str, str, int, int]]) -> None:
        self.assertGreater(len(fields), 3)
        self.assertEqual(compiled(fields), fields)

    def test_head(self) -> None:
        self.check([*table("slate_log_head", "A log begins with a head"), ("slate_log_head", "", 0, 32)])

    def test_identity(self) -> None:
        fields = table("slate_log_identity", "**0xd0")
        self.assertEqual(fields[-1][1:], ("reserved", 232, 24))
        self.check([*fields[:-1], ("slate_log_identity", "reserved2", 232, 24), ("slate_log_identity", "", 0, 256)])

    def test_counters(self) -> None:
        begin = int(re.search(r"\*\*0xd1 counters\*\*, 8 bytes each from (\d+) on", SPEC)[1])
        self.check([*table("slate_log_counters", "**0xd1"), ("slate_log_counters", "", 0, begin)])

    def test_entries(self) -> None:
        """The heads of these logs have 48 bytes; the last four numbers, of 4 bytes each, are at 32."""
        names = {"latency": "latency", "blocks": "plane", "wear": "wear", "faults": "fault"}
        for name, at32, listed in cells("Logs 0xd2"):
            log = name.strip("*").split()[1]
            head = f"slate_log_{log}"
            fields = [(head, one, 32 + 4 * i, 4) for i, one in enumerate(plain(at32).replace(" ", "").split(","))]
            self.check([*fields, (head, "", 0, 48)])
            listed = re.sub(r"^\D*", "", plain(listed))
            listed = re.sub(r"number of blocks that are 0 .*? 5 bad", "24 state", listed.partition(" Buckets:")[0])
            if log == "blocks":
                listed = listed.replace("24 state;", "24 state; 4 each:")
            if log == "latency":
                count = int(at32.partition("causes (")[2].split(")")[0])
                listed = listed.replace("8 for each cause", f"{8 * count} cause_ns")
            self.check(entry(name, f"slate_{names[log]}_entry", listed))

    def test_error_and_series(self) -> None:
        """A number and a colon begin a field; so does the number of its bytes."""
        self.assertIn("32: 4 each: opcode (0: none yet), command, status, refused", PROSE)
        self.assertIn("48: 512 bytes of text", PROSE)
        four = ("opcode", "command", "status", "refused")
        fields = [("slate_log_error", name, 32 + 4 * i, 4) for i, name in enumerate(four)]
        self.check([*fields, ("slate_log_error", "text", 48, 512)])
        own = PROSE.partition("**0xd7 series**")[2].partition(" From 80 on")[0].partition("32: 8 interval_ns; 40: ")[2]
        place, fields = 40, [("slate_log_series", "interval_ns", 32, 8)]
        for size, name in runs(own):
            fields.append(("slate_log_series", name, place, size))
            place += size
        self.check([*fields, ("slate_log_series", "", 0, 80)])


class Specification(unittest.TestCase):
    """Compare names, numbers and sizes."""

    def test_counters(self) -> None:
        """New counters are appended behind the places that are fixed."""
        for group, names in PLACES.items():
            fixed = names.replace("_", "-").split()
            self.assertEqual(fixed, counters.names(group)[: len(fixed)], group)
            self.assertIn(f"({len(fixed)} or more)", SPEC)

    def test_sources(self) -> None:
        """The places of the sources are fixed, and later ones are appended."""
        paragraph = next(text for text in SPEC.split("\n\n") if text.startswith("| at |") and "source_words" in text)
        listed = paragraph.partition("has source_words for each of ")[2].partition(", later sources")[0]
        fixed = listed.split(", ")
        self.assertEqual(fixed, counters.sources()[: len(fixed)])
        self.assertIn(f"sources ({len(fixed)} or more)", paragraph)

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
