#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the test suites, show progress, end with one line 'N passed, N failed'.

    tests/run.py [--room] [--only WORD] [--every-turn] [SUITE ...]

Without a word it runs all suites, but of the tests that take turns (tests/turns.py) those of HEAD's turn.
A suite is a command. It prints TAP, or (CTest) leaves a JUnit file. A suite
that ends badly without naming a failed test counts as one failed test.
Everything is kept in build/test/: SUITE.log, and summary.json.

Several suites run in two lanes: the guests', which takes about as long as all the others, and the
others one after another. So a lane's last test, alone, leaves no processor idle.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import turns

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("SLATE_BUILD") or ROOT / "build")  # of host-tools/phase.sh
RESULTS = ROOT / "build" / "test"
ROOM_MB = 6000  # a build has 4200 by du, and the suites' files come and go; caches (3500) may be elsewhere or full
LEFT_MB = 1500  # what the suites need beside a build
PATIENCE_S = 10.0  # of an interrupted suite, before it is killed
_TAP = re.compile(r"^(ok|not ok)\b\s*(\d+)?\s*(?:-\s*)?(.*)$")
_TIME = re.compile(r"\s*# time=([0-9.]+)(?: cpu=([0-9.]+))?\s*$")


@dataclass
class Test:
    """Holds the outcome of one test."""

    name: str
    passed: bool
    seconds: float = 0.0
    cpu_s: float = 0.0  # 0: not known
    skipped: str = ""
    output: list[str] = field(default_factory=list)


@dataclass
class Suite:
    """Describes a command that runs tests."""

    name: str
    what: str
    command: list[str]
    needs: Path  # without this file the suite cannot run
    again: str  # reruns one test; {test}
    only: str = ""  # option that selects tests; {word}
    junit: Path | None = None
    limit_s: float = 1800
    tests: list[Test] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: str = ""
    seconds: float = 0.0


def _python_suite(name: str, what: str, needs: str, *how: str, limit_s: float = 1800) -> Suite:
    """Return the Python tests of a folder, which tests/tap.py runs on every processor."""
    command = [sys.executable, "tests/tap.py", f"tests/{name}", "--jobs", str(os.cpu_count() or 1), *how]
    again = f"python3 tests/tap.py tests/{name} --only {{test}}"
    return Suite(name, what, command, ROOT / needs, again, "--only={word}", limit_s=limit_s)


def _core_suite(processors: int) -> Suite:
    """Return the C tests, which CTest runs."""
    junit = RESULTS / "core.xml"
    kept = "4000000"  # bytes of a test's output
    command = [
        *("ctest", "--test-dir", "build/core", "--output-on-failure", "-j", str(processors), "--no-tests=error"),
        *("--output-junit", str(junit), "--test-output-size-passed", kept, "--test-output-size-failed", kept),
    ]
    again = "ctest --test-dir build/core --output-on-failure -R '^{test}$'"
    needs = ROOT / "build/core/CTestTestfile.cmake"
    return Suite("core", "ftl, nand-emu, libslate", command, needs, again, "-R={word}", junit)


def few(most: int) -> tuple[str, str]:
    """Return the words that limit a suite whose tests need much memory or disk to so many at once."""
    return ("--jobs", str(min(most, os.cpu_count() or 1)))


def suites() -> list[Suite]:
    """Return all suites, fastest first."""
    processors = os.cpu_count() or 1
    replay = "build/core/slate-replay"
    return [
        Suite(
            "lint",
            "code and documents, by linters",
            [sys.executable, "tests/lint.py"],
            ROOT / "tests/lint.py",
            "python3 tests/lint.py --only {test}",
            "--only={word}",
            limit_s=600,
        ),
        _python_suite("launcher", "the launcher and its report, without QEMU", "tests/launcher", "--modules"),
        _python_suite("replay", "slate-replay and the trace readers", replay, "--modules"),
        _core_suite(processors),
        _python_suite("reproduce", "stand-ins, and the quick tables of the papers", replay, "--modules"),
        Suite(
            "fuzz",
            "the NAND array, the trace readers, half a minute",
            ["tests/fuzz/run.sh", "30"],
            ROOT / "tests/fuzz/run.sh",
            "tests/fuzz/run.sh 30",
            "{word}",
            limit_s=600,
        ),
        Suite(
            "qemu",
            "the drive in QEMU, without a guest",
            ["tests/qemu/run.sh"],
            ROOT / "tests/qemu/run.sh",
            "tests/qemu/run.sh {test}",
            "{word}",
        ),
        _python_suite("docs", "every command of the documentation, 'make install'", "build/venv-install", *few(2)),
        Suite(
            "kunit",
            "the core and the drive, in a Linux kernel",
            [sys.executable, "tests/kunit/run.py"],
            ROOT / "build/kunit/kernel.json",
            "python3 tests/kunit/run.py --only {test}",
            "--only={word}",
        ),
        _python_suite("guest", "a Linux guest on the drive", "tests/guest", *few(4), limit_s=4500),
        Suite(
            "rotation",
            "long checks, in turn by commit",
            ["tests/rotation.sh"],
            ROOT / replay,
            "tests/rotation.sh {test}",
            "--only={word}",
            limit_s=3600,
        ),
    ]


def say(text: str, end: str = "\n") -> None:
    """Print text at once. What standard output does not take (a full disk) goes to standard error from then on."""
    try:
        print(text, end=end, flush=True)
    except OSError:
        sys.stdout = sys.stderr
        with contextlib.suppress(OSError):
            print(text, end=end, flush=True)


class Screen:
    """Prints a line for each suite; on a terminal also the test that just ended. Both lanes use it."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self.lock = threading.Lock()

    def now(self, text: str) -> None:
        """Show a text that the next one overwrites."""
        if self.live:
            with self.lock:
                say(f"\r\033[K{text[:110]}", end="")

    def line(self, text: str) -> None:
        """Print a line that stays."""
        say(f"\r\033[K{text}" if self.live else text)


def select(suite: Suite, word: str) -> list[str]:
    """Return the command for only some tests."""
    if not word:
        return suite.command
    return suite.command + suite.only.format(word=word).split("=", 1 if suite.only.startswith("-R") else 0)


class Running:
    """Holds the suites' processes, which an interrupt ends."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.processes: list[subprocess.Popen[str]] = []
        self.ending = False

    def start(self, command: list[str]) -> subprocess.Popen[str]:
        """Start a suite."""
        with self.lock:
            if self.ending:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.processes.append(process)
            return process

    def end(self) -> None:
        """End all suites, and start no other. Further interrupts have no effect: the suites get all of their time."""
        with self.lock:
            self.ending = True
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _end([process for process in self.processes if process.poll() is None])


def leave_out(suite: Suite, turn: int) -> bool:
    """Leave out the suite's tests that have another turn; return False if these are all."""
    patterns = turns.left_out(suite.name, turn)
    if "*" in patterns:
        return False
    if patterns:
        names = "|".join(re.escape(name) for name in patterns)
        suite.command += ["-E", f"^({names})$"] if suite.junit else [f"--without={name}" for name in patterns]
        suite.left_out = f"left to other turns: {', '.join(patterns)}"
    return True


def run(suite: Suite, word: str, screen: Screen, running: Running) -> None:
    """Run a suite; its tests are in suite.tests afterwards."""
    began = time.monotonic()
    if not suite.needs.exists():
        suite.tests = [
            Test(
                suite.name,
                False,
                output=[f"{suite.needs.relative_to(ROOT)} is not there: 'make build' first"],
            )
        ]
        return
    if suite.junit:
        suite.junit.unlink(missing_ok=True)
    log = Log(RESULTS / f"{suite.name}.log")
    try:
        lines, status = _command(suite, select(suite, word), screen, running, log)
    finally:
        log.close()
    if suite.junit and suite.junit.exists():
        suite.tests = parse_junit(suite.junit)
    else:
        suite.tests = parse_tap(lines)
    suite.notes = [line.removeprefix("# note: ") for line in lines if line.startswith("# note: ")]
    suite.seconds = time.monotonic() - began
    if (
        (status or not suite.tests)
        and all(test.passed for test in suite.tests)
        and not (word and not suite.tests)
    ):
        reason = f"exit status {status}" if status else "it ran no tests"
        suite.tests.append(Test(f"({suite.name} as a whole: {reason})", False, output=lines[-30:]))
    if log.why:
        suite.tests.append(Test(f"(the log of {suite.name}: {log.why}; {free_mb()} MB left)", False))


def short_of_room() -> str:
    """Say so if the disk cannot hold what 'make test' makes: ROOM_MB, of which some may be there."""
    du = ["du", "-s", "--block-size=1MB", "--exclude=hosts", str(BUILD)]  # roots of tests/hosts.sh come and go
    said = subprocess.run(du, capture_output=True, text=True, check=False).stdout.split()
    there = int(said[0]) if said else 0
    need, left = max(ROOM_MB - there, LEFT_MB), free_mb()
    if left >= need:
        return ""
    return f"make test: {left} MB are left on the disk of {BUILD}, and {need} are needed: free some first"


def free_mb() -> int:
    """Return how much the disk of the build has left, in MB."""
    return shutil.disk_usage(BUILD if BUILD.exists() else ROOT).free // 1_000_000


class Log:
    """Keeps a suite's output in a file. On a full disk the suite goes on without it, and why says so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.why = ""
        self.file: io.FileIO | None = None
        try:
            self.file = io.FileIO(path, "w")
        except OSError as error:
            self._give_up(error)

    def write(self, text: str) -> None:
        """Write text at once, or nothing once a write has failed."""
        if self.why or not self.file:
            return
        left = text.encode()
        try:
            while left:
                left = left[self.file.write(left) :]
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        if self.file:
            self.file.close()

    def _give_up(self, error: OSError) -> None:
        self.why = error.strerror or str(error)


def _command(
    suite: Suite, command: list[str], screen: Screen, running: Running, log: Log
) -> tuple[list[str], int]:
    lines: list[str] = []
    done = failed = 0
    process = running.start(command)
    assert process.stdout
    late = threading.Event()

    def end() -> None:
        late.set()
        _end([process])

    # The timer ends the group, so that a hanging test ends the read below too.
    timer = threading.Timer(suite.limit_s, end)
    timer.daemon = True
    timer.start()
    try:
        for raw in process.stdout:
            log.write(raw)
            lines.append(raw.rstrip("\n"))
            if _TAP.match(raw) or re.match(r"^\s*\d+/\d+ Test\s+#", raw):
                done += 1
                failed += raw.startswith("not ok") or "***" in raw
                bad = f", {failed} FAILED" if failed else ""
                screen.now(f"{suite.name:<9} {done} done{bad}   {raw.strip()}")
    finally:
        timer.cancel()
    status = process.wait()
    if late.is_set():
        lines.append(f"(ended: it took longer than {suite.limit_s:.0f} s)")
    return lines, status


def _end(processes: list[subprocess.Popen[str]]) -> None:
    """Stop suites with an interrupt. Kill what is left of their process groups after PATIENCE_S."""
    for process in processes:
        _signal(process, signal.SIGINT)
    deadline = time.monotonic() + PATIENCE_S
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0, deadline - time.monotonic()))
    for process in processes:
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal to all processes of a suite that are left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def parse_tap(lines: list[str]) -> list[Test]:
    """Return the tests of a TAP stream; '#' lines belong to the test before them."""
    found: list[Test] = []
    for line in lines:
        match = _TAP.match(line)
        if match:
            rest, seconds, cpu_s = match[3], 0.0, 0.0
            if took := _TIME.search(rest):
                rest, seconds, cpu_s = rest[: took.start()], float(took[1]), float(took[2] or 0)
            name, _, directive = rest.partition(" # ")
            skipped = directive[4:].strip() if directive.upper().startswith("SKIP") else ""
            todo = directive.upper().startswith("TODO")
            good = match[1] == "ok" or todo
            found.append(Test(name.strip() or f"test {match[2]}", good, seconds, cpu_s, skipped))
        elif found and not found[-1].passed:
            found[-1].output.append(line.removeprefix("# "))
    return found


def parse_junit(path: Path) -> list[Test]:
    """Return the tests of CTest's JUnit file: the cases that a program names, or else the program."""
    found: list[Test] = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name, seconds = case.get("name", "?"), float(case.get("time") or 0)
        failed = case.find("failure") is not None or case.get("status") == "fail"
        output = (case.findtext("system-out") or "").splitlines()
        cases = parse_tap(output)
        for one in cases:
            one.name = f"{name}: {one.name}"
            if not one.passed:
                one.output = output
        if not cases or (failed and all(one.passed for one in cases)):
            skipped = "skipped" if case.find("skipped") is not None else ""
            cases.append(Test(name, not failed, seconds, 0.0, skipped, output if failed else []))
        cases[0].seconds = seconds
        found += cases
    return found


def lanes(chosen: list[Suite]) -> list[list[Suite]]:
    """Return the suites of each lane, which run one after another beside the other lane."""
    guests = [suite for suite in chosen if suite.name == "guest"]
    others = [suite for suite in chosen if suite.name != "guest"]
    return [lane for lane in (others, guests) if lane]


def run_lanes(chosen: list[Suite], word: str, screen: Screen) -> None:
    """Run the suites and tell of each as it ends. An interrupt ends all."""
    running = Running()

    def go(lane: list[Suite]) -> None:
        for suite in lane:
            screen.now(f"{suite.name:<9} {suite.what} ...")
            try:
                run(suite, word, screen, running)
            except Exception as fault:  # of one suite; the others run
                suite.tests.append(Test(f"({suite.name} as a whole: {fault})", False))
            if running.ending:
                return
            with screen.lock:
                tell(suite, screen)

    side_by_side = lanes(chosen)
    with ThreadPoolExecutor(len(side_by_side)) as pool:
        try:
            going = [pool.submit(go, lane) for lane in side_by_side]
            for ended in wait(going, return_when=FIRST_EXCEPTION).done:
                ended.result()
        except BaseException:
            running.end()
            raise


def tell(suite: Suite, screen: Screen) -> None:
    """Print a suite's line, and its failures."""
    failed = [test for test in suite.tests if not test.passed]
    skipped = [test for test in suite.tests if test.skipped]
    passed = len(suite.tests) - len(failed)
    count = (
        f"{passed} passed"
        + (f" ({len(skipped)} skipped)" if skipped else "")
        + (f", {len(failed)} FAILED" if failed else "")
    )
    screen.line(f"{suite.name:<9} {suite.what:<44} {count:<28} {suite.seconds:7.1f} s")
    for note in [*suite.notes, *filter(None, [suite.left_out])]:
        say(f"  {note}")
    for test in skipped:
        say(f"  skipped {test.name}: {test.skipped}")
    for test in failed:
        say(f"\n  FAILED {suite.name}: {test.name}")
        for line in test.output[-60:]:
            say(f"    {line}")
        say(f"  again: {suite.again.format(test=test.name.partition(':')[0])}\n")


def build_suite() -> Suite:
    """Return the parts of the build that failed (host-tools/phase.sh), each as a failed test."""
    suite = Suite("build", "parts that could not be built", [], ROOT, "make {test}")
    for path in sorted((BUILD / "log").glob("*.failed")):
        log = path.with_suffix(".log")
        output = log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:] if log.exists() else []
        what = path.read_text(encoding="utf-8").strip() or "no room to say what it makes"
        suite.tests.append(Test(f"{path.stem}: {what}", False, output=output))
    return suite


def times(chosen: list[Suite], since: float) -> list[str]:
    """Return the durations, the longest first: phases of the build after a time, and suites."""
    took = [(suite.seconds, f"suite {suite.name}") for suite in chosen]
    for path in (ROOT / "build" / "log").glob("*.seconds"):
        if path.stat().st_mtime >= since and (text := path.read_text(encoding="utf-8").strip()):  # empty: a full disk
            took.append((float(text), f"build {path.stem}"))
    return [f"{seconds:8.1f} s  {what}" for seconds, what in sorted(took, reverse=True) if seconds >= 1]


def main() -> int:
    """Returns 1 if a test failed."""
    known = {suite.name: suite for suite in suites()}
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="only tests whose name has WORD")
    parser.add_argument("--every-turn", action="store_true", help="with all tests that take turns")
    parser.add_argument("--room", action="store_true", help="only ask whether the disk has room for 'make test'")
    parser.add_argument("suite", nargs="*", help=f"of {', '.join(known)} (default: all)")
    args = parser.parse_args()
    unknown = [name for name in args.suite if name not in known]
    if unknown:
        parser.error(f"no suite named {', '.join(unknown)}; there are {', '.join(known)}")
    if args.room:
        if why := short_of_room():
            print(why, file=sys.stderr)
        return 1 if why else 0
    RESULTS.mkdir(parents=True, exist_ok=True)
    chosen = [known[name] for name in args.suite] or list(known.values())
    if not args.suite and not args.only and not args.every_turn:
        number, at = turns.number()
        turn = number % len(turns.TURNS)
        say(f"turn {turn + 1} of {len(turns.TURNS)} {at}; every turn: make test TURNS=all")
        chosen = [suite for suite in chosen if leave_out(suite, turn)]
    screen = Screen()
    built = build_suite()
    if built.tests:
        tell(built, screen)
        chosen.append(built)
    began = time.monotonic()
    compileall.compile_dir(ROOT / "host-tools", quiet=2)  # a start of slate: 0.20 s of CPU time instead of 0.38
    run_lanes([suite for suite in chosen if suite is not built], args.only, screen)
    tests = [test for suite in chosen for test in suite.tests]
    failed = sum(not test.passed for test in tests)
    summary = {
        "passed": len(tests) - failed,
        "failed": failed,
        "seconds": round(time.monotonic() - began, 1),
        "suites": {
            suite.name: {"seconds": round(suite.seconds, 1), "tests": [asdict(t) for t in suite.tests]}
            for suite in chosen
        },
    }
    if since := os.environ.get("SLATE_TIMES_SINCE"):
        say("\n".join(("what took how long:", *times(chosen, float(since)))))
    whole = Log(RESULTS / "summary.json")
    whole.write(json.dumps(summary, indent=1) + "\n")
    whole.close()
    if whole.why:
        say(f"{whole.path} is not whole: {whole.why}")
    say(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("\ninterrupted")
        sys.exit(130)
