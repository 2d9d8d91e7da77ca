# SPDX-License-Identifier: GPL-2.0-or-later
"""iot: a gateway. Sensors' rows are appended to CSV files and made durable often; every hour
a summary is saved, every day a new file begins."""

import json
import os

from workload import DRIVE, generator, save, say, scaled

SITES = 4
SENSORS = 24
TICK_SECONDS = 10
DURABLE_TICKS = 5
HOUR, DAY = 360, 8640  # in ticks


class Sensor:
    """A value that wanders, and seldom fails."""

    def __init__(self, rng, name: str) -> None:
        self.name = name
        self.temperature = rng.randint(1500, 2800)  # 0.01 C
        self.humidity = rng.randint(300, 700)  # 0.1 %
        self.pressure = rng.randint(9900, 10300)  # 0.1 hPa
        self.battery = rng.randint(3300, 3700)  # mV

    def row(self, rng, now: int) -> str:
        bits = rng.getrandbits(32)
        self.temperature += bits % 7 - 3
        self.humidity += (bits >> 8) % 5 - 2
        self.pressure += (bits >> 16) % 3 - 1
        status = "ERR" if bits >> 22 == 0 else "OK"
        return (
            f"{1704067200 + now},{self.name},{self.temperature / 100:.2f},{self.humidity / 10:.1f},"
            f"{self.pressure / 10:.1f},{self.battery},{status}\n"
        )


def main() -> None:
    rng = generator("iot")
    sites = [[Sensor(rng, f"site{s}/node{n:02d}") for n in range(SENSORS)] for s in range(SITES)]
    files = [None] * SITES
    for tick in range(scaled(DAY // 2)):
        now = tick * TICK_SECONDS
        for number, sensors in enumerate(sites):
            if tick % DAY == 0:
                folder = DRIVE / f"site{number}"
                folder.mkdir(exist_ok=True)
                if files[number]:
                    files[number].close()
                files[number] = open(folder / f"day{tick // DAY:03d}.csv", "ab")
                files[number].write(b"time,node,temperature,humidity,pressure,battery_mv,status\n")
            files[number].write("".join(sensor.row(rng, now) for sensor in sensors).encode())
            if tick % DURABLE_TICKS == DURABLE_TICKS - 1:
                files[number].flush()
                os.fsync(files[number].fileno())
            if tick % HOUR == HOUR - 1:
                summary = {s.name: [s.temperature, s.humidity, s.pressure, s.battery] for s in sensors}
                text = json.dumps({"time": now, "sensors": summary}, indent=1)
                save(DRIVE / f"site{number}" / "summary.json", text.encode())
        if tick % HOUR == 0:
            say(f"hour {tick // HOUR}")
    for file in files:
        file.close()
    os.sync()


main()
