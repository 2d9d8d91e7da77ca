# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses the arguments of 'slate' and its commands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from . import names
from .commands import Command, Option
from .errors import SlateError

_CHOICE = re.compile(r"^argument (.+?): invalid choice: '(.*?)' \(choose from (.*)\)$")
Each = Callable[[argparse.Action, Option], object]


class Parser(argparse.ArgumentParser):
    """Parses arguments; its errors name the fault, the probable intention, and the fix.

    Abbreviated options are refused: of another program's option they would make one of this program.
    """

    def __init__(self, *args: Any, **named: Any):
        named = {"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter, **named}
        super().__init__(*args, **named)

    def error(self, message: str) -> NoReturn:
        choice = _CHOICE.search(message)
        if choice:
            known = [word.strip("'") for word in choice[3].split(", ")]  # Python 3.12 and later: without quotes
            wrong = choice[2]
            command = choice[1] == "COMMAND"
            what = f"{wrong}: there is no such command" if command else f"{choice[1]}: there is no {wrong}"
            message = f"{what}{names.nearest(wrong, known)}"
            raise SlateError(message, f"use one of: {', '.join(known)}; see '{self.prog} --help'")
        raise SlateError(message, f"see '{self.prog} --help'")

    def parse(self, words: list[str]) -> argparse.Namespace:
        """Parse all arguments."""
        args, unknown = self.parse_known_args(words)
        if unknown:
            args.parser.unknown(unknown)
        return args

    def unknown(self, words: list[str]) -> NoReturn:
        """Report the first of the arguments that no option takes."""
        option = words[0].partition("=")[0]
        known = [name for name in self._option_string_actions if name.startswith("--")]
        what = "there is no such option" if option.startswith("-") else "nothing takes this argument"
        self.error(f"{words[0]}: {what}" + (names.nearest(option, known) if option.startswith("-") else ""))

    def add(self, command: Command, each: Each | None = None) -> Parser:
        """Add the options of a command, and call each() with them; `parser` and `execute` of the arguments are its."""
        self.set_defaults(parser=self, execute=command.run)
        _add(self, command.options, each)
        for title, options in command.groups:
            _add(self.add_argument_group(title), options, each)
        if command.verbs:
            self.add_commands(command.verbs, "ACTION", not command.run, each)
        return self

    def add_commands(self, commands: Iterable[Command], word: str, required: bool, each: Each | None = None) -> None:
        """Add commands, one of which the command line may name."""
        parsers = self.add_subparsers(metavar=word, dest=word, parser_class=Parser, required=required)
        for command in commands:
            parsers.add_parser(command.name, help=command.help, epilog=command.examples or None).add(command, each)


def _add(group: argparse._ActionsContainer, options: Iterable[Option], each: Each | None) -> None:
    for option in options:
        named: dict[str, Any] = {"help": option.help.replace("%", "%%")}
        if option.name.startswith("-"):
            named |= {"dest": option.dest}
        if not option.shown:
            named |= {"action": "store_true", "default": argparse.SUPPRESS if option.unset else False}
        else:
            named |= {"metavar": option.value or None, "choices": option.choices or None}
            named |= {"default": None if option.unset else option.default}
        if option.repeat:
            named |= {"action": "append", "default": []}
        if option.bare is not None:
            named |= {"nargs": "?", "const": option.bare}
        if option.count:
            named |= {"nargs": option.count}
        if option.required:
            named |= {"required": True}
        action = group.add_argument(*option.names, **named)
        if each:
            each(action, option)
