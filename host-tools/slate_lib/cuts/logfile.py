# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes the log of 'slate cuts': a head with the campaign's properties, then a line of JSON for each cut.

Beside it is a file with the accounts of --shrink, a line of JSON each.
"""

from __future__ import annotations

import json
from pathlib import Path

from .. import shape, units
from ..errors import SlateError, naming
from ..shape import Json
from . import kinds

VERSION = 5
_DRIVE = {"profile": str, "profile_sha256": str, "settings": [str]}
HEAD = {"slate_cuts": int, **_DRIVE, "age": float, "seed": int, "fs?": str, "ready?": str,
        "more?": [_DRIVE],
        "work?": {"*": str}, "kind?": str, "on_host?": bool, "kernel?": str, "guest?": str, "repeat?": str}  # fmt: skip
CUT = {"id": str, "good": bool, "verdict": str, "said": str, "seconds": float,
       **dict.fromkeys(("cut_ns", "operations", "lost_requests", "torn_programs", "torn_erases", "gc_runs",
                        "unflushed?", "taken?", "announced_after?", "states?"), int),
       "bad?": [object], "second_cut_ns?": (None, int),
       "figures?": {"*": float}, "announced?": {"*": {"*": float}}}  # fmt: skip
_REQUEST = {"request": int, "op": str, "offset": int, "bytes": int, "submit_ns": int, "done_ns": (None, int)}
ACCOUNT = {"id": str, "verdict": str, "said": str, "at_ns": int, "unflushed": [_REQUEST], "lost": [_REQUEST],
           "smallest": (None, [_REQUEST]), "marks": [[object]], "repeat": str, "repeat_loss": (None, str),
           "requests": [_REQUEST]}  # fmt: skip


def accounts_of(log: Path) -> Path:
    """Return the name of the file with the accounts of --shrink."""
    return log.with_suffix(".losses.jsonl")


def lines(path: Path) -> list[Json]:
    """Return the whole lines of a file; none if there is no such file."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    try:
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    except ValueError:
        raise SlateError(f"{path}: is no log of 'slate cuts'", "name the log of a campaign") from None


def checked(path: Path, found: list[Json], form: shape.Shape, first: int) -> list[Json]:
    """Return lines of a file, the first of which has this number. Raises a SlateError if one has another form."""
    for number, line in enumerate(found, first):
        try:
            shape.check(line, form)
        except shape.Misfit as error:
            raise SlateError(f"{path}, line {number}: {error}", "delete this line, or name another log") from None
    return found


def read_log(path: Path, wanted: Json) -> list[Json]:
    """Return the completed cuts; an incomplete last line is dropped."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    try:
        found = [json.loads(line) for line in whole.splitlines()]
    except ValueError:
        found = []
    if found and not isinstance(found[0], dict):
        found = []
    if len(found) == 1 and "slate_cuts" in found[0]:  # a campaign that made no cut: nothing is lost
        return []
    if (found and _facts(found[0]) != _facts(wanted)) or (whole and not found):
        raise SlateError(
            f"--log {path}: is of other cuts (or of something else)", "name another file, or delete it"
        )
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return checked(path, found[1:], CUT, 2)


def is_of(path: Path, wanted: Json) -> bool:
    """Is the log there, and of these cuts?"""
    found = lines(path)
    return bool(found) and _facts(found[0]) == _facts(wanted)


def _facts(head: Json) -> Json:
    """Return the facts in a log's head by which a campaign is recognised.

    The command that began it is none: it may have been another.
    """
    return {key: value for key, value in head.items() if key != "repeat"}


def begin(path: Path, head: Json) -> None:
    """Begin a log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path):
        path.write_text(json.dumps(head) + "\n", encoding="utf-8")


def append(path: Path, line: Json) -> None:
    """Append a line."""
    with naming(path), open(path, "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def summary(cuts: list[Json], kind: kinds.Kind = kinds.KINDS["off"]) -> str:
    """Return a summary for a person."""
    bad = [cut["id"] for cut in cuts if not cut["good"]]
    total = {key: sum(cut[key] for cut in cuts) for key in ("operations", "lost_requests", "torn_programs")}
    text = (
        f"{units.many(len(cuts), 'power cut')}: {len(cuts) - len(bad)} left everything that was announced as durable"
        f"\n({units.many(total['operations'], 'announcement')} before them; "
        f"{units.many(total['lost_requests'], 'request')} in flight, "
        f"{units.many(total['torn_programs'], 'program')} torn)\n"
    )
    text += f"each cut: {kind.what}; {kind.promises}\n"
    if any("unflushed" in cut for cut in cuts):
        unflushed, taken = (sum(cut.get(key, 0) for cut in cuts) for key in ("unflushed", "taken"))
        took = f", and the cuts took {taken} of them, or a part" if any("taken" in cut for cut in cuts) else ""
        text += f"{unflushed} writes and trims were not flushed{took}\n"
    if any("states" in cut for cut in cuts):
        states, wrong = (sum(cut.get("states", 0) for cut in cuts), sum(len(cut.get("bad", ())) for cut in cuts))
        text += f"{states} states of these cuts were checked, {wrong} of them were not good\n"
    if any("announced_after" in cut for cut in cuts):
        text += units.many(sum(cut.get("announced_after", 0) for cut in cuts), "announcement")
        text += " came after the drive had gone\n"
    if cuts and not total["operations"]:
        text += (
            "They show little: no cut came after an announcement. Give more time to the work (--span SEC); a work of "
            "your own announces by 'slate-mark durable WORDS'.\n"
        )
    return text + (f"not so: {', '.join(bad)}\n" if bad else "")
