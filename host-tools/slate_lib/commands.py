# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes commands and their options. The parser (parsing.py), slate.1 and the completion are made from such tables.

It imports little, so that a module of a command can declare its options and still start quickly.
"""

from __future__ import annotations

import argparse
import keyword
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """Describes an option, or, with a name without dashes, an argument. A value has a word or choices."""

    name: str
    value: str = ""
    about: str = ""
    default: str | None = None
    choices: tuple[str, ...] = ()
    repeat: bool = False  # the value is a list
    bare: str | None = None  # the value of an option that stands without one
    count: str | None = None  # of an argument's values: ?, * or +
    short: str = ""
    required: bool = False
    unset: bool = False  # if it is not given the value is None in place of the default; a switch has none at all

    @property
    def dest(self) -> str:
        """Return the name of the parsed value: with_ of --with, a word of Python."""
        name = self.name.lstrip("-").replace("-", "_")
        return f"{name}_" if keyword.iskeyword(name) else name

    @property
    def names(self) -> list[str]:
        """Return what the command line may say."""
        return [self.short, self.name] if self.short else [self.name]

    @property
    def shown(self) -> str:
        """Return the text for the value."""
        return self.value or "|".join(self.choices)

    @property
    def help(self) -> str:
        """Return what the option does, with its default."""
        return self.about + (f" (default {self.default})" if self.default is not None else "")


SET = Option("--set", "SECTION.KEY=VALUE", "override a value of the profile; repeatable, the last one of a key counts",
             repeat=True)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """Describes a command, or a command of a command (verbs). One without `run` needs a verb."""

    name: str
    help: str
    run: Callable[[argparse.Namespace], int] | None = None
    options: tuple[Option, ...] = ()
    groups: tuple[tuple[str, tuple[Option, ...]], ...] = ()  # further options, with a title
    examples: str = ""
    verbs: tuple[Command, ...] = ()

    def all(self, words: str = "") -> Iterator[tuple[str, Command]]:
        """Yield this command and its verbs with the words that call them."""
        words = f"{words} {self.name}".strip()
        yield words, self
        for verb in self.verbs:
            yield from verb.all(words)
