#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""extract-vmlinux.py BZIMAGE OUT: the uncompressed ELF kernel inside a bzImage.

The ELF carries a PVH note, so QEMU boots it directly; a bzImage would first
unpack itself inside the guest, which costs seconds of emulation.
"""

from __future__ import annotations

import subprocess
import sys

# magic bytes of what a kernel can be compressed with, and who unpacks it from a
# pipe that goes on after the end of the stream
FORMATS = (
    (b"\xfd7zXZ\0", ["xz", "-dc", "--single-stream"]),
    (b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]),
    (b"\x02!L\x18", ["lz4", "-dc"]),
    (b"\x1f\x8b\x08", ["gzip", "-dc"]),
)


def extract(image: bytes) -> bytes | None:
    for magic, command in FORMATS:
        at = image.find(magic)
        while at >= 0:
            out = subprocess.run(command, input=image[at:], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=False).stdout
            if out.startswith(b"\x7fELF"):
                return out
            at = image.find(magic, at + 1)
    return None


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as f:
        elf = extract(f.read())
    if elf is None:
        sys.exit(f"{sys.argv[1]}: no compressed ELF kernel found inside")
    with open(sys.argv[2], "wb") as f:
        f.write(elf)


if __name__ == "__main__":
    main()
