# SPDX-License-Identifier: GPL-2.0-or-later
"""Read what the guest sent over its second UART.

    SLATE-BEGIN
    <base64 of a tar or tar.gz>
    SLATE-END rc=N

Anything before SLATE-BEGIN is ignored (a program in the guest may have written
there), and so are carriage returns.  Everything else must be in order: a cut-off
stream is a ValueError with the reason, never a half-filled result.
"""

import base64
import binascii
import io
import re
import tarfile
import zlib

_BEGIN = b"SLATE-BEGIN"
_END = re.compile(rb"SLATE-END rc=(\d+)$")


def parse_results(raw: bytes) -> tuple[dict[str, bytes], int]:
    """Return ({name: bytes}, rc). Raises ValueError if the stream is incomplete."""
    lines = raw.replace(b"\r", b"").split(b"\n")
    if _BEGIN not in lines:
        raise ValueError("the guest sent no results (no SLATE-BEGIN line)")
    body = lines[lines.index(_BEGIN) + 1:]
    for n, line in enumerate(body):
        m = _END.match(line)
        # the line is whole only if its newline came too
        if m and n + 1 < len(body):
            return _unpack(b"".join(body[:n])), int(m.group(1))
    raise ValueError(f"the guest's results are cut off after {len(raw)} bytes (no SLATE-END line)")


def _unpack(text: bytes) -> dict[str, bytes]:
    if not text:
        return {}
    files = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(text, validate=True))) as tar:
            for member in tar:
                if content := tar.extractfile(member) if member.isfile() else None:
                    name = member.name[2:] if member.name.startswith("./") else member.name
                    files[name] = content.read()
    except (binascii.Error, tarfile.TarError, EOFError, OSError, zlib.error) as e:
        raise ValueError(f"the guest's results are damaged: {str(e).splitlines()[0]}") from e
    return files
