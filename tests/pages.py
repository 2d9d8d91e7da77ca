# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a page of 'slate report --html': its tables, and a browser's errors."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")


class Tables(HTMLParser):
    """Collects the cells of each table: (text, number behind it)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, Any] = {}
        self.row: list[Any] = []
        self.cell: list[Any] | None = None
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag == "table":
            self.row = self.tables.setdefault(str(found["id"]), [])
        elif tag == "tr":
            self.row.append([])
        elif tag == "td":
            self.cell = ["", found.get("data-v")]
            self.row[-1].append(self.cell)

    def handle_data(self, data: str) -> None:
        if self.cell:
            self.cell[0] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self.cell = None


def browse(text: str) -> tuple[Any, set[str]]:
    """Open the page in Chromium; return its messages, and the URLs that the page asked for."""
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "report.html", Path(folder) / "net.json"
        path.write_text(text)
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update", "--no-first-run", "--enable-logging=stderr", "--dump-dom",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}/profile",
             f"--log-net-log={log}", "--window-size=390,800", path.as_uri()],
            capture_output=True, text=True, timeout=120, check=True,
        )
        asked = set(re.findall(r'"url":"(https?://[^"]*)"', log.read_text()))
    return done, {url for url in asked if not re.search(r"//[^/]*(google|gvt1)[^/]*/", url)}
