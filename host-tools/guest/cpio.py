# SPDX-License-Identifier: GPL-2.0-or-later
"""Write cpio archives in the "newc" format, the one a Linux initramfs is made of.

The same entries give the same bytes everywhere: owner 0:0, time 0, inode
numbers counted from 1, names sorted so that a directory precedes its content.
Nothing is read from the host's file system.

    write_newc("job.cpio", [("job/run.sh", 0o100755, b"echo hello\n")])

An entry is (name, mode, data).  Mode carries the file type; without one it is a
plain file.  Data is the content of a plain file or the target of a symbolic
link, and empty for a directory; for a device node it is b"MAJOR:MINOR".
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

_TRAILER = "TRAILER!!!"
_ALIGN = 512


def _pad(n: int, to: int) -> bytes:
    return b"\0" * (-n % to)


def _record(ino: int, name: str, mode: int, data: bytes) -> bytes:
    rdev = [0, 0]
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        rdev = [int(x) for x in data.split(b":")]
        data = b""
    raw = name.encode() + b"\0"
    nlink = 2 if stat.S_ISDIR(mode) else 1
    # ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
    head = "070701" + "".join(f"{v:08X}" for v in (
        ino, mode, 0, 0, nlink, 0, len(data), 0, 0, rdev[0], rdev[1], len(raw), 0))
    out = head.encode() + raw
    out += _pad(len(out), 4)
    return out + data + _pad(len(data), 4)


def _clean(name: str) -> str:
    parts = [p for p in name.split("/") if p not in ("", ".")]
    if not parts or ".." in parts:
        raise ValueError(f"not a name for a file in an archive: {name!r}")
    return "/".join(parts)


def newc(entries: Iterable[tuple[str, int, bytes]]) -> bytes:
    """Return the archive as bytes. Missing parent directories are added (mode 0755)."""
    files: dict[str, tuple[int, bytes]] = {}
    for name, mode, data in entries:
        name = _clean(name)
        if name in files:
            raise ValueError(f"two entries named {name!r}")
        if not stat.S_IFMT(mode):
            mode |= stat.S_IFREG
        if stat.S_ISDIR(mode) and data:
            raise ValueError(f"directory {name!r} with content")
        files[name] = (mode, bytes(data))
    for name in list(files):
        parent = name.rpartition("/")[0]
        while parent and parent not in files:
            files[parent] = (stat.S_IFDIR | 0o755, b"")
            parent = parent.rpartition("/")[0]
    chunks = [_record(ino, name, *files[name])
              for ino, name in enumerate(sorted(files, key=lambda n: n.split("/")), 1)]
    chunks.append(_record(0, _TRAILER, 0, b""))
    out = b"".join(chunks)
    return out + _pad(len(out), _ALIGN)


def write_newc(path: str | Path, entries: Iterable[tuple[str, int, bytes]]) -> None:
    """Write the archive to path."""
    with open(path, "wb") as f:
        f.write(newc(entries))
