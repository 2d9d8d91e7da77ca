# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns a point of a study into a job: a command, and the INPUTS that determine its result.

Equal inputs give equal bytes, so a result is known by the hash of its inputs. These are the words of the command, with
the content's hash in place of each file's name: of a replay those of slate-replay, of a guest QEMU's whole command
line (command.py makes it) and the archive with the job, of power cuts those of their boots and the log's head. Words
are sorted by name, so the order in which a file gives its keys does not matter. The launcher's Python is no input: it
changes what is made of a result, never the result (of power cuts it draws the times, as the log's version says).

A job runs in an empty folder, with links to the files it reads. So no result depends on where a file lies.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import age, command, drives, load, names, options, paths, profiles
from .. import run as running
from ..commands import Command, Option
from ..cuts import campaign as campaigns
from ..cuts import command as cuts
from ..errors import SlateError
from ..options import RunOptions
from ..parsing import Parser
from ..shape import Json
from .file import LABEL, SEED, Given, Point, Study, shown, words

FORM = 1  # of the inputs
DRIVE = "drive.slate"
REPLAY, GUEST, CUT = "replay", "guest", "power cut"
CUTS_RESULT = "cuts.json"
SAID = ".said"  # what a run prints
OF_RUN = (DRIVE, SAID, "replay.json", "replay.json.part")  # in the folder of a replay, beside what it reads
# A study takes these options: those that determine a result. Others are about files beside it, or the host's time.
TAKES = {
    REPLAY: ("profile", "trace", "fill", "age", "closed", "think", "open", "speed", "common-clock", "no-flush",
             "repeat", "limit", "warmup", "format", "device", "blk-action", "max-bad", "fold", "scale", "align",
             "handles", "interval", "timeline", "check", "read-back", SEED),
    GUEST: ("profile", "job", "cmd", "cmd-arg", "app", "app-arg", "load", "load-arg", "env", "file", "content", "apps",
            "fill", "age", "precondition", "namespace", "frontend", "kernel", "modules", "guest", "smp", "mem",
            "cpu-rate", "cpu-quantum", "kernel-arg", "timeout", SEED),
    CUT: ("profile", "count", "fs", "ready", "work", "check", "make", "file", "apps", "age", "span", "kind", "states",
          "kernel", "modules", "guest", "per-boot", "timeout", SEED),
}  # fmt: skip
FILES = ("profile", "trace", "job", "cmd", "file", "load", "modules", "kernel", "work", "check", "make")  # or beside it
NAMED = {"env": "--env={}={}", "app-arg": "--app-arg={}={}", "load-arg": "--load-arg=--{}={}"}  # env.SIZE = 5
KEPT = ("device.json", "run.json", "fio.json", "app.json", "series.json", "blocks.json")
GUEST_REST_MB, REPLAY_MB = 700, 700  # memory that a run takes beside the guest's, if none like it was measured
_SETTING = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


@dataclass
class Job:
    """Holds a command and what determines its result."""

    hash: str
    inputs: Json
    words: list[str]
    links: dict[str, str]  # names in the job's folder, and the files
    keep: list[str]  # files of the result
    family: str  # jobs of one family take about as long
    mem_mb: int
    warm: Job | None = None  # makes the drive that this one starts from

    def text(self) -> str:
        """Return the job as JSON, for a process elsewhere."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)


def parsed(raw: Json) -> Job:
    """Return the job that text() wrote. Raises ValueError if its hash, which names a folder, is not of its inputs."""
    warm = raw.pop("warm")
    job = Job(**raw, warm=parsed(warm) if warm else None)
    if job.hash != hash_of(job.inputs):
        raise ValueError("another job's hash")
    return job


def hash_of(inputs: Json) -> str:
    """Return the name of the result of these inputs."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _sum(path: str, _size: int, _time_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sum_of(path: Path) -> str:
    """Return the checksum of a file; it is computed once."""
    try:
        state = path.stat()
        return _sum(str(path), state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise SlateError(
            f"can not read {path}: {(error.strerror or str(error)).lower()}", "name a file that can be read"
        ) from None


def kind_of(study: Study) -> str:
    """Return the kind of a study: of replays, of power cuts, or of guests."""
    given = {*study.run, *study.axes}
    return REPLAY if "trace" in given else CUT if "count" in given else GUEST


@functools.cache
def _repeated(kind: str) -> set[str]:
    """Return the options that may be given several times."""
    known: list[Option] = []
    if kind == GUEST:
        known = [option for _, table in options.GROUPS for option in table]
    if kind == CUT:
        known = [*cuts.OPTIONS]
    return {"trace", *(option.name.removeprefix("--") for option in known if option.repeat)}


@functools.cache
def setting_keys() -> tuple[str, ...]:
    """Return the keys of profiles."""
    done = subprocess.run([paths.program("slate-profile"), "--keys"], capture_output=True, text=True, check=True)
    return tuple(row.partition("\t")[0] for row in done.stdout.splitlines())


def check_keys(study: Study) -> None:
    """Refuse axes and keys of [run] that are no option, no setting and no name in {}."""
    kind, used = kind_of(study), study.templates
    labels = {LABEL for dimension in study.dimensions if LABEL in dimension[0] and len(dimension[0]) > 1}
    for key in [*study.run, *study.axes]:
        option = _option(key)
        if key in labels:
            continue
        if option in TAKES[kind] or key in setting_keys() or key in used:
            continue
        if "." in key and key.partition(".")[0].replace("_", "-") in NAMED and kind == GUEST:
            continue
        where = "[run]" if key in study.run else "axis"
        others = [other for other in TAKES if option in TAKES[other]]
        near = names.nearest(option, TAKES[kind]) or names.nearest(key, setting_keys())
        near = f": an option of {others[0]}s, not of {kind}s" if others else near
        raise SlateError(
            f"{where} {key}: there is no such option of a {kind}, and no such setting{near}",
            f"options: {', '.join(TAKES[kind])}; settings: 'slate profiles keys' lists them; any other name must "
            "stand in {} in a value",
        )
    if kind == CUT:
        _check_cuts(study)
    if study.warm_up:
        for key in study.warm_up.after:
            if key not in study.run and key not in study.axes:
                raise SlateError(f"[warm_up]: after: {key} is no setting of the runs", "leave it out")


def _check_cuts(study: Study) -> None:
    """Refuse what power cuts do not have."""
    if study.warm_up:
        raise SlateError("[warm_up]: power cuts begin with a drive that their work makes", "give them age instead")
    for one in study.measures:
        if one.of or one.json not in ("", CUTS_RESULT):
            raise SlateError(
                f"measure {one.name}: power cuts have no {one.of or one.json}, because each has several boots",
                f'{{ json = "{CUTS_RESULT}", path = "verdicts.lost" }}',
            )


def _option(key: str) -> str:
    return key if "." in key else key.replace("_", "-")


def prepare(study: Study) -> list[Job]:
    """Return the job of each point. Raises an error if two points have the same inputs."""
    check_keys(study)
    kind = kind_of(study)
    made: list[Job] = []
    seen: dict[str, Point] = {}
    for point in study.points:
        try:
            job = _KINDS[kind](study, Asked(study, point))
        except SlateError as error:
            fix = error.fix or "'slate profiles keys' lists every setting and its values"
            raise SlateError(f"{study.name}, {words(point)}: {error.message}", fix, error.code) from None
        if job.hash in seen:
            differ = [axis for axis, value in point.items() if seen[job.hash][axis] != value]
            raise SlateError(
                f"two runs would be one: {words(seen[job.hash])}, and {words(point)}: {', '.join(differ)} changes "
                "nothing in them",
                "use it in the run, or leave it out",
            )
        seen[job.hash] = point
        made.append(job)
    return made


@dataclass
class Asked:
    """Holds what one run is given, by what it is."""

    study: Study
    point: Point
    sets: dict[str, str] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)
    options: dict[str, Given] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, value in sorted(self.study.settings(self.point).items()):
            option, _, rest = key.partition(".")
            option = option.replace("_", "-")
            if key in setting_keys():
                self.sets[key] = shown(self._alone(key, value))
            elif rest:
                self.named.append(NAMED[option].format(rest, shown(self._alone(key, value))))
            else:
                value = value if option in _repeated(kind_of(self.study)) else self._alone(key, value)
                self.options[option] = self._found(option, value)

    def _alone(self, key: str, value: Given) -> bool | int | float | str:
        if isinstance(value, list):
            raise SlateError(f"{key}: has several values", "give one, or make it an axis")
        return value

    def _found(self, option: str, value: Given) -> Given:
        """Replace names of files beside the study by their paths."""
        if option not in FILES:
            return value
        if isinstance(value, list):
            return [str(self._path(option, one)) for one in value]
        return str(self._path(option, value))

    def _path(self, option: str, value: object) -> str:
        word = str(value)
        beside = self.study.folder / word
        if word.startswith(load.GENERATED) or not word or not ("/" in word or beside.is_file()):
            return word
        return str(beside)

    def text(self, option: str, default: str) -> str:
        """Return the value of an option that is one word."""
        value = self._alone(option, self.options.get(option, default))
        return shown(value)

    def option_words(self, without: tuple[str, ...]) -> Iterator[str]:
        """Yield the options as words; true is an option without a value, false is none."""
        for option, value in self.options.items():
            if option in without or value is False:
                continue
            for one in value if isinstance(value, list) else [value]:
                yield f"--{option}" if one is True else f"--{option}={shown(one)}"

    def seed(self) -> int | None:
        """Return the run's seed, if it has one."""
        value = self.options.get(SEED)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
            raise SlateError(f"seed = {value}: no whole number from 0 to 2147483647", "seed = 1")
        return value

    def refuse_filling(self) -> None:
        """Refuse options that would fill a drive that is made before."""
        for option in ("fill", "age", "precondition"):
            if option in self.options:
                raise SlateError(f"{option}: [warm_up] fills and ages the drive", f"give {option} there, or not at all")


# ---- the drive that is made before


def _warm(given: Asked, profile: Path) -> Job | None:
    warm = given.study.warm_up
    if not warm:
        return None
    given.refuse_filling()
    seed = given.seed() if warm.seed is None else warm.seed
    sets = [f"{key}={value}" for key, value in given.sets.items() if key not in warm.after]
    asked = argparse.Namespace(
        profile=str(profile), output=DRIVE, writes=warm.writes, fill=warm.fill, content=warm.content,
        seed=str(1 if seed is None else seed), set=sets, force=False,
    )  # fmt: skip
    if warm.content not in ("random", "zero"):
        raise SlateError(f"[warm_up]: content = '{warm.content}': there is none", "use one of: random, zero")
    line = age.command_line(asked)
    plain = [profile.name if word == str(profile) else word for word in line[1:]]
    inputs = {"form": FORM, "kind": "age", "program": sum_of(Path(line[0])), "profile": sum_of(profile),
              "words": plain}  # fmt: skip
    return Job(hash_of(inputs), inputs, line, {}, [DRIVE], f"age {profile.name}", REPLAY_MB)


def _later_sets(given: Asked) -> list[str]:
    """Return the settings of the run itself: all, or those after the warm-up."""
    warm = given.study.warm_up
    return [f"{key}={value}" for key, value in given.sets.items() if not warm or key in warm.after]


# ---- replays


def _replay(study: Study, given: Asked) -> Job:
    program = paths.program("slate-replay")
    profile = drives.check_profile(given.text("profile", str(paths.DEFAULT_PROFILE)))
    seed = given.seed()
    traces, links, sums = _traces(given, seed, profile.name)
    aged = given.options.get("age", 0) not in (0, "0")
    if seed is not None and aged and "precondition.seed" not in given.sets:
        given.sets["precondition.seed"] = str(seed)
    _derive(profile, tuple(f"{key}={value}" for key, value in given.sets.items()))
    warm = _warm(given, profile)
    line = [f"--set={one}" for one in _later_sets(given)]
    line += list(given.option_words(without=("profile", "trace", SEED)))
    drive = [f"--drive={DRIVE}", "--ephemeral"] if warm else [f"--profile={profile.name}"]
    links |= {} if warm else {profile.name: str(profile.resolve())}
    inputs = {
        "form": FORM, "kind": REPLAY, "program": sum_of(program), "words": [*drive, *line, *traces], "files": sums,
        "profile": warm.hash if warm else sum_of(profile),
    }  # fmt: skip
    command_ = [str(program), *drive, *line, "--json=replay.json", *traces]
    family = " ".join([REPLAY, profile.name, *(one.partition(",")[0] for one in traces),
                       *(word for word in line if not word.startswith("--set"))])  # fmt: skip
    return Job(hash_of(inputs), inputs, command_, links, ["replay.json"], family, REPLAY_MB, warm)


def _traces(given: Asked, seed: int | None, profile: str) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return the traces' words, the links to their files, and the files' checksums. No link has a name of the run's."""
    value = given.options.get("trace", [])
    found: list[str] = []
    links: dict[str, str] = {}
    for word in map(str, value if isinstance(value, list) else [value]):
        if word.startswith(load.GENERATED):
            found.append(word if seed is None or ",seed=" in word else f"{word},seed={seed}")
            load.check_generator(found[-1])
            continue
        path = Path(word)
        if not path.is_file():
            raise SlateError(f"trace {word}: there is no such file", "name one beside the study, or gen:...")
        taken = {*links, *OF_RUN, profile}
        others = (f"{at}-{path.name}" for at in itertools.count(1))
        name = next(one for one in itertools.chain([path.name], others) if one not in taken)
        links[name] = str(path.resolve())
        found.append(f"./{name}" if name.startswith("-") else name)
    return found, links, {name: sum_of(Path(target)) for name, target in links.items()}


@functools.cache
def _derive(profile: Path, sets: tuple[str, ...]) -> None:
    """Refuse settings that the drive would refuse."""
    profiles.derive(profile, list(sets))


# ---- guests


def _guest(study: Study, given: Asked) -> Job:
    given.options.setdefault("profile", str(paths.DEFAULT_PROFILE))
    given.options.setdefault("guest", paths.DEFAULT_GUEST)
    profile = drives.check_profile(given.text("profile", ""))
    _derive(profile, tuple(f"{key}={value}" for key, value in given.sets.items()))
    warm = _warm(given, profile)
    sets = [f"--set={key}={value}" for key, value in given.sets.items()]
    rest = [*given.option_words(without=("profile",)), *given.named]
    asked = options.parse([f"--profile={profile}", *sets, *rest, *(["--fill=0"] if warm else [])])
    running.check_job(asked)
    command.check_built(asked)
    drive = [f"--profile={profile}", *sets]
    if warm:
        drive = [f"--drive={DRIVE}", "--ephemeral", *(f"--set={one}" for one in _later_sets(given))]
    inputs = {"form": FORM, "kind": GUEST, **guest_inputs(asked), "warm_up": warm.hash if warm else "",
              "after": [word for word in drive if warm and word.startswith("--set")]}  # fmt: skip
    line = [sys.executable, str(paths.TOOLS / "slate"), "run", *drive, *rest, "--out=out"]
    family = " ".join([GUEST, profile.name, asked.name, asked.kernel, str(asked.smp)])
    return Job(hash_of(inputs), inputs, line, {}, [f"out/{name}" for name in KEPT], family,
               (asked.mem >> 20) + GUEST_REST_MB, warm)  # fmt: skip


def guest_inputs(asked: RunOptions, drive: Path | None = None) -> dict[str, Any]:
    """Return QEMU's command line with the files' checksums in place of their paths, and what the guest unpacks.

    drive: a drive file that the run makes.
    """
    import cpio  # host-tools/guest

    known = {
        str(paths.QEMU): sum_of(paths.QEMU),
        str(command.kernel_file(asked).resolve()): sum_of(command.kernel_file(asked)),
        str(paths.firmware()): hash_of({one.name: sum_of(one) for one in sorted(paths.firmware().glob("*.bin"))}),
        **{str(image.path): sum_of(image.path) for image in command.images(asked)},
        **{str(one.profile.resolve()): f"{one.profile.name} {sum_of(one.profile)}" for one in asked.drives
           if one.profile},
        **({str(drive.resolve()): DRIVE} if drive else {}),
    }  # fmt: skip
    line = []
    for word in command.build(asked, command.Files(Path("initrd"), Path("console"), Path("results"))):
        for path, found in known.items():
            word = word.replace(path.replace(",", ",,"), found).replace(path, found)
        line.append(word)
    archives = [sum_of(path) for path in paths.archives(asked.kernel)]
    if asked.own_kernel:
        archives.append(hashlib.sha256(asked.own_kernel.archive(asked)).hexdigest())
    if not command.has_pmem(asked):
        archives += [sum_of(path) for path in command.image_files(asked)]
    entries = command.job_entries(asked) + (command.handoff_entries() if asked.handoff else [])
    job = hashlib.sha256(cpio.newc(entries)).hexdigest()
    return {"line": line, "archives": archives, "job": job}


# ---- power cuts


def _cuts(_study: Study, given: Asked) -> Job:
    given.options.setdefault("guest", paths.DEFAULT_GUEST)
    profile = drives.check_profile(given.text("profile", "small"))
    _derive(profile, tuple(f"{key}={value}" for key, value in given.sets.items()))
    sets = [f"--set={key}={value}" for key, value in given.sets.items()]
    line = [f"--profile={profile}", *sets, *given.option_words(without=("profile",))]
    args = Parser(prog="slate cuts").add(Command("cuts", "", options=cuts.OPTIONS)).parse(line)
    count = cuts.count_of(args)
    campaign = cuts.campaign_of(args, Path("campaign"))
    base, work = campaign.base, campaign.workload
    boots = {name: guest_inputs(campaign.options(name, campaign.origin, {}), campaign.origin)
             for name in ("make", "work", "check")}  # fmt: skip
    head = {key: value for key, value in campaigns.header(campaign).items() if key not in ("repeat", "profile")}
    inputs = {
        "form": FORM, "kind": CUT, **boots["make"], "job": {name: one["job"] for name, one in boots.items()},
        "replay": sum_of(paths.program("slate-replay")), "count": count, "head": head, "per_boot": work.per_boot,
    }  # fmt: skip
    made = [sys.executable, str(paths.TOOLS / "slate"), "cuts", *line, "--log=cuts.jsonl", f"--json={CUTS_RESULT}"]
    what = given.text("ready", given.text("fs", given.text("work", "")))
    family = " ".join([CUT, profile.name, Path(what).name, base.kernel, str(count)])
    return Job(hash_of(inputs), inputs, made, {}, [CUTS_RESULT], family, (base.mem >> 20) + GUEST_REST_MB)


_KINDS = {REPLAY: _replay, GUEST: _guest, CUT: _cuts}
