# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command in the documentation is run, in a copy of the tree (blocks.py has the rules)."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "host-tools")]

import blocks
from slate_lib import cli

QEMU = ROOT / "build" / "qemu" / "qemu-system-x86_64"
DOCUMENTS = [
    "README.md",
    "nand-emu/profiles/README.md",
    "host-tools/guest/README.md",
    "docs/results/drives/README.md",
    "docs/results/fdp/README.md",
    "docs/results/judges.md",
    "docs/results/placement/study.md",
    "docs/results/studies.md",
    "docs/notes/papers.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
]
LINKED = [
    *DOCUMENTS,
    *("BENCH.md", "CHANGELOG.md", "SPEC.md", "DESIGN.md"),
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/notes").glob("*.md")),
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/results/bench").glob("*.md")),
    *sorted(str(path.relative_to(ROOT)) for top in ("ftl", "nand-emu", "host-tools", "qemu-patches", "tests")
            for path in (ROOT / top).glob("**/DESIGN.md")),
]  # fmt: skip
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_COMMAND = re.compile(r"^(?:    |\t)(?:\$ |make |host-tools/|build/|tests/|apt-get |git |slate)")


def copy_tree(to: Path) -> None:
    """Copy all files that git knows or would add, and link the build directory."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("docs/results/"):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name, follow_symlinks=False)
    (to / "build").symlink_to((ROOT / "build").resolve())


class Documents(unittest.TestCase):
    """Run a test for each document; the tests are made below."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-docs-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def shell(self, text: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
        """Run a command as a person in the clone would type it."""
        return subprocess.run(
            ["bash", "-c", text], cwd=self.folder, capture_output=True, text=True, timeout=seconds, check=False,
            stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100",
                                           "SLATE_RESULTS": str(self.folder / "results")},
        )  # fmt: skip

    def document(self, name: str) -> None:
        """Check all blocks of a document, in order."""
        copy_tree(self.folder)
        for block in blocks.parse(ROOT / name):
            where = f"{name}:{block.line}"
            word, _, rest = block.directive.partition(" ")
            if word == "file":
                (self.folder / rest).write_text("\n".join(block.body) + "\n", encoding="utf-8")
            elif word == "part":
                self.part(where, block, rest)
            elif block.language == "console":
                self.console(where, block, word, rest)
            else:
                self.assertIn(block.language, blocks.QUIET, f"{where}: console, or one of {blocks.QUIET}")

    def part(self, where: str, block: blocks.Block, rest: str) -> None:
        """Check that the source contains the block."""
        file, _, word = rest.partition(" ")
        source = (ROOT / file).read_text(encoding="utf-8")
        if word:
            source = source.partition(f"/* [{word}] */\n")[2].partition("/* [end] */\n")[0]
            self.assertEqual("\n".join(block.body) + "\n", source, f"{where}: {file} has something else")
        else:
            self.assertIn("\n" + "\n".join(block.body) + "\n", "\n" + source, f"{where}: {file} has something else")

    def console(self, where: str, block: blocks.Block, word: str, rest: str) -> None:
        """Run the block's commands, or check what can be checked without running them."""
        commands = block.commands()
        if word == "no:":
            self.assertGreater(len(rest), 10, f"{where}: a reason")
            for command in commands:
                self.unrun(where, command)
        elif commands[0].guest:
            self.guest(where, commands, word == "numbers")
        else:
            for command in commands:
                last = command is commands[-1]
                code = int(rest) if word == "exit" and last else 0
                self.run_one(where, command, code, word == "numbers", word == "exit" and last)

    def run_one(self, where: str, command: blocks.Command, code: int, numbers: bool, errors: bool) -> None:
        """Run a command of the host."""
        if ("slate run" in command.text or "build/qemu/" in command.text) and not QEMU.exists():
            self.skipTest("QEMU is not built")
        done = self.shell(command.text)
        said = f"{where}: $ {command.text}\n{done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, code, said)
        printed = done.stdout + (done.stderr if errors else "")
        if command.expected:
            self.assertTrue(blocks.matches(command.expected, printed.splitlines(), numbers), said)

    def unrun(self, where: str, command: blocks.Command) -> None:
        """Check a command without running it."""
        text = command.text.replace("\\\n", " ")
        if command.guest:
            done = self.shell(f"bash -n <<'END'\n{text}\nEND")
        elif text.startswith("make "):
            done = self.shell(text.replace("make ", "make -n ", 1))
        elif text.startswith("host-tools/slate ") and text.split()[1] not in ("replay", "content"):
            words = [word for word in shlex.split(text, comments=True)[1:] if word != "--help"]
            cli.parser().parse_args(words)  # or SlateError
            return
        else:
            done = self.shell(f"bash -n <<'END'\n{text}\nEND")
            program = text.split()[0]
            if "/" in program and not program.startswith("build/"):
                self.assertTrue((self.folder / program).exists(), f"{where}: there is no {program}")
        self.assertEqual(done.returncode, 0, f"{where}: {text}\n{done.stdout}{done.stderr}")

    def guest(self, where: str, commands: list[blocks.Command], numbers: bool) -> None:
        """Run the commands for a guest, all in one boot."""
        if not QEMU.exists():
            self.skipTest("QEMU is not built")
        lines = ["set -e"]
        for number, command in enumerate(commands):
            lines += [f"{{ {command.text}", f"}} > /run/out/{number}.txt"]
        (self.folder / "block.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = self.shell("host-tools/slate run --cmd block.sh --profile nand-emu/profiles/small.ini --out out/block")
        self.assertEqual(done.returncode, 0, f"{where}: {done.stdout}{done.stderr}")
        for number, command in enumerate(commands):
            printed = (self.folder / f"out/block/{number}.txt").read_text(encoding="utf-8")
            if command.expected:
                same = blocks.matches(command.expected, printed.splitlines(), numbers)
                self.assertTrue(same, f"{where}: # {command.text}\n{printed}")
        shutil.rmtree(self.folder / "out" / "block")


def _test_of(name: str) -> Callable[[Any], None]:
    return lambda self: self.document(name)


for _name in DOCUMENTS:
    setattr(Documents, "test_" + re.sub(r"\W", "_", _name.removesuffix(".md")), _test_of(_name))


class Rules(unittest.TestCase):
    """Test the rules of blocks.py, each with a text that breaks it."""

    def test_matches(self) -> None:
        for expected, printed, numbers, want in (
            (["a", "b"], ["a", "b"], False, True),
            (["a", "b"], ["a"], False, False),
            (["a", "...", "c"], ["a", "c"], False, True),
            (["a", "...", "c"], ["a", "1", "2", "c"], False, True),
            (["a", "..."], ["b", "x"], False, False),
            (["a ... c"], ["a b c"], False, True),
            (["1,234.5 us"], ["   1,234.5 us"], False, False),
            (["in 3.5 s, 10 % of 1,200"], ["in 12 s,   9 % of 3"], True, True),
            (["in 3.5 s"], ["in x s"], True, False),
            (["in 3.5 s"], ["in 4.5 s"], False, False),
            (["a+b (c)"], ["a+b (c)"], False, True),
        ):
            self.assertEqual(blocks.matches(expected, printed, numbers), want, (expected, printed, numbers))

    def test_commands(self) -> None:
        block = blocks.Block(1, "console", "", ["$ one \\", "    two", "out", "$ cat <<E", "> in", "> E", "in"])
        found = [(command.text, command.expected) for command in block.commands()]
        self.assertEqual(found, [("one \\\n    two", ["out"]), ("cat <<E\nin\nE", ["in"])])
        self.assertRaises(ValueError, blocks.Block(1, "console", "", ["make"]).commands)

    def test_no_command_elsewhere(self) -> None:
        for name in DOCUMENTS:
            inside = False
            for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
                inside ^= line.startswith(("```", "~~~"))
                if not inside:
                    self.assertIsNone(_COMMAND.match(line), f"{name}:{number}: a command in no console block: {line}")

    def test_boots(self) -> None:
        """A boot takes seconds, so their number in all documents is limited."""
        boots = 0
        for name in DOCUMENTS:
            for block in blocks.parse(ROOT / name):
                if block.language == "console" and not block.directive.startswith("no:"):
                    commands = block.commands()
                    boots += commands[0].guest or sum("slate run" in command.text for command in commands)
        self.assertLessEqual(boots, 12)

    def test_links(self) -> None:
        """Links between documents lead to existing files and headings."""
        for name in LINKED:
            for target, heading in _LINK.findall((ROOT / name).read_text(encoding="utf-8")):
                if "://" in target:
                    continue
                path = (ROOT / name).parent / target if target else ROOT / name
                self.assertTrue(path.exists(), f"{name}: {target}")
                if heading:
                    self.assertIn(heading, anchors(path), f"{name}: {target}#{heading}")

    def test_each_way_in_takes_ten_minutes(self) -> None:
        """A reader manages 200 words a minute; a link to a heading means its section."""
        table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Ways in\n")[2].partition("\n## ")[0]
        rows = [line for line in table.splitlines() if line.startswith("| ") and "](" in line]
        self.assertEqual(len(rows), 5)
        for row in rows:
            words = sum(words_of(ROOT / (target or "README.md"), heading) for target, heading in _LINK.findall(row))
            self.assertLessEqual(words, 2000, row)

    def test_the_tour_is_short(self) -> None:
        self.assertLessEqual(len((ROOT / "DESIGN.md").read_text(encoding="utf-8").split()), 1500)


def anchors(path: Path) -> set[str]:
    """Return the anchors of the document's headings."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return set(map(anchor, heads))


def anchor(head: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def words_of(path: Path, heading: str) -> int:
    """Count the words of a document, or of a section and those below it. Bars of tables are no words."""
    text = path.read_text(encoding="utf-8")
    if heading:
        parts = re.split(r"^(#+) (.*)\n", text, flags=re.MULTILINE)
        found = list(zip(parts[1::3], parts[2::3], parts[3::3], strict=True))
        at = next(n for n, (_, head, _) in enumerate(found) if anchor(head) == heading)
        level, inside = len(found[at][0]), [found[at][2]]
        for marks, _, body in found[at + 1 :]:
            if len(marks) <= level:
                break
            inside.append(body)
        text = "".join(inside)
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


if __name__ == "__main__":
    unittest.main()
