# SPDX-License-Identifier: GPL-2.0-or-later
"""iot: a gateway. InfluxDB (its defaults, but a minute for a write) gets the readings of 1,200 sensors.

A writer posts line protocol over HTTP: a request has 100 sensors' readings, which InfluxDB logs durably before it
answers. Sensors drift with noise, with the resolution of their converters; 10 s lie between two readings. Every
simulated hour averages by site are asked for and stored in a measurement of their own, and data older than three
days are deleted. The readings are the same in each recording, but InfluxDB flushes and compacts by the host's clock.
"""

from __future__ import annotations

import http.client
import os
import random
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path

from reproduce.host.host import DRIVE, SCRATCH, generator, more, say

SENSORS, AT_ONCE = 1200, 100
TICK_S, HOUR = 10, 360  # of ticks
BEGIN_S = 1704067200  # 2024-01-01
KEPT_H = 72
CONFIG = """reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{drive}/meta"
[data]
  dir = "{drive}/data"
  wal-dir = "{drive}/wal"
  query-log-enabled = false
[coordinator]
  write-timeout = "60s"
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
[logging]
  level = "warn"
"""


class Sensor:
    """Makes four quantities of a node: a random walk, noise, and the decimals that its firmware sends."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self.tags = f"reading,site=s{number // 40:02d},node=n{number:04d}"
        self.values = [rng.uniform(15, 30), rng.uniform(30, 70), rng.uniform(980, 1030), rng.uniform(3.1, 3.6)]

    def line(self, rng: random.Random, at_s: int) -> str:
        """Return a line of line protocol for a time."""
        values = self.values
        values[0] += rng.gauss(0, 0.02)
        values[1] += rng.gauss(0, 0.05)
        values[2] += rng.gauss(0, 0.03)
        values[3] -= rng.random() * 1e-6
        return (
            f"{self.tags} temperature={values[0]:.2f},humidity={values[1]:.1f},pressure={values[2]:.2f},"
            f"battery={values[3]:.3f},rssi={rng.randint(-90, -60)}i {at_s}\n"
        )


def free_port() -> int:
    """Return a port of the loopback interface that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Database:
    """A connection to InfluxDB."""

    def __init__(self, port: int) -> None:
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def ask(self, method: str, path: str, body: str = "") -> None:
        """Send a request, which must succeed; it is repeated while the server is busy."""
        for _ in range(20):
            self.http.request(method, path, body.encode())
            answer = self.http.getresponse()
            text = answer.read()
            if answer.status < 500:
                break
            time.sleep(1)
        if answer.status >= 300 or b'"error"' in text:
            raise SystemExit(f"influxd: {method} {path}: {answer.status}: {text[:300]!r}")

    def query(self, text: str) -> None:
        """Run a statement."""
        self.ask("POST", "/query?" + urllib.parse.urlencode({"db": "gateway", "q": text}))

    def wait(self) -> None:
        """Wait until the server answers."""
        for attempt in range(600):
            try:
                self.ask("GET", "/ping")
                return
            except OSError:
                self.http.close()
                if attempt == 599:
                    raise
                time.sleep(0.2)


def hourly(base: Database, hour: int) -> None:
    """Store the averages of the hour, and delete data that are older than the retention."""
    begin = BEGIN_S + hour * HOUR * TICK_S
    end = begin + HOUR * TICK_S
    base.query(
        "SELECT mean(temperature) AS temperature, mean(humidity) AS humidity, max(pressure) AS pressure INTO hourly "
        f"FROM reading WHERE time >= {begin}s AND time < {end}s GROUP BY site"
    )
    if hour >= KEPT_H and hour % 24 == 0:
        base.query(f"DELETE FROM reading WHERE time < {begin - KEPT_H * 3600}s")


def feed(base: Database) -> None:
    """Post readings until enough was written."""
    rng = generator("iot")
    sensors = [Sensor(rng, number) for number in range(SENSORS)]
    tick = 0
    while tick % 30 or more():
        now = BEGIN_S + tick * TICK_S
        for first in range(0, SENSORS, AT_ONCE):
            lines = "".join(sensor.line(rng, now) for sensor in sensors[first : first + AT_ONCE])
            base.ask("POST", "/write?db=gateway&precision=s", lines)
        tick += 1
        if tick % HOUR == 0:
            hourly(base, tick // HOUR - 1)
            say(f"hour {tick // HOUR}")


def main(_: list[str]) -> int:
    """Start the database, feed it, and end it."""
    port, rpc = free_port(), free_port()
    config: Path = SCRATCH / "influxdb.conf"
    config.write_text(CONFIG.format(port=port, rpc=rpc, drive=DRIVE), encoding="utf-8")
    with (SCRATCH / "influxd.log").open("wb") as log:
        server = subprocess.Popen(
            ["influxd", "-config", config], env={**os.environ, "HOME": str(SCRATCH)}, stdout=log, stderr=log
        )
    try:
        base = Database(port)
        base.wait()
        base.query("CREATE DATABASE gateway WITH DURATION INF SHARD DURATION 1d")
        feed(base)
    finally:
        server.terminate()
        server.wait(120)
    return 0
