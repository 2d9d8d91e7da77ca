# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses the arguments of 'slate' and its commands."""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from . import names
from .errors import SlateError

_CHOICE = re.compile(r"^argument (.+?): invalid choice: '(.*?)' \(choose from (.*)\)$")


class Parser(argparse.ArgumentParser):
    """Parses arguments; its errors name the fault, the probable intention, and the fix.

    Abbreviated options are refused: of another program's option they would make one of this program.
    """

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **{"allow_abbrev": False, **named})

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

    def unknown(self, words: list[str]) -> None:
        """Report the first of the arguments that no option takes."""
        option = words[0].partition("=")[0]
        known = [name for name in self._option_string_actions if name.startswith("--")]
        what = "there is no such option" if option.startswith("-") else "nothing takes this argument"
        self.error(f"{words[0]}: {what}" + (names.nearest(option, known) if option.startswith("-") else ""))
