# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes run.json: facts about the host, and all inputs needed to repeat a run."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import shlex
import subprocess
from pathlib import Path

from . import command, ownguest, paths
from .drives import Drive
from .options import RunOptions
from .shape import Json
from .work import App, Content

# These settings have a value in run.json, whatever the work is.
_NO_WORK: Json = {"job": None, "script": None, "script_args": [], "content": None, "load": None, "load_args": [],
                  "app": None, "app_parameters": {}}  # fmt: skip


@functools.cache
def sha256(path: Path) -> str:
    """Return the checksum of a file's content. It does not change while a run is prepared."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(options: RunOptions) -> dict[str, str]:
    """Return the checksums of all files used by a run."""
    inputs = {"qemu": paths.QEMU}
    own = options.own
    if own:  # the image changes while it runs
        inputs |= {name: path for name, path in (("vmlinux", own.kernel), ("initrd", own.initrd)) if path}
    else:
        inputs["vmlinux"] = command.kernel_file(options)
        inputs |= {path.stem: path for path in paths.archives(options.kernel)}
    inputs |= {path.stem: path for path in sorted(paths.firmware().glob("*.bin"))}
    if options.apps:
        inputs["apps"] = paths.APPS_IMAGE
    inputs |= {path.stem: path for path in options.work.images()} | options.work.inputs()
    inputs |= {f"file {path.name}": path for path in options.files}
    if options.cuts and options.cuts.script:
        inputs["after-cut"] = options.cuts.script
    for drive in options.drives:
        if drive.profile:
            inputs["profile" + _of(drive)] = drive.profile
    sums = {name: sha256(path) for name, path in inputs.items()}
    if options.own_kernel and options.own_kernel.modules:
        sums["modules"] = hashlib.sha256(options.own_kernel.archive(options)).hexdigest()
    for drive in options.drives:
        if drive.drive_kept and drive.ephemeral:
            sums["drive-tables" + _of(drive)] = drive.drive_kept.sha256_of_tables()
    return sums


def _of(drive: Drive) -> str:
    """Return the suffix of the names of a further drive's facts."""
    return f"-{drive.label}" if drive.number else ""


def drive_file(drive: Drive) -> Json | None:
    """Return the drive file's facts before the run."""
    if not drive.drive:
        return None
    kept = drive.drive_kept
    return {
        "path": paths.short(drive.drive),
        "ephemeral": drive.ephemeral,
        "made_by_this_run": not kept,
        "settings": kept.settings if kept else None,
    }


def versions(options: RunOptions) -> dict[str, str]:
    """Return the versions of the programs of a run. The image of applications has only a checksum."""
    found = {"slate": describe(), "python": platform.python_version()}
    try:
        guest = json.loads((paths.GUEST / "guest.json").read_text(encoding="utf-8"))
        found |= {"kernel": str(guest["kernel"]), "fio": str(guest["fio"])}
        if options.kernel == "small":
            small = json.loads(command.kernel_file(options).with_name("kernel.json").read_text(encoding="utf-8"))
            found["kernel"] = str(small["kernel"])
        if options.apps:
            image = json.loads(paths.APPS_IMAGE.with_suffix(".json").read_text(encoding="utf-8"))
            found["apps"] = str(image["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return found | ({"kernel": options.own_kernel.image.release} if options.own_kernel else {})


def describe() -> str:
    """Return the clone's own version, or the installed one."""
    if paths.INSTALLED:
        return paths.version() or "unknown"
    try:
        done = subprocess.run(
            ["git", "-C", str(paths.ROOT), "describe", "--always", "--dirty", "--tags"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
        return done.stdout.strip() or "unknown"
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"


def _drive_words(options: RunOptions) -> list[str]:
    words = []
    for drive in options.drives:
        words += ["--profile", paths.short(drive.profile)] if drive.profile else []
        words += ["--drive", paths.short(drive.drive)] if drive.drive else []
    words += ["--ephemeral"] if options.ephemeral else []
    words += ["--one-controller"] if options.one_controller else []
    for drive in options.drives:
        words += ["--record", paths.short(drive.record)] if drive.record else []
        words += ["--record-content", paths.short(drive.record_content)] if drive.record_content else []
    return words


def _work_words(options: RunOptions) -> list[str]:
    """Return the options that say what the guest does."""
    words = options.work.words()
    words += [f"--env={name}={value}" for name, value in options.environment.items()]
    return [*words, *(f"--file={paths.short(path)}" for path in options.files)]


def _state_words(options: RunOptions) -> list[str]:
    """Return the options for the state of new drives: one value for all, or each profile's own."""
    words = []
    new = [drive for drive in options.drives if not drive.drive_kept] or [options]
    for name in ("fill", "age"):
        values = {getattr(drive, name) for drive in new}
        if len(values) == 1 and None not in values:
            words += [f"--{name}", f"{values.pop():g}"]
    return words + ([] if options.drive_kept else ["--precondition", options.precondition])


def _time_words(options: RunOptions) -> list[str]:
    words = ["--realtime"] if options.realtime else []
    if not options.realtime:
        words += ["--cpu-rate", options.cpu_rate, "--cpu-quantum", str(options.cpu_quantum)]
    words += ["--spin-ns", str(options.spin_ns)] if options.spin_ns is not None else []
    return words + (["--accel", options.accel] if options.accel != "tcg" else [])


def _repeated_words(options: RunOptions) -> list[str]:
    """Return the options that may be given several times."""
    several = len(options.drives) > 1
    settings_ = [f"{drive.number}:{line}" if several else line for drive in options.drives for line in drive.settings]
    words = []
    for name, given in (
        ("namespace", options.namespaces),
        ("set", settings_),
        ("kernel-arg", options.kernel_args),
        ("qemu-arg", options.qemu_args),
    ):
        words += [f"--{name}={value}" for value in given]
    return words


def repeat_command(options: RunOptions) -> str:
    """Return a command line that repeats the run in the same clone."""
    words = [paths.COMMAND, "run", *_drive_words(options), *_work_words(options)]
    if options.own_kernel:
        words += options.own_kernel.words
    else:
        words += ownguest.words(options.own) if options.own else ["--kernel", options.kernel]
    words += ["--guest", paths.GUEST.name] if paths.GUEST.name != paths.DEFAULT_GUEST and not options.own else []
    words += ["--smp", str(options.smp), "--mem", f"{options.mem >> 20}M", "--seed", str(options.seed)]
    words += [*_state_words(options), "--frontend", options.frontend]
    words += ["--snapshot", "boot"] if options.snapshot == "boot" else []
    words += ["--qmp", paths.short(options.qmp)] if options.qmp else []
    words += ["--shell"] if options.shell and not options.own else []
    words += ["--apps"] if options.apps and not isinstance(options.work, App | Content) else []
    words += options.cuts.words() if options.cuts else []
    return shlex.join([*words, *_time_words(options), *_repeated_words(options)])


def settings(options: RunOptions) -> Json:
    """Return the settings that the user gave."""
    return {
        "profile": paths.short(options.profile) if options.profile else None,
        "drive": drive_file(options),
        **_NO_WORK,
        **options.work.facts(),
        "environment": options.environment,
        "apps": options.apps,
        **({"own_guest": shlex.join(ownguest.words(options.own))} if options.own else {}),
        **({} if options.own else {"guest": paths.GUEST.name}),
        "kernel": str(options.own.kernel or "") if options.own else options.kernel,
        **({"modules": _modules(options)} if options.own_kernel else {}),
        "kernel_args": options.kernel_args,
        "smp": options.smp,
        "mem_bytes": options.mem,
        "seed": options.seed,
        "virtual_time": not options.realtime,
        "cpu_rate": None if options.realtime else options.cpu_rate,
        "cpu_quantum_ns": None if options.realtime else options.cpu_quantum,
        "spin_ns": options.spin_ns,
        "accel": options.accel,
        "frontend": options.frontend,
        "guest_control": options.guest_control,
        "fill_percent": options.fill,
        "age": options.age,
        "precondition": options.precondition,
        "set": options.settings,
        "namespaces": [str(namespace) for namespace in options.namespaces],
        "qemu_args": options.qemu_args,
        "snapshot": options.snapshot,
        **({"drives": [_drive(drive) for drive in options.drives]} if options.more else {}),
    }


def _modules(options: RunOptions) -> str:
    """Return the folder of modules of a kernel of the user's, or an empty text."""
    given = options.own_kernel.given_modules if options.own_kernel else None
    return paths.short(given) if given else ""


def _drive(drive: Drive) -> Json:
    """Return the settings of one of several drives, in the words of settings()."""
    return {
        "drive_name": drive.label,
        "profile": paths.short(drive.profile) if drive.profile else None,
        "drive": drive_file(drive),
        "fill_percent": drive.fill,
        "age": drive.age,
        "set": drive.settings,
    }
