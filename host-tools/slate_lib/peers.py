# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate profiles import' makes a profile of another simulator's configuration.

Read are MQSim's ssdconfig.xml (of its repository, 2018 to 2025), SSDSim's page.parameters (2.x), the configurations of
SimpleSSD 1.0 (of its Standalone), 1.1, 2.0 and 2.1, the shell variables or '-device femu,...' options of FEMU's
black-box mode, and the conventional drive (Samsung 970 Pro) in NVMeVirt's ssd_config.h (of 2026). Each has a table: a
key of the peer, the profile's key, and how the value is converted. What the tables do not name has no counterpart, and
the report says so.
"""

from __future__ import annotations

import ast
import configparser
import operator
import re
import tempfile
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from . import paths
from .commands import Option
from .errors import OK, SlateError
from .shape import clean

MOST_BYTES = 1 << 20  # of a configuration
MOST_LINE_BYTES = 198  # of a profile
NUMBER = re.compile(r"[-+]?[0-9./]{1,60}([eE][-+]?[0-9]{1,2})?")
ORDER = ("geometry", "timing", "link", "ftl")
Values = dict[str, str]


@dataclass
class Drive:
    """Holds a profile in the making: each setting with the key that it comes from."""

    peer: str
    values: Values
    taken: set[str] = field(default_factory=set)
    settings: dict[str, tuple[str, str]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def number(self, key: str) -> Fraction:
        """Return a number of the configuration."""
        if key not in self.values:
            raise SlateError(f"{key} is missing", f"is it a whole configuration of {self.peer}?")
        self.taken.add(key)
        try:
            if not NUMBER.fullmatch(self.values[key]):
                raise ValueError
            return Fraction(self.values[key])
        except (ValueError, ZeroDivisionError):
            raise SlateError(f"{key} = {self.values[key]}: is no number", "repair it") from None

    def divisor(self, key: str) -> Fraction:
        """Return a number that is above 0."""
        value = self.number(key)
        if value <= 0:
            raise SlateError(f"{key} = {self.values[key]}: must be above 0", "repair it")
        return value

    def first(self, *keys: str) -> str:
        """Return the first of the names of one key that the configuration has, or the last name."""
        return next((key for key in keys if key in self.values), keys[-1])

    def word(self, key: str, other: str = "") -> str:
        """Return a word of the configuration."""
        self.taken.add(key)
        return self.values.get(key, other)

    def set(self, key: str, value: object, source: str) -> None:
        """Set a key of the profile; numbers are rounded."""
        text = str(round(value)) if isinstance(value, Fraction) else str(value)
        self.settings[key] = (text, source)

    def copy(self, key: str, source: str, factor: int = 1) -> Fraction:
        """Set a key to a number of the configuration, times a factor."""
        value = self.number(source) * factor
        self.set(key, value, f"{source} {self.values[source]}")
        return value

    def leave(self, key: str, why: str) -> None:
        """Say why a key was not taken."""
        if key in self.values:
            self.taken.add(key)
            self.reasons[key] = why


def _spared(drive: Drive, ratio: Fraction, source: str) -> None:
    """Set the over-provisioning from its share of the raw capacity; a profile has it as a share of the exported one."""
    if not 0 <= ratio < 1:
        raise SlateError(f"{source} = {drive.values[source]}: is no share of the capacity", "give 0 to below 1")
    drive.set("ftl.op_permille", 1000 * ratio / (1 - ratio), f"{source} {drive.values[source]} of the raw capacity")


def _collect(drive: Drive, start: int, urgent: int, source: str) -> None:
    """Set when GC begins and stops, in free blocks of a plane.

    Blocks that only GC may open hold no data, so there are few of them.
    """
    op = int(drive.settings.get("ftl.op_permille", ("1000", ""))[0])
    spare = int(drive.settings["geometry.blocks_per_plane"][0]) * op // (1000 + op)
    most = max(spare // 4, 2)
    if urgent > most:
        drive.reasons[source] = (
            f"the drive must wait for GC at {most} free blocks of a plane, a quarter of the spare ones"
        )
    start = max(start, 3)
    drive.set("ftl.gc_start_blocks", start, source)
    drive.set("ftl.gc_stop_blocks", start + 1, source)
    drive.set("ftl.gc_urgent_blocks", min(max(urgent, 2), most, start - 1), source)


def _geometry(drive: Drive, sources: tuple[str, ...]) -> None:
    names = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane", "pages_per_block",
             "page_bytes")  # fmt: skip
    for name, source in zip(names, sources):
        drive.copy(f"geometry.{name}", source)


def _whole_word_lines(drive: Drive) -> None:
    """Leave out a block's last pages if its word lines do not divide it: 256 pages of TLC become 255."""
    bits = int(drive.settings.get("geometry.bits_per_cell", ("1", ""))[0])
    pages, source = drive.settings["geometry.pages_per_block"]
    if int(pages) % bits:
        drive.settings["geometry.pages_per_block"] = (str(int(pages) // bits * bits), f"{source}, in whole word lines")


def _free_spare(drive: Drive) -> None:
    """Set a spare area of a tenth of a page, which the peer does not model."""
    page = int(drive.settings["geometry.page_bytes"][0])
    drive.set("geometry.oob_bytes", page // 10 // 16 * 16, "assumed: a tenth of a page")


# ---- MQSim


def _tree(text: str, root: str) -> xml.Element | None:
    """Return the tree of an XML document with this root. Comments may stand before its declaration (SimpleSSD)."""
    begin = text.find(f"<{root}")
    if begin < 0:
        return None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SlateError("it has a document type", "remove '<!DOCTYPE ...>': simulators write none")
    try:
        return xml.fromstring(text[begin:])
    except xml.ParseError as error:
        raise SlateError(f"it is no XML: {error}", "repair it") from None


def _read_mqsim(text: str) -> Values | None:
    tree = _tree(text, "Execution_Parameter_Set")
    return None if tree is None else {item.tag: (item.text or "").strip() for item in tree.iter() if not len(item)}


MQSIM_POLICIES = {"GREEDY": "greedy", "RGA": "d-choices", "RANDOM": "random", "FIFO": "fifo"}
MQSIM_SUSPENDS = {"NONE": "off", "PROGRAM": "program", "ERASE": "erase", "PROGRAM_ERASE": "all"}
MQSIM_READ_COMMAND_NS = 20 + 6 * 25 + 100 + 20  # t_CS, 6 t_WC, t_WB, t_RR
MQSIM_TYPES = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}


def _mqsim_times(d: Drive) -> None:
    types = MQSIM_TYPES.get(d.word("Flash_Technology", "SLC"))
    if not types:
        raise SlateError(f"Flash_Technology {d.values['Flash_Technology']} is unknown", "give SLC, MLC or TLC")
    several = False
    for key, name in (("timing.read_ns", "Page_Read_Latency"), ("timing.program_ns", "Page_Program_Latency")):
        values = [d.number(f"{name}_{kind}") for kind in types]
        several = several or len(set(values)) > 1
        d.set(key, ", ".join(map(str, values if len(set(values)) > 1 else values[:1])), f"{name}_{', '.join(types)}")
        for kind in sorted({"LSB", "CSB", "MSB"}.difference(types)):
            d.leave(f"{name}_{kind}", "this technology has no such page")
    if several:
        d.set("geometry.bits_per_cell", len(types), f"Flash_Technology {d.values['Flash_Technology']}")
    d.copy("timing.erase_ns", "Block_Erase_Latency")


def _mqsim(d: Drive) -> None:
    _geometry(d, ("Flash_Channel_Count", "Chip_No_Per_Channel", "Die_No_Per_Chip", "Plane_No_Per_Die",
                  "Block_No_Per_Plane", "Page_No_Per_Block", "Page_Capacity"))  # fmt: skip
    d.copy("geometry.oob_bytes", "Page_Metadat_Capacity")
    rate, width = d.divisor("Channel_Transfer_Rate"), d.divisor("Flash_Channel_Width")
    d.set("timing.cmd_ns", MQSIM_READ_COMMAND_NS, "a read's, which MQSim's ONFI_Channel_NVDDR2 has as a constant")
    _mqsim_times(d)
    d.set("timing.bus_ps_per_byte", 1_000_000 / (rate * width), f"Channel_Transfer_Rate {rate} MT/s of {width} byte")
    page = d.number("Page_Capacity")
    d.set("ftl.unit_bytes", min(page, Fraction(16384)), "MQSim maps whole pages")
    d.set("ftl.buffer_units", d.number("Data_Cache_Capacity") / min(page, Fraction(16384)), "Data_Cache_Capacity")
    _spared(d, d.number("Overprovisioning_Ratio"), "Overprovisioning_Ratio")
    blocks = d.number("Block_No_Per_Plane")
    _collect(d, int(d.number("GC_Exec_Threshold") * blocks), int(d.number("GC_Hard_Threshold") * blocks),
             "GC_Exec_Threshold, GC_Hard_Threshold")  # fmt: skip
    policy = d.word("GC_Block_Selection_Policy", "GREEDY")
    d.set("ftl.gc_policy", MQSIM_POLICIES.get(policy, "greedy"), f"GC_Block_Selection_Policy {policy}")
    if policy not in MQSIM_POLICIES:
        d.reasons["GC_Block_Selection_Policy"] = f"{policy} has no counterpart: greedy"
    suspends = MQSIM_SUSPENDS.get(d.word("CMD_Suspension_Support", "NONE"), "off")
    if suspends != "off":
        d.set("ftl.suspend", suspends, "CMD_Suspension_Support")
        d.copy("timing.suspend_ns", "Suspend_Program_Time" if suspends == "program" else "Suspend_Erase_Time")
        d.set("timing.suspends_max", 16, "assumed")
    if d.word("Use_Copyback_for_GC") == "true":
        d.set("geometry.copyback", "yes", "Use_Copyback_for_GC")
        d.set("ftl.gc_copyback", "yes", "Use_Copyback_for_GC")
    d.leave("Block_PE_Cycles_Limit", "blocks do not wear out; set reliability.endurance")
    d.leave("CMT_Capacity", "the whole map is in memory; set ftl.map_cache_pages")
    d.leave("Ideal_Mapping_Table", "see CMT_Capacity")


# ---- SSDSim


def _read_pairs(text: str, head: re.Pattern[str], comment: str) -> Values | None:
    """Return lines KEY = VALUE, without comments, if one of them is the head."""
    if not head.search(text):
        return None
    found = {}
    for line in text.splitlines():
        key, equals, value = re.split(comment, line)[0].partition("=")
        if equals:
            found[key.strip()] = value.strip().rstrip(";").strip().strip("\"'")
    return found


def _read_ssdsim(text: str) -> Values | None:
    return _read_pairs(text, re.compile(r"^chip number(\[0\])?\s*=", re.MULTILINE), "[;#]")


def _ssdsim_chips(d: Drive) -> None:
    """Find the chips of a channel: 3Dsim has this number, SSDSim one for each channel, and their sum."""
    if "chip number[0]" not in d.values:
        d.values["chips of a channel"] = str(d.number("chip number"))
        return
    channels = d.number("channel number")
    chips = [d.number(key) for key in d.values if re.fullmatch(r"chip number\[\d+\]", key)][: int(channels)]
    if len(set(chips)) != 1:
        raise SlateError("chip number[...]: the channels have unequal numbers of chips", "give each as many")
    d.leave("chip number", "follows from the others")
    d.values["chips of a channel"] = str(chips[0])


def _ssdsim_times(d: Drive) -> None:
    """Set the times of cells. Variants of SSDSim for MLC and TLC have one for each kind of page: t_PROG_L, C, M."""
    kinds = [kind for kind in "LCM" if f"t_PROG_{kind}" in d.values]
    if len(kinds) > 1:
        d.set("geometry.bits_per_cell", len(kinds), f"t_PROG_{', '.join(kinds)}")
    for key, name in (("timing.read_ns", "t_R"), ("timing.program_ns", "t_PROG")):
        if len(kinds) > 1 and all(f"{name}_{kind}" in d.values for kind in kinds):
            d.set(key, ", ".join(str(d.number(f"{name}_{kind}")) for kind in kinds), f"{name}_{', '.join(kinds)}")
            d.leave(name, f"each kind of page has its own time, {name}_{', '.join(kinds)}")
        else:
            d.copy(key, name)
    d.copy("timing.erase_ns", "t_BERS")


def _ssdsim(d: Drive) -> None:
    _ssdsim_chips(d)
    _geometry(d, ("channel number", "chips of a channel", "die number", "plane number", "block number", "page number",
                  "page capacity"))  # fmt: skip
    _free_spare(d)
    d.set("timing.cmd_ns", 7 * d.number("t_WC"), f"seven cycles of t_WC {d.values['t_WC']}")
    _ssdsim_times(d)
    d.copy("timing.bus_ps_per_byte", "t_RC", 1000)
    unit = "page capacity"
    if three := "data dram capacity" in d.values:  # 3Dsim
        unit = "subpage capacity"
        d.copy("ftl.op_permille", "overprovide", 1000)  # of the exported capacity
    else:
        _spared(d, d.number("overprovide"), "overprovide")
        d.leave("subpage capacity", "a mapping unit is a page")
    d.set("ftl.unit_bytes", d.number(unit), f"{unit}: what it maps")
    dram = d.number("data dram capacity" if three else "dram capacity")
    d.set("ftl.buffer_units", max(dram // d.divisor(unit), 2) if dram else 0, "dram capacity")
    start = d.first("gc threshold", "gc soft threshold", "gc hard threshold")
    blocks = d.number("block number")
    _collect(d, int(d.number(start) * blocks), int(d.number("gc hard threshold") * blocks),
             ", ".join(dict.fromkeys((start, "gc hard threshold"))))  # fmt: skip
    d.set("ftl.gc_policy", "greedy", "SSDSim takes the block with the most invalid pages")
    d.leave("erase limit", "blocks do not wear out; set reliability.endurance")
    d.leave("t_PROGO", "pages are programmed one by one; set geometry.one_shot")
    d.leave("subpage page", "follows from the sizes")
    if d.word("address mapping", "1") != "1":
        raise SlateError(f"address mapping = {d.values['address mapping']}: only 1, a page map, can be taken over",
                         "for block mapping set ftl.type=nftl yourself")  # fmt: skip


# ---- SimpleSSD


def _read_simplessd(text: str) -> Values | None:
    return _read_pairs(text, re.compile(r"^NumPackage\s*=", re.MULTILINE), "#")


def _simplessd(d: Drive) -> None:
    _geometry(d, ("NumChannel", "NumPackage", "NumDie", "NumPlane", "NumBlock", "NumPage", "SizePage"))
    _free_spare(d)
    d.set("timing.cmd_ns", 300, "assumed")
    d.set("timing.read_ns", 50000, "assumed, as such a file has no times of cells: set them yourself")
    d.set("timing.program_ns", 500000, "assumed, likewise")
    d.set("timing.erase_ns", 3500000, "assumed, likewise")
    d.set("timing.bus_ps_per_byte", 1_000_000 / d.divisor("DMAMhz"), f"DMAMhz {d.values['DMAMhz']} MT/s of one byte")
    d.set("ftl.unit_bytes", min(d.number("SizePage"), Fraction(16384)), "SimpleSSD maps whole pages")
    _spared(d, d.number("FTLOP"), "FTLOP")
    start = int(d.number("FTLGCThreshold") * d.number("NumBlock"))
    _collect(d, start, start // 2, "FTLGCThreshold")
    d.leave("NANDType", "one time for all pages; set geometry.bits_per_cell and times a page type")
    d.leave("FTLEraseCycle", "blocks do not wear out; set reliability.endurance")


def _read_simplessd2(text: str) -> Values | None:
    """Return the values of SimpleSSD 1.1 or 2.0, each after its section: 'ftl.EvictPolicy'."""
    if not re.search(r"^\[pal\]", text, re.MULTILINE) or not re.search(r"^PageSize\s*=", text, re.MULTILINE):
        return None
    parser = configparser.RawConfigParser(strict=False, interpolation=None, inline_comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys as they are written
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise SlateError(str(error).replace("\n", " "), "repair it") from None
    return {f"{name}.{key}": value for name in parser.sections() for key, value in parser.items(name)}


def _read_simplessd21(text: str) -> Values | None:
    """Return the values of SimpleSSD 2.1, each after its sections: 'fil.nand.timing.tR.0'. Units are converted."""
    tree = _tree(text, "simplessd")
    try:
        return None if tree is None else dict(_simplessd_items(tree, ""))
    except RecursionError:
        raise SlateError("its sections are nested too deep", "repair it") from None


SIMPLESSD_TIMES = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
SIMPLESSD_SIZES = {letter: base**power for base, letters in ((1000, "kmgt"), (1024, "KMGT"))
                   for power, letter in enumerate(letters, 1)}  # fmt: skip


def _simplessd_items(section: xml.Element, prefix: str) -> Iterator[tuple[str, str]]:
    for item in section:
        name = prefix + item.get("name", "")
        if item.tag == "section":
            yield from _simplessd_items(item, f"{name}.")
            continue
        text = (item.text or "").strip()
        value = re.fullmatch(r"([0-9]{1,60}(?:\.[0-9]{1,60})?)([a-zA-Z]{0,2})", text)
        factor = {**SIMPLESSD_SIZES, **SIMPLESSD_TIMES}.get(value[2], 1) if value and value[2] else 1
        if value and factor > 1:
            text = str(Fraction(value[1]) * factor)
        yield name + (f".{item.get('level')}" if item.get("level") else ""), text


SIMPLESSD_POLICIES = {
    "ftl.EvictPolicy": ("greedy", "cost-benefit", "random", "d-choices"),  # SimpleSSD 2.0
    "ftl.gc.VictimSelectionPolicy": ("greedy", "random", "d-choices"),  # SimpleSSD 2.1 as of 2019
    "ftl.background.gc.blockselection.VictimSelectionPolicy": ("greedy", "random", "cost-benefit", "d-choices"),
}


def _simplessd2_flash(d: Drive, part: str, kinds: int, reads: list[str], programs: list[str], erase: str) -> None:
    """Set times, which are in ps, and the bus."""
    if kinds not in (1, 2, 3):
        raise SlateError(f"{part}NANDType = {d.values[part + 'NANDType']}: is no type", "give 0, 1 or 2: SLC, MLC, TLC")
    if kinds > 1:
        d.set("geometry.bits_per_cell", kinds, f"{part}NANDType {kinds - 1}")
    there = {1: [0], 2: [0, 2] if part == "pal." else [0, 1], 3: [0, 1, 2]}[kinds]
    for key, names in (("timing.read_ns", reads), ("timing.program_ns", programs)):
        d.set(key, ", ".join(str(round(d.number(names[i]) / 1000)) for i in there), names[there[0]])
        for i in {0, 1, 2}.difference(there):
            d.leave(names[i], "this flash has no such page")
    d.set("timing.erase_ns", d.number(erase) / 1000, erase)


def _simplessd2_rest(d: Drive, rate: Fraction, width: Fraction, gc: str, op: str) -> None:
    """Set what SimpleSSD 2.0 and 2.1 have under other names.

    The bus makes `rate` transfers of `width` bits a second.
    """
    d.set("timing.bus_ps_per_byte", 10**12 / (rate * width / 8), "DMASpeed and the bus's width")
    page = int(d.settings["geometry.page_bytes"][0])
    d.set("ftl.unit_bytes", min(page, 16384), "SimpleSSD maps whole pages")
    word = d.word("icl.EnableWriteCache", "1")  # SimpleSSD takes "true", or a number other than 0
    cached = word.lower() == "true" or bool(re.match(r"0*[1-9]", word))
    units = min(d.number("icl.CacheSize") // min(page, 16384), 4194304) if cached else 0
    d.set("ftl.buffer_units", units, "icl.CacheSize" if cached else "icl.EnableWriteCache 0")
    _spared(d, d.number(op), op)
    start = int(d.number(gc) * int(d.settings["geometry.blocks_per_plane"][0]))
    _collect(d, start, start // 2, gc)
    policy = d.first(*SIMPLESSD_POLICIES)
    word = d.word(policy, "0")
    known = dict(zip("0123", SIMPLESSD_POLICIES[policy]))
    if word not in known:
        raise SlateError(f"{policy} = {word}: is no policy", f"give 0 to {len(known) - 1}")
    d.set("ftl.gc_policy", known[word], f"{policy} {word}")


def _simplessd20(d: Drive) -> None:
    names = ("Channel", "Package", "Die", "Plane", "Block", "Page", "PageSize")
    _geometry(d, tuple(f"pal.{name}" for name in names))
    _free_spare(d)
    rate, width = d.divisor("pal.DMASpeed") * 2**20, d.divisor("pal.DMAWidth")  # so SimpleSSD counts MT/s
    d.set("timing.cmd_ns", 7 * 8 * 10**9 / (rate * width), "seven bytes on the bus, as in SimpleSSD's pal/config.cc")
    reads, programs = ([f"pal.{kind}{what}" for kind in ("LSB", "CSB", "MSB")] for what in ("Read", "Write"))
    _simplessd2_flash(d, "pal.", int(d.number("pal.NANDType")) + 1, reads, programs, "pal.Erase")
    _simplessd2_rest(d, rate, width, "ftl.GCThreshold", "ftl.OverProvisioningRatio")
    if "ftl.Latency" in d.values:
        d.set("ftl.overhead_ns", d.number("ftl.Latency") / 1000, "ftl.Latency")
    if "nvme.PCIEGeneration" in d.values:  # 0 is PCIe 1
        d.set("link.generation", d.number("nvme.PCIEGeneration") + 1, "nvme.PCIEGeneration, which counts from 0")
        d.copy("link.lanes", "nvme.PCIELane")
    d.leave("pal.SuperblockSize", "pages are mapped one by one; set ftl.type=superblock")
    d.leave("ftl.EraseThreshold", "blocks do not wear out; set reliability.endurance")


def _simplessd21(d: Drive) -> None:
    names = ("Die", "Plane", "Block", "Page", "PageSize")
    _geometry(d, ("fil.Channel", "fil.Way", *(f"fil.nand.{name}" for name in names)))
    d.copy("geometry.oob_bytes", "fil.nand.SpareSize")
    d.set("timing.cmd_ns", 7 * d.number("fil.nand.timing.tWC") / 1000, "seven cycles of fil.nand.timing.tWC")
    reads, programs = ([f"fil.nand.timing.{what}.{level}" for level in range(3)] for what in ("tR", "tPROG"))
    kinds = int(d.number("fil.nand.NANDType")) + 1
    _simplessd2_flash(d, "fil.nand.", kinds, reads, programs, "fil.nand.timing.tBERS")
    rate, width = (d.divisor(d.first(f"fil.{key}", f"fil.nand.{late}"))
                   for key, late in (("DMASpeed", "DMASpeed"), ("DMAWidth", "DataWidth")))  # fmt: skip
    _simplessd2_rest(d, rate, width, d.first("ftl.gc.GCThreshold", "ftl.background.gc.trigger.ForegroundThreshold"),
                     "ftl.common.OverProvisioningRatio")  # fmt: skip
    d.copy("link.generation", "hil.interface.pcie.Generation")
    d.copy("link.lanes", "hil.interface.pcie.Lane")
    d.leave("ftl.common.SuperpageAllocation", "pages are mapped one by one; set ftl.type=superblock")


# ---- NVMeVirt


def _read_nvmevirt(text: str) -> Values | None:
    """Return the numbers of the first conventional drive with flash in ssd_config.h, and the name of its part."""
    if "_NVMEVIRT_SSD_CONFIG_H" not in text:
        return None
    parts = re.split(r"^#(?:el)?if\s+\(BASE_SSD == (\w+)\)", text, flags=re.MULTILINE)
    for name, part in zip(parts[1::2], parts[2::2]):
        found = dict(re.findall(r"^#define[ \t]+(\w+)[ \t]+(.+?)[ \t]*(?:/[/*].*)?$", part, re.MULTILINE))
        if found.get("NS_SSD_TYPE_0") == "SSD_TYPE_CONV" and "NAND_CHANNELS" in found:
            known: dict[str, Fraction] = {}
            return {"BASE_SSD": name, **{key: _c_number(value, found, known) for key, value in found.items()}}
    raise SlateError("no part has a conventional drive with flash",
                     "give a '#elif (BASE_SSD == ...)' part with NS_SSD_TYPE_0 SSD_TYPE_CONV")  # fmt: skip


C_OPERATORS: dict[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.LShift: lambda a, b: a * 2 ** min(int(b), 64),
}  # fmt: skip
C_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def _c_number(text: str, names: Values, known: dict[str, Fraction] | None = None) -> str:
    """Return the value of a constant expression, with KB(), MB(), GB() and other constants, or else its text.

    known: constants of names that were computed before. Each is computed once: the work does not grow with their uses.
    """
    known = {} if known is None else known

    def value(node: ast.AST, depth: int) -> Fraction:
        if depth > 20:
            raise ValueError
        if isinstance(node, ast.Expression):
            return value(node.body, depth)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return Fraction(str(node.value))
        if isinstance(node, ast.Name):
            if node.id not in known:
                known[node.id] = parsed(names[node.id], depth + 1)
            return known[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in C_OPERATORS:
            return C_OPERATORS[type(node.op)](value(node.left, depth + 1), value(node.right, depth + 1))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            return C_UNITS[node.func.id] * value(node.args[0], depth + 1)
        raise ValueError

    def parsed(text: str, depth: int) -> Fraction:
        return value(ast.parse(re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text), mode="eval"), depth)

    try:
        return str(parsed(text, 0))
    except (ValueError, KeyError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        return text


NVMEVIRT_CELLS = {"(CELL_MODE_SLC)": ("LSB",), "(CELL_MODE_MLC)": ("LSB", "MSB"),
                  "(CELL_MODE_TLC)": ("LSB", "MSB", "CSB")}  # fmt: skip
NVMEVIRT_BLOCK_PAGES = 128


def _nvmevirt(d: Drive) -> None:
    d.values["one"], d.values["pages of a block"] = "1", str(NVMEVIRT_BLOCK_PAGES)
    _geometry(d, ("NAND_CHANNELS", "LUNS_PER_NAND_CH", "one", "PLNS_PER_LUN", "BLKS_PER_PLN", "pages of a block",
                  "FLASH_PAGE_SIZE"))  # fmt: skip
    d.set("geometry.pages_per_block", NVMEVIRT_BLOCK_PAGES, "assumed: NVMeVirt divides the memory that it is given")
    _free_spare(d)
    d.set("timing.cmd_ns", 0, "NVMeVirt's commands take no time on the bus")
    kinds = NVMEVIRT_CELLS.get(d.word("CELL_MODE"))
    if not kinds:
        raise SlateError(f"CELL_MODE {d.values.get('CELL_MODE')} has no counterpart", "give SLC, MLC or TLC")
    times = [d.number(f"NAND_READ_LATENCY_{kind}") for kind in kinds]
    if len(kinds) > 1:
        d.set("geometry.bits_per_cell", len(kinds), "CELL_MODE")
    d.set("timing.read_ns", ", ".join(str(round(time)) for time in times), "NAND_READ_LATENCY_LSB ...")
    d.copy("timing.program_ns", "NAND_PROG_LATENCY")
    d.set("timing.erase_ns", max(d.number("NAND_ERASE_LATENCY"), Fraction(1)), "NAND_ERASE_LATENCY, at least 1")
    mib = Fraction(10**12, 1 << 20)
    d.set("timing.bus_ps_per_byte", mib / d.divisor("NAND_CHANNEL_BANDWIDTH"), "NAND_CHANNEL_BANDWIDTH in MiB/s")
    bits = d.number("PCIE_BANDWIDTH") * (8 << 20)  # a second
    lines = {generation: 4 * 10**9 * rate * Fraction(128, 130) for generation, rate in ((3, 8), (4, 16), (5, 32))}
    generation = next((number for number, rate in lines.items() if rate >= bits), 5)
    d.set("link.generation", generation, "the first whose four lanes are fast enough")
    d.set("link.data_permille", min(1000 * bits / lines[generation], Fraction(1000)), "PCIE_BANDWIDTH in MiB/s")
    unit = min(d.number("FLASH_PAGE_SIZE"), Fraction(4096))
    d.set("ftl.unit_bytes", unit, "NVMeVirt maps 4 KiB")
    d.set("ftl.buffer_units", d.number("GLOBAL_WB_SIZE") // max(unit, Fraction(1)), "GLOBAL_WB_SIZE")
    d.copy("ftl.overhead_ns", "FW_4KB_READ_LATENCY")
    d.reasons["FW_WBUF_LATENCY0"] = "firmware has one time for all requests, FW_4KB_READ_LATENCY, also for writes"
    d.copy("ftl.op_permille", "OP_AREA_PERCENT", 1000)  # of the exported capacity, as a profile has it
    d.taken |= {"BASE_SSD", "FW_WBUF_LATENCY0"}


# ---- FEMU


def _read_femu(text: str) -> Values | None:
    found = _read_pairs(text, re.compile(r"^\s*luns_per_ch\s*=", re.MULTILINE), "#")
    if found is None and (option := re.search(r"-device\s+femu,(\S+)", text)):
        found = dict(pair.partition("=")[::2] for pair in option[1].split(","))
    return {key: value for key, value in (found or {}).items() if re.fullmatch(r"[a-z_]+", key)} or None


FEMU_DEFAULTS = {
    "secsz": "512", "secs_per_pg": "8", "pgs_per_blk": "256", "blks_per_pl": "256", "pls_per_lun": "1",
    "luns_per_ch": "8", "nchs": "8", "pg_rd_lat": "40000", "pg_wr_lat": "200000", "blk_er_lat": "2000000",
    "gc_thres_pcent": "75", "gc_thres_pcent_high": "95",
}  # fmt: skip
FEMU_BLACK_BOX, FEMU_NO_SSD = "1", "2"  # femu_mode; the second is its default


def _femu(d: Drive) -> None:
    other = FEMU_BLACK_BOX if "luns_per_ch" in d.values else FEMU_NO_SSD
    if (mode := d.word("femu_mode", other)) != FEMU_BLACK_BOX:
        raise SlateError(f"femu_mode = {mode}: only 1, the black-box mode, can be taken over",
                         "describe the drive in a profile: 'slate profiles keys' lists what it may have")  # fmt: skip
    if missing := [key for key in FEMU_DEFAULTS if key not in d.values]:
        d.values |= {key: FEMU_DEFAULTS[key] for key in missing}
        d.reasons["not given, so FEMU's defaults"] = ", ".join(f"{key} = {FEMU_DEFAULTS[key]}" for key in missing)
    page = d.number("secsz") * d.number("secs_per_pg")
    d.values["page bytes"] = str(page)
    d.values["dies"] = "1"
    _geometry(d, ("nchs", "luns_per_ch", "dies", "pls_per_lun", "blks_per_pl", "pgs_per_blk", "page bytes"))
    _free_spare(d)
    d.set("timing.cmd_ns", 0, "FEMU's bus takes no time")
    d.copy("timing.read_ns", "pg_rd_lat")
    d.copy("timing.program_ns", "pg_wr_lat")
    d.copy("timing.erase_ns", "blk_er_lat")
    d.set("timing.bus_ps_per_byte", 1, f"ch_xfer_lat {d.word('ch_xfer_lat', '0')}: the least that a profile can have")
    d.set("ftl.unit_bytes", min(page, Fraction(16384)), "FEMU maps whole pages")
    size = "ssd_size" if "ssd_size" in d.values else "devsz_mb"
    d.copy("ftl.capacity_mib", size)
    d.set("ftl.buffer_units", 0, "FEMU has no write buffer")
    blocks = d.number("blks_per_pl")
    low, high = (1 - d.number(name) / 100 for name in ("gc_thres_pcent", "gc_thres_pcent_high"))
    _collect(d, int(low * blocks), int(high * blocks), "gc_thres_pcent, gc_thres_pcent_high")


PEERS: dict[str, tuple[Callable[[str], Values | None], Callable[[Drive], None]]] = {
    "MQSim": (_read_mqsim, _mqsim),
    "SSDSim": (_read_ssdsim, _ssdsim),
    "SimpleSSD": (_read_simplessd, _simplessd),
    "SimpleSSD 2.0": (_read_simplessd2, _simplessd20),
    "SimpleSSD 2.1": (_read_simplessd21, _simplessd21),
    "FEMU": (_read_femu, _femu),
    "NVMeVirt": (_read_nvmevirt, _nvmevirt),
}
MADE = ("chips of a channel", "page bytes", "dies", "one", "pages of a block")  # keys that a table adds


def read(path: Path) -> Drive:
    """Return the drive of a configuration; raise a SlateError that names the file, the key and the fix."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SlateError(f"{path}: is larger than 1 MiB", "name a configuration")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise SlateError(f"{path}: {error.strerror}", "name a configuration") from None
    for peer, (reader, fill) in PEERS.items():
        try:
            if (values := reader(text)) is not None:
                drive = Drive(peer, {clean(key): clean(value) for key, value in values.items()})
                fill(drive)
                _whole_word_lines(drive)
                return drive
        except SlateError as error:
            raise SlateError(f"{path}, read as {peer}'s: {error.message}", error.fix) from None
    raise SlateError(f"{path}: is of no known simulator", f"it must be a configuration of {', '.join(PEERS)}")


def _lines(drive: Drive, name: str, source: str) -> Iterator[str]:
    """Return the profile's lines, in what a profile's line has room for."""
    for line in _whole_lines(drive, name, source):
        yield line.encode()[:MOST_LINE_BYTES].decode(errors="ignore")  # no part of a character


def _whole_lines(drive: Drive, name: str, source: str) -> Iterator[str]:
    yield f"; {name} - {drive.peer}'s drive, taken over from {source}"
    for section in ORDER:
        if any(key.startswith(f"{section}.") for key in drive.settings):
            yield f"\n[{section}]"
        for key, (value, what) in drive.settings.items():
            if key.startswith(f"{section}."):
                yield f"{key.partition('.')[2]:<17} = {value:<8} ; {what}"


def report(drive: Drive) -> str:
    """Return what was not taken over."""
    rest = [key for key in drive.values if key not in drive.taken and key not in MADE]
    lines = [f"{len(drive.settings)} settings from a configuration of {drive.peer}"]
    for key, why in drive.reasons.items():
        lines.append(f"  {key}{' = ' + drive.values[key] if key in drive.values else ''}: {why}")
    if rest:
        lines.append(f"without a counterpart: {', '.join(rest)}")
    return "\n".join(lines) + "\n"


OPTIONS = (
    Option("file", "FILE", "MQSim's ssdconfig.xml, SSDSim's page.parameters, SimpleSSD's ssd.cfg or XML, FEMU's "
           "run-blackbox.sh, or NVMeVirt's ssd_config.h"),
    Option("out", "PROFILE", "the profile to make, such as mine.ini"),
)  # fmt: skip


def run(file: Path, out: Path, derive: Callable[[Path, list[str]], object]) -> int:
    """Make a profile that derive() accepts (profiles.py), print the report, and return the exit code."""
    drive = read(file)
    if out.exists():
        raise SlateError(f"{out}: is there already", "name another file, or remove it")
    text = "\n".join(_lines(drive, out.name, file.name)) + "\n"
    with tempfile.NamedTemporaryFile("w", suffix=".ini", encoding="utf-8") as made:
        made.write(text)
        made.flush()
        try:
            derive(Path(made.name), [])
        except SlateError as error:
            told = error.message.replace(made.name, out.name)
            raise SlateError(f"{file}: its drive cannot be made here: {told}", "change the configuration") from None
    try:
        with out.open("x", encoding="utf-8") as made:
            made.write(text)
    except OSError as error:
        raise SlateError(f"{out}: {error.strerror}", "name a file in a folder that can be written to") from None
    print(report(drive), end="")
    print(f"{paths.short(out)}: see 'slate profiles show {out}'")
    return OK
