# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses the command line of 'slate', and calls its commands."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path
from typing import cast

from . import age, calibrate, fit, fitsheet, guests, names, options, paths, profiles, reports, runfiles
from .cuts import command as cuts
from .errors import INTERRUPTED, OK, USAGE, SlateError
from .parsing import Parser
from .study import arguments as study

EXAMPLES = """\
examples:
  slate run                                              the job quick on the default drive
  slate run --job mixed-gc --profile small               others by name: 'slate jobs', 'slate profiles'
  slate run --job my.fio --profile my.ini --out results  your own
  slate run --set ftl.buffer_units=0 --age 2             no write buffer; overwritten twice first
  slate run --profile small --profile small --job two-drives             two drives in one guest
  slate run --cmd script.sh                              a script in the guest instead of fio
  slate run --app pgbench --profile my.ini               PostgreSQL on ext4 on the drive
  slate run --shell                                      an interactive guest
  slate age my.ini --writes 3x -o aged.slate             an aged drive, kept in a file
  slate run --drive aged.slate --ephemeral               run on a copy of its state
  slate replay --profile my.ini --fold a.csv.gz          a trace on a drive, without a guest
  slate trace info a.csv.gz                              its requests, footprint, rewrites, gaps and volumes
  slate run --content web --record-content a.content     real files on ext4, recorded as a content trace
  slate content a.content                                its requests, duplicates and compressibility
  slate cuts --count 100 --seed 1                        100 power cuts under ext4; are all fsynced data there?
  slate report out/latest                                the report again, and as a page with charts
  slate report replay.json                               the report of a replay
  slate compare out/quick-default-001 out/quick-default-002              runs side by side
  slate study gc-policies                                a question in one file: runs, tables, charts with error bars
  slate calibrate fio.json                               the --cpu-rate that matches the server which wrote it
  slate fit p4500-2tb                                    a profile fitted to a data sheet's numbers
  slate profiles                                         list the profiles
  slate guest make forky                                 another kernel, and its release's programs: 'slate guests'
  slate profiles show spread                             one profile: command times, rates, memory
"""
RUN_EXAMPLES = "".join(line for line in EXAMPLES.splitlines(True) if line.startswith(("examples", "  slate run")))


def _add_report(again: argparse.ArgumentParser) -> None:
    """Add the arguments of 'slate report'."""
    again.add_argument(
        "run", nargs="?", metavar="RUN", default=None,
        help="a directory that 'slate run' wrote, or the JSON of slate-replay (default: out/latest)",
    )
    form = again.add_mutually_exclusive_group()
    form.add_argument(
        "--html",
        nargs="?",
        const="",
        metavar="FILE",
        help="only the page with charts, that needs nothing but itself (default: DIR/report.html, and for a replay "
        "beside its JSON)",
    )
    form.add_argument("--text", action="store_true", help="only the text (the page takes some seconds)")


def parser() -> Parser:
    """Return the parser with all subcommands."""
    top = Parser(
        prog="slate",
        description="Run jobs on an emulated SSD and report their latencies, with causes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    run = commands.add_parser(
        "run",
        help="boot a guest on the drive, run a job, print the report",
        epilog=RUN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_run_arguments(run)
    _add_report(commands.add_parser(
        "report", help="print the report of a run or a replay again, and write it as a page"
    ))
    side = commands.add_parser("compare", help="runs and replays side by side")
    side.add_argument("runs", nargs="+", metavar="RUN", help="two or more, as for 'slate report'; ratios are to "
                      "the first")
    side.add_argument("--html", metavar="FILE", help="also write a page with the table and the CDFs in one chart")
    make = commands.add_parser(
        "age",
        help="make a filled and aged drive file",
        epilog=age.AGE_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    age.add_arguments(make)
    age.add_drive_arguments(commands.add_parser("drive", help="show the settings and size of a drive file"), Parser)
    cuts.add_arguments(
        commands.add_parser(
            "cuts",
            help="cut the drive's power under a file system many times, and check the data",
            epilog=cuts.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    study.add_arguments(commands.add_parser(
        "study", help="run a study: what a file varies and measures, with error bars", epilog=study.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ))  # fmt: skip
    commands.add_parser("replay", help="replay traces on the SSD, without a guest (slate-replay)")
    commands.add_parser("content", help="describe content traces: requests, duplicates, compression (slate-content)")
    commands.add_parser("trace", help="tell what is in a trace, or write it in Slate's native form (slate-trace)")
    calibrate.add_arguments(commands.add_parser(
        "calibrate", help="compute the --cpu-rate that matches a server, from a fio job that ran there",
        epilog=calibrate.EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
    ))  # fmt: skip
    fit.add_arguments(commands.add_parser(
        "fit", help="make a profile with a data sheet's numbers", epilog=fit.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ))  # fmt: skip
    names.add_jobs_arguments(commands.add_parser("jobs", help="list the fio jobs, or print one"))
    commands.add_parser("guests", help="list the guests that are made")
    guests.add_make_arguments(commands.add_parser("guest", help="make a guest of a Debian release"))
    drives = commands.add_parser("profiles", help="list and check the profiles, or show one with derived figures")
    profiles.add_arguments(drives)
    return top


def _parser_of(argv: list[str]) -> Parser:
    """Return the parser of the command in argv, or that of its verb."""
    found = parser()
    for word in argv:
        for action in found._actions:  # argparse has no public way
            if isinstance(action.choices, dict) and word in action.choices:
                found = action.choices[word]
                break
    return found


def become(name: str, words: list[str]) -> int:
    """Execute 'slate replay', 'slate content' or 'slate trace': replace this process by the program of that name."""
    program = paths.program(name)
    sys.stdout.flush()
    os.execv(program, [str(program), *words])


def _fit_in_guest(sheet: fitsheet.Sheet, args: argparse.Namespace) -> int:
    """Execute 'slate fit --guest'."""
    from . import fitguest

    return fitguest.run_command(sheet, args)


def _report(args: argparse.Namespace) -> int:
    """Run 'slate report': print text, write a page, or both."""
    wanted = Path(args.run) if args.run else None
    if args.html is None:
        status = reports.print_again(wanted)
        if args.text or status:
            return status
        sys.stdout.flush()
    from . import htmlreport  # loading charts takes time

    where = wanted or paths.OUT / "latest"
    if not args.html and (each := runfiles.drives(where)):  # a page for each drive
        return max(htmlreport.report(runfiles.load(one), None) for one in each)
    run = runfiles.load(where)
    return htmlreport.report(run, Path(args.html) if args.html else None)


def _main(argv: list[str]) -> int:
    """Run a command."""
    for stream in (sys.stdout, sys.stderr):
        cast(io.TextIOWrapper, stream).reconfigure(errors="replace")
    try:
        if argv[:1] in (["replay"], ["content"], ["trace"]):  # the program parses its options itself
            words = names.replay_words(argv[1:]) if argv[0] == "replay" else argv[1:]
            return become(f"slate-{argv[0]}", words)
        args, unknown = parser().parse_known_args(argv)
        if unknown:
            _parser_of(argv).unknown(unknown)
        if args.command is None:
            parser().print_help()
            return USAGE
        if args.command == "report":
            return _report(args)
        if args.command == "compare":
            from . import compare

            return compare.run([Path(name) for name in args.runs], Path(args.html) if args.html else None)
        if args.command == "age":
            return age.age(args)
        if args.command == "drive":
            return age.drive(args)
        if args.command == "cuts":
            return cuts.run(args)
        if args.command == "study":
            from .study import command

            return command.run(args)
        if args.command == "calibrate":
            return calibrate.run_command(args)
        if args.command == "fit":
            return fit.run(args, _fit_in_guest)
        if args.command == "profiles":
            return profiles.run(args)
        if args.command == "guests":
            return guests.list_all()
        if args.command == "guest":
            return guests.run(args)
        if args.command == "jobs":
            return names.jobs(args)
        from . import launch

        return launch.run(options.from_arguments(args))
    except SlateError as error:
        sys.stdout.flush()
        print(f"slate: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("\nslate: interrupted", file=sys.stderr)
        return INTERRUPTED


def _say_no_more() -> None:
    """Discard further output: at exit Python would try to write it again and print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    try:
        code = _main(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _say_no_more()
        return OK
    except OSError as error:
        _say_no_more()
        where = error.filename if isinstance(error.filename, str) else "standard output"
        print(f"slate: {where}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        print("  fix: look at its free space, owner and permissions", file=sys.stderr)
        return USAGE
