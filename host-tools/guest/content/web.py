# SPDX-License-Identifier: GPL-2.0-or-later
"""web: a cache of pages that are fetched again and again, and its logs.

Each page is one file: the answer's head, whose times change with each fetch, and its body, which
changes now and then.
"""

import gzip
import hashlib
import os

from workload import DRIVE, edit, generator, pages, save, say, scaled

HEAD = (
    "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: {date}\r\nContent-Type: {kind}\r\nContent-Length: {length:8d}\r\n"
    "Last-Modified: {changed}\r\nETag: \"{tag}\"\r\nX-Fetched: {fetch:6d}\r\nConnection: keep-alive\r\n\r\n"
)


def date(seconds: int) -> str:
    """Of a day in January 2024, which has no need of a calendar."""
    day, rest = divmod(seconds, 86400)
    return f"Mon, {day % 28 + 1:02d} Jan 2024 {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d} GMT"


class Page:
    """One page as the server has it."""

    def __init__(self, source) -> None:
        self.name = str(source)
        self.lines = source.read_bytes().splitlines(keepends=True)
        self.kind = "text/html" if source.suffix == ".html" else "text/plain"
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


def main() -> None:
    rng = generator("web")
    known = [Page(source) for source in pages()]
    logs = DRIVE / "log"
    logs.mkdir()
    now = fetches = 0
    for number in range(scaled(6)):
        say(f"round {number + 1}, {len(known)} pages")
        with open(logs / "access.log", "wb") as log:
            for page in known:
                now += rng.randint(1, 90)
                fetches += 1
                if rng.random() < 0.25:
                    other = rng.choice(known).lines
                    for _ in range(rng.randint(1, 3)):
                        edit(rng, page.lines, other)
                    page.changed = now
                page.path.parent.mkdir(parents=True, exist_ok=True)
                data = page.answer(now, fetches)
                save(page.path, data)
                log.write(
                    f'10.0.{rng.randrange(4)}.{rng.randrange(256)} - - [{date(now)}] "GET {page.name} HTTP/1.1" '
                    f'200 {len(data)} "-" "Mozilla/5.0"\n'.encode()
                )
                if fetches % 50 == 0:
                    log.flush()
                    os.fsync(log.fileno())
        with open(logs / "access.log", "rb") as log:
            packed = gzip.compress(log.read(), 6, mtime=0)
        save(logs / f"access.log.{number}.gz", packed)
        os.sync()


main()
