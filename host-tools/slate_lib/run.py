# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes one run: boot, job, power-off, statistics, report."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import sys
import time
from collections.abc import Awaitable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from . import (
    command,
    device,
    drivefile,
    drivesreport,
    facts,
    fioresult,
    jobcheck,
    jobfile,
    namespaces,
    ownkernel,
    paths,
    powercut,
    process,
    profiles,
    qmp,
    recording,
    report,
    series,
    shape,
    signals,
    snapshot,
    units,
)
from .drives import Drive
from .errors import INTERRUPTED, JOB_FAILED, OK, MachineError, SlateError, quoted
from .live import Live
from .options import RunOptions
from .rundir import RunDir
from .shape import Json
from .watch import POLL_SECONDS, Progress, Watcher

Found = TypeVar("Found")
ANSWER_SECONDS = float(os.environ.get("SLATE_ANSWER_SECONDS", "60"))  # for the statistics, once the guest is off
OWN_FILES = (
    "app.json",
    "blocks.json",
    "console.log",
    "device.json",
    "report.html",
    "report.txt",
    "run.json",
    "series.json",
)
NO_JOB = 127  # the guest's status when there was neither a job nor a script


@dataclasses.dataclass
class Told:
    """Holds the results of a drive."""

    drive: Drive
    raw: Json  # its statistics
    logs: Json  # further files, by name


class Run:
    """Holds the state of one run, from the checks to the report."""

    def __init__(self, options: RunOptions):
        self.options = options
        self.started = time.monotonic()
        self.signals = signals.Signals()
        self.phases: dict[str, float] = {}
        self.progress = Progress(sys.stdout, self.started)
        self.told: list[Told] = []  # statistics of each drive, after the guest's end
        self.drives_said: list[str] = []  # the drives' messages, such as that memory ran out
        self.qemu_version = ""
        self.run_dir = RunDir(options.out, options.name)
        self.watcher = self._new_watcher()
        self.recordings = recording.Recordings(options)
        self.line: list[str] = []
        self.cuts: list[Json] = []  # state at each power cut
        self.unmounted: dict[int, Json] = {}  # the last cut of each drive
        self.ended_by_cut = False
        self.earlier: dict[str, tuple[int, bytes]] = {}  # files that earlier boots sent, with the boot's number
        self.snapshot: snapshot.Snapshot | None = None
        self.worker: ThreadPoolExecutor
        self.sums: Future[dict[str, str]]

    def _new_watcher(self) -> Watcher:
        options, folder = self.options, self.run_dir
        kvm = options.accel == "kvm"
        watcher = Watcher(folder.console, folder.results, options.timeout, self.progress, options.verbose, kvm)
        watcher.goal = options.goal
        return watcher

    # ---- the steps of a run

    def execute(self) -> int:
        """Execute the run and return the exit code."""
        with self.signals:
            return self._execute()

    def _execute(self) -> int:
        try:
            with ThreadPoolExecutor(1) as self.worker:
                self._boots()
                return self._collect()
        except (KeyboardInterrupt, asyncio.CancelledError):
            self.signals.ignore()
            return self._interrupted()
        except OSError as error:
            self._failed()
            raise MachineError(
                f"{error.filename or self.run_dir.path}: {(error.strerror or str(error)).lower()}",
                "free some space or check permissions, or name a directory elsewhere with --out",
            ) from None
        except SlateError as error:
            self._failed(usage=not isinstance(error, MachineError))
            raise

    def _boots(self) -> None:
        """Boot the guest, once for each part between power cuts."""
        boots = powercut.boots(self.options)
        if len(boots) > 1:
            boots = [(self._with_files(options), plan) for options, plan in boots]
        for number, (options, plan) in enumerate(boots):
            if number:
                self._next_boot(number)
            if self.earlier:
                handed = {f"boot-{boot}/{name}": data for name, (boot, data) in self.earlier.items()}
                options = dataclasses.replace(options, programs=options.programs | handed)
            self.booted = options
            self._prepare(options)
            self._mark("prepare")
            self._run_machine(options, plan)

    def _prepare(self, options: RunOptions) -> None:
        """Write what the guest boots from, or take a snapshot of the booted guest."""
        if options.handoff:
            command.write_job(options, self.run_dir.job)
        if options.snapshot == "use":
            asyncio.run(self._take_snapshot(options))
        if self.snapshot:
            self.run_dir.console.write_bytes(self.snapshot.console)
        else:
            command.write_initrd(options, self.run_dir.initrd)

    async def _take_snapshot(self, options: RunOptions) -> None:
        task = asyncio.current_task()
        assert task
        self.signals.cancel(task)
        try:
            self.progress.now("guest     booting, for a snapshot that later runs use, too")
            self.snapshot = await snapshot.get(options, self.run_dir.path, self._say_snapshot)
            await asyncio.sleep(0)  # to be cancelled here by a signal that came when get() was not waiting
        finally:
            self.progress.now("")
            self.signals.interrupt()

    def _say_snapshot(self, what: str) -> None:
        self.progress.line("snapshot", what)

    def _with_files(self, options: RunOptions) -> RunOptions:
        """Return the options with every drive in a file, which the next boot uses again."""
        more = [
            dataclasses.replace(drive, drive=drive.drive or self.run_dir.drive_of(drive.number))
            for drive in options.more
        ]
        return dataclasses.replace(options, drive=options.drive or self.run_dir.drive, more=more)

    def _next_boot(self, number: int) -> None:
        """Number the files that the previous boot left."""
        self.run_dir.console.replace(self.run_dir.console.with_name(f"console-{number}.log"))
        self._keep_results(number)
        self.run_dir.results.unlink(missing_ok=True)
        self.phases = {f"{name}-{number}" if "-" not in name else name: t for name, t in self.phases.items()}
        self.watcher = self._new_watcher()
        self.told, self.ended_by_cut = [], False

    def _keep_results(self, number: int) -> None:
        """Keep the files that a boot sent: its guest went on without the drive and ended by itself."""
        if self.ended_by_cut or not self.run_dir.results.exists():
            return
        files, status = self._results()
        self.earlier |= {name: (number, data) for name, data in files.items()}
        if status:
            self.progress.line("guest", f"boot {number} ended with status {status}")

    def _write_earlier(self, files: dict[str, bytes]) -> None:
        """Write the files of earlier boots under their names, or in boot-N/ if a later boot has such a file."""
        for name, (number, data) in self.earlier.items():
            taken = name in files or name in OWN_FILES
            self.run_dir.write(f"boot-{number}/{name}" if taken else name, data)

    def _mark(self, phase: str) -> None:
        self.phases[phase] = time.monotonic() - self.started - sum(self.phases.values())

    def _drop_unfinished(self) -> None:
        """Remove a drive file or recording that was incomplete when QEMU ended."""
        self.recordings.drop_unfinished()
        for drive in self.options.drives:
            if drive.drive and not drive.drive_kept and drivefile.unfinished(drive.drive):
                drive.drive.unlink()

    def _interrupted(self) -> int:
        self._drop_unfinished()
        if self.options.keep:
            where = f"what there was is in {paths.short(self.run_dir.path)}"
        else:
            self.run_dir.discard()
            where = "nothing is left behind"
        self.progress.now("")
        print(f"\nslate: interrupted; {where}", file=sys.stderr)
        return INTERRUPTED

    def _failed(self, usage: bool = False) -> None:
        self.progress.now("")
        self._drop_unfinished()
        if self.options.keep:
            return
        if usage:
            self.run_dir.discard()
        else:
            self.run_dir.clean()

    # ---- QEMU

    def _run_machine(self, options: RunOptions, plan: powercut.Plan | None) -> None:
        try:
            asyncio.run(self._machine(options, plan))
        except asyncio.CancelledError:
            self.signals.ignore()  # a signal ended the run: the next one must not interrupt the tidying up
            raise
        finally:
            self.signals.interrupt()

    async def _machine(self, options: RunOptions, plan: powercut.Plan | None) -> None:
        task = asyncio.current_task()
        assert task
        self.signals.cancel(task)
        monitor = qmp.Monitor()
        qemu = None
        try:
            files = command.Files(
                self.run_dir.initrd, self.run_dir.console, self.run_dir.results, monitor.theirs.fileno()
            )
            files.job = self.run_dir.job
            if self.snapshot:
                files.ram, files.restored = self.snapshot.ram, True
            self.line = self._line(options, files)
            qemu = process.Qemu(
                [*self.line, "-S"], self.run_dir.qemu_log, (files.qmp_fd,), self.options.shell
            )
            # Not earlier: a process with threads must not fork.
            if not self.cuts:
                self.sums = self.worker.submit(facts.checksums, self.options)
            await self._converse(monitor, qemu, plan)
            qemu.wait(10 if not self.recordings.before else 120)  # to pack and write what is left
            said = qemu.said()
            words = (line.removeprefix("slate: ") for line in said if line.startswith("slate: "))
            self.drives_said = list(dict.fromkeys(words))
            if self.told:
                self.recordings.check(said)
        finally:
            self.signals.let_finish()
            if self.snapshot:
                self.snapshot.close()
            if qemu:
                qemu.kill()
            await monitor.close()

    def _may_ask(self) -> bool:
        """Are the drives' counters read while the guest runs? In real time only for a terminal."""
        return self.progress.live or not (self.options.realtime or self.options.shell)

    def _line(self, options: RunOptions, files: command.Files) -> list[str]:
        return command.build(options, files)

    async def _converse(self, monitor: qmp.Monitor, qemu: process.Qemu, plan: powercut.Plan | None) -> None:
        try:
            await self._until(asyncio.wait_for(monitor.connect(), self.options.timeout), qemu)
            if self.snapshot:
                await self._until(monitor.restore(self.snapshot.state), qemu)
            if plan:
                for drive in powercut.drives_of(self.options):
                    await monitor.plan_cut(drive.node, plan.arguments())
            await self._until(asyncio.wait_for(monitor.go(), self.options.timeout), qemu)
            self.qemu_version = monitor.version()
            if not self.options.keep:
                self.run_dir.initrd.unlink(missing_ok=True)  # QEMU has read it
                self.run_dir.job.unlink(missing_ok=True)
            self._mark("start")
            self.watcher.guest_began = time.monotonic()
            if not self.options.shell:
                self.progress.line("qemu", f"started, drive {self._prepared()}", self.phases["start"])
            live = Live(monitor, [drive.node for drive in self.options.drives]) if self._may_ask() else None
            reason = await self._until(monitor.shutdown(), qemu, live)
            if live:
                await live.stop()
            self._mark("guest")
            if not self.options.shell:  # nor was it polled before: the console is the terminal
                self.watcher.poll(None)
            self.ended_by_cut = bool(plan) and reason == powercut.CUT
            cut = [await self._ask_power(monitor, drive, plan) for drive in powercut.drives_of(self.options)]
            if reason != powercut.ENDED and not self.ended_by_cut:
                raise (
                    self.watcher.panic()
                    if reason in ("guest-reset", "guest-panic")
                    else MachineError(
                        f"the guest did not power off by itself (reason: {reason}){self.watcher.last_words()}"
                    )
                )
            if plan and not all(cut):
                raise powercut.came_too_late(plan)
            told = []
            for drive in self.options.drives:
                raw = await self._until(asyncio.wait_for(monitor.drive(drive.node), ANSWER_SECONDS), qemu)
                logs = await self._until(asyncio.wait_for(_logs(monitor, drive.node), ANSWER_SECONDS), qemu)
                told.append(Told(drive, raw, logs))
            self.told = told
            await monitor.quit()
        except TimeoutError:
            if "guest" in self.phases:
                raise MachineError(
                    f"QEMU hangs: the guest powered off, but no statistics came within {ANSWER_SECONDS:g} s",
                    "this is a fault in QEMU or the drive: run again with --keep and report it",
                ) from None
            raise MachineError(
                f"QEMU did not start within {self.options.timeout:g} s",
                "if the drive is large and full, raise --timeout; else run 'make qemu'",
            ) from None
        except Exception as error:
            if qmp.is_session_error(error):
                qemu.wait(2)
                if self.options.shell and qemu.process.returncode == 0:
                    return  # the user ended QEMU from its monitor
                raise qemu.death() from None
            raise

    async def _ask_power(self, monitor: qmp.Monitor, drive: Drive, plan: powercut.Plan | None) -> bool:
        """Record what a cut interrupted, and the cost of the mount after the cut before.

        Returns False if there was no cut.
        """
        power = await monitor.power(drive.node)
        if drive.number in self.unmounted:
            powercut.add_mount(self.unmounted[drive.number], power)
        if not plan or not power["cuts"]:
            return False
        if self.options.more:
            power["drive"] = drive.label
        self.cuts.append(power)
        self.unmounted[drive.number] = power
        if power.get("on-ns", 0) >= power["cut-ns"]:  # a reset: mounted again already
            powercut.add_mount(power, power)
        what = powercut.text(self.cuts[-1:]).partition("at ")[2].split("\n")[0]
        self.progress.line("power", f"{drive.label} at {what}" if self.options.more else what)
        return True

    def _prepared(self) -> str:
        options = self.options
        if options.drive_kept:
            return "as its file has it" + (", which stays as it is" if options.ephemeral else "")
        if options.precondition == "device" or not (options.fill or options.age):
            return "ready"
        aged = f" and aged {options.age:g}x" if options.age else ""
        return f"filled to {options.fill or 0:g} %{aged}"

    def _tell_start(self) -> None:
        """Print the start. QEMU answers when the drive is filled and aged."""
        seconds = time.monotonic() - self.started
        if seconds > 1:
            self.progress.now(f"qemu      starting, drive {self._prepared()}: {seconds:.0f} s so far")

    async def _until(self, waiting: Awaitable[Found], qemu: process.Qemu, live: Live | None = None) -> Found:
        """Await something while watching the guest and the process."""
        task = asyncio.ensure_future(waiting)
        watch = not self.options.shell
        looks = 0
        try:
            while not task.done():
                await asyncio.wait((task,), timeout=POLL_SECONDS)
                if not task.done() and not qemu.running():
                    await asyncio.wait((task,), timeout=0.2)
                    if not task.done():
                        raise ConnectionResetError("QEMU is gone")
                looks += 1
                if watch and "start" not in self.phases and looks % 4 == 0:
                    self._tell_start()
                if watch and "start" in self.phases and "guest" not in self.phases:
                    if live and (self.progress.live or self.watcher.is_quiet()):
                        self.watcher.live = live.poll()
                    busy = not self.options.realtime and looks % 20 == 0
                    self.watcher.poll(
                        qemu.busy_seconds() if busy else self.watcher.cpu, live.clock() if live else None
                    )
                if looks % 20 == 0:
                    self.run_dir.check_room()
            return task.result()
        finally:
            task.cancel()

    # ---- results

    def _collect(self) -> int:
        if not self.told:
            self.run_dir.discard()
            print("\nslate: QEMU was ended from its monitor: there are no results")
            return OK
        files, status = self._results()
        for name, data in files.items():
            self.run_dir.write(name, data)
        self._write_earlier(files)
        record = self._record(status)
        good = status == 0 or "load.json" in files
        app = self._app(files) if good and not self.cuts else None
        shown = self._report(record, _fio_json(files), app)
        cuts = powercut.text(self.cuts)
        plain = cuts + shown.text()
        self.run_dir.write("report.txt", plain)
        self._mark("collect")
        record["seconds"] = {name: round(value, 3) for name, value in self.phases.items()}
        self.run_dir.write("run.json", json.dumps(record, indent=1) + "\n")
        self.run_dir.finish(self.options.keep)
        self.progress.line("results", f"in {paths.short(self.run_dir.path)}", self.phases["collect"])
        print()
        print(cuts + shown.text(color=sys.stdout.isatty()), end="")
        return self._verdict(status, files)

    def _report(self, record: Json, fio: Json | None, app: Json | None) -> report.Report:
        """Write the drives' results; returns the report of the one drive, or of all drives together."""
        if not self.options.more:
            return self._drive_report(self.told[0], "", record, fio, app)
        each = []
        for told in self.told:
            folder = f"{told.drive.label}/"
            own = drivesreport.record_of(record, told.drive.number)
            each.append(
                self._drive_report(told, folder, own, drivesreport.fio_of(device.canonical(told.raw), fio), None)
            )
            self.run_dir.write(folder + "report.txt", each[-1].text())
        return drivesreport.DrivesReport(each, fio, record)

    def _drive_report(
        self, told: Told, folder: str, record: Json, fio: Json | None, app: Json | None
    ) -> report.Report:
        """Write one drive's files to the folder and return its report."""
        self.run_dir.write(f"{folder}device.json", device.text(told.raw))
        for name, found in told.logs.items():
            self.run_dir.write(folder + name, series.text(found))
        rows = told.logs.get("series.json")
        timeline = series.Series(rows, told.raw.get("at-ns", 0)) if rows else None
        return report.Report(device.canonical(told.raw), fio, record, app, timeline)

    def _results(self) -> tuple[dict[str, bytes], int]:
        import results  # host-tools/guest

        if self.ended_by_cut:
            return {}, 0
        try:
            files, status = results.parse_results(self.run_dir.results.read_bytes())
        except ValueError as error:
            self.run_dir.check_room()
            raise MachineError(
                f"{error}{self.watcher.last_words()}",
                "look at the console with --verbose, or enter the guest with --shell",
            ) from None
        bad = [
            name
            for name in files
            if name.startswith("/")
            or ".." in name.split("/")
            or name in OWN_FILES
            or (self.options.more and name.split("/")[0] in {drive.label for drive in self.options.drives})
        ]
        if bad:
            raise MachineError(
                f"the guest sent files that do not belong here: {', '.join(bad)}",
                "let the job write under other names in $OUT",
            )
        if self.options.shell and status == NO_JOB:
            status = 0
        return files, status

    def _app(self, files: dict[str, bytes]) -> Json | None:
        """Return the application's own results."""
        found = self.options.work.results(files)
        if found is None:
            return None
        self.run_dir.write("app.json", json.dumps(found, indent=1) + "\n")
        return found

    def _record(self, status: int) -> Json:
        return {
            "repeat": facts.repeat_command(self.options),
            "job_status": status,
            **({"power_cuts": self.cuts} if self.cuts else {}),
            **({"drives_said": self.drives_said} if self.drives_said else {}),
            "settings": facts.settings(self.options),
            "versions": {
                **facts.versions(self.options),
                "qemu": self.qemu_version,
            },
            "sha256": self.sums.result(),
            "qemu_command": self.line,
            "guest_seconds": self.watcher.phases,
            "seconds": {name: round(value, 3) for name, value in self.phases.items()},
        }

    def _verdict(self, status: int, files: dict[str, bytes]) -> int:
        if status == 0:
            return OK
        log = files.get(self.options.work.log, b"").decode(errors="replace").splitlines()
        what = self.booted.work.failed
        tail = quoted(log[-12:])
        if not tail:
            tail = self.watcher.last_words()
        fix = f"see {paths.short(self.run_dir.path)}/ for the whole output"
        if self.watcher.killed:
            memory = self.options.mem
            what = f"the guest ran out of memory ({units.size(memory)}) and ended {self.watcher.killed}: {what}"
            fix = f"give it more than --mem {memory >> 20}M, or run fewer clones at once; {fix}"
        print(
            f"slate: {what} failed in the guest with status {status}{tail}\n  fix: {fix}",
            file=sys.stderr,
        )
        return JOB_FAILED


async def _logs(monitor: qmp.Monitor, node: str) -> Json:
    """Write the drive's logs to files."""
    found: Json = {}
    told = await monitor.log(node, series.SERIES_LOG)
    if told and (decoded := series.decode_series(told)):
        found["series.json"] = decoded
    told = await monitor.log(node, series.WEAR_LOG)
    if told:
        found["blocks.json"] = series.decode_blocks(told)
    return found


def _fio_json(files: dict[str, bytes]) -> Json | None:
    try:
        found: Json = shape.parse(files["fio.json"])
        shape.check(found, fioresult.SHAPE)
        return found
    except (KeyError, ValueError):
        return None  # a script may have written anything


def dry_run(options: RunOptions) -> int:
    """Print the commands without starting them."""
    out = options.out or paths.OUT / f"{options.name}-NNN"
    files = command.Files(out / ".initrd", out / "console.log", out / ".results")
    print(command.text(command.build(options, files)))
    return OK


def check_profiles(options: RunOptions) -> None:
    """Refuse profiles and settings that no drive can be made of, if the core is built."""
    if not any((folder / "slate-profile").exists() for folder in paths.PROGRAMS):
        return
    for drive in options.drives:
        if drive.drive_kept:
            profiles.check_kept(drive.drive_kept.path, drive.profile, drive.overrides())
        elif drive.profile:
            profiles.derive(drive.profile, drive.overrides())


def check_job(options: RunOptions) -> None:
    """Check the job before a boot as far as possible: --qemu-arg may add devices unknown to the launcher."""
    known = options.job or options.kernel == "small" or options.own_kernel or options.namespaces
    derived = [_derived(drive) for drive in options.drives] if known else []
    if derived:
        namespaces.check(options, derived[0])
    if options.kernel == "small" and options.work.file_system == "btrfs":
        raise SlateError("--kernel small has no Btrfs", "use --kernel debian")
    if options.kernel == "small" and any(drive.get("ftl") == "zns" for drive in derived):
        raise SlateError("--kernel small has no zones: its guest would not see the drive", "use --kernel debian")
    if options.own_kernel and any(drive.get("ftl") == "zns" for drive in derived):
        ownkernel.check_zones(options.own_kernel)
    if not options.job or options.qemu_args:
        return
    sizes = [drive.get("exported_bytes") for drive in derived]
    several = [_namespaces(drive, found) for drive, found in zip(options.drives, derived)]
    if options.one_controller:
        sizes, several = sizes[:1], [sizes]
    state = jobcheck.Drives(options.frontend != "nvme", any(drive.drive_kept for drive in options.drives))
    jobfile.check_on_drives(options.job, options.environment, sizes, several, options.files, state)
    if sizes and sizes[0]:
        jobfile.check_memory(options.job, options.environment, sizes[0], options.mem)
        options.goal = jobfile.goal(options.job, options.environment, sizes[0])


def _namespaces(drive: Drive, derived: Json) -> list[int | None]:
    """Return the sizes of a drive's namespaces from /dev/nvmeXn1 on; None: unknown, the guest may create it."""
    kept = drive.drive_kept.settings if drive.drive_kept else []
    settings = derived.get("settings") or dict(line.split("=", 1) for line in kept + drive.settings)
    found: list[int | None] = [namespace.bytes for namespace in drive.namespaces]
    return found + [None] * (namespaces.allowed(settings) - len(found))


def _derived(drive: Drive) -> Json:
    try:
        if drive.profile and not drive.drive_kept:
            return profiles.derive(drive.profile, drive.overrides())
    except SlateError:
        pass  # opening the drive reports what is wrong with its profile
    return {}
