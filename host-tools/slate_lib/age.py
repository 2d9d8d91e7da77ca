# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate age' makes an aged drive file; 'slate drive show' prints the properties of one."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import drivefile, paths
from .commands import SET, Option
from .drives import check_profile
from .errors import OK, SlateError
from .values import check_settings, number, share

PROGRAM = "slate-age"
EXAMPLES = """\
examples:
  slate age default --writes 3x -o aged.slate
  slate run --drive aged.slate --ephemeral        any number of runs from the same state
  slate run --drive aged.slate                    continues from the previous run's state
"""


OPTIONS = (
    Option("profile", "PROFILE", "the drive's profile: a name that 'slate profiles' lists, or an .ini file"),
    Option("--output", "FILE", "the drive file to make", short="-o", required=True),
    Option("--writes", "N", "then overwrite N times its capacity in random units, such as 3x", default="0"),
    Option("--fill", "PCT", "per cent of the drive to write in order first", default="100"),
    Option("--seed", "N", "seed of the random order", default="1"),
    SET,
    Option("--content", about="content of the pages: random bytes, or zeroes, which take no room on disk",
           choices=("random", "zero"), default="random"),
    Option("--force", about="overwrite FILE"),
)  # fmt: skip
DRIVE = (Option("file", "FILE", "what 'slate age' or 'slate run --drive' made"),)


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
