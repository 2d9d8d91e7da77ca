# SPDX-License-Identifier: GPL-2.0-or-later
"""Find profiles and jobs by name or by path, and suggest a name for a word that is neither.

A name is that of a shipped file, with or without its suffix. A word with a '/' is a path; a
file in the current directory comes before a shipped one of the same whole name. Profiles fitted to
the data sheets of real drives are in a folder of their own, and have names like the others.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from . import paths
from .commands import Option
from .errors import OK, SlateError

PROFILE, JOB = ".ini", ".fio"
NEAR, MANY_LETTERS = 0.6, 3  # the least likeness of a name that is told; letters of a word's beginning
_KINDS = {PROFILE: ("profile", "profiles"), JOB: ("job", "jobs")}
_ABOUT = re.compile(r"^# (?!SPDX)\S+: (.*(?:\n# .+)*)", re.MULTILINE)
_SENTENCE = re.compile(r"(.+?)\.(?:\s|$)")


def files(suffix: str) -> list[Path]:
    """Return the shipped files of a kind, sorted by name, those of real drives last."""
    folder = paths.PROFILES if suffix == PROFILE else paths.JOBS
    return [
        path for where in (folder, folder / "drives") for path in sorted(where.glob(f"*{suffix}"), key=lambda p: p.stem)
    ]


def shipped(suffix: str) -> list[str]:
    """Return the names of the shipped files."""
    return sorted(path.stem for path in files(suffix))


def nearest(word: str, words: Iterable[str]) -> str:
    """Return "; did you mean X?", or an empty text.

    A name may also be near by its beginning, as p4500-1tb is to p4510; then all that begin so are told.
    """
    names = list(words)
    found = difflib.get_close_matches(word, names, 1, NEAR) or [name for name in names if name.startswith(word)][:1]
    begins = [name[: len(word)] for name in names if len(name) > len(word) >= MANY_LETTERS]
    begin = difflib.get_close_matches(word, begins, 1, NEAR)
    if begin and (not found or _likeness(word, begin[0]) > _likeness(word, found[0])):
        found = [name for name in names if name.startswith(begin[0])][:3]
    return f"; did you mean {' or '.join(found)}?" if found and word else ""


def _likeness(word: str, name: str) -> float:
    return difflib.SequenceMatcher(None, name, word).ratio()


def find(word: str, suffix: str) -> Path:
    """Find a file by name or path. Raises a SlateError that lists the names if there is none."""
    kind, command = _KINDS[suffix]
    path = Path(word)
    if "/" not in word and not (word.endswith(suffix) and path.exists()):
        for own in files(suffix):
            if own.stem == word.removesuffix(suffix):
                return own
    if path.exists() or not word:
        return path
    if "/" in word:
        beside = sorted(one.name for one in path.parent.glob(f"*{suffix}"))
        there = f"in {paths.short(path.parent)}/ there are: {', '.join(beside[:8])}" if beside else "name a file"
        raise SlateError(
            f"no such {kind}: {path}{nearest(path.name, beside)}", f"{there}; 'slate {command}' lists what has a name"
        )
    raise SlateError(
        f"no such {kind}: {word}{nearest(word.removesuffix(suffix), shipped(suffix))}",
        f"'slate {command}' lists those that are there; a file of your own: its path",
    )


def replay_words(words: list[str]) -> list[str]:
    """Return the arguments of slate-replay, with names replaced by paths."""
    found = list(words)
    for at, word in enumerate(words):
        if word == "--":
            break
        if word.startswith("--profile="):
            found[at] = f"--profile={find(word.partition('=')[2], PROFILE)}"
        elif at and words[at - 1] == "--profile":
            found[at] = str(find(word, PROFILE))
    return found


# ---- 'slate jobs'


SHOW = (Option("job", "NAME", "a shipped job's name, or a path"),)


def about(text: str) -> str:
    """Return the first sentence of a job file's head."""
    match = _ABOUT.search(text)
    if not match:
        return ""
    words = " ".join(match[1].replace("\n#", " ").split())
    sentence = _SENTENCE.match(words)
    return sentence[1] if sentence else words


def show_job(name: str) -> int:
    """Execute 'slate jobs show': print a job file."""
    path = find(name, JOB)
    try:
        print(path.read_text(encoding="utf-8", errors="replace"), end="")
    except OSError as error:
        raise SlateError(f"can not read {path}: {(error.strerror or str(error)).lower()}", "name a job file") from None
    return OK


def list_jobs() -> int:
    """Execute 'slate jobs': print the list of jobs."""
    width = max(len(name) for name in [*shipped(JOB), "job"])
    print(f"{'job':<{width}}  what it is")
    for name in shipped(JOB):
        print(f"{name:<{width}}  {about((paths.JOBS / f'{name}{JOB}').read_text(encoding='utf-8'))}")
    return OK
