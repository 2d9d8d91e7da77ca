# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds what sparse files store: the parts that are not holes, which read as zeroes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator


def stored(file: int, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end, in bytes, of each part of a stretch of a file that is not a hole.

    On a file system without holes the whole stretch is one part.
    """
    while at < end:
        try:
            at = os.lseek(file, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # no data up to the file's end
                return
            raise
        hole = os.lseek(file, at, os.SEEK_HOLE)
        if at < end:
            yield at, min(hole, end)
        at = hole
