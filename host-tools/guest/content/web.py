# SPDX-License-Identifier: GPL-2.0-or-later
"""web: a browser's profile: a cache of the pages that were visited, a database of the visits, the
session.

Pages are visited as often as their rank says (Zipf; Breslau and others, INFOCOM 1999, found exponents of
0.64 to 0.83). Each is one file of the cache: the answer's head, whose times change with each fetch,
and its body, which changes now and then.
"""

import hashlib
import itertools
import json
import os
import sqlite3
from pathlib import Path

from workload import DRIVE, edit, generator, pages, save, say, scaled

HEAD = (
    "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: {date}\r\nContent-Type: {kind}\r\nContent-Length: {length:8d}\r\n"
    "Last-Modified: {changed}\r\nETag: \"{tag}\"\r\nX-Fetched: {fetch:6d}\r\nConnection: keep-alive\r\n\r\n"
)
VISITS = 3500
ZIPF = 0.75
TABS = 40
TABLES = """
CREATE TABLE pages (url TEXT PRIMARY KEY, title TEXT, visits INTEGER, last INTEGER);
CREATE TABLE visits (time INTEGER, url TEXT);
CREATE INDEX by_time ON visits (time);
"""


def date(seconds: int) -> str:
    """Return the date of a time in January 2024. Within a month no calendar is needed."""
    day, rest = divmod(seconds, 86400)
    return f"Mon, {day % 28 + 1:02d} Jan 2024 {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d} GMT"


class Page:
    """One page as the server stores it."""

    def __init__(self, source: Path) -> None:
        self.name = str(source)
        self.lines = source.read_bytes().splitlines(keepends=True)
        self.kind = "text/html" if source.suffix == ".html" else "text/plain"
        self.title = f"{source.stem.replace('-', ' ')} ({source.parent.name})"
        self.changed = 0
        key = hashlib.sha256(self.name.encode()).hexdigest()
        self.path = DRIVE / "cache" / key[:2] / key[2:18]

    def answer(self, now: int, fetch: int) -> bytes:
        body = b"".join(self.lines)
        tag = hashlib.sha256(body).hexdigest()[:24]
        head = HEAD.format(
            date=date(now), kind=self.kind, length=len(body), changed=date(self.changed), tag=tag, fetch=fetch
        )
        return head.encode() + body


def visit(base: sqlite3.Connection, page: Page, now: int) -> None:
    """Add a visit to the history, in one transaction."""
    with base:
        base.execute(
            "INSERT INTO pages VALUES (?, ?, 1, ?) "
            "ON CONFLICT (url) DO UPDATE SET visits = visits + 1, last = excluded.last",
            (f"https://www.example.org{page.name}", page.title, now),
        )
        base.execute("INSERT INTO visits VALUES (?, ?)", (now, f"https://www.example.org{page.name}"))


def main() -> None:
    rng = generator("web")
    known = [Page(source) for source in pages()]
    rng.shuffle(known)
    weights = list(itertools.accumulate(1 / rank**ZIPF for rank in range(1, len(known) + 1)))
    profile = DRIVE / "profile"
    profile.mkdir()
    base = sqlite3.connect(profile / "history.db")  # its defaults: a rollback journal, durable commits
    base.executescript(TABLES)
    base.execute("PRAGMA synchronous = FULL")
    now = 0
    tabs: list[dict[str, str | int]] = []
    for number in range(scaled(VISITS)):
        now += rng.randint(1, 90)
        page = rng.choices(known, cum_weights=weights)[0]
        if rng.random() < 0.25:
            other = rng.choice(known).lines
            for _ in range(rng.randint(1, 3)):
                edit(rng, page.lines, other)
            page.changed = now
        page.path.parent.mkdir(parents=True, exist_ok=True)
        save(page.path, page.answer(now, number))
        visit(base, page, now)
        tabs = [*tabs[-TABS + 1 :], {"url": page.name, "title": page.title, "time": now, "scroll": rng.randrange(4000)}]
        if number % 5 == 4:
            save(profile / "session.json", json.dumps({"tabs": tabs, "saved": now}).encode())
        if number % 500 == 499:
            say(f"{number + 1} visits")
    base.close()
    os.sync()


main()
