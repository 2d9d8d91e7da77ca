# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate run --shell, on a terminal; and a script that reads its standard input."""

import os
import pty
import select
import subprocess
import time
import unittest

from support import GuestTest

PROMPT = "~ # "


class Terminal:
    """Runs a program on a pseudo-terminal."""

    def __init__(self, line: list[str], folder: os.PathLike[str]) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, close_fds=True)
        os.close(theirs)
        self.said = ""

    def close(self) -> None:
        """End the program if it is still running."""
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def until(self, word: str, seconds: float = 120) -> str:
        """Return the output since the last call, up to this word."""
        deadline = time.monotonic() + seconds
        while word not in self.said:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.ours], [], [], left)[0]:
                raise AssertionError(f"no '{word}' within {seconds} s in: {self.said}")
            try:
                self.said += os.read(self.ours, 65536).decode(errors="replace")
            except OSError:  # the last holder of the terminal has ended
                raise AssertionError(f"it ended without '{word}': {self.said}") from None
        before, _, self.said = self.said.partition(word)
        return before

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self.ours, text.encode() + b"\r")


class Shell(GuestTest):
    """The guest's shell."""

    def session(self) -> Terminal:
        line, _ = self.command("--shell")
        terminal = Terminal(line, self.folder)
        self.addCleanup(terminal.close)
        terminal.until(PROMPT)
        return terminal

    def uptime(self, shell: Terminal) -> float:
        """Return the guest's clock."""
        shell.type('read -r up rest </proc/uptime; echo "<$up>"')
        shell.until("\n<")
        found = float(shell.until(">"))
        shell.until(PROMPT)
        return found

    def test_each_way_out_prints_the_report(self) -> None:
        for word in ("exit", "poweroff"):
            with self.subTest(word):
                shell = self.session()
                shell.type("echo $((6 * 7))")
                shell.until("\n42")
                shell.until(PROMPT)
                shell.type(word)
                said = shell.until("whole run")
                self.assertNotIn("neither", said)
                self.assertNotIn("booting", said)
                self.assertEqual(shell.process.wait(60), 0)

    def test_an_idle_prompt_takes_the_hosts_time(self) -> None:
        """Virtual time must not jump to the kernel's next timer, which may be minutes away."""
        shell = self.session()
        began = time.monotonic()
        first = self.uptime(shell)
        time.sleep(3)
        passed = self.uptime(shell) - first
        self.assertGreater(passed, 1)
        self.assertLess(passed, time.monotonic() - began + 1)

    def test_nothing_to_read(self) -> None:
        self.refused("--shell", words=("--shell: the standard input is empty", "--cmd FILE"), stdin=subprocess.DEVNULL)


class Script(GuestTest):
    """--cmd."""

    def test_its_input_is_empty(self) -> None:
        script = self.folder / "reads.sh"
        script.write_text("cat >$OUT/read.txt; echo $? >>$OUT/read.txt\n")
        self.assertEqual(self.slate("--cmd", script).text("read.txt"), "0\n")


if __name__ == "__main__":
    unittest.main()
