# SPDX-License-Identifier: GPL-2.0-or-later
"""Check who calls whom in the core, and that each invariant's label is used once.

A folder of ftl/ is an engine, a folder in it a room. An arrow leads from a .c file to another one whose function it
names, itself or by the inline functions of headers that it names. Files that reach each other by arrows are a circle;
a reader can begin with none of them. An engine may name functions of ftl/common and its own, and the files of a room
those of rooms on the same floor or below; some files of a room have another floor than the rest (FLOORS). Circles and
arrows to a higher floor may only get fewer: a change that removes one lowers the number in CIRCLES or UPWARD. Which map
a drive has is for the files of its room alone (OF_ONE_ROOM). X.h declares what X.c offers, so includes say which files
a file needs; the headers of OF_SEVERAL declare functions of several files.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import shape

CIRCLES: dict[str, tuple[int, int]] = {}  # engine: files in circles, arrows within them; others have none
FLOORS = {  # of folders and of single files; other folders have one floor
    "ftl/page/map": 0,
    "ftl/page/dies.c": 0,
    "ftl/page/frontier.c": 0,
    "ftl/page/handles.c": 0,
    "ftl/page/level.c": 0,
    "ftl/page/page_owners.c": 0,
    "ftl/page/queue.c": 0,
    "ftl/page/slc.c": 0,
    "ftl/page/wordline.c": 0,
    "ftl/page": 1,
    "ftl/page/mount": 2,
}
UPWARD: dict[str, int] = {}  # engine: arrows to a higher floor; others have none
OF_ONE_ROOM = {"map_is_cached": "ftl/page/map/"}  # a function, and the folder whose files alone may name it
OF_SEVERAL = {  # headers that declare functions of several files, because callers must not see which file has them
    "ftl/common/ftl.h",  # what each FTL offers a shell
    "ftl/page/map/map.h",  # the map, for the floors above: whole or cached
    "ftl/page/map/map_own.h",  # the cached map, for its folder and a mount
    "nand-emu/array.h",  # the array, for shells
    "nand-emu/array_impl.h",  # the array, for its files, which change one state (one image)
    "nand-emu/port.h",  # what a shell must supply
}
SHARED = "ftl/common"
LABELLED = ("ftl", "nand-emu", "host-tools", "qemu-patches")
_NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_TAG = re.compile(r"\b(?:struct|enum) \w+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"([A-Za-z_]\w*)\(")
_DECLARED = re.compile(r"^[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)[^;{}()]*;", re.MULTILINE)
_LABEL = re.compile(r"^ \*\s+([A-Z]{1,5}\d{1,2})  |^ \*   ([A-Z]{1,5}\d\d) ", re.MULTILINE)
_IN_A_LINE = re.compile(r"(?<![a-z] )\b([A-Z]{1,5}\d{1,2})(?=(?:, [A-Z]{1,5}\d{1,2})*: )")  # in a sentence
Arrows = dict[str, set[str]]


def functions(text: str) -> dict[str, bool]:
    """Return the functions of a .c file, and whether other files may call them."""
    lines, found = text.splitlines(), {}
    for line, head, length in shape.c_functions(text):
        whole = " ".join(lines[line - 1 : line - 1 + length]).partition("{")[0]
        name = _NAME.search(whole)
        if name:
            found[name[1]] = not head.startswith("static")
    return found


def words(text: str) -> set[str]:
    """Return the words of a text that are no part of a comment or string, and name no type."""
    return set(_WORD.findall(_TAG.sub(" ", _NOT_CODE.sub(" ", text))))


def inlines(texts: dict[str, str]) -> dict[str, set[str]]:
    """Return the words of each function of the headers."""
    found = {}
    for text in (text for path, text in texts.items() if path.endswith(".h")):
        lines = text.splitlines()
        for line, _, length in shape.c_functions(text):
            whole = " ".join(lines[line - 1 : line - 1 + length])
            name = _NAME.search(whole.partition("{")[0])
            if name:
                found[name[1]] = words(whole)
    return found


def meant(named: set[str], inline: dict[str, set[str]]) -> set[str]:
    """Return the words, and for each one that is an inline function the words of its body, too."""
    found, waiting = set(named), list(named)
    while waiting:
        more = inline.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def arrows(texts: dict[str, str]) -> Arrows:
    """Return for each .c file the others whose functions it names."""
    code = {path: text for path, text in texts.items() if path.endswith(".c")}
    inline = inlines(texts)
    own = {path: functions(text) for path, text in code.items()}
    home = {name: path for path, names in own.items() for name, shared in names.items() if shared}
    named = {path: meant(words(text), inline) - set(own[path]) for path, text in code.items()}
    return {path: {home[word] for word in of_file if word in home} for path, of_file in named.items()}


def reached(start: str, to: Arrows) -> set[str]:
    """Return the files to which arrows lead from one."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for path in to[waiting.pop()] - found:
            found.add(path)
            waiting.append(path)
    return found


def circles(to: Arrows) -> tuple[int, int]:
    """Return how many files are in a circle, and how many arrows lead within one."""
    far = {path: reached(path, to) for path in to}
    round_ = [(a, b) for a in to for b in to[a] if a in far[b]]
    return sum(path in far[path] for path in to), len(round_)


def engine(path: str) -> str:
    """Return the engine of a file."""
    return "/".join(path.split("/")[:2])


def upward(to: Arrows) -> list[tuple[str, str]]:
    """Return the arrows to a higher floor."""
    floor = {path: FLOORS.get(path, FLOORS.get(path.rpartition("/")[0], 0)) for path in to}
    return sorted((path, other) for path in to for other in to[path] if floor[other] > floor[path])


def faults(texts: dict[str, str], limits: dict[str, tuple[int, int]], up: dict[str, int]) -> list[str]:
    """Return a line for each arrow between engines, and for each engine beyond its limits."""
    to, found = arrows(texts), []
    folder = {path: engine(path) for path in to}
    for path in sorted(to):
        for other in sorted(to[path]):
            if folder[other] not in (folder[path], SHARED):
                found.append(f"{path}: names a function of {other}: engines share {SHARED} alone\n")
    for name in sorted(set(folder.values())):
        inside = {path: {one for one in to[path] if folder[one] == name} for path in to if folder[path] == name}
        higher = upward(inside)
        if len(higher) > up.get(name, 0):
            found += [f"{path}: names a function of {other}, which is on a higher floor: {len(higher)} such arrows, "
                      f"more than {up.get(name, 0)} (tests/rooms.py)\n" for path, other in higher]  # fmt: skip
        have, limit = circles(inside), limits.get(name, (0, 0))
        if have[0] > limit[0] or have[1] > limit[1]:
            found.append(f"{name}: {have[0]} files in circles with {have[1]} arrows, more than {limit[0]} with "
                         f"{limit[1]}: let files call downwards only (tests/rooms.py)\n")  # fmt: skip
    return found


def outside(texts: dict[str, str], homes: dict[str, str]) -> list[str]:
    """Return a line for each file that names a function of another room."""
    return [f"{path}: names {name}(), which is for {home}\n" for name, home in homes.items()
            for path, text in sorted(texts.items()) if not path.startswith(home) and name in words(text)]  # fmt: skip


def elsewhere(texts: dict[str, str]) -> list[str]:
    """Return a line for each function of a .c file that the header of another file declares."""
    homes = {(path.split("/")[0], name): path for path, text in texts.items() if path.endswith(".c")
             for name, shared in functions(text).items() if shared}  # fmt: skip
    found = []
    for path, text in sorted(texts.items()):
        for name in _DECLARED.findall(_NOT_CODE.sub(" ", text)) if path.endswith(".h") else ():
            home = homes.get((path.split("/")[0], name), path)
            if Path(home).stem != Path(path).stem and path not in OF_SEVERAL:
                found.append(f"{path}: declares {name}(), which is in {home}: declare it in "
                             f"{home.removesuffix('.c')}.h (tests/rooms.py)\n")  # fmt: skip
    return found


def labels(text: str) -> Iterable[str]:
    """Return each label that the comments of a file define, as often as they do."""
    yield from (one or two for one, two in _LABEL.findall(text))
    for line in text.splitlines():
        if line.startswith(" * "):
            yield from _IN_A_LINE.findall(line)


def repeated(texts: dict[str, str]) -> list[str]:
    """Return a line for each label that two comments define."""
    homes = defaultdict(list)
    for path, text in texts.items():
        for label in labels(text):
            homes[label].append(path)
    return [f"{label}: defined in {' and '.join(sorted(paths))}: give one of them another label\n"
            for label, paths in sorted(homes.items()) if len(paths) > 1]  # fmt: skip


def check(root: Path, files: Iterable[Path]) -> str:
    """Return what was found in the files of the tree."""
    texts = {path.as_posix(): (root / path).read_text(encoding="utf-8") for path in files
             if path.suffix in (".c", ".h") and path.parts[0] in LABELLED}  # fmt: skip
    rooms = {path: text for path, text in texts.items() if re.fullmatch(r"ftl/\w+/(\w+/)?\w+\.[ch]", path)}
    core = {path: text for path, text in texts.items() if path.startswith(("ftl/", "nand-emu/"))}
    return "".join(faults(rooms, CIRCLES, UPWARD) + outside(rooms, OF_ONE_ROOM) + elsewhere(core) + repeated(texts))
