# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts between numbers and text."""

import re

_SIZE = re.compile(r"([0-9]+)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Return the bytes of '512M', '1g', '4096'; powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(text)
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match[2].lower()]


def whole(text: str) -> int | None:
    """Return the whole number in a text of 1 to 19 digits, or None."""
    return int(text) if re.fullmatch("[0-9]{1,19}", text) else None


def size(count: int) -> str:
    """Format as '4 KiB', '1.5 GiB', '700 B'."""
    for shift, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << shift:
            text = f"{count / (1 << shift):.1f}"
            return f"{text.removesuffix('.0')} {name}"
    return f"{count} B"


def us(ns: float | None) -> str:
    """Format nanoseconds as microseconds, in at most seven columns."""
    if ns is None:
        return "-"
    value = ns / 1000
    if value < 0:
        return "-" + us(-ns)
    if value < 10:
        return f"{value:.2f}"
    if value < 10000:
        return f"{value:.1f}"
    return f"{value:,.0f}" if value < 1e6 else f"{value / 1e6:.3g}e6"


def energy(nj: float) -> str:
    """Format nanojoules as '12.3 mJ'."""
    for factor, name in ((1e9, "J"), (1e6, "mJ"), (1e3, "µJ")):
        if nj >= factor:
            return f"{nj / factor:,.1f} {name}"
    return f"{nj:.0f} nJ"


def in_flight(number: float | None) -> str:
    """Format I/Os in flight as '0.98', '31.8', '1,024'; '-' if unknown."""
    if number is None:
        return "-"
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 1000 else f"{number:,.0f}"


def count(value: float) -> str:
    """Format an integer with separators between thousands."""
    return f"{value:,.0f}"


def many(value: int, noun: str, plural: str = "") -> str:
    """Format a number of things: '1 request', '2,000 requests'."""
    return f"{count(value)} {noun if value == 1 else plural or f'{noun}s'}"


def rate(value: float) -> str:
    """Format IOPS with no more digits than are significant."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def percent(part: float, whole: float) -> str:
    """Format as '12.5 %', or '-' if the whole is 0."""
    if not whole:
        return "-"
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 99.95 or share == 0 else f"{share:.1f} %"
