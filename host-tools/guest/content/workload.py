# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions shared by the content workloads. Deterministic: the results depend only on seed, scale and corpus."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

DRIVE = Path("/mnt/ssd")
CORPUS = Path("/mnt/content")
SEED = int(os.environ.get("SLATE_SEED", "1"))


def scaled(count: int) -> int:
    """Return a number multiplied by SCALE."""
    return max(1, round(count * float(os.environ.get("SCALE", "1"))))


def generator(name: str) -> random.Random:
    """Return the random number generator for a part of a workload."""
    return random.Random(f"{SEED} {name}")


def say(text: str) -> None:
    """Print progress on the console."""
    print(f"content: {text}", flush=True)


def run(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a program, which must succeed; its output is shown only if it fails."""
    line = [str(word) for word in words]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, cwd=cwd, env=env)
    if done.returncode:
        sys.stdout.buffer.write(done.stdout[-4000:])
        sys.exit(f"content: {words[0]}: status {done.returncode}")


def save(path: Path, data: bytes) -> None:
    """Save a file as editors do: write a new file, make it durable, and rename it over the old one."""
    temporary = path.with_name(f".{path.name}.new")
    with open(temporary, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, path)


def pages() -> list[Path]:
    """Return the HTML and text pages of the corpus, in order."""
    return sorted(path for path in (CORPUS / "web").rglob("*") if path.is_file())


def edit(rng: random.Random, lines: list[bytes], other: list[bytes]) -> None:
    """Change a few lines as a person does: rewrite one, insert some, delete one."""
    if not lines:
        lines.append(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.random()
    if kind < 0.4:
        words = lines[at].split(b" ")
        rng.shuffle(words)
        lines[at] = b" ".join(words)
    elif kind < 0.8 and other:
        start = rng.randrange(len(other))
        lines[at:at] = other[start : start + rng.randint(1, 6)]
    else:
        del lines[at]
