# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the seed of cloud-init: a small disk that gives an image its user (NoCloud)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

from . import paths
from .errors import MachineError
from .ownguest import USER, OwnGuest, need

SECTORS = 2048  # of 512 bytes: mformat's smallest hard disk
LABEL = "CIDATA"  # by which cloud-init finds it


def files(own: OwnGuest) -> dict[str, str]:
    """Return user-data and meta-data. JSON is YAML. A new key is a new instance, so cloud-init runs again."""
    user = {
        "name": USER,
        "shell": "/bin/bash",
        "sudo": "ALL=(ALL) NOPASSWD:ALL",
        "lock_passwd": False,
        "plain_text_passwd": USER,  # for the console; SSH takes keys only
        "ssh_authorized_keys": [own.key_text],
    }
    config = {"users": [user], "ssh_pwauth": False, "ssh_genkeytypes": ["ed25519"]}
    told = "#cloud-config\n" + json.dumps(config, indent=1) + "\n"
    instance = hashlib.sha256(told.encode()).hexdigest()[:12]
    meta = json.dumps({"instance-id": f"slate-{instance}", "local-hostname": USER}) + "\n"
    return {"user-data": told, "meta-data": meta}


def path(own: OwnGuest) -> Path:
    """Return the path of the seed. Its name is derived from the content, so that runs share it."""
    told = "".join(files(own).values())
    return paths.OUT / "seeds" / f"{hashlib.sha256(told.encode()).hexdigest()[:12]}.img"


def write(own: OwnGuest) -> Path:
    """Make the seed, if it is missing: a FAT file system with the two files."""
    wanted = path(own)
    if wanted.exists():
        return wanted
    mformat, mcopy = need("mformat", "mtools"), need("mcopy", "mtools")
    wanted.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wanted.parent) as folder:
        image = Path(folder) / "seed.img"
        for name, text in files(own).items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        _call([mformat, "-C", "-i", str(image), "-T", str(SECTORS), "-h", "1", "-s", "1", "-v", LABEL, "::"])
        _call([mcopy, "-i", str(image), *(f"{folder}/{name}" for name in files(own)), "::"])
        os.replace(image, wanted)
    return wanted


def _call(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MachineError(f"{Path(words[0]).name} failed: {done.stderr.strip()}", "check the free space")
