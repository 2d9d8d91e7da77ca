# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slatectl: through the NVMe driver in the guest, and through QEMU's monitor on the host."""

import json
import struct
import subprocess
import unittest
from pathlib import Path
from typing import Any

from support import HERE, ROOT, SMALL, GuestTest

CTL = ROOT / "build" / "core" / "slatectl"


class Guest(GuestTest):
    """Boot once with every command, and compare the drive's counters of the same time."""

    kernel = "debian"

    def test_all(self) -> None:
        self.result = self.slate("--cmd", HERE / "ctl.sh")
        for check in (self.info, self.reads, self.gc, self.settings, self.faults, self.others, self.counters):
            with self.subTest(check.__name__):
                check()

    def found(self, name: str) -> Any:
        return self.result.json(f"{name}.json")

    def said(self, name: str, *words: Any) -> None:
        text = self.result.text(f"{name}.err")
        self.assertTrue(text.startswith("slatectl: "), text)
        for word in words:
            self.assertIn(word, text, name)

    def info(self) -> None:
        info = self.found("info")
        self.assertEqual((info["profile"], info["ftl"], info["capacity_bytes"]), ("small", "page", 256 << 20))
        settings = dict(line.partition("=")[::2] for line in self.result.device.raw["settings"])
        self.assertEqual(settings["ftl.gc_slice_pages"], "7", "as set later, see settings()")
        self.assertEqual(info["settings"] | {"ftl.gc_slice_pages": "7"}, settings)
        self.assertEqual(info["page_bytes"], int(settings["geometry.page_bytes"]))
        self.assertIn("ftl.gc_slice_pages", info["knobs"])
        self.assertTrue(info["payload"] and info["write_cache"] and info["collects"] and info["block_states"])

    def reads(self) -> None:
        reset, reads = self.found("reset"), self.found("reads")
        self.assertEqual(reset["since_ns"], reads["since_ns"])
        self.assertEqual(reset["ops"]["read"]["ios"], 0)
        self.assertIsNone(reset["waf"])
        op = reads["ops"]["read"]
        self.assertEqual((op["ios"], op["bytes"], op["errors"]), (100, 409600, 0))
        causes = (
            "cell", "bus", "host_queue", "gc_queue", "buffer", "map", "other", "link", "controller", "namespace_queue",
        )  # fmt: skip
        self.assertEqual(sum(op[f"{name}_ns"] for name in causes), op["latency_sum_ns"])
        self.assertEqual(op["latency_sum_ns"], 100 * op["latency_min_ns"], "one at a time: all alike")
        buckets = [bucket for bucket in self.found("latency")["buckets"] if bucket["op"] == "read"]
        self.assertEqual(sum(bucket["ios"] for bucket in buckets), 100)
        for cause in causes:
            self.assertEqual(sum(bucket["cause_ns"][cause] for bucket in buckets), op[f"{cause}_ns"], cause)
        for bucket in buckets:
            self.assertTrue(bucket["from_ns"] <= op["latency_min_ns"] < bucket["below_ns"])

    def gc(self) -> None:
        before, after = self.found("before-gc"), self.found("after-gc")
        planes = len(before["planes"])
        self.assertEqual(self.found("gc"), {"planes": planes})
        self.assertGreaterEqual(
            sum(plane["erases_sum"] for plane in after["planes"]),
            sum(plane["erases_sum"] for plane in before["planes"]) + planes,
            "a block of each plane",
        )
        for plane in before["planes"] + after["planes"]:
            states = sum(plane[name] for name in ("used", "free", "open", "full", "victim", "bad"))
            self.assertEqual(states, plane["blocks"])
        units = {sum(plane["valid_units"] for plane in found["planes"]) for found in (before, after)}
        self.assertEqual(len(units), 1, "collecting changes no data")

    def settings(self) -> None:
        self.assertEqual(self.found("set")["settings"]["ftl.gc_slice_pages"], "7")
        self.said("set-value", "gc_slice_pages", "lots")
        self.said("set-name", "geometry.channels")
        self.said("set-none", "ftl.bogus")

    def faults(self) -> None:
        (fault,) = self.found("program")["faults"]
        self.assertEqual((fault["kind"], fault["left"], fault["hits"]), ("program", 0, 1))
        self.assertEqual(self.found("clear")["faults"], [])
        self.said("flip", "there is no such page")
        self.assertEqual(self.found("last")["nand"]["program_fails"], 1)
        blocks = self.found("wear")["blocks"]
        self.assertEqual(len(blocks), sum(plane["blocks"] for plane in self.found("after-gc")["planes"]))
        at = fault["ppn"] // int(self.found("info")["pages_per_block"])
        self.assertEqual(blocks[at]["state"], "bad", "a block with a failed program is given up")

    def others(self) -> None:
        magic, version, log = struct.unpack_from("<4sHH", (self.result.folder / "nvme.bin").read_bytes())
        self.assertEqual((magic, version, log), (b"SLOG", 1, 0xD1))
        smart = self.found("smart")
        self.assertGreater(int(smart["host_read_commands"]), 2100)
        self.assertEqual(int(smart["media_errors"]), 0)
        decoder, text, seen = json.JSONDecoder(), self.result.text("watch.json"), []
        while text.strip():
            found, end = decoder.raw_decode(text.lstrip())
            seen.append(found)
            text = text.lstrip()[end:]
        self.assertEqual(len(seen), 3)
        for interval in seen:
            self.assertEqual(interval["ops"]["read"]["ios"], 0)
            self.assertTrue(5_000_000 <= interval["interval_ns"] < 6_000_000)
        self.assertEqual(len(self.result.text("watch.txt").splitlines()), 3)
        self.said("none", "/dev/null: is no NVMe namespace")
        self.said("gone", "/dev/nvme0n1: ")  # ENODEV or a path error: the kernel's choice
        self.assertGreater(len(self.result.text("gone.txt").splitlines()), 10, "it watched until then")
        for name, words in (
            ("info", ("small: page FTL, 256 MiB", "geometry.channels=", "'slatectl set' takes")),
            ("counters", ("small (page FTL)", "WAF", "AEP", "none was broken")),
            ("latency", ("read", "host_queue")),
            ("blocks", ("0.0.0.0", "valid units")),
            ("wear", ("erases", "full")),
            ("faults", ("0 faults planned, room for 32 more",)),
        ):
            for word in words:
                self.assertIn(word, self.result.text(f"{name}.txt"), name)

    def counters(self) -> None:
        """The last log equals QEMU's final counters, except for the flush of the shutdown."""
        last, total = self.found("last"), self.result.json("device.json")["total"]
        for op in ("read", "write", "trim"):
            self.assertEqual(last["ops"][op]["ios"], total[op]["ios"], op)
            self.assertEqual(last["ops"][op]["latency_sum_ns"], total[op]["latency-sum-ns"], op)
        for source, counts in total["nand"]["by-source"].items():
            for word in ("reads", "programs", "erases"):
                self.assertEqual(last["sources"][source][word], counts[word], f"{source} {word}")
        self.assertEqual(sum(last["violations"]), 0)


class Host(GuestTest):
    """Control the same drive from the host while the guest runs."""

    def test_qmp(self) -> None:
        ready = self.folder / "script.sh"
        ready.write_text("echo ready; sleep 1000000\n", encoding="utf-8")
        qmp = f"/tmp/slate-{self.id().rpartition('.')[2]}-{hash(str(self.folder)) & 0xFFFFFF:x}"
        command, out = self.command("--cmd", ready, "--qmp", qmp)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            try:
                self.wait_for(out / "console.log", "ready")
                self.look(qmp)
            finally:
                run.terminate()
                run.wait(60)
        self.assert_no_process(out)

    def wait_for(self, path: Path, word: str) -> None:
        import time

        for _ in range(1200):
            if path.exists() and word in path.read_text(errors="replace"):
                return
            time.sleep(0.1)
        self.fail(f"{path}: no {word}")

    def look(self, qmp: Any) -> None:
        def ctl(*words: Any, code: int = 0) -> subprocess.CompletedProcess[str]:
            done = subprocess.run([CTL, "--qmp", qmp, *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            return done

        info = json.loads(ctl("--json", "info").stdout)
        self.assertEqual((info["profile"], info["capacity_bytes"]), (SMALL.stem, 256 << 20))
        counters = json.loads(ctl("--json", "counters").stdout)
        self.assertEqual(counters["ops"]["write"]["ios"], 0)
        self.assertGreater(counters["ops"]["read"]["ios"], 0)
        self.assertEqual(len(json.loads(ctl("--json", "wear").stdout)["blocks"]), counters_blocks(info))
        ctl("set", "ftl.gc_slice_pages=9")
        self.assertEqual(json.loads(ctl("--json", "info").stdout)["settings"]["ftl.gc_slice_pages"], "9")
        self.assertIn("ftl.bogus", ctl("set", "ftl.bogus=1", code=1).stderr)
        self.assertIn("no-such", ctl("--node", "no-such", "info", code=1).stderr)
        ctl("reset")
        self.assertEqual(json.loads(ctl("--json", "counters").stdout)["ops"]["read"]["ios"], 0)


def counters_blocks(info: dict[str, int]) -> int:
    """Return the blocks of the whole array."""
    planes = info["channels"] * info["chips_per_channel"] * info["dies_per_chip"] * info["planes_per_die"]
    return planes * info["blocks_per_plane"]


if __name__ == "__main__":
    unittest.main()
