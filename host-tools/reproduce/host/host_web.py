# SPDX-License-Identifier: GPL-2.0-or-later
"""web: a browser. Chromium, with profile and cache on the drive, visits pages that a server of ours makes.

The server has forty sites. A site has a style sheet and scripts of its own, articles that change from visit to visit
(a fifth of the paragraphs), images, and on every fourth visit a film, whose segments a script fetches. Texts are sent
with gzip, as most servers do; images are JPEG files by ImageMagick, and segments are random bytes, as video is to
anybody who compresses it. Everything may be cached for a day but articles, which have to be asked for again. A page
keeps a draft in IndexedDB and counters in localStorage, and goes to the next one when it has been loaded; the server
chooses it, by Zipf frequencies. The browser ends after 150 visits and starts again. Cookies, identifiers and times are
Chromium's own, so that two recordings are not equal.
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from reproduce.host.host import DRIVE, ENDS, SCRATCH, generator, more, run, say, words

SITES, ARTICLES, IMAGES, PER_PAGE = 40, 25, 40, 6
SESSION = 150  # visits
CHECK = 10  # visits between two looks at what was written
SEGMENT, SEGMENTS = 1 << 20, 5
SCRIPT = """
const visit = __VISIT__;
function draft() {
  return new Promise((done) => {
    const open = indexedDB.open("drafts", 1);
    open.onupgradeneeded = () => open.result.createObjectStore("d");
    open.onerror = done;
    open.onsuccess = () => {
      const t = open.result.transaction("d", "readwrite");
      t.objectStore("d").put({visit: visit, text: document.body.innerText}, visit % 50);
      t.oncomplete = () => { open.result.close(); done(); };
      t.onabort = done;
    };
  });
}
async function film() {
  for (const path of __FILM__) await (await fetch(path)).arrayBuffer();
}
addEventListener("load", async () => {
  localStorage.setItem("visits", visit);
  localStorage.setItem("page" + visit % 200, document.title + document.body.innerText.slice(0, 500));
  document.cookie = "last=" + visit + "; max-age=86400";
  await draft();
  await film();
  location.href = "/go/" + (visit + 1);
});
"""


class Web:
    """Makes the content of the sites. A part is made from the seed and its own address when it is requested."""

    def __init__(self, images: list[bytes]) -> None:
        self.images = images
        self.visits = 0
        self.sites = [1 / (n + 1) for n in range(SITES)]
        self.ended = threading.Event()  # the browser is to end

    def next(self) -> str:
        """Return the address of the next visit."""
        rng = generator(f"visit {self.visits}")
        site = rng.choices(range(SITES), self.sites)[0]
        return f"/site{site}/{int(ARTICLES * rng.random() ** 2)}?{self.visits}"

    def article(self, site: int, number: int) -> str:
        """Return an article as it is at this visit."""
        rng, now = generator(f"article {site} {number}"), generator(f"change {self.visits}")
        parts = [words(rng, rng.randint(40, 150)) for _ in range(rng.randint(10, 60))]
        parts = [words(now, 60) if now.random() < 0.2 else part for part in parts]
        pictures = [f"/image/{site}/{number}/{n}.jpg" for n in range(PER_PAGE)]
        film = [f"/film/{self.visits}/{n}" for n in range(SEGMENTS)] if self.visits % 4 == 3 else []
        script = SCRIPT.replace("__VISIT__", str(self.visits)).replace("__FILM__", str(film))
        return (
            f"<!DOCTYPE html><html><head><title>{words(rng, 5)}</title><link rel=stylesheet href=/style/{site}.css>"
            f"<script src=/script/{site}.js></script></head><body>"
            + "".join(f"<img src={path} width=200>" for path in pictures)
            + "".join(f"<p>{part}</p>\n" for part in parts) + f"<script>{script}</script></body></html>"
        )  # fmt: skip

    def script(self, site: int) -> str:
        """Return a site's library. All sites share a part of it. A release every 400 visits changes functions."""
        common, own = generator("library"), generator(f"library {site} {self.visits // 400}")
        rows = []
        for number in range(1500):
            rng = common if number < 900 else own
            rows.append(f"function f{number}(a, b) {{ /* {words(rng, 6)} */ return a * {rng.randrange(10**6)} + b; }}")
        return "\n".join(rows)

    def style(self, site: int) -> str:
        """Return a style sheet."""
        rng = generator(f"style {site}")
        sizes = [(rng.randrange(40), rng.getrandbits(24)) for _ in range(800)]
        return "\n".join(f".c{n} {{ margin: {px}px; color: #{color:06x}; }}" for n, (px, color) in enumerate(sizes))

    def image(self, path: str) -> bytes:
        """Return the image of an address: one of those made, with a comment that distinguishes it from others."""
        rng = generator(path)
        data = self.images[rng.randrange(len(self.images))]
        return data[:2] + b"\xff\xfe\x00\x12" + rng.randbytes(16) + data[2:]


def handler(web: Web) -> type[BaseHTTPRequestHandler]:
    """Return the server's class for a web."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            kind, *rest = self.path.strip("/").split("/")
            if kind == "go":
                web.visits = int(rest[0])
                if web.visits % CHECK == 0 and (not more() or web.visits % SESSION == 0):
                    web.ended.set()
                    self.answer(b"", "text/html", "no-store")
                    return
                self.send_response(302)
                self.send_header("Location", web.next())
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif kind.startswith("site"):
                number = int(rest[0].partition("?")[0])
                self.answer(web.article(int(kind[4:]), number).encode(), "text/html", "no-cache")
            elif kind == "image":
                self.answer(web.image(self.path), "image/jpeg", "max-age=86400", packed=False)
            elif kind == "film":
                self.answer(generator(self.path).randbytes(SEGMENT), "video/mp4", "max-age=86400", packed=False)
            elif kind in ("style", "script"):
                site = int(rest[0].partition(".")[0])
                text, what = (web.style(site), "css") if kind == "style" else (web.script(site), "javascript")
                self.answer(text.encode(), f"text/{what}", "max-age=86400")
            else:
                self.send_error(404)

        def answer(self, data: bytes, kind: str, cache: str, packed: bool = True) -> None:
            if packed:
                data = gzip.compress(data, 6, mtime=0)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", cache)
            self.send_header("Content-Length", str(len(data)))
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def make_images() -> list[bytes]:
    """Have ImageMagick draw clouds, of several sizes."""
    rng, made = generator("images"), []
    for number in range(IMAGES):
        path: Path = SCRATCH / "image.jpg"
        size = f"{rng.randint(300, 900)}x{rng.randint(300, 700)}"
        run("convert", "-limit", "thread", "1", "-seed", number, "-size", size, "plasma:", "-quality", "85", path)
        made.append(path.read_bytes())
    return made


def browse(web: Web, port: int) -> None:
    """Run the browser for a session."""
    web.ended.clear()
    with (SCRATCH / "chromium.log").open("ab") as log:
        browser = subprocess.Popen(
            # without the capability by which it would give itself a higher priority
            ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice",
             "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--remote-debugging-port=0", f"--user-data-dir={DRIVE}/profile", f"--disk-cache-size={1 << 30}",
             f"http://127.0.0.1:{port}/go/{web.visits + 1}"],
            env={**os.environ, "HOME": str(SCRATCH)}, stdout=log, stderr=log,
        )  # fmt: skip
    while not web.ended.wait(5) and time.monotonic() < ENDS + 60:
        if browser.poll() is not None:
            last = (SCRATCH / "chromium.log").read_bytes()[-800:]
            raise SystemExit(f"chromium ended with status {browser.returncode}: {last!r}")
    browser.send_signal(signal.SIGTERM)
    browser.wait(120)


def main(_: list[str]) -> int:
    """Serve and browse until enough was written."""
    web = Web(make_images())
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(web))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while more():
        browse(web, server.server_address[1])
        say(f"visit {web.visits}")
    server.shutdown()
    return 0
