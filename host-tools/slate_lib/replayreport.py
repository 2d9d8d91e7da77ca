# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the report of a replay, which has no guest and only the drive's latencies."""

from __future__ import annotations

from pathlib import Path

from . import replayfile, rows, units, warn
from .report import Report
from .rows import Rate
from .shape import Json

MANY_TRACES = 2
# These counts of a trace are reported if they are not 0.
_TOLD = (
    ("bad", "bad row", "bad rows"),
    ("passed_over", "row of no known operation passed over", "rows of no known operation passed over"),
    ("other_devices", "row of another device", "rows of other devices"),
    ("backwards", "out of order (taken at the time of the row before)"),
    ("zero_size", "of no bytes left out"),
    ("aligned", "widened to whole sectors or units (trims: shrunk)"),
    ("folded", "folded"),
    ("scaled", "scaled"),
    ("moved", "moved down from across the end"),
    ("clipped", "trim clipped to the drive or extent", "trims clipped to the drive or extent"),
    ("split", "trim split at the end", "trims split at the end"),
    ("trims_left_out", "trim left out, covering no whole unit", "trims left out, covering no whole unit"),
)
_BEYOND = {"fold": ", folded", "scale": ", scaled"}


class ReplayReport(Report):
    """Makes the report of slate-replay's JSON."""

    GUEST = False
    PARTS_OF = "the mean"

    def __init__(self, raw: Json):
        self.raw = raw
        super().__init__(replayfile.device(raw), None, replayfile.record(raw))
        time = raw["time"]
        self.SCOPE = "after the warm-up" if time["begin_ns"] else "the whole replay"
        self.rows = rows.whole_run(self.device, time["begin_ns"], time["idle_ns"])
        for row in self.rows:
            found = raw["host"][row.op]
            if found["iops"] is not None:
                row.rate = Rate(found["iops"], found["bytes_per_s"] or 0.0)

    def title(self) -> tuple[str, list[str]]:
        """Return the traces and the drive, and facts about the replay."""
        names = [Path(one["name"]).name for one in self.raw["inputs"]]
        what = " + ".join(names) if len(names) <= MANY_TRACES else f"{len(names)} traces"
        return f"{what} on {self.raw['drive']}", [
            units.size(self.device.capacity),
            f"{self.raw['ftl']} FTL",
            self._fill(),
            self._loop() + _BEYOND.get(self.raw["replay"]["beyond"], ""),
        ]

    def _fill(self) -> str:
        fill, age = (self.device.setting(f"{key}_permille") or 0 for key in ("fill", "age"))
        text = f"filled {fill / 10:g} %" if fill else "not filled"
        return text + (f", aged {age / 1000:g}x" if age else "")

    def _loop(self) -> str:
        how = self.raw["replay"]
        if how["loop"] == "closed":
            return f"closed loop, QD {how['qd']}" + (", with think times" if how["think"] else "")
        return f"open loop, speed {how['speed_millionths'] / 1e6:g}" if how["loop"] == "open" else "a recording's times"

    def _drive(self) -> None:
        self._add()
        for one in self.raw["inputs"]:
            told = [units.many(one[key], what[0], what[-1]) for key, *what in _TOLD if one.get(key)]
            line = f"{one['name']}: {one['format']}, {units.many(one['requests'], 'request')}"
            self._pair("trace", ", ".join([line, *told]))
        asked, time = self.raw["requests"], self.raw["time"]
        self._pair(
            "replay",
            f"{units.many(asked['counted'], 'request')} in {(time['end_ns'] - time['begin_ns']) / 1e9:.6f} s "
            f"({self.SCOPE}), deepest queue {asked['deepest_queue']}",
        )
        if self.raw["check"]:
            found = self.raw["check"]
            self._pair(
                "check",
                f"{units.many(found['sectors'], 'sector')} read, {units.count(found['wrong'])} wrong, "
                f"{units.count(found['unknown'])} of unknown content",
            )
        super()._drive()

    def alarms(self) -> list[str]:
        """Return warnings that a reader needs before trusting a figure."""
        found = []
        if (checked := self.raw["check"]) and checked["wrong"]:
            were = "was" if checked["wrong"] == 1 else "were"
            read = units.many(checked["wrong"], "sector")
            found.append(f"{read} read {were} wrong: the FTL lost or mixed up data")
        recorded = self.raw["recorded"]
        if recorded and (recorded["differed"] or not recorded["commands_equal"]):
            found.append(
                f"{units.count(recorded['differed'])} of {units.count(recorded['compared'])} answers differ from the "
                "recording's, or the array's commands do"
            )
        if self.raw["nand"]["violations"]:
            found.append(
                f"the FTL broke NAND rules {self.raw['nand']['violations']} times: this is a bug in Slate; the "
                "figures are void"
            )
        touched = self.device.total.ftl["unwritten-units"]
        if touched:
            found.append(
                f"reads found {units.many(touched, 'unit')} of {units.size(self.device.unit_bytes)} that were never "
                f"written or were trimmed: these cost only a look-up. {self._advice()}"
            )
        found += warn.of_flushes(self.device) + warn.of_the_map(self.device)
        return found + warn.of_the_drive(self.device.total)

    def _advice(self) -> str:
        return warn.TRIMMED if warn.was_full(self.device) else "Fill the drive first (--fill 100)."

    def notes(self) -> list[str]:
        """Return explanations of the figures."""
        return [
            "a replay has no guest: latencies are from the arrival at the drive to the completion; host-q, GC-q: "
            "waiting behind other host I/O, behind GC; dies, bus: share of the time they were busy; percentiles are "
            "upper bounds (≤ 0.1 %)"
        ]
