# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate age' makes an aged drive file; 'slate drive show' prints the properties of one."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import drivefile, paths
from .drives import check_profile
from .errors import OK, SlateError
from .values import add_set_argument, check_settings, number, share

PROGRAM = "slate-age"
AGE_EXAMPLES = """\
examples:
  slate age default --writes 3x -o aged.slate
  slate run --drive aged.slate --ephemeral        any number of runs from the same state
  slate run --drive aged.slate                    continues from the previous run's state
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of 'slate age'."""
    parser.add_argument(
        "profile", metavar="PROFILE", help="the drive's profile: a name that 'slate profiles' lists, or an .ini file"
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the drive file to make")
    parser.add_argument(
        "--writes",
        metavar="N",
        default="0",
        help="then overwrite N times its capacity in random units, such as 3x (default 0)",
    )
    parser.add_argument(
        "--fill", metavar="PCT", default="100", help="per cent of the drive to write in order first (default 100)"
    )
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the random order (default 1)")
    add_set_argument(parser)
    parser.add_argument(
        "--content",
        choices=("random", "zero"),
        default="random",
        help="content of the pages: random bytes (default), or zeroes, which take no room on disk",
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE")


def add_drive_arguments(parser: argparse.ArgumentParser, parser_class: type[argparse.ArgumentParser]) -> None:
    """Add the arguments of 'slate drive'."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=parser_class, required=True)
    show = verbs.add_parser("show", help="print the settings and the sizes of a drive file")
    show.add_argument("file", metavar="FILE")


def command_line(args: argparse.Namespace) -> list[str]:
    """Return the command that makes the drive."""
    profile = check_profile(args.profile)
    writes = share("writes", args.writes.removesuffix("x"), 100, 3)
    fill = share("fill", args.fill, 100, 1)
    seed = number("seed", args.seed, 0, 2**31 - 1)
    if writes and not fill:
        raise SlateError("--writes overwrites what --fill filled, and that is nothing", "use --fill 100")
    check_settings(args.set)
    line = [str(paths.program(PROGRAM))]
    line += ["--force"] if args.force else []
    line += ["--zeroes"] if args.content == "zero" else []
    return [
        *line,
        str(profile),
        str(Path(args.output)),
        f"precondition.fill_permille={round(fill * 10)}",
        f"precondition.age_permille={round(writes * 1000)}",
        f"precondition.seed={seed}",
        *args.set,
    ]


def age(args: argparse.Namespace) -> int:
    """Execute 'slate age': replace this process by the program that makes the drive."""
    line = command_line(args)
    if args.output.startswith("-"):
        raise SlateError(f"-o {args.output}: begins like an option", f"name it ./{args.output}")
    sys.stdout.flush()
    os.execv(line[0], line)


def drive(args: argparse.Namespace) -> int:
    """Execute 'slate drive show'."""
    print(drivefile.read(Path(args.file)).text(), end="")
    return OK
