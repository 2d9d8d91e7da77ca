# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses and checks the namespaces that 'slate run --namespace' makes on a new drive."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import units
from .errors import SlateError

if TYPE_CHECKING:
    from .options import RunOptions
    from .shape import Json

KEY = "drive.namespaces"
MOST = 16  # the drive's
_BLOCKS = ("512", "4096")
_FORM = "write size=SIZE or size=SIZE,lba=4096, for instance size=1G"


@dataclass(frozen=True)
class Namespace:
    """Describes a namespace to be made."""

    bytes: int
    block: int  # bytes of a logical block

    def __str__(self) -> str:
        return f"size={self.bytes},lba={self.block}"


def parse(word: str) -> Namespace:
    """Parse the value of one --namespace."""
    given: dict[str, str] = {}
    for part in word.split(","):
        key, _, value = part.partition("=")
        if key not in ("size", "lba", "type") or key in given or not value:
            raise SlateError(f"--namespace {word}: '{part}' is not size=SIZE or lba=512|4096, once each", _FORM)
        given[key] = value
    if "type" in given:
        raise SlateError(
            f"--namespace {word}: all namespaces of a drive are of the type of its FTL",
            "leave type out; with --one-controller each --profile is a namespace, of its own type",
        )
    if given.get("lba", "512") not in _BLOCKS:
        raise SlateError(f"--namespace {word}: lba={given['lba']} is no size of logical blocks", "give 512 or 4096")
    try:
        size = units.parse_size(given["size"])
    except (KeyError, ValueError):
        raise SlateError(f"--namespace {word}: has no size, or not one", _FORM) from None
    if not size:
        raise SlateError(f"--namespace {word}: a namespace of 0 bytes", "give it a size")
    return Namespace(size, int(given.get("lba", "512")))


def from_arguments(options: RunOptions, args: argparse.Namespace) -> None:
    """Set the namespaces of the first drive."""
    words = args.namespace
    if not words:
        return
    options.namespaces = [parse(word) for word in words]
    if len(words) > MOST:
        raise SlateError(f"--namespace {len(words)} times: a drive has {MOST} at most", f"give it {MOST} times at most")
    if options.setting("ftl.type") == "zns":
        raise SlateError(
            "--namespace: a drive with zones is one namespace",
            "leave it out; with --one-controller a further --profile is a namespace beside it",
        )
    if options.frontend != "nvme":
        raise SlateError(
            f"--namespace does not go with --frontend {options.frontend}, which has one disk", "use --frontend nvme"
        )
    if options.own and options.own.from_ssd:
        raise SlateError(
            "--namespace does not go with --boot-from-ssd: the image is copied to the whole drive",
            "leave one of them out",
        )
    if options.drive_kept:
        raise SlateError(
            f"--namespace: {options.drive} holds a drive already, with the namespaces that it has",
            "leave it out; the guest creates more with nvme create-ns, if the drive was made with --namespace "
            f"or --set {KEY}={MOST}",
        )


def check(options: RunOptions, derived: Json) -> None:
    """Check the sizes against the drive's, as far as its profile is known."""
    capacity, settings = derived.get("exported_bytes"), derived.get("settings", {})
    if not capacity or not options.namespaces:
        return
    most = allowed(settings)
    if len(options.namespaces) > most:
        times = f"{len(options.namespaces)} times" if len(options.namespaces) > 1 else "once"
        raise SlateError(
            f"--namespace {times}: with {KEY} = {most} the drive has "
            + (f"{most} at most" if most else "one namespace over all of it"),
            f"leave --set {KEY} out, for --namespace sets it to {MOST}",
        )
    unit = int(settings.get("ftl.unit_bytes", 4096))
    for namespace in options.namespaces:
        step = max(unit, namespace.block)
        if namespace.bytes % step:
            raise SlateError(
                f"--namespace {namespace}: its size is not a multiple of {step} bytes, the "
                + ("mapping unit of the drive" if step == unit else "logical block"),
                f"give {namespace.bytes // step * step or step}",
            )
    wanted, room = sum(namespace.bytes for namespace in options.namespaces), capacity - unit
    if wanted > room:
        raise SlateError(
            f"--namespace: the sizes add up to {units.size(wanted)}, {wanted} bytes, and the drive has {room} bytes "
            f"for namespaces ({units.size(capacity)} less one mapping unit for their table)",
            "make one smaller, or use a larger drive",
        )


def allowed(settings: dict[str, str]) -> int:
    """Return how many namespaces a guest may create, by the drive's settings; 0: none."""
    value = settings.get(KEY, "0")
    return int(value) if re.fullmatch("[0-9]{1,2}", value) else 0


def device_property(namespaces: list[Namespace]) -> dict[str, str]:
    """Return the property of QEMU's controller that makes them."""
    text = ";".join(f"{namespace.bytes}:{namespace.block}" for namespace in namespaces)
    return {"namespaces": text} if text else {}
