# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what the check of power cuts allows of a write that was under way: fsyncs.c's between(), compiled here."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT

SOURCE = ROOT / "host-tools" / "guest" / "fsyncs.c"
# A file of 3 bytes "aaa" gets 4 bytes "bbbb" from byte 2 on. Arguments: what the file holds after the cut.
HARNESS = f"""
#define main fsyncs_main
#include "{SOURCE}"
#undef main
int main(int argc, char **argv)
{{
	struct file before = {{true, 3, (uint8_t *)"aaa\\0\\0\\0\\0"}}, after = {{true, 6, (uint8_t *)"aabbbb\\0"}};

	for (int i = 1; i < argc; i++) {{
		memcpy(scratch, argv[i], strlen(argv[i]));
		puts(between(&before, &after, (ssize_t)strlen(argv[i])) ? "yes" : "no");
	}}
	return 0;
}}
"""


class Between(unittest.TestCase):
    """ext4 (Linux 6.1) sets the size of a long write in parts, so a size between the old and the new one is no loss."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name) / "between"
        source = self.program.with_suffix(".c")
        source.write_text(HARNESS, encoding="utf-8")
        subprocess.run(["cc", "-o", self.program, source], check=True, timeout=60)

    def allowed(self, *files: str) -> list[str]:
        return subprocess.run(
            [self.program, *files], capture_output=True, text=True, check=True, timeout=60
        ).stdout.split()

    def test_old_and_new_bytes_and_sizes(self) -> None:
        self.assertEqual(self.allowed("aaa", "aab", "aabbbb", "aaabbb"), ["yes"] * 4)

    def test_a_size_between(self) -> None:
        self.assertEqual(self.allowed("aabb", "aabbb"), ["yes"] * 2)

    def test_what_is_lost(self) -> None:
        self.assertEqual(self.allowed("aa", "aabbbbb", "baabbb", "aabxbb", "aax"), ["no"] * 5)


if __name__ == "__main__":
    unittest.main()
