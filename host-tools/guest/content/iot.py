# SPDX-License-Identifier: GPL-2.0-or-later
"""iot: a gateway. Sensors' readings go to a database, a transaction every 50 s; every hour a
summary is saved, and its readings are exported as CSV, packed."""

import gzip
import json
import os
import random
import sqlite3
from pathlib import Path

from workload import DRIVE, generator, save, say, scaled

SITES = 4
SENSORS = 24
TICK_SECONDS = 10
COMMIT_TICKS = 5
HOUR = 360  # in ticks
TABLE = """
CREATE TABLE reading (time INTEGER, node INTEGER, temperature REAL, humidity REAL, pressure REAL, battery REAL);
CREATE INDEX by_node ON reading (node, time);
"""


class Sensor:
    """Readings of converters, with drift and noise, and their physical values.

    Temperature and humidity have 16 bits as in Sensirion's SHT3x, pressure has 20 bits and 1/256 Pa as in
    Bosch's BMP280, and a battery is at a 12-bit converter of 3.6 V.
    """

    def __init__(self, rng: random.Random, number: int) -> None:
        self.number = number
        self.temperature = rng.randint(22000, 27000)
        self.humidity = rng.randint(20000, 45000)
        self.pressure = rng.randint(25300000, 26300000)
        self.battery = rng.randint(3700, 4090)

    def row(self, rng: random.Random, now: int) -> tuple[float, ...]:
        bits = rng.getrandbits(64)
        self.temperature += bits % 9 - 4
        self.humidity += (bits >> 8) % 15 - 7
        self.pressure += (bits >> 16) % 257 - 128
        noise = [(bits >> shift) % 64 - 32 for shift in (28, 36, 44, 52)]
        return (
            1704067200 + now, self.number,
            -45 + 175 * (self.temperature + noise[0]) / 65535,
            100 * (self.humidity + noise[1]) / 65535,
            (self.pressure + 8 * noise[2]) / 256,
            3.6 * (self.battery + noise[3] // 16) / 4096,
        )  # fmt: skip


def export(base: sqlite3.Connection, folder: Path, hour: int) -> None:
    """Export the readings of the hour and their averages."""
    span = (1704067200 + hour * HOUR * TICK_SECONDS, 1704067200 + (hour + 1) * HOUR * TICK_SECONDS)
    rows = base.execute("SELECT * FROM reading WHERE time >= ? AND time < ? ORDER BY time, node", span)
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    save(folder / f"hour{hour:04d}.csv.gz", gzip.compress(text.encode(), 6, mtime=0))
    mean = base.execute(
        "SELECT node, avg(temperature), avg(humidity), avg(pressure), avg(battery) FROM reading "
        "WHERE time >= ? AND time < ? GROUP BY node", span,
    ).fetchall()  # fmt: skip
    save(folder / "summary.json", json.dumps({"time": span[1], "sensors": mean}, indent=1).encode())


def main() -> None:
    rng = generator("iot")
    sensors = [Sensor(rng, number) for number in range(SITES * SENSORS)]
    folder = DRIVE / "gateway"
    folder.mkdir()
    base = sqlite3.connect(folder / "readings.db")  # its defaults: a rollback journal, durable commits
    base.executescript(TABLE)
    base.execute("PRAGMA synchronous = FULL")
    for tick in range(scaled(3 * HOUR)):
        now = tick * TICK_SECONDS
        base.executemany("INSERT INTO reading VALUES (?, ?, ?, ?, ?, ?)", [s.row(rng, now) for s in sensors])
        if tick % COMMIT_TICKS == COMMIT_TICKS - 1:
            base.commit()
        if tick % HOUR == HOUR - 1:
            base.commit()
            export(base, folder, tick // HOUR)
            say(f"hour {tick // HOUR + 1}")
    base.commit()
    base.close()
    os.sync()


main()
