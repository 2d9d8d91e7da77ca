# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the heads of drive files. SPEC.md describes the format, and libslate's code defines it."""

from __future__ import annotations

import hashlib
import math
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from . import units
from .errors import SlateError

MAGIC = b"SLATE\r\n\x1a"
VERSION = 3
OLD_VERSION = 2  # without forms
HEAD_BYTES = 16384
IMAGE_AT = 2 * HEAD_BYTES  # behind the head and its copy
SETTINGS_AT = 1024
_CHUNK = 1 << 20
_SHAPE = (
    "channels",
    "chips_per_channel",
    "dies_per_chip",
    "planes_per_die",
    "blocks_per_plane",
    "pages_per_block",
)


@dataclass
class DriveFile:
    """Holds the head of a drive file."""

    path: Path
    settings: list[str]  # "section.key=value", as they were when the drive was made
    image_bytes: int
    version: int

    def value(self, key: str) -> str:
        """Return one setting."""
        return dict(line.split("=", 1) for line in self.settings)[key]

    @property
    def payload_bytes(self) -> int:
        """Return the bytes of the image for the content of pages."""
        pages = math.prod(int(self.value(f"geometry.{key}")) for key in _SHAPE)
        return pages * int(self.value("geometry.page_bytes")) if self.value("ftl.payload") == "yes" else 0

    @property
    def form_bytes(self) -> int:
        """Return the bytes of the image behind the content of pages."""
        if self.version == OLD_VERSION:
            return 0
        page = int(self.value("geometry.page_bytes"))
        unit = min(page & -page, 4096)
        return -(-self.payload_bytes // unit * 8 // 4096) * 4096

    @property
    def table_bytes(self) -> int:
        """Return the bytes of the image before the content of pages."""
        payload = self.payload_bytes if self.version == OLD_VERSION else -(-self.payload_bytes // 4096) * 4096
        return self.image_bytes - payload - self.form_bytes

    def sha256_of_tables(self) -> str:
        """Return the checksum of the heads and of the tables before the pages, which every write changes."""
        digest = hashlib.sha256()
        left = IMAGE_AT + self.table_bytes
        with open(self.path, "rb") as file:
            while left and (data := file.read(min(left, _CHUNK))):
                digest.update(data)
                left -= len(data)
        return digest.hexdigest()

    def text(self) -> str:
        """Return a description for a person."""
        status = os.stat(self.path)
        lines = [
            f"{self.path}: {units.size(status.st_size)}, of which {units.size(status.st_blocks * 512)} on disk",
            f"format {self.version}: head and copy {units.size(IMAGE_AT)}, "
            f"tables {units.size(self.table_bytes + self.form_bytes)}, pages {units.size(self.payload_bytes)}",
            *self.settings,
        ]
        return "\n".join(lines) + "\n"


def unfinished(path: Path) -> bool:
    """Did the program that made the file end before it was complete?"""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == bytes(len(MAGIC)) and os.stat(path).st_size > HEAD_BYTES
    except OSError:
        return False


def _sound(head: bytes) -> bool:
    return head.startswith(MAGIC) and zlib.crc32(head[:-4]) == struct.unpack_from("<I", head, HEAD_BYTES - 4)[0]


def read(path: Path) -> DriveFile:
    """Read the head, or its copy if the head is damaged, and check it as libslate does."""
    try:
        with open(path, "rb") as file:
            head, copy = (file.read(HEAD_BYTES) for _ in range(2))
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise SlateError(
            f"{path}: {(error.strerror or str(error)).lower()}", "name a file that 'slate age' made"
        ) from None
    if len(copy) == HEAD_BYTES and not _sound(head) and _sound(copy):
        head = copy
    if not head.startswith(MAGIC) or len(head) < HEAD_BYTES:
        raise SlateError(
            f"{path}: is no drive file (or its making was interrupted)", "name another, or make the drive anew"
        )
    version, _, image_bytes = struct.unpack_from("<IIQ", head, len(MAGIC))
    if version not in (OLD_VERSION, VERSION):
        raise SlateError(
            f"{path}: has format {version}, this program reads {OLD_VERSION} and {VERSION}", "make the drive anew"
        )
    if not _sound(head):
        raise SlateError(f"{path}: its head and the copy of it are damaged (checksum)", "restore it from a copy")
    if size < IMAGE_AT + image_bytes if version == OLD_VERSION else size != IMAGE_AT + image_bytes:
        raise SlateError(
            f"{path}: has {size} bytes instead of {IMAGE_AT + image_bytes}: it was cut or grew",
            "restore it from a copy",
        )
    text = head[SETTINGS_AT : HEAD_BYTES - 4].split(b"\0", 1)[0].decode(errors="replace")
    return DriveFile(path, text.splitlines(), image_bytes, version)
