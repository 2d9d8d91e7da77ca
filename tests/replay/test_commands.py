# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the log of NAND commands (slate-replay --commands), whose times 'slate cuts --cut-at' takes."""

import unittest

from support import ROOT, TINY, Case

from content_trace import WRITE, Request, make


class Commands(Case):
    """Each command that changes cells has a line."""

    def test_nand_commands(self) -> None:
        """--commands has the times between which a cut tears.

        small: a page takes 300 + (16,384 + 1,280) * 1.25 ns on its channel, for a command of two planes twice, and then
        a program 640,000 ns. A write of one page needs one plane, one of four pages both planes of both dies.
        """
        small, log = ROOT / "nand-emu" / "profiles" / "small.ini", self.folder / "commands"
        one, four = bytes(range(256)) * 64, bytes(range(256)) * 256
        pages = [Request(0, WRITE, 0, 16384, True, one), Request(2_000_000, WRITE, 0, 65536, True, four)]
        trace = self.file("pages.content", make(pages))
        self.call("--profile", small, "--drive", self.folder / "a.slate", "--open", "--commands", log, trace)
        head, *lines = log.read_text(encoding="utf-8").splitlines()
        self.assertEqual(head, "command,op,source,die,page,count,begin_ns,cells_ns,end_ns")
        die, half = 2 * 80 * 64, 80 * 64
        self.assertEqual(sorted(lines), [
            "0,program,host,0,0,1,0,22380,662380",
            f"1,program,host,1,{die},2,2000000,2044760,2684760",
            f"2,program,host,0,{half},2,2000000,2044760,2684760",
        ])  # fmt: skip
        for at_ns, torn in ((22_380, 0), (22_381, 1), (662_379, 1), (662_380, 0),
                            (2_044_760, 0), (2_044_761, 4), (2_684_759, 4), (2_684_760, 0)):  # fmt: skip
            with self.subTest(at_ns=at_ns):
                (self.folder / "d.slate").unlink(missing_ok=True)
                words = ("--drive", self.folder / "d.slate", "--open", "--cut-at", at_ns, trace)
                self.assertEqual(self.json(*words, profile=small)["power"]["torn-programs"], torn)

    def test_a_suspended_command(self) -> None:
        """A read comes at 250,000: the program stops for 1,000, the read's 14,096 and 2,000 ns, and so ends later."""
        trace = self.native("0 0 write 0 4096 fua", "200000 0 write 4096 8192 fua", "250000 0 read 0 4096")
        words = [word for key in ("timing.suspend_ns=1000", "timing.resume_ns=2000", "timing.suspends_max=1",
                                  "ftl.suspend=program") for word in ("--set", key)]  # fmt: skip
        self.call("--profile", TINY, *words, "--open", "--commands", "log", trace)
        lines = (self.folder / "log").read_text(encoding="utf-8").splitlines()
        self.assertIn(f"2,program,host,0,1,1,200000,204096,{304_096 + 17_096}", lines)

    def test_the_log_of_commands(self) -> None:
        """It has all commands. A name that cannot be used is refused, and a full disk leaves no log."""
        trace = self.native("0 0 write 0 4096", "5 0 write 4096 12288 fua", "900000 0 read 0 4096")
        self.refused("--profile", TINY, "--open", "--commands", "no/log", trace,
                     words=("--commands no/log.part: No such file or directory: name a file",))  # fmt: skip
        for option in ("--csv", "--json", "--record", "--record-content"):
            self.refused("--profile", TINY, "--commands", "x", option, "x", trace,
                         words=("--commands names the file of --csv, --json",))  # fmt: skip
        self.call("--profile", TINY, "--open", "--commands", "log", trace)
        self.assertEqual(len((self.folder / "log").read_text(encoding="utf-8").splitlines()), 1 + 1 + 3)
        (self.folder / "full.part").symlink_to("/dev/full")
        said = self.call("--profile", TINY, "--open", "--commands", "full", trace, code=1).stderr
        self.assertIn("--commands full: No space left on device: free some space", said)


if __name__ == "__main__":
    unittest.main()
