# SPDX-License-Identifier: GPL-2.0-or-later
"""Has the table of the commands of 'slate', and calls them."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO, cast

from . import age, calibrate, fit, fitsheet, guests, names, options, paths, peers, profiles, reports, runfiles
from .commands import Command, Option
from .cuts import command as cuts
from .errors import INTERRUPTED, OK, USAGE, SlateError
from .parsing import Each, Parser
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


def become(name: str, words: list[str]) -> int:
    """Execute 'slate replay', 'slate content' or 'slate trace': replace this process by the program of that name."""
    program = paths.program(name)
    sys.stdout.flush()
    try:
        os.execv(program, [str(program), *words])
    except OSError as error:
        raise SlateError(f"{program}: can not be executed: {_what(error)}", _remedy(error)) from None


def _what(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _remedy(error: OSError) -> str:
    """Return what helps against an error of the system. Any other file or program may be at fault, so it is general."""
    return {
        errno.ENOSPC: "make room there, or write elsewhere",
        errno.EDQUOT: "make room there, or write elsewhere",
        errno.EACCES: "look at its owner and permissions, and at those of its folders",
        errno.EPERM: "look at its owner and permissions",
        errno.EROFS: "write elsewhere: the file system is read-only",
        errno.ENOENT: "look at its path",
        errno.ENOEXEC: f"it is no program for this machine, or damaged: {paths.make('core')}",
        errno.E2BIG: "give fewer or shorter arguments",
    }.get(error.errno or 0, "look at its free space, owner and permissions")


def _compare(args: argparse.Namespace) -> int:
    """Execute 'slate compare'."""
    from . import compare

    return compare.run([Path(name) for name in args.runs], Path(args.html) if args.html else None)


def _fit(args: argparse.Namespace) -> int:
    """Execute 'slate fit'."""

    def in_guest(sheet: fitsheet.Sheet, args: argparse.Namespace) -> int:
        from . import fitguest

        return fitguest.run_command(sheet, args)

    return fit.run(args, in_guest)


def _report(args: argparse.Namespace) -> int:
    """Run 'slate report': print text, write a page, or both."""
    if args.html is not None and args.text:
        raise SlateError("--html and --text exclude each other", "give one of them, or none for both")
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


def _run(args: argparse.Namespace) -> int:
    """Execute 'slate run'."""
    from . import launch

    return launch.run(options.from_arguments(args))


def _study(args: argparse.Namespace) -> int:
    """Execute 'slate study'."""
    from .study import command

    return command.run(args)


COMMANDS = (
    Command("run", "boot a guest on the drive, run a job, print the report", _run, groups=options.GROUPS,
            examples=RUN_EXAMPLES),
    Command("report", "print the report of a run or a replay again, and write it as a page", _report, (
        Option("run", "RUN", "a directory that 'slate run' wrote, or the JSON of slate-replay (default: out/latest)",
               count="?"),
        Option("--html", "FILE", "only the page with charts, that needs nothing but itself (default: DIR/report.html, "
               "and for a replay beside its JSON)", bare=""),
        Option("--text", about="only the text (the page takes some seconds)"),
    )),
    Command("compare", "runs and replays side by side", _compare, (
        Option("runs", "RUN", "two or more, as for 'slate report'; ratios are to the first", count="+"),
        Option("--html", "FILE", "also write a page with the table and the CDFs in one chart"),
    )),
    Command("age", "make a filled and aged drive file", age.age, age.OPTIONS, examples=age.EXAMPLES),
    Command("drive", "show the settings and size of a drive file", verbs=(
        Command("show", "print the settings and the sizes of a drive file", age.drive, age.DRIVE),
    )),
    Command("cuts", "cut the drive's power under a file system many times, and check the data", cuts.run, cuts.OPTIONS,
            examples=cuts.EXAMPLES),
    Command("study", "run a study: what a file varies and measures, with error bars", _study, study.OPTIONS,
            examples=study.EXAMPLES),
    Command("replay", "replay traces on the SSD, without a guest (slate-replay)"),
    Command("content", "describe content traces: requests, duplicates, compression (slate-content)"),
    Command("trace", "tell what is in a trace, or write it in Slate's native form or as Parquet (slate-trace)"),
    Command("calibrate", "compute the --cpu-rate that matches a server, from a fio job that ran there",
            calibrate.run_command, calibrate.OPTIONS, examples=calibrate.EXAMPLES),
    Command("fit", "make a profile with a data sheet's numbers", _fit, fit.OPTIONS, examples=fit.EXAMPLES),
    Command("jobs", "list the fio jobs, or print one", lambda _: names.list_jobs(), verbs=(
        Command("show", "print a job file", lambda args: names.show_job(args.job), names.SHOW),
    )),
    Command("guests", "list the guests that are made", lambda _: guests.list_all(), examples=guests.LIST_EXAMPLES),
    Command("guest", "make a guest of a Debian release", verbs=(
        Command("make", "make a guest of a Debian release, or make it anew", guests.make, guests.MAKE,
                examples=guests.EXAMPLES),
    )),
    Command("profiles", "list and check the profiles, or show one with derived figures",
            lambda args: profiles.list_all(args.json), (profiles.JSON,), verbs=(
        Command("show", "a profile's settings, and what follows from them",
                lambda args: profiles.show(args.profile, args.set, args.json), profiles.SHOW),
        Command("keys", "every key of profiles: values, default, FTLs that read it, meaning",
                lambda args: profiles.list_keys(args.words, args.json), profiles.KEYS),
        Command("import", "make a profile of another simulator's configuration",
                lambda args: peers.run(Path(args.file), Path(args.out), profiles.derive), peers.OPTIONS),
    )),
)  # fmt: skip


def parser(each: Each | None = None) -> Parser:
    """Return the parser of all commands. each: called with each option and what argparse made of it."""
    top = Parser(prog="slate", description="Run jobs on an emulated SSD and report their latencies, with causes.",
                 epilog=EXAMPLES)  # fmt: skip
    top.set_defaults(parser=top, execute=None)
    top.add_commands(COMMANDS, "COMMAND", False, each)
    return top


def _main(argv: list[str]) -> int:
    """Run a command."""
    _name_output()
    for stream in (sys.stdout, sys.stderr):
        cast(io.TextIOWrapper, stream).reconfigure(errors="replace")
    os.environ.setdefault("SLATE_TABLES", str(paths.TOOLS / "slate_lib" / "tables.py"))  # for the trace library
    try:
        if argv[:1] in (["replay"], ["content"], ["trace"]):  # the program parses its options itself
            words = names.replay_words(argv[1:]) if argv[0] == "replay" else argv[1:]
            return become(f"slate-{argv[0]}", words)
        args = parser().parse(argv)
        if not args.execute:
            parser().print_help()
            return USAGE
        status: int = args.execute(args)
        return status
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


class _Output(io.FileIO):
    """Standard output whose errors have its name, as those of files that are opened have theirs."""

    def write(self, data: Any) -> int:
        """Write bytes, and return how many were written."""
        try:
            return super().write(data)
        except OSError as error:
            error.filename = "standard output"
            raise


def _name_output() -> None:
    """Let errors of standard output name it, unless it goes to memory."""
    old = sys.stdout
    if not isinstance(old, io.TextIOWrapper):
        return
    direct = isinstance(old.buffer, io.FileIO)  # PYTHONUNBUFFERED
    if direct or type(getattr(old.buffer, "raw", None)) is io.FileIO:
        old.flush()
        raw = _Output(old.fileno(), "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            cast(BinaryIO, raw if direct else io.BufferedWriter(raw)),
            old.encoding,
            "replace",
            line_buffering=old.line_buffering,
            write_through=direct,
        )


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
        where = error.filename if isinstance(error.filename, str) else "a file could not be written"
        _say_no_more()
        print(f"slate: {where}: {_what(error)}\n  fix: {_remedy(error)}", file=sys.stderr)
        return USAGE
