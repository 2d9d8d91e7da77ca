# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the errors of the tests' own connection to QEMU, if QEMU is silent or gone."""

import socket
import tempfile
import unittest
from pathlib import Path

from support import Monitor


class Silence(unittest.TestCase):
    """A socket stands for QEMU."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-silent-")
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "socket"
        self.monitor = Monitor(path, patience_s=1)
        self.addCleanup(self.monitor.close)
        self.other = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.other.close)
        self.other.connect(str(path))
        self.monitor.accept()

    def test_no_answer(self) -> None:
        self.monitor.send("clock_step")
        self.other.sendall(b"half a li")
        with self.assertRaisesRegex(TimeoutError, r"^QEMU has said nothing for 1 s after: clock_step$"):
            self.monitor.receive()
        self.other.sendall(b"ne\n")
        self.assertEqual(self.monitor.receive(), "half a line")

    def test_gone(self) -> None:
        self.other.close()
        with self.assertRaisesRegex(EOFError, "QEMU closed the connection"):
            self.monitor.receive()


if __name__ == "__main__":
    unittest.main()
