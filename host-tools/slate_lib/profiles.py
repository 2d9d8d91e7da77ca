# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate profiles' shows the existing drives, their validity and their derived values.

The figures come from build/core/slate-profile, which links the code that runs the drive; this file only finds
profiles and prints.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from . import drives, paths, units
from .commands import SET, Option
from .errors import OK, SlateError
from .names import PROFILE, files
from .shape import Json
from .values import check_settings

INVALID = 1  # exit code of 'slate profiles' if a profile is invalid
_ABOUT = re.compile(r"^; \S+\.ini - (.*?)\.?$", re.MULTILINE)
SHAPE = (
    ("geometry.channels", "channel"),
    ("geometry.chips_per_channel", "chip"),
    ("geometry.dies_per_chip", "die"),
    ("geometry.planes_per_die", "plane"),
    ("geometry.blocks_per_plane", "block"),
    ("geometry.pages_per_block", "page"),
)
# Each key has the value that disables it, the keys of the page FTL that use it, and its name.
PAGE_FTL_IGNORES = (
    ("geometry.pb_levels", "0", (), "partial erase"),
    ("geometry.erase_group_max", "1", ("ftl.parallel_erase",), "parallel erase"),
    ("geometry.subpage", "none", ("ftl.gc_subpage_reads", "ftl.host_subpage_reads"), "sub-page reads"),
    ("geometry.copyback", "no", ("ftl.gc_copyback",), "copyback"),
    ("timing.suspend_ns", "0", ("ftl.suspend",), "suspension"),
)
TYPES = {1: [""], 2: ["LSB", "MSB"], 3: ["LSB", "CSB", "MSB"], 4: ["LSB", "second", "third", "MSB"]}


JSON = Option("--json", about="for programs")
_JSON_OF_VERB = dataclasses.replace(JSON, unset=True)  # it counts before the verb, too
SHOW = (Option("profile", "NAME", "a shipped profile's name, or a path"), SET, _JSON_OF_VERB)
KEYS = (Option("words", "WORD", "only keys that have all these words in their line", count="*"), _JSON_OF_VERB)


# ---- finding and reading


def about(path: Path) -> str:
    """Return the first line of the file's comment."""
    match = _ABOUT.search(path.read_text(encoding="utf-8", errors="replace"))
    return match[1] if match else ""


def check_kept(drive: Path, profile: Path | None, settings: list[str]) -> None:
    """Raise a SlateError if the drive in a file cannot be opened with this profile, or its own, and these settings."""
    words: list[str | Path] = [paths.program("slate-profile"), "--drive", drive.resolve()]
    words.append(profile.resolve() if profile else "-")
    done = subprocess.run([*words, *settings], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise SlateError(done.stderr.strip() or f"slate-profile ended with {done.returncode}")


def derive(path: Path, settings: list[str]) -> Json:
    """Return all values that slate-profile derives from a profile.

    Raises a SlateError with the drive's message if it is invalid.
    """
    tool = paths.program("slate-profile")
    inside = path.resolve().is_relative_to(paths.ROOT)
    done = subprocess.run(
        [tool, path.resolve().relative_to(paths.ROOT) if inside else path, *settings],
        cwd=paths.ROOT if inside else None,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise SlateError(done.stderr.strip() or f"{tool} ended with {done.returncode}")
    return {"about": about(path), "path": paths.short(path), **json.loads(done.stdout)}


def over_provisioning(settings: list[str]) -> Json | None:
    """Return the over-provisioning of a drive with these settings; None if slate-profile does not know them."""
    try:
        words: list[str | Path] = [paths.program("slate-profile"), "-", *settings]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except (OSError, SlateError):
        return None
    if done.returncode:
        return None
    told: Json = json.loads(done.stdout)["over_provisioning"]
    return told


# ---- the list


def list_all(as_json: bool) -> int:
    """Check and print every shipped profile. Returns the exit code."""
    rows, errors = [], []
    for path in files(PROFILE):
        try:
            rows.append({**derive(path, []), **sheet_of(path)})
        except SlateError as error:
            errors.append(str(error))
            rows.append(
                {"name": path.stem, "about": about(path), "path": paths.short(path), "error": str(error)}
                | sheet_of(path)
            )
    if as_json:
        keys = ("name", "about", "path", "sheet", "error", "ftl", "runs", "raw_bytes", "exported_bytes")
        print(json.dumps([{key: row[key] for key in keys if key in row} for row in rows], indent=1))
    else:
        print(table(rows), end="")
    sys.stdout.flush()
    for said in errors:
        print(f"slate: {said}", file=sys.stderr)
    return INVALID if errors else OK


def sheet_of(path: Path) -> Json:
    """Return {"sheet": name} for a real drive, whose profile has the name of its data sheet; otherwise nothing."""
    return {"sheet": path.stem} if path.parent.name == "drives" else {}


def table(rows: list[Json]) -> str:
    """Return a table for a person."""
    width = max([len(row["name"]) for row in rows] + [7])
    ftls = max([len(row.get("ftl", "")) + 2 * (row.get("runs") is False) for row in rows] + [6])
    lines = [f"{'profile':<{width}}  {'raw':>9}  {'exported':>9}  {'FTL':<{ftls}}  what it is"]
    for before, row in zip([{}, *rows], rows):
        if "sheet" in row and "sheet" not in before:
            lines.append("real drives, fitted to data sheets by 'slate fit', capacity cut:")
        if "error" in row:
            lines.append(f"{row['name']:<{width}}  INVALID, see below")
            continue
        sizes = f"{units.size(row['raw_bytes']):>9}  {units.size(row['exported_bytes']):>9}"
        ftl = row["ftl"] + ("" if row["runs"] else " *")
        lines.append(f"{row['name']:<{width}}  {sizes}  {ftl:<{ftls}}  {row['about']}")
    if any(row.get("runs") is False for row in rows):
        lines.append("* no FTL: the profile describes the array, 'slate run' refuses it")
    return "\n".join(lines) + "\n"


# ---- the keys


def _key_rows() -> list[list[str]]:
    """Return a row for each key: its name, values, default, the FTLs that read it (empty: all), meaning."""
    done = subprocess.run([paths.program("slate-profile"), "--keys"], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def unread(settings: dict[str, str]) -> set[str]:
    """Return the keys of a drive that nothing reads: those of other FTLs, and those that another key makes idle."""
    ftl = settings["ftl.type"]
    found = {key for key, _, _, ftls, _ in _key_rows() if ftls and ftl not in ftls.split(", ")}
    found.add("ftl.capacity_mib" if settings["ftl.capacity_mib"] == "0" else "ftl.op_permille")
    if settings["reliability.rber"] == "off":
        found |= {f"reliability.{key}" for key in ("eps", "alpha", "k", "beta", "m", "n", "gamma", "p", "q")}
    return found


def list_keys(words: list[str], as_json: bool) -> int:
    """Print the keys whose row has all the words, with the keys' sections and FTLs as headings."""
    rows = _key_rows()
    rows = [row for row in rows if all(word.lower() in "\t".join(row).lower() for word in words)]
    if not rows:
        raise SlateError(f"no key has {' and '.join(words)} in its line", "'slate profiles keys' lists all keys")
    if as_json:
        print(json.dumps([dict(zip(("key", "values", "default", "ftls", "meaning"), row)) for row in rows], indent=1))
        return OK
    before = ""
    for key, values, default, ftls, meaning in rows:
        section, _, name = key.partition(".")
        heading = f"[{section}]{f', only {ftls}' if ftls else ''}"
        if heading != before:
            print(f"\n{heading}" if before else heading)
            before = heading
        given = default if default == "must be given" else f"default {default or '(empty)'}"
        print(textwrap.fill(f"{name} = {values}; {given}", 100, initial_indent="  ", subsequent_indent="    "))
        print(textwrap.fill(meaning, 100, initial_indent="      ", subsequent_indent="      "))
    return OK


# ---- one profile


def show(name: str, settings: list[str], as_json: bool) -> int:
    """Print settings and derived values."""
    check_settings(settings)
    facts = derive(drives.check_profile(name), settings)
    print(json.dumps(facts, indent=1) if as_json else Sheet(facts).text(), end="\n" if as_json else "")
    return OK


class Sheet:
    """Describes a profile for a person."""

    def __init__(self, facts: Json):
        self.facts = facts
        self.settings: dict[str, str] = facts["settings"]

    def text(self) -> str:
        """Return the whole text."""
        head = [f"{self.facts['name']}: {self.facts['about'] or 'a drive'}", self.facts["path"], ""]
        parts = (self._facts(), self._commands(), self._rates(), self._whole(), self._all_settings())
        return "\n".join(head + [line for part in parts for line in [*part, ""]][:-1]) + "\n"

    def _number(self, key: str) -> int:
        return int(self.settings[key])

    def _facts(self) -> list[str]:
        facts = self.facts
        writable = self._writable_bytes()
        spare = 100 * (facts["raw_bytes"] / writable - 1)
        raw, exported = units.size(facts["raw_bytes"]), units.size(facts["exported_bytes"])
        if writable != facts["exported_bytes"]:
            exported += f" of addresses, {units.size(writable)} writable"
        else:
            exported += " exported"
        shape = " x ".join(self._counted(key, name) for key, name in SHAPE)
        blocks = f"{facts['blocks']:,} blocks of {units.size(facts['block_bytes'])}"
        return [
            f"capacity   {raw} raw, {exported}, over-provisioning {spare:.1f} %",
            *self._effective(),
            f"array      {shape} x {units.size(self._number('geometry.page_bytes'))}",
            f"           {facts['dies']:,} dies, {blocks}, {facts['pages']:,} pages",
            f"FTL        {self._ftl()}",
        ]

    def _effective(self) -> list[str]:
        """Return the line on the effective over-provisioning; none for FTLs without one."""
        told = self.facts["over_provisioning"]
        if told["effective"] is None:
            return []
        of_plane = self.facts["planes"] * self.facts["block_bytes"]
        empty, opened = (f"{told[key] / of_plane:.3g}" for key in ("free_bytes", "open_bytes"))
        effective = f"effective {100 * told['effective']:.1f} %"
        return [f"           {effective}: when GC chooses a block, {empty} blocks a plane are empty and {opened} open"]

    def _writable_bytes(self) -> int:
        """Return the exported bytes without the gaps between a zone's capacity and its size."""
        exported: int = self.facts["exported_bytes"]
        if self.facts["ftl"] != "zns" or self.settings["ftl.zone_power2"] != "yes":
            return exported
        dies = self._number("ftl.zone_dies") or self.facts["dies"]
        blocks = dies * self._number("geometry.planes_per_die") * self._number("ftl.zone_blocks")
        capacity: int = blocks * self.facts["block_bytes"]
        return exported // (1 << (capacity - 1).bit_length()) * capacity

    def _counted(self, key: str, name: str) -> str:
        return units.many(self._number(key), name)

    def _ftl(self) -> str:
        """Describe the FTL and its use of the array."""
        name: str = self.facts["ftl"]
        if not self.facts["runs"]:
            return f"{name} (no FTL: 'slate run' refuses the profile)"
        unsafe = ""
        if self.facts["not_safe"]:
            lost = "flushed data" if name == "page" else "completed writes"
            unsafe = f"; keeps no copy of paired pages: a power cut may lose {lost}"
        if name != "page":
            return name + unsafe
        unused = [
            what
            for key, off, used_by, what in PAGE_FTL_IGNORES
            if self.settings[key] != off and all(self.settings[user] in ("no", "off") for user in used_by)
        ]
        said = f" (does not use {', '.join(unused)})" if unused else ""
        return name + said + unsafe

    def _commands(self) -> list[str]:
        lines = [f"{'command, µs':<20}{'cell':>10}{'bus':>10}{'total':>10}"]
        names = TYPES[self._number("geometry.bits_per_cell")]
        for read in self.facts["reads"]:
            lines += self._rows(f"read {units.size(read['bytes'])}", names, read)
        program = self.facts["program"]
        what = "program word line" if len(program["cell_ns"]) < len(names) else "program"
        lines += self._rows(what, names, program)
        pages = self._number("geometry.pages_per_block")
        sizes = [f"{pages >> level} pages" for level in range(len(self.facts["erase"]["cell_ns"]))]
        return lines + self._rows("erase", sizes, self.facts["erase"])

    @staticmethod
    def _rows(what: str, names: list[str], command: Json) -> list[str]:
        """Return a row for each cell time, or one if they are equal."""
        cells, bus = command["cell_ns"], command["bus_ns"]
        if len(set(cells)) == 1:
            cells, names = cells[:1], [""]
        return [
            f"{(what + ' ' + name).strip():<20}{cell / 1000:>10.1f}{bus / 1000:>10.1f}{(cell + bus) / 1000:>10.1f}"
            for cell, name in zip(cells, names)
        ]

    def _rates(self) -> list[str]:
        columns = ("die", "dies", "channel", "channels")
        heads = ("one die", "all dies", "one channel", "all channels")
        lines = ["peak, MiB/s".ljust(20) + "".join(f"{head:>14}" for head in heads)]
        for kind, rates in self.facts["bytes_per_second"].items():
            cells = ["-" if rates[c] is None else f"{rates[c] / (1 << 20):,.1f}" for c in columns]
            lines.append(kind.ljust(20) + "".join(f"{cell:>14}" for cell in cells))
        return lines

    def _whole(self) -> list[str]:
        facts, fill = self.facts, self.facts["fill"]
        by_dies = fill["dies_ns"] >= fill["channels_ns"]
        limit, other = ("dies", "channels") if by_dies else ("channels", "dies")
        group = self._number("geometry.erase_group_max")
        at_once = f", {group} blocks of a plane at once" if group > 1 else ""
        energy, memory = facts["energy_j_per_gib_written"], facts["memory"]
        data = units.size(memory["payload_bytes"])
        if self.settings["ftl.payload"] == "no":
            data = f"no data (ftl.payload=yes: {data})"
        else:
            data = f"{data} of data when full (ftl.payload=no: none)"
        joules = "not known" if energy is None else f"{energy:.3g} J per GiB written, its erases included"
        first, second = duration(fill[limit + "_ns"]), duration(fill[other + "_ns"])
        sizes = f"array {units.size(memory['array_bytes'])}, FTL {units.size(memory['ftl_bytes'])}"
        return [
            f"fill it    {first}: the {limit} limit (the {other} alone: {second})",
            f"erase all  {duration(facts['erase_all_ns'])}{at_once}",
            f"energy     {joules}",
            f"memory     {sizes}, {data}",
        ]

    def _all_settings(self) -> list[str]:
        """Return the settings that this drive reads."""
        lines, section = ["settings"], ""
        left_out = unread(self.settings)
        for key, value in self.settings.items():
            if key in left_out:
                continue
            if key.partition(".")[0] != section:
                section = key.partition(".")[0]
                lines.append(f"  [{section}]")
            lines.append(f"  {key.partition('.')[2]} = {value}")
        return lines


def duration(ns: float) -> str:
    """Format a time as '12.3 ms', '4.5 s', '2.1 min' or '7.8 h'."""
    for limit, unit, name in ((1e9, 1e6, "ms"), (120e9, 1e9, "s"), (7200e9, 60e9, "min")):
        if ns < limit:
            return f"{ns / unit:.1f} {name}"
    return f"{ns / 3600e9:.1f} h"
