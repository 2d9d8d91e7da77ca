# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes content traces by the definition in docs/content-trace.md, independently of the C code."""

from __future__ import annotations

import hashlib
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"slate-content 1\n"
BLOCK = 4096
READ, WRITE, TRIM, FLUSH, END, FUA = 0, 1, 2, 3, 7, 8
NAMES = ("read", "write", "trim", "flush")


def varint(value: int) -> bytes:
    """Encode a number as LEB128."""
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


Data = bytes  # in Request, bytes is a number


@dataclass
class Request:
    """Holds one record of a trace; a write has data."""

    at_ns: int
    op: int
    offset: int = 0
    bytes: int = 0
    fua: bool = False
    data: Data = b""


def pieces(offset: int, data: bytes) -> list[bytes]:
    """Return a write's data, cut at multiples of 4 KiB of the drive."""
    out, at = [], 0
    while at < len(data):
        end = min(len(data), at + BLOCK - (offset + at) % BLOCK)
        out.append(data[at:end])
        at = end
    return out


@dataclass
class Writer:
    """Encodes records as bytes, not compressed."""

    text: bytes = b"a.b=c\n"
    body: bytearray = field(default_factory=bytearray)
    last_ns: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * 5)
    blocks: dict[bytes, int] = field(default_factory=dict)

    def put(self, request: Request) -> None:
        """Encode a record."""
        self.body += bytes([request.op | (FUA if request.fua else 0)]) + varint(request.at_ns - self.last_ns)
        self.last_ns = request.at_ns
        self.counts[0] += 1
        if request.op == FLUSH:
            return
        self.body += varint(request.offset // 512) + varint(request.bytes // 512)
        if request.op == WRITE:
            self.counts[1] += 1
            self.counts[4] += request.bytes // 512
            for piece in pieces(request.offset, request.data):
                self.put_piece(piece.ljust(BLOCK, b"\0"))

    def put_piece(self, block: bytes) -> None:
        self.counts[2] += 1
        if not any(block):
            self.body += varint(0)
        elif block in self.blocks:
            self.body += varint(2 + len(self.blocks) - 1 - self.blocks[block])
        else:
            self.blocks[block] = len(self.blocks)
            self.counts[3] += 1
            self.body += varint(1) + block

    def head(self) -> bytes:
        return MAGIC + struct.pack("<I", len(self.text)) + self.text

    def end(self) -> bytes:
        """Encode the counts and the hash of all records so far."""
        counts = bytes([END]) + struct.pack("<5Q", *self.counts)
        return counts + hashlib.sha256(self.body + counts).digest()

    def whole(self) -> bytes:
        return self.head() + self.body + self.end()


def make(requests: list[Request]) -> bytes:
    """Return a whole trace, not compressed."""
    writer = Writer()
    for request in requests:
        writer.put(request)
    return writer.whole()


class Reader:
    """Decodes the bytes of a trace, and asserts that they follow the definition."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.blocks: list[bytes] = []
        self.seen: set[bytes] = set()
        self.counts = [0] * 5

    def take(self, count: int) -> bytes:
        assert self.at + count <= len(self.data), "cut off"
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def piece(self, length: int) -> bytes:
        number = self.varint()
        self.counts[2] += 1
        if number == 0:
            return bytes(length)
        if number == 1:
            block = self.take(BLOCK)
            assert any(block) and block not in self.seen, "a block is stored twice"
            self.blocks.append(block)
            self.seen.add(block)
            self.counts[3] += 1
        else:
            block = self.blocks[len(self.blocks) - 1 - (number - 2)]
        assert not any(block[length:]), "a short piece is filled up with zeroes"
        return block[:length]

    def requests(self) -> list[Request]:
        """Decode all records, up to the end."""
        assert self.take(16) == MAGIC
        self.settings = self.take(struct.unpack("<I", self.take(4))[0]).decode()
        head = self.at
        out: list[Request] = []
        now = 0
        while (kind := self.take(1)[0]) != END:
            now += self.varint()
            request = Request(now, kind & 7, fua=bool(kind & FUA))
            if request.op != FLUSH:
                request.offset, request.bytes = 512 * self.varint(), 512 * self.varint()
            if request.op == WRITE:
                for length in map(len, pieces(request.offset, bytes(request.bytes))):
                    request.data += self.piece(length)
                self.counts[1] += 1
                self.counts[4] += request.bytes // 512
            self.counts[0] += 1
            out.append(request)
        assert list(struct.unpack("<5Q", self.take(40))) == self.counts
        assert self.take(32) == hashlib.sha256(self.data[head : self.at - 32]).digest()
        assert self.at == len(self.data), "something follows the end"
        return out


def read(path: Path) -> list[Request]:
    """Decode a compressed file."""
    done = subprocess.run(["zstd", "-q", "-d", "-c", path], capture_output=True, check=True)
    return Reader(done.stdout).requests()
