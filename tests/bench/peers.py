#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the same requests on the same drive in other simulators and in Slate: one CSV.

The drive: 4 channels of 500 MB/s, 8 dies of one plane, 256 blocks of 32 pages of 4 KiB (256 MiB raw), read 40 us,
program 200 us, erase 2 ms, no write cache. Each simulator gets its own configuration of it; Slate runs the profile
that 'slate profiles import' makes of that configuration, with the few settings of EXTRA, which no configuration
carries.

Workloads are traces, so that all simulators get equal requests at equal times, whatever their generators can do:
  read-dN, write-dN   N requests of 4 KiB at once, every 20 ms; reads are random, writes go to an empty drive
  read-sN, write-sN   one request of N KiB every 20 ms
  random-opN          random 4 KiB writes every ms over the exported capacity, N per cent of the raw one being spare
  mix                 random-op12.5's first three capacities, then reads and writes in turn
The first three capacities of random writes are left out of the last two's figures. MQSim prints only sums, so it runs
with and without them, and the sums are subtracted; its maximum is then the whole run's.

SSDSim divides by the numbers of reads and of writes, so its traces begin with one of each, and end with a read, since
it leaves out the last line. SimpleSSD has superpages in the workloads with GC, since it panics without. FEMU cannot run
without a guest and real time: FEMU here is its delay model, computed from the formulas in hw/femu/bbssd (reads,
programs and erases wait for their LUN alone; GC of whole lines, greedy).

usage: peers.py --out FILE [--mqsim DIR] [--ssdsim DIR] [--simplessd DIR] [--only NAME,...] [--peer NAME,...]
                [--set KEY=VALUE]... [--drive FIELD=VALUE]...
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPLAY = ROOT / "build" / "core" / "slate-replay"
SECTOR, PAGE = 512, 4096
PERIOD_NS = 20_000_000


@dataclass(frozen=True)
class Drive:
    """Holds the drive that all simulators get; times in ns, spare is a share of the raw capacity."""

    spare: float = 0.125
    channels: int = 4
    chips: int = 2
    dies: int = 1
    blocks: int = 256
    pages: int = 32
    read: int = 40_000
    program: int = 200_000
    erase: int = 2_000_000
    mega_bytes_per_s: int = 500
    gc_share: float = 0.05  # of a plane's blocks or pages are free when GC begins
    static: int = 0  # 1: SSDSim derives channel and chip from the address
    preemptible: int = 0  # 1: MQSim's GC lets host I/O pass
    dram_bits: int = 32  # width of the bus of SimpleSSD's DRAM, which each request uses
    femu_low: float = 0.25  # share of FEMU's lines that are free when its background GC begins
    superpage: str = ""  # SimpleSSD's SuperblockSize: C spans the channels, W the chips of one

    def luns(self) -> int:
        """Return the number of dies."""
        return self.channels * self.chips * self.dies

    def raw_pages(self) -> int:
        """Return the number of physical pages."""
        return self.luns() * self.blocks * self.pages

    def exported(self) -> int:
        """Return the number of logical pages that are used, in whole MiB."""
        return int(self.raw_pages() * (1 - self.spare)) // 256 * 256


Request = tuple[int, int, int, int]  # arrival in ns, first page, pages, 1 for a read


@dataclass(frozen=True)
class Workload:
    """Holds the requests; the first `skip` are left out of the figures."""

    name: str
    drive: Drive
    requests: list[Request]
    skip: int = 0


@dataclass(frozen=True)
class Result:
    """Holds the figures of the counted requests; waf is None if none was a write."""

    mean_us: float
    max_us: float
    waf: float | None


def bursts(name: str, read: int, depth: int, pages: int, count: int) -> Workload:
    """Return `count` requests, `depth` at a time; writes follow one another."""
    drive, dice, rows = Drive(), random.Random(1), []
    for i in range(count):
        at = i * pages if not read else dice.randrange(drive.exported() // pages) * pages
        rows.append((1_000_000 + i // depth * PERIOD_NS, at, pages, read))
    return Workload(name, drive, rows)


def random_writes(name: str, spare: float, mixed: bool) -> Workload:
    """Return four capacities of random writes; of a mix's last one each second request is a read."""
    drive, dice = Drive(spare=spare, superpage="C"), random.Random(1)  # without, SimpleSSD's GC runs out of blocks
    size = drive.exported()
    rows = [
        (1_000_000 * (i + 1), dice.randrange(size), 1, int(mixed and i >= 3 * size and i % 2)) for i in range(4 * size)
    ]
    return Workload(name, drive, rows, 3 * size)


def workloads() -> dict[str, Callable[[], Workload]]:
    """Return the workloads by name."""
    found: dict[str, Callable[[], Workload]] = {}
    for read, word in ((1, "read"), (0, "write")):
        for depth in (1, 4, 16, 64, 256):
            name = f"{word}-d{depth}"
            found[name] = lambda name=name, read=read, depth=depth: bursts(name, read, depth, 1, 2048)  # type: ignore[misc]
        for kib in (16, 64, 256):
            name = f"{word}-s{kib}"
            found[name] = lambda name=name, read=read, kib=kib: bursts(name, read, 1, kib // 4, 500)  # type: ignore[misc]
    for share in (7, 12.5, 20, 28):
        name = f"random-op{share:g}"
        found[name] = lambda name=name, share=share: random_writes(name, share / 100, False)  # type: ignore[misc]
    found["mix"] = lambda: random_writes("mix", 0.125, True)
    return found


def run(command: list[str | Path], folder: Path, text: str = "") -> None:
    """Run a simulator, or end with what it said last."""
    done = subprocess.run(
        command, cwd=folder, input=text, capture_output=True, text=True, check=False, errors="replace", timeout=1200
    )
    if done.returncode < 0 or done.returncode > 1:  # SSDSim returns 1
        sys.exit(f"peers.py: {command[0]}: exit code {done.returncode}: {(done.stderr or done.stdout)[-500:]}")


def columns(rows: Iterable[Request]) -> str:
    """Return requests in the columns that SSDSim, MQSim and Slate read."""
    per = PAGE // SECTOR
    return "\n".join(f"{at} 0 {page * per} {pages * per} {read}" for at, page, pages, read in rows)


def written(rows: Iterable[Request]) -> int:
    """Return the number of pages written."""
    return sum(pages for _, _, pages, read in rows if not read)


def difference(whole: tuple[float, float, int], head: tuple[float, float, int], work: Workload) -> Result:
    """Return the counted requests' figures from (mean in us, max in us, pages programmed) of all and of the skipped."""
    count, skip = len(work.requests), work.skip
    pages = written(work.requests[skip:])
    mean = (whole[0] * count - head[0] * skip) / (count - skip)
    return Result(mean, whole[1], (whole[2] - head[2]) / pages if pages else None)


# ---- MQSim


def mqsim_drive(drive: Drive) -> str:
    """Return an ssdconfig.xml."""
    times = "".join(
        f"<Page_{what}_Latency_{kind}>{ns}</Page_{what}_Latency_{kind}>"
        for what, ns in (("Read", drive.read), ("Program", drive.program))
        for kind in ("LSB", "CSB", "MSB")
    )
    device = {
        "Seed": 321, "Enabled_Preconditioning": "false", "Memory_Type": "FLASH", "HostInterface_Type": "NVME",
        "IO_Queue_Depth": 65535, "Queue_Fetch_Size": 512, "Caching_Mechanism": "ADVANCED",
        "Data_Cache_Sharing_Mode": "SHARED", "Data_Cache_Capacity": 1048576, "Data_Cache_DRAM_Row_Size": 8192,
        "Data_Cache_DRAM_Data_Rate": 3200, "Data_Cache_DRAM_Data_Busrt_Size": 8, "Data_Cache_DRAM_tRCD": 13,
        "Data_Cache_DRAM_tCL": 13, "Data_Cache_DRAM_tRP": 13, "Address_Mapping": "PAGE_LEVEL",
        "Ideal_Mapping_Table": "true", "CMT_Capacity": 2097152, "CMT_Sharing_Mode": "SHARED",
        "Plane_Allocation_Scheme": "CWDP", "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
        "Overprovisioning_Ratio": drive.spare, "GC_Exec_Threshold": drive.gc_share,
        "GC_Block_Selection_Policy": "GREEDY", "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": str(bool(drive.preemptible)).lower(),
        "GC_Hard_Threshold": 0.005, "Dynamic_Wearleveling_Enabled": "false", "Static_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Threshold": 100, "Preferred_suspend_erase_time_for_read": 700000,
        "Preferred_suspend_erase_time_for_write": 700000, "Preferred_suspend_write_time_for_read": 100000,
        "Flash_Channel_Count": drive.channels, "Flash_Channel_Width": 1,
        "Channel_Transfer_Rate": drive.mega_bytes_per_s, "Chip_No_Per_Channel": drive.chips,
        "Flash_Comm_Protocol": "NVDDR2",
    }  # fmt: skip
    flash = {
        "Block_Erase_Latency": drive.erase, "Block_PE_Cycles_Limit": 100000, "Suspend_Erase_Time": 700000,
        "Suspend_Program_Time": 100000, "Die_No_Per_Chip": drive.dies, "Plane_No_Per_Die": 1,
        "Block_No_Per_Plane": drive.blocks, "Page_No_Per_Block": drive.pages, "Page_Capacity": PAGE,
        "Page_Metadat_Capacity": 256,
    }  # fmt: skip

    def tags(values: Mapping[str, object]) -> str:
        return "".join(f"<{key}>{value}</{key}>" for key, value in values.items())

    host = {"PCIe_Lane_Bandwidth": 4.0, "PCIe_Lane_Count": 4, "SATA_Processing_Delay": 400000,
            "Enable_ResponseTime_Logging": "false", "ResponseTime_Logging_Period_Length": 1000000}  # fmt: skip
    return (
        '<?xml version="1.0" encoding="us-ascii"?><Execution_Parameter_Set><Host_Parameter_Set>'
        f"{tags(host)}</Host_Parameter_Set><Device_Parameter_Set>{tags(device)}<Flash_Parameter_Set>"
        "<Flash_Technology>SLC</Flash_Technology><CMD_Suspension_Support>NONE</CMD_Suspension_Support>"
        f"{times}{tags(flash)}</Flash_Parameter_Set></Device_Parameter_Set></Execution_Parameter_Set>"
    )


def mqsim_once(folder: Path, work: Workload, rows: list[Request], program: Path) -> tuple[float, float, int]:
    """Run MQSim on some requests; return mean and max in us, and pages programmed."""
    drive = work.drive
    (folder / "trace.txt").write_text(columns(rows) + "\n", encoding="ascii")
    (folder / "ssdconfig.xml").write_text(mqsim_drive(drive), encoding="ascii")
    ids = {"Channel": drive.channels, "Chip": drive.chips, "Die": drive.dies, "Plane": 1}
    flow = "".join(f"<{key}_IDs>{','.join(map(str, range(n)))}</{key}_IDs>" for key, n in ids.items())
    (folder / "workload.xml").write_text(
        '<?xml version="1.0" encoding="us-ascii"?><MQSim_IO_Scenarios><IO_Scenario>'
        "<IO_Flow_Parameter_Set_Trace_Based><Priority_Class>HIGH</Priority_Class>"
        f"<Device_Level_Data_Caching_Mode>TURNED_OFF</Device_Level_Data_Caching_Mode>{flow}"
        "<Initial_Occupancy_Percentage>0</Initial_Occupancy_Percentage><File_Path>trace.txt</File_Path>"
        "<Percentage_To_Be_Executed>100</Percentage_To_Be_Executed><Relay_Count>1</Relay_Count>"
        "<Time_Unit>NANOSECOND</Time_Unit></IO_Flow_Parameter_Set_Trace_Based></IO_Scenario></MQSim_IO_Scenarios>",
        encoding="ascii",
    )
    (folder / "workload_scenario_1.xml").unlink(missing_ok=True)
    run([program, "-i", "ssdconfig.xml", "-w", "workload.xml"], folder)
    if not (folder / "workload_scenario_1.xml").exists():
        print(f"MQSim ended {work.name} without results", file=sys.stderr)
        return nan, nan, 0
    text = (folder / "workload_scenario_1.xml").read_text(encoding="utf-8")

    def number(pattern: str) -> float:
        found = re.search(pattern, text)
        return float(found[1]) if found else sys.exit(f"peers.py: MQSim's results have no {pattern}")

    done = int(number(r"<Request_Count>(\d+)"))
    if done != len(rows):
        print(f"MQSim completed {done} of {len(rows)} requests of {work.name}", file=sys.stderr)
    return (
        number(r"<Device_Response_Time>([\d.]+)"),
        number(r"<Max_Device_Response_Time>([\d.]+)"),
        int(number(r'Issued_Flash_Program_CMD="(\d+)"')),
    )


def mqsim(folder: Path, work: Workload, source: Path) -> tuple[Result, Path]:
    """Return MQSim's figures and its configuration."""
    program = source / "MQSim"
    head = mqsim_once(folder, work, work.requests[: work.skip], program) if work.skip else (0.0, 0.0, 0)
    return difference(mqsim_once(folder, work, work.requests, program), head, work), folder / "ssdconfig.xml"


# ---- SSDSim


def ssdsim_drive(drive: Drive) -> str:
    """Return a page.parameters."""
    chips = "".join(f"chip number[{i}] = {drive.chips};\n" for i in range(drive.channels))
    ns_per_byte = 1000 // drive.mega_bytes_per_s
    values = {
        "channel number": drive.channels, "chip number": drive.channels * drive.chips, "die number": drive.dies,
        "plane number": 1, "block number": drive.blocks, "page number": drive.pages,
        "subpage page": PAGE // SECTOR, "page capacity": PAGE, "subpage capacity": SECTOR,
        "t_PROG": drive.program, "t_DBSY": 0, "t_BERS": drive.erase, "t_WC": ns_per_byte, "t_R": drive.read,
        "t_RC": ns_per_byte, "erase limit": 100000, "address mapping": 1, "wear leveling": 0, "gc": 1,
        "overprovide": drive.spare, "gc threshold": drive.gc_share, "buffer management": 0,
        "scheduling algorithm": 1, "gc hard threshold": drive.gc_share, "allocation": drive.static,
        "static_allocation": 1,
        "dynamic_allocation": 0, "advanced command": 0, "advanced command priority": 0, "greed CB command": 0,
        "greed MPW command": 0, "aged": 0, "aged ratio": 0, "queue_length": 512, "active write": 0,
    }  # fmt: skip
    return "#parameter file\ndram capacity = 0;\n" + chips + "".join(f"{k} = {v};\n" for k, v in values.items())


def ssdsim_once(folder: Path, work: Workload, rows: list[Request], program: Path) -> tuple[list[int], int]:
    """Run SSDSim on some requests, after a write and a read; return the latencies in ns and the pages programmed."""
    (folder / "page.parameters").write_text(ssdsim_drive(work.drive), encoding="ascii")
    (folder / "trace.txt").write_text(
        columns([(0, 0, 1, 0), (500_000, 0, 1, 1), *rows, (rows[-1][0] + 1_000_000_000, 0, 1, 1)]), encoding="ascii"
    )
    run([program], folder, "trace.txt\n")
    text = (folder / "ex.out").read_text(encoding="utf-8", errors="replace")
    body = text.partition("process time\n")[2]
    lines = [line.split() for line in body.partition("erase operations")[0].splitlines()]
    latencies = [int(words[6]) for words in lines if len(words) == 7 and words[0].isdigit()][2:]
    if len(latencies) != len(rows):
        print(f"SSDSim completed {len(latencies)} of {len(rows)} requests of {work.name}", file=sys.stderr)
    found = re.search(r"program count:\s*(\d+)", text)
    return latencies, int(found[1]) if found else sys.exit("peers.py: SSDSim's results have no program count")


def ssdsim(folder: Path, work: Workload, source: Path) -> tuple[Result, Path]:
    """Return SSDSim's figures and its configuration."""
    program = source / "ssd"
    head = ssdsim_once(folder, work, work.requests[: work.skip], program)[1] if work.skip else 0
    latencies, programs = ssdsim_once(folder, work, work.requests, program)
    pages = written(work.requests[work.skip :])
    part = latencies[work.skip :]
    reads = any(read for _, _, _, read in work.requests)  # SSDSim programs what they read before it begins
    waf = (programs - head) / pages if not reads else None
    return Result(sum(part) / len(part) / 1000, max(part) / 1000, waf), folder / "page.parameters"


# ---- SimpleSSD


def simplessd_drive(drive: Drive) -> str:
    """Return an ssd.cfg for SimpleSSD 2.0: its config/sample.cfg with this drive, no cache and no firmware times.

    DRAM takes time in every request; its settings, which are the sample's, cannot be turned off.
    """
    pal = {
        "Channel": drive.channels, "Package": drive.chips, "Die": drive.dies, "Plane": 1, "Block": drive.blocks,
        "Page": drive.pages, "PageSize": PAGE, "EnableMultiPlaneOperation": 0, "NANDType": 0,
        **{f"{kind}{what}": ns * 1000 for kind in ("LSB", "CSB", "MSB")
           for what, ns in (("Read", drive.read), ("Write", drive.program))},
        "Erase": drive.erase * 1000, "DMASpeed": drive.mega_bytes_per_s, "DMAWidth": 8,
        "SuperblockSize": drive.superpage, "PageAllocation": "CWDP",
    }  # fmt: skip
    ftl = {
        "MappingMode": 0, "OverProvisioningRatio": drive.spare, "EraseThreshold": 100000, "FillingMode": 0,
        "FillRatio": 0.0, "InvalidPageRatio": 0.0, "EvictPolicy": 0, "DChoiceParam": 3, "GCThreshold": drive.gc_share,
        "GCMode": 0, "GCReclaimBlocks": 1, "GCReclaimThreshold": 0.1, "EnableRandomIOTweak": 1,
    }  # fmt: skip
    icl = {"CacheSize": 1048576, "CacheWaySize": 8, "EnableReadCache": 0, "EnableReadPrefetch": 0,
           "EnableWriteCache": 0, "EvictPolicy": 2, "EvictMode": 1, "CacheLatency": 10}  # fmt: skip
    dram = {"Model": 0, "Channel": 1, "Rank": 1, "Bank": 8, "Chip": 1, "BusWidth": drive.dram_bits, "BurstLength": 8,
            "ChipSize": 1073741824, "PageSize": 4096}  # fmt: skip
    cpu = {"ClockSpeed": 400000000, "HILCoreCount": 0, "ICLCoreCount": 0, "FTLCoreCount": 0}
    parts: dict[str, dict[str, Any]] = {"cpu": cpu, "pal": pal, "ftl": ftl, "icl": icl, "dram": dram}
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in part.items()) for name, part in parts.items()
    )


SIMPLESSD_RUN = r"""[global]
Mode = 1
LogPeriod = 0
LogFile = log.txt
DebugLogFile =
LatencyLogFile = latency.txt
ProgressPeriod = 0
Interface = 0
Scheduler = 0
[trace]
File = trace.txt
TimingMode = 2
IOLimit = 0
Regex = "(\d+) (\w) (\d+) (\d+)"
Operation = 2
ByteOffset = 3
ByteLength = 4
Nanosecond = 1
"""


def simplessd_once(folder: Path, work: Workload, rows: list[Request], program: Path) -> tuple[list[int], int]:
    """Run SimpleSSD on some requests; return the latencies in ps and the pages programmed."""
    filled = f"FillRatio = {float(bool(rows[0][3]))}"
    (folder / "ssd.cfg").write_text(simplessd_drive(work.drive).replace("FillRatio = 0.0", filled), encoding="ascii")
    (folder / "run.cfg").write_text(SIMPLESSD_RUN, encoding="ascii")
    trace = "".join(f"{at} {'WR'[read]} {page * PAGE} {pages * PAGE}\n" for at, page, pages, read in rows)
    (folder / "trace.txt").write_text(trace, encoding="ascii")
    for name in ("log.txt", "latency.txt"):
        (folder / name).unlink(missing_ok=True)
    run([program, "run.cfg", "ssd.cfg", "."], folder)
    found = {
        int(words[0]): int(words[3])
        for words in (line.split(", ") for line in (folder / "latency.txt").read_text(encoding="ascii").splitlines())
    }
    if len(found) != len(rows):
        print(f"SimpleSSD completed {len(found)} of {len(rows)} requests of {work.name}", file=sys.stderr)
    programs = re.search(r"program\.count\s+(\d+)", (folder / "log.txt").read_text(encoding="utf-8"))
    latencies = [found[key] for key in sorted(found)]
    return latencies, int(programs[1]) if programs else sys.exit("peers.py: SimpleSSD's log has no program.count")


def simplessd(folder: Path, work: Workload, source: Path) -> tuple[Result, Path]:
    """Return SimpleSSD's figures and its configuration."""
    program = source / "simplessd-standalone"
    head = simplessd_once(folder, work, work.requests[: work.skip], program)[1] if work.skip else 0
    latencies, programs = simplessd_once(folder, work, work.requests, program)
    pages, part = written(work.requests[work.skip :]), latencies[work.skip :]
    waf = (programs - head) / pages if pages else None
    return Result(sum(part) / len(part) / 1e6, max(part) / 1e6, waf), folder / "ssd.cfg"


# ---- FEMU's model


class Femu:
    """Computes the delays of FEMU's black-box mode: one time per LUN; a line is a block of each LUN."""

    def __init__(self, drive: Drive) -> None:
        self.drive, self.luns = drive, drive.luns()
        self.line_pages = self.luns * drive.pages
        self.free_at = [0] * self.luns
        self.where = [-1] * drive.exported()
        self.owner = [-1] * drive.raw_pages()
        self.valid = [0] * drive.blocks
        self.free = deque(range(drive.blocks))
        self.full: set[int] = set()
        self.line, self.next, self.programs = self.free.popleft(), 0, 0
        self.low, self.high = int(drive.femu_low * drive.blocks), int(0.05 * drive.blocks)

    def busy(self, page: int, now: int, took: int) -> int:
        """Occupy the LUN of a physical page; return the delay."""
        lun = page % self.luns
        self.free_at[lun] = max(now, self.free_at[lun]) + took
        return self.free_at[lun] - now

    def read(self, now: int, lpn: int) -> int:
        """Read a logical page."""
        return self.busy(self.where[lpn], now, self.drive.read) if self.where[lpn] >= 0 else 0

    def program(self, now: int, lpn: int) -> int:
        """Program a logical page at the write pointer."""
        page = self.line * self.line_pages + self.next
        if self.where[lpn] >= 0:
            self.valid[self.where[lpn] // self.line_pages] -= 1
            self.owner[self.where[lpn]] = -1
        self.where[lpn], self.owner[page] = page, lpn
        self.valid[self.line] += 1
        self.programs += 1
        self.next += 1
        if self.next == self.line_pages:
            self.full.add(self.line)
            self.line, self.next = self.free.popleft(), 0
        return self.busy(page, now, self.drive.program)

    def collect(self, now: int, force: bool) -> bool:
        """Collect the line with the fewest valid pages; unless forced, only if an eighth of it is invalid."""
        victim = min(self.full, key=self.valid.__getitem__, default=-1)
        dead = self.line_pages - self.valid[victim] if victim >= 0 else 0
        if not dead or (not force and dead < self.line_pages // 8):
            return False
        self.full.remove(victim)
        first = victim * self.line_pages
        for lun in range(self.luns):
            for page in range(first + lun, first + self.line_pages, self.luns):
                if self.owner[page] >= 0:
                    self.busy(page, now, self.drive.read)
                    self.program(now, self.owner[page])
            self.busy(first + lun, now, self.drive.erase)
        self.free.append(victim)
        return True

    def request(self, now: int, page: int, pages: int, read: int) -> int:
        """Do a request; return its delay in ns."""
        if read:
            delay = max(self.read(now, lpn) for lpn in range(page, page + pages))
        else:
            while len(self.free) <= self.high and self.collect(now, True):
                pass
            delay = max(self.program(now, lpn) for lpn in range(page, page + pages))
        if len(self.free) <= self.low:
            self.collect(now, False)
        return delay


def femu(folder: Path, work: Workload, source: Path) -> tuple[Result, Path]:
    """Return the model's figures, and the variables of FEMU's run-blackbox.sh for this drive."""
    del source
    drive = work.drive
    made = folder / "blackbox.sh"
    made.write_text(
        f"secsz={SECTOR}\nsecs_per_pg={PAGE // SECTOR}\npgs_per_blk={drive.pages}\nblks_per_pl={drive.blocks}\n"
        f"pls_per_lun=1\nluns_per_ch={drive.chips * drive.dies}\nnchs={drive.channels}\n"
        f"ssd_size={drive.exported() * PAGE >> 20}\npg_rd_lat={drive.read}\npg_wr_lat={drive.program}\n"
        f"blk_er_lat={drive.erase}\nch_xfer_lat=0\ngc_thres_pcent={100 - 100 * drive.femu_low:g}\n"
        "gc_thres_pcent_high=95\n",
        encoding="ascii",
    )
    model = Femu(drive)
    if work.requests[0][3]:
        for lpn in range(drive.exported()):
            model.program(0, lpn)
        model.free_at = [0] * model.luns
    head, delays = 0, []
    for i, request in enumerate(work.requests):
        if i == work.skip:
            head = model.programs
        delays.append(model.request(*request))
    part, pages = delays[work.skip :], written(work.requests[work.skip :])
    waf = (model.programs - head) / pages if pages else None
    return Result(sum(part) / len(part) / 1000, max(part) / 1000, waf), made


# ---- Slate

# MQSim's cache is turned off in its workload.
EXTRA = {"mqsim": ("ftl.buffer_units=0",), "ssdsim": (), "simplessd": (), "femu": ()}


def slate(folder: Path, work: Workload, peer: str, config: Path, extra: list[str]) -> Result:
    """Return Slate's figures with the profile imported from a peer's configuration."""
    profile = folder / "imported.ini"
    profile.unlink(missing_ok=True)
    run([sys.executable, ROOT / "host-tools" / "slate", "profiles", "import", config, profile], folder)
    if not profile.exists():
        sys.exit(f"peers.py: {config}: 'slate profiles import' refuses it")
    (folder / "slate.txt").write_text(columns(work.requests) + "\n", encoding="ascii")
    size = f"ftl.capacity_mib={work.drive.exported() * PAGE >> 20}"  # op_permille is a rounded number
    sets = [word for item in (*EXTRA[peer], size, "ftl.payload=no", *extra) for word in ("--set", item)]
    filled = ["--fill", "100"] if work.requests[0][3] else []
    skip = ["--warmup", str(work.skip)] if work.skip else []
    run([REPLAY, "--profile", profile, *sets, *filled, *skip, "--open", "--format", "ssdsim", "--json", "slate.json",
         "slate.txt"], folder)  # fmt: skip
    found = json.loads((folder / "slate.json").read_text(encoding="utf-8"))
    hosts = [found["host"][op] for op in ("read", "write") if found["host"][op]["ios"]]
    parts = [host["latency"] for host in hosts]
    mean = sum(part["sum_ns"] for part in parts) / sum(host["ios"] for host in hosts) / 1000
    return Result(mean, max(part["max_ns"] for part in parts) / 1000, found["waf"])


PEERS = {"mqsim": mqsim, "ssdsim": ssdsim, "simplessd": simplessd, "femu": femu}


def main() -> None:
    """Run the workloads on all simulators that are named."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the CSV; rows are added to it")
    for name in ("mqsim", "ssdsim", "simplessd"):
        parser.add_argument(f"--{name}", type=Path, metavar="DIR", help="the folder of its built program")
    parser.add_argument("--only", default="", metavar="NAME,...", help="these workloads (default: all)")
    parser.add_argument("--peer", default=",".join(PEERS), metavar="NAME,...", help="these simulators")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of Slate's")
    parser.add_argument("--drive", action="append", default=[], metavar="FIELD=VALUE", help="of the drive: dies=2")
    args = parser.parse_args()
    known = workloads()
    wanted = args.only.split(",") if args.only else list(known)
    if unknown := [name for name in wanted if name not in known]:
        parser.error(f"--only {unknown[0]}: is none of {', '.join(known)}")
    changes: dict[str, Any] = {
        key: float(value) if "." in value else int(value) if value.isdigit() else value
        for key, _, value in (item.partition("=") for item in args.drive)
    }
    new = not args.out.exists()
    with args.out.open("a", encoding="ascii", newline="") as out, tempfile.TemporaryDirectory() as place:
        table = csv.writer(out, lineterminator="\n")
        if new:
            table.writerow(
                ["workload", "peer", "mean_us", "max_us", "waf", "slate_mean_us", "slate_max_us", "slate_waf"]
            )
        for name in wanted:
            work = known[name]()
            work = replace(work, drive=replace(work.drive, **changes))
            for peer in args.peer.split(","):
                source = getattr(args, peer, None)
                if peer != "femu" and source is None:
                    continue
                folder = Path(place) / peer
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                theirs, config = PEERS[peer](folder, work, source.resolve() if source else folder)
                ours = slate(folder, work, peer, config, args.set)
                row = [f"{x:.3f}" if x is not None else "" for one in (theirs, ours)
                       for x in (one.mean_us, one.max_us, one.waf)]  # fmt: skip
                table.writerow([name, peer, *row])
                out.flush()
                print(f"{name:<14}{peer:<11}{' '.join(f'{x:>11}' for x in row)}", flush=True)


if __name__ == "__main__":
    main()
