#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure the shape of the code and documents of a commit (docs/results/bench/house.md).

    house.py [COMMIT]            functions, circles, words, and the walk of gc_run; default: HEAD
    house.py --draw SEED [COMMIT]    60 comments and 30 paragraphs, to be read

The walk is that of a reader who begins at gc_run and reads each function of ftl/ that it names, and those which that
names, in this order, each once. A stay is a function read, a room a file, a return a step into a file that was left
before. Who trusts the headers of other files reads only GC's own functions (files gc*); a door is a function that
these name elsewhere.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True

import rooms
import shape

COMMENTS, PARAGRAPHS, SHORTEST = 60, 30, 25
CODE = ("ftl", "nand-emu", "host-tools", "qemu-patches", "tests")
NOT_COUNTED = re.compile(r"docs/(results|notes)/|host-tools/reproduce/.*-notes\.md$|findings/")
_C_COMMENT = re.compile(r"/\*(.*?)\*/|//([^\n]*)", re.DOTALL)
_PY_COMMENT = re.compile(r'"""(.*?)"""|(?m:(?:^|\s)#\s(.*))', re.DOTALL)
_NO_PROSE = re.compile(r"^(\||#|```|<!--|\s*$|    )")
_BLOCK = re.compile(r"\n\s*\n|\n\s*\*?\s*\n")


def git(*words: str) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def files(commit: str, suffixes: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of a commit's files with one of the suffixes."""
    names = [name for name in git("ls-tree", "-r", "--name-only", commit).splitlines() if name.endswith(suffixes)]
    return {name: git("show", f"{commit}:{name}") for name in names}


def comments(texts: dict[str, str]) -> list[str]:
    """Return each paragraph of the comments of C and Python with SHORTEST characters, with file and last line."""
    found = []
    for name, text in texts.items():
        form = _PY_COMMENT if name.endswith(".py") else _C_COMMENT
        for match in form.finditer(text):
            body = re.sub(r"(?m)^\s*\*? ?", "", match[1] or match[2] or "")
            line = text.count("\n", 0, match.end()) + 1
            for part in _BLOCK.split(body):
                words = " ".join(part.split())
                if len(words) >= SHORTEST and not words.startswith(("SPDX", "---")):
                    found.append(f"{name}:{line}: {words}")
    return found


def paragraphs(texts: dict[str, str]) -> list[str]:
    """Return each paragraph of the documents that is prose, with its file."""
    found = []
    for name, text in texts.items():
        plain = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for part in re.split(r"\n\s*\n|\n(?=- |\d+\. )", plain):
            if not _NO_PROSE.match(part) and len(part) >= SHORTEST:
                found.append(f"{name}: {' '.join(part.split())}")
    return found


def documents(commit: str) -> dict[str, str]:
    """Return the documents whose words count: not results, notes and findings."""
    return {name: text for name, text in files(commit, (".md",)).items() if not NOT_COUNTED.match(name)}


def bodies(texts: dict[str, str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the functions that each function names, and the file of each."""
    body, home = {}, {}
    for path, text in texts.items():
        lines = text.splitlines()
        for line, _, length in shape.c_functions(text):
            whole = " ".join(lines[line - 1 : line - 1 + length])
            name = re.search(r"([A-Za-z_]\w*)\(", whole.partition("{")[0])
            if name:
                body[name[1]] = re.findall(r"[A-Za-z_]\w*(?=\()", re.sub(r"/\*.*?\*/", " ", whole.partition("{")[2]))
                home[name[1]] = path
    return body, home


def walk(texts: dict[str, str], start: str) -> tuple[int, int, int]:
    """Return stays, rooms and returns of a walk through the functions of some files."""
    body, home = bodies(texts)
    read: list[str] = []

    def visit(name: str) -> None:
        read.append(name)
        for word in body[name]:
            if word in body and word not in read:
                visit(word)

    visit(start)
    visited = [home[name] for name in read]
    steps = [path for before, path in zip(["", *visited], visited) if path != before]
    return len(read), len(set(visited)), len(steps) - len(set(steps))


def within(texts: dict[str, str], start: str, own: str) -> tuple[int, int]:
    """Return the functions of a walk that does not leave the files that match `own`, and the doors."""
    body, home = bodies(texts)
    read, waiting, doors = {start}, [start], set()
    while waiting:
        for word in set(body[waiting.pop()]) & set(body) - read:
            if re.search(own, home[word]):
                read.add(word)
                waiting.append(word)
            else:
                doors.add(word)
    return len(read), len(doors)


def measured(commit: str) -> str:
    """Return the lines of the measurements."""
    c_files = files(commit, (".c", ".h"))
    lines = []
    for folder in ("ftl/", "nand-emu/", "host-tools/"):
        lengths = sorted(length for name, text in c_files.items() if name.startswith(folder)
                         for _, _, length in shape.c_functions(text))  # fmt: skip
        lines.append(f"functions of {folder[:-1]}: {len(lengths)}; median {statistics.median(lengths):g}, p90 "
                     f"{lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]} lines")  # fmt: skip
    core = {name: text for name, text in c_files.items() if re.fullmatch(r"ftl/\w+/(\w+/)?\w+\.[ch]", name)}
    to = rooms.arrows(core)
    for engine in ("common", "page", "direct", "dac", "zns"):
        inside = {path: {one for one in others if rooms.engine(one) == f"ftl/{engine}"} for path, others in to.items()
                  if rooms.engine(path) == f"ftl/{engine}"}  # fmt: skip
        in_circle, arrows = rooms.circles(inside)
        lines.append(f"ftl/{engine}: {len(inside)} files, {in_circle} in circles with {arrows} arrows, "
                     f"{len(rooms.upward(inside))} arrows to a higher floor")  # fmt: skip
    page = {name: text for name, text in core.items() if name.startswith(("ftl/page/", "ftl/common/"))}
    stays, visited, returns = walk(page, "gc_run")
    lines.append(f"walk of gc_run: {stays} stays, {visited} rooms, {returns} returns")
    own, doors = within(page, "gc_run", r"/gc\w*\.[ch]$")
    lines.append(f"of GC's own files: {own} functions, {doors} doors")
    words = {name: len(text.split()) for name, text in files(commit, (".md",)).items()}
    counted = [count for name, count in words.items() if not NOT_COUNTED.match(name)]
    lines.append(f"words outside results, notes and findings: {sum(counted)} in {len(counted)} pages; in these: "
                 f"{sum(words.values()) - sum(counted)}")  # fmt: skip
    return "\n".join(lines)


def drawn(commit: str, seed: int) -> str:
    """Return the drawn comments and paragraphs."""
    code = {name: text for name, text in files(commit, (".c", ".h", ".py")).items() if name.startswith(CODE)}
    lines = []
    for what, count, all_of in (("comments", COMMENTS, comments(code)),
                                ("paragraphs", PARAGRAPHS, paragraphs(documents(commit)))):  # fmt: skip
        lines.append(f"{count} of {len(all_of)} {what}, seed {seed}")
        lines += [f"{number:2} {text}" for number, text in enumerate(random.Random(seed).sample(all_of, count), 1)]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="the shape of code and documents")
    parser.add_argument("commit", nargs="?", default="HEAD", metavar="COMMIT")
    parser.add_argument("--draw", type=int, metavar="SEED")
    args = parser.parse_args(argv)
    try:
        print(measured(args.commit) if args.draw is None else drawn(args.commit, args.draw))
    except subprocess.CalledProcessError as error:
        print(f"house.py: git: status {error.returncode}: is {args.commit} a commit of this clone?", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
