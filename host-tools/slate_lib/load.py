# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate run --load TRACE' runs slate-load in the guest, on the drive."""

from __future__ import annotations

import argparse
import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import paths, shape
from .errors import MachineError, SlateError
from .shape import Json

SCRIPT = paths.GUEST_TOOLS / "jobs" / "load.sh"
# What is read of the JSON that slate-load writes; the guest could send anything.
_OP = dict.fromkeys(("requests", "latency_sum_ns", "p50_ns", "p99_ns", "max_ns"), int)
_SUMMARY = {"engine": str, "duration_ns": int, "ops": {"*": _OP}}
GENERATED = "gen:"
IN_GUEST = "trace"
FORMAT = "--format"
TABLES = (b"PAR1", b"ARRO")  # how Parquet and Arrow files begin


def prepare(args: argparse.Namespace) -> None:
    """Set the script and the two files that --load implies."""
    if args.load is None:
        if args.load_arg:
            raise SlateError("--load-arg without --load", "name the trace with --load")
        return
    for option in ("job", "cmd", "cmd_arg", "app", "content", "shell"):
        if getattr(args, option):
            name = option.replace("_", "-")
            raise SlateError(f"--load and --{name} exclude each other", "give one of them")
    if args.load.startswith(GENERATED):
        check_generator(args.load)
    else:
        path = Path(args.load)
        if not path.is_file():
            raise SlateError(f"--load {args.load}: there is no such file", "name a trace, or a generator (gen:...)")
        try:
            path.open("rb").close()
        except OSError as error:
            raise SlateError(f"--load {args.load}: {(error.strerror or '').lower()}", f"chmod a+r {path}") from None
    if bad := next((word for word in args.load_arg if "\n" in word or not word), None):
        raise SlateError(f"--load-arg '{bad}': not one line", "give one option, as --load-arg=--closed=8")
    args.cmd = str(SCRIPT)


@functools.cache
def check_generator(name: str) -> None:
    """Refuse a generator that slate-replay refuses; of one that is right slate-replay makes the first request."""
    profile = paths.PROFILES / "small.ini"
    command: list[str | Path] = [paths.program("slate-replay"), "--profile", profile, "--limit=1", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wrong, _, fix = done.stderr.strip().removeprefix("slate-replay: ").partition("; ")
    if done.returncode and wrong.startswith("generator "):
        raise SlateError(wrong, fix)


def files(trace: str, words: list[str], device: str) -> list[tuple[str, bytes]]:
    """Return the files for the script: the trace, and slate-load's arguments, one a line."""
    found = []
    name = trace
    if not trace.startswith(GENERATED):
        name = IN_GUEST
        words, data = _sent(trace, tuple(words))
        found.append((IN_GUEST, data))
    return [*found, ("load.args", "".join(f"{word}\n" for word in [*words, device, name]).encode())]


def _of_option(option: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words that give an option, in one word or two, and the others."""
    given: list[str] = []
    others: list[str] = []
    for at, word in enumerate(words):
        is_given = word == option or word.startswith(f"{option}=") or (at > 0 and words[at - 1] == option)
        (given if is_given else others).append(word)
    return given, others


@functools.lru_cache(maxsize=1)
def _sent(trace: str, words: tuple[str, ...]) -> tuple[list[str], bytes]:
    """Return the words and the trace for the guest, which has no program that reads tables: they are converted."""
    with open(trace, "rb") as file:
        begin = file.read(4)
        if begin not in TABLES:
            return list(words), begin + file.read()
    formats, rest = _of_option(FORMAT, words)
    allowed, _ = _of_option("--max-bad", rest)
    done = subprocess.run(
        [paths.program("slate-trace"), "convert", *formats, *allowed, trace, "-"], capture_output=True, check=False
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise SlateError(f"--load {trace}: {said}", "correct the trace, or --load-arg=--format=...")
    return rest, done.stdout


def results(trace: str, words: list[str], found: dict[str, bytes]) -> Json:
    """Return the results in the form of app.json."""
    try:
        said = shape.parse(found["load.json"])
        shape.check(said, _SUMMARY)
        parts = [
            {
                "name": op,
                "operations": seen["requests"],
                "seconds": said["duration_ns"] / 1e9,
                "latency_ns": {
                    "mean": seen["latency_sum_ns"] / seen["requests"],
                    "p50": seen["p50_ns"],
                    "p99": seen["p99_ns"],
                    "max": seen["max_ns"],
                },
            }
            for op, seen in said["ops"].items()
            if seen["requests"]
        ]
    except (KeyError, ValueError) as error:
        raise MachineError(
            f"slate-load's summary can not be read: {error}", "look at load.json and console.log"
        ) from None
    values = {"trace": Path(trace).name if not trace.startswith(GENERATED) else trace, "engine": said["engine"]}
    return {"app": "slate-load", "parameters": values | {"options": " ".join(words) or "none"}, "parts": parts}
