# SPDX-License-Identifier: GPL-2.0-or-later
"""The test runner counts correctly."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

from support import ROOT

from archive import small_disk

_SPEC = importlib.util.spec_from_file_location("tests_run", ROOT / "tests" / "run.py")
runner: Any = importlib.util.module_from_spec(_SPEC)
sys.modules["tests_run"] = runner
_SPEC.loader.exec_module(runner)


class Tap(unittest.TestCase):
    """TAP streams."""

    def test_lines(self) -> None:
        tests = runner.parse_tap(
            [
                "1..3",
                "ok 1 - a # time=1.50",
                "noise",
                "not ok 2 - b",
                "# why",
                "ok 3 - c # SKIP no disk",
                "not ok 4 - d # TODO later",
                "okay, not a test",
            ]
        )
        self.assertEqual(
            [(t.name, t.passed) for t in tests], [("a", True), ("b", False), ("c", True), ("d", True)]
        )
        self.assertEqual((tests[0].seconds, tests[1].output, tests[2].skipped), (1.5, ["why"], "no disk"))

    def junit(self, body: str) -> list[tuple[str, bool]]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.xml"
            path.write_text(f"<testsuite>{body}</testsuite>", encoding="utf-8")
            return [(t.name, t.passed) for t in runner.parse_junit(path)]

    def test_programs_that_name_cases(self) -> None:
        self.assertEqual(
            self.junit('<testcase name="p" status="run"><system-out>ok a\nok b\n</system-out></testcase>'),
            [("p: a", True), ("p: b", True)],
        )

    def test_a_crash_after_good_cases_counts(self) -> None:
        self.assertEqual(
            self.junit(
                '<testcase name="p" status="fail"><failure/><system-out>ok a\nboom\n</system-out></testcase>'
            ),
            [("p: a", True), ("p", False)],
        )

    def test_a_program_without_cases(self) -> None:
        self.assertEqual(
            self.junit('<testcase name="p" status="run"><system-out>fine\n</system-out></testcase>'),
            [("p", True)],
        )


class Times(unittest.TestCase):
    """Test the report of the slowest tests."""

    def test_phases_of_this_run_and_suites_of_a_second(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "build" / "log"
            log.mkdir(parents=True)
            for name, seconds, at in (("old", "50.0", 999), ("qemu", "99.1", 1000), ("core", "0.9", 1001)):
                path = log / f"{name}.seconds"
                path.write_text(seconds + "\n", encoding="utf-8")
                os.utime(path, (at, at))
            suites = [runner.Suite(name, "", [], log, "", seconds=took) for name, took in (("a", 7.04), ("b", 1011))]
            root, runner.ROOT = runner.ROOT, Path(folder)
            self.addCleanup(setattr, runner, "ROOT", root)
            self.assertEqual(
                runner.times(suites, 1000), ["  1011.0 s  suite b", "    99.1 s  build qemu", "     7.0 s  suite a"]
            )


class Parts(unittest.TestCase):
    """A part of the build that fails is a failed test; the others, and all suites, go on."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def phase(self, command: str) -> int:
        words = [str(ROOT / "host-tools/phase.sh"), "-q", "kunit", "KUnit's modules", "sh", "-c", command]
        environment = os.environ | {"SLATE_BUILD": str(self.root / "build")}
        return subprocess.run(words, env=environment, capture_output=True, timeout=60, check=False).returncode

    def parts(self) -> list[tuple[str, bool, list[str]]]:
        old, runner.BUILD = runner.BUILD, self.root / "build"
        try:
            return [(test.name, test.passed, test.output) for test in runner.build_suite().tests]
        finally:
            runner.BUILD = old

    def test_a_failed_part_is_a_failed_test_with_its_reason(self) -> None:
        self.assertEqual(self.phase("echo the archive has no such file; exit 3"), 3)
        self.assertEqual(self.parts(), [("kunit: KUnit's modules", False, ["the archive has no such file"])])
        self.assertEqual(self.phase("true"), 0)
        self.assertEqual(self.parts(), [])

    def test_a_part_that_fills_the_disk_is_told(self) -> None:
        """A phase that ends on a full disk can write no file that says so."""
        log = self.root / "build" / "log"
        small_disk(self, log, "16k")
        self.assertNotEqual(self.phase(f"dd if=/dev/zero of={log}/big bs=1k"), 0)
        self.assertEqual([name for name, _, _ in self.parts()], ["kunit: KUnit's modules"])
        (log / "big").unlink()
        (log / "kunit.seconds").write_text("")
        (log / "core.seconds").write_text("2.0\n")
        root, runner.ROOT = runner.ROOT, self.root
        self.addCleanup(setattr, runner, "ROOT", root)
        self.assertEqual(runner.times([], 0), ["     2.0 s  build core"])

    def test_make_goes_on_behind_one(self) -> None:
        """make test builds the other parts, and runs the suites, when a part fails."""
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", text, re.MULTILINE)
        assert recipe
        (self.root / "tests").mkdir()
        (self.root / "tests/run.py").write_text("import sys\nprint(*sys.argv[1:], 'suites')", encoding="utf-8")
        parts = "core:\n\t@echo core\nqemu: core\n\t@false\npackages-all:\n\t@false\nguest:\n\t@echo guest\n"
        names = "PARTS := $(MAKE) --no-print-directory\nBUILD := core qemu\nTEST_PARTS := guest\n"
        (self.root / "Makefile").write_text(f"{names}test:\n{recipe[1]}{parts}", encoding="utf-8")
        words = ["make", "-s", "-C", str(self.root), "test"]
        env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # no SUITE= of ours
        env = {name: value for name, value in env.items() if name not in ("SUITE", "TESTS", "TURNS")}
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=env)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["--room", "suites", "core", "guest", "suites"]))


class Makefile(unittest.TestCase):
    """Check the programs that the Makefile's recipes name."""

    def test_programs_can_be_run(self) -> None:
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        run = re.findall(r"^\t@?((?:host-tools|qemu-patches|tests)/\S+)", text, re.MULTILINE)
        self.assertIn("host-tools/slate", run)
        self.assertEqual([name for name in run if not os.access(ROOT / name, os.X_OK)], [])

    def test_parts_of_the_studies_are_there(self) -> None:
        """'make' names only parts that host-tools/reproduce has, and each part is a module with a main()."""
        main = (ROOT / "host-tools/reproduce/__main__.py").read_text(encoding="utf-8")
        parts = dict(re.findall(r'^    "([\w-]+)": "([\w.]+)",$', main, re.MULTILINE))
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        named = re.findall(r"^\t@(?:\$\(REPRODUCE\)|\S+ host-tools/reproduce) (\S+)", text, re.MULTILINE)
        self.assertLess({"run", "fit", "summary", "pictures"}, set(named))
        self.assertLessEqual(set(named), set(parts))
        for module in parts.values():
            path = ROOT / "host-tools/reproduce" / (module.replace(".", "/") + ".py")
            self.assertRegex(path.read_text(encoding="utf-8"), r"(?m)^(def main\(|main = )", module)


class Moved(unittest.TestCase):
    """A tree that was moved or copied with its build folder is built from its own sources."""

    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def test_the_core(self) -> None:
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        recipe = re.search(r"^core:.*\n((?:\t.*\n)+)", text, re.MULTILINE)
        assert recipe
        first, second = self.root / "first", self.root / "second"
        first.mkdir()
        (first / "Makefile").write_text(f"CORE := build/core\nPHASE := {ROOT}/host-tools/phase.sh\ncore:\n{recipe[1]}")
        (first / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(moved NONE)\n"
            "add_custom_target(products COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/word word)\n"
        )
        (first / "word").write_text("first")
        self.assertEqual(self.built(first), "first")
        shutil.copytree(first, second)
        (second / "word").write_text("second")
        self.assertEqual(self.built(second), "second")
        self.assertEqual(self.built(first), "first")

    def built(self, tree: Path) -> str:
        words = ["make", "-s", "-C", str(tree), "core"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return (tree / "build/core/word").read_text()

    def test_python_environments(self) -> None:
        """venv.sh makes an environment again whose programs would run that of another tree."""
        shutil.copy(ROOT / "host-tools/venv.sh", self.root)
        (self.root / "python").mkdir()
        (self.root / "python/empty.txt").write_text("")
        venv = self.root / "build/venv-empty"
        (venv / "bin").mkdir(parents=True)
        (venv / "bin/python3").symlink_to("/usr/bin/python3")
        (venv / "bin/pip").write_text(f"#!{self.root}/elsewhere/venv-empty/bin/python3\n")
        version = subprocess.run(["/usr/bin/python3", "--version"], capture_output=True, text=True, check=True).stdout
        (venv / ".requirements.txt").write_text(version)
        for again in range(2):
            build = {**os.environ, "SLATE_BUILD": str(self.root / "build")}
            subprocess.run([self.root / "venv.sh", "empty"], env=build, timeout=300, check=True)
            self.assertEqual((venv / "bin/pip").read_text().splitlines()[0], f"#!{venv}/bin/python3")
            self.assertEqual((venv / "kept").exists(), again == 1)
            (venv / "kept").touch()


class Rotation(unittest.TestCase):
    """Run tests/rotation.sh in a repository whose long checks are short."""

    TURNS = (
        *("gcc", "replay-asan", "hosts-12", "clang", "core-asan", "hosts-13", "valgrind", "cut-asan"),
        *("hosts-forky", "small-smp", "cppcheck"),
    )
    PARTS: ClassVar = {
        "gcc": "tests/analyse.sh",
        "replay-asan": "tests/asan.sh",
        "hosts-12": "tests/hosts.sh",
        "clang": "tests/analyse.sh",
        "core-asan": "tests/asan.sh",
        "hosts-13": "tests/hosts.sh",
        "valgrind": "tests/valgrind.sh",
        "cut-asan": "tests/asan.sh",
        "hosts-forky": "tests/hosts.sh",
        "small-smp": "tests/guest/small_smp.sh",
        "cppcheck": "tests/analyse.sh",
        "qemu-asan": "tests/asan.sh",
        "qemu-tsan": "qemu-patches/tsan.sh",
        "qemu-fuzz": "qemu-patches/fuzz.sh",
        "container": "bin/make",
    }

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.host = ""  # of tests/hosts.sh
        for name in ("tests/guest", "qemu-patches", "bin"):
            (self.root / name).mkdir(parents=True)
        for name in ("rotation.sh", "turns.py"):
            shutil.copy(ROOT / "tests" / name, self.root / "tests")
        for name in set(self.PARTS.values()):
            self.assertTrue(name == "bin/make" or os.access(ROOT / name, os.X_OK), name)
            self.script(name, "exit 0")
        self.user(0)
        self.script("bin/unshare", "exit 0")

    def user(self, number: int) -> None:
        """Be the user of this number."""
        (self.root / "bin/id").write_text(f"#!/bin/sh\necho {number}\n", encoding="utf-8")
        (self.root / "bin/id").chmod(0o755)

    def script(self, name: str, body: str) -> None:
        path = self.root / name
        path.write_text(f"#!/bin/sh\necho {name} $*\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def git(self, *words: Any) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *words], cwd=self.root, check=True, capture_output=True, timeout=60)

    def rotate(self, *words: Any, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.root / "tests" / "rotation.sh", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "SLATE_ON_HOST": self.host},
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def names(self, *words: Any, code: int = 0) -> list[tuple[str, bool]]:
        return [
            (t.name.partition(":")[0], t.passed)
            for t in runner.parse_tap(self.rotate(*words, code=code).stdout.splitlines())
        ]

    def test_each_commit_has_its_part(self) -> None:
        self.git("init", "-q")
        found = []
        for _ in range(12):
            self.git("commit", "-q", "--allow-empty", "-m", "x")
            found += self.names()
        turns = [*self.TURNS[1:], *self.TURNS[:2]]
        self.assertEqual(found, [(name, True) for name in turns])
        note = f"# note: at 12 commits replay-asan has its turn, of {' '.join(self.TURNS)}; every part: "
        self.assertIn(note + "tests/rotation.sh all\n", self.rotate().stdout)

    def test_a_shallow_clone_has_turns(self) -> None:
        self.git("init", "-q")
        self.git("add", ".")
        whole = self.root
        for number in range(6):
            self.root = whole
            self.git("commit", "-q", "--allow-empty", "-m", str(number))
            name = f"clone-{number}"
            self.git("clone", "-q", "--depth=1", f"file://{whole}", name)
            self.root = whole / name
            head = subprocess.run(
                ["git", "rev-parse", "HEAD"], cwd=self.root, capture_output=True, text=True, check=True, timeout=60
            ).stdout
            turn = self.TURNS[int(head[:7], 16) % len(self.TURNS)]
            self.assertEqual(self.names(), [(turn, True)])

    def test_without_git_the_first(self) -> None:
        self.assertEqual(self.names(), [("gcc", True)])

    def test_hosts_that_cannot_be_made(self) -> None:
        """Other parts do not ask."""
        why = {name: "needs root" for name in self.PARTS if name.startswith("hosts") or name == "container"}
        self.user(1000)
        tests = runner.parse_tap(self.rotate("all").stdout.splitlines())
        self.assertEqual({t.name.partition(":")[0]: t.skipped for t in tests if t.skipped}, why)
        self.assertEqual([t.name.partition(":")[0] for t in tests], list(self.PARTS))
        self.host = "1"
        self.assertIn("# SKIP this is such a host\n", self.rotate("hosts-13").stdout)
        self.host = ""
        self.user(0)
        self.git("init", "-q")
        self.git("add", "tests/asan.sh")
        self.assertIn("# SKIP changed files would not be on the host: commit them\n", self.rotate("hosts-13").stdout)
        self.git("commit", "-q", "-m", "x")
        self.assertEqual(self.names("hosts-13"), [("hosts-13", True)])
        self.script("bin/unshare", "exit 1")
        self.assertIn("# SKIP no mount namespaces\n", self.rotate("hosts-13").stdout)

    def test_all_go_on_behind_one_that_fails(self) -> None:
        self.script("tests/asan.sh", "echo what is wrong; test $1 = qemu")
        good = [(name, name not in ("replay-asan", "core-asan", "cut-asan")) for name in self.PARTS]
        self.assertEqual(self.names("all", code=1), good)
        self.assertIn("# what is wrong", self.rotate("replay-asan", code=1).stdout)

    def test_a_word_of_another_suite_selects_nothing(self) -> None:
        self.assertEqual(self.rotate("--only=thread").stdout, "")
        self.assertEqual(self.names("--only=qemu-tsan"), [("qemu-tsan", True)])

    def test_no_such_part(self) -> None:
        done = self.rotate("qemu", code=2)
        self.assertEqual(
            done.stderr,
            f"rotation.sh: no part named qemu; there are {' '.join(self.PARTS)}\n",
        )


if __name__ == "__main__":
    unittest.main()
