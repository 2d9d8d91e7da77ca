# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run does in the guest: a class for each kind of work, with its files, arguments and words.

Options that all kinds have (--env, --file, --apps, --shell) are with the run's other options (options.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from . import apps, content, jobcheck, load, ownguest, paths
from .jobfile import JobFile
from .shape import Json

TEXT, PROGRAM = 0o100644, 0o100755
Entry = tuple[str, int, bytes]  # a file of /job in the guest: name, mode, content


@dataclass
class Work:
    """Nothing by itself: with --shell the user works on the guest's console."""

    log = "fio.log"  # what the guest sends of a failure
    is_ours = False  # a program of ours needs the drive's logs alone, and not its controls

    @property
    def name(self) -> str:
        """Return a name for the run's directory."""
        return "shell"

    @property
    def said(self) -> str:
        """Return what the first line of a run says."""
        return "a shell"

    @property
    def failed(self) -> str:
        """Return what the message on a failure says."""
        return "the shell"

    @property
    def script_args(self) -> list[str]:
        """Return the words after run.sh."""
        return []

    @property
    def file_system(self) -> str | None:
        """Return the file system that the work makes on the drive, if an option names it."""
        return None

    def controls_drive(self, shell: bool) -> bool:
        """May programs of the user's in the guest control the drive?"""
        return shell

    def environment(self) -> dict[str, str]:
        """Return its own variables in the guest."""
        return {}

    def files(self, device: str) -> list[Entry]:
        """Return its files in the guest. device: the name of the first drive there."""
        return []

    def images(self) -> list[Path]:
        """Return the images that it needs beside that of applications."""
        return []

    def inputs(self) -> dict[str, Path]:
        """Return the files that decide what it does, by their names in run.json."""
        return {}

    def texts(self) -> list[str]:
        """Return the texts that the guest executes, in which a modprobe may be."""
        return []

    def words(self) -> list[str]:
        """Return the options that ask for it."""
        return []

    def facts(self) -> Json:
        """Return its settings for run.json."""
        return {}

    def results(self, files: dict[str, bytes]) -> Json | None:
        """Return its own results (app.json), from the files that the guest has sent; None: it has none."""
        return None


@dataclass
class Job(Work):
    """A job of fio."""

    job: JobFile

    @property
    def name(self) -> str:
        return self.job.name

    @property
    def said(self) -> str:
        return paths.short(self.job.path)

    @property
    def failed(self) -> str:
        return f"the job {paths.short(self.job.path)}"

    def controls_drive(self, shell: bool) -> bool:
        return shell or "exec_" in self.job.text

    def files(self, device: str) -> list[Entry]:
        text = jobcheck.for_guest(self.job.text, self.job.beside)
        return [("job.fio", TEXT, text.replace("/dev/nvme0n1", device).encode())]

    def inputs(self) -> dict[str, Path]:
        return {"job": self.job.path}

    def texts(self) -> list[str]:
        return [self.job.text]

    def words(self) -> list[str]:
        return ["--job", paths.short(self.job.path)]

    def facts(self) -> Json:
        return {"job": paths.short(self.job.path)}


@dataclass
class Script(Work):
    """A shell script, of the user's or of ours."""

    path: Path
    text: str
    args: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def said(self) -> str:
        return paths.short(self.path)

    @property
    def failed(self) -> str:
        return f"the script {self.path}"

    @property
    def script_args(self) -> list[str]:
        return self.args

    def controls_drive(self, shell: bool) -> bool:
        return shell or not self.is_ours

    def files(self, device: str) -> list[Entry]:
        return [("run.sh", PROGRAM, self.text.encode())]

    def inputs(self) -> dict[str, Path]:
        return {"script": self.path}

    def texts(self) -> list[str]:
        return [self.text]

    def words(self) -> list[str]:
        return ["--cmd", paths.short(self.path), *self._arg_words()]

    def facts(self) -> Json:
        return {"script": paths.short(self.path), "script_args": self.args}

    def _arg_words(self) -> list[str]:
        return [f"--cmd-arg={word}" for word in self.args]


@dataclass
class App(Script):
    """An application on a file system on the drive."""

    app: apps.App = field(kw_only=True)
    values: dict[str, str] = field(kw_only=True)
    log = "app.log"
    is_ours = True

    @property
    def name(self) -> str:
        return self.app.name

    @property
    def said(self) -> str:
        return self.app.name

    @property
    def failed(self) -> str:
        return self.app.name

    @property
    def file_system(self) -> str | None:
        return self.values.get("fs")

    def environment(self) -> dict[str, str]:
        return {f"APP_{name.upper()}": value for name, value in self.values.items()}

    def files(self, device: str) -> list[Entry]:
        own = [(name, TEXT, (apps.SCRIPTS / name).read_bytes()) for name in ("app.sh", *self.app.files)]
        return [*super().files(device), *own]

    def words(self) -> list[str]:
        values = [f"--app-arg={name}={value}" for name, value in self.values.items()]
        return ["--app", self.app.name, *values, *self._arg_words()]

    def facts(self) -> Json:
        return {**super().facts(), "app": self.app.name, "app_parameters": self.values}

    def results(self, files: dict[str, bytes]) -> Json | None:
        return apps.results(self.app, self.values, files)


@dataclass
class Content(Script):
    """A workload that writes content, for recordings."""

    workload: str = field(kw_only=True)
    is_ours = True

    @property
    def name(self) -> str:
        return self.workload

    @property
    def said(self) -> str:
        return f"content {self.workload}"

    def files(self, device: str) -> list[Entry]:
        return [*super().files(device), *((name, TEXT, data) for name, data in content.files(self.workload))]

    def images(self) -> list[Path]:
        return [paths.CONTENT_IMAGE]

    def words(self) -> list[str]:
        return ["--content", self.workload]

    def facts(self) -> Json:
        return {**super().facts(), "content": self.workload}


@dataclass
class Load(Script):
    """A trace that slate-load replays."""

    trace: str = field(kw_only=True)
    load_args: list[str] = field(kw_only=True)
    is_ours = True

    @property
    def name(self) -> str:
        return "load"

    @property
    def said(self) -> str:
        return f"slate-load {self.trace}"

    @property
    def failed(self) -> str:
        return f"slate-load {self.trace}"

    def files(self, device: str) -> list[Entry]:
        sent = load.files(self.trace, self.load_args, device)
        return [*super().files(device), *((name, TEXT, data) for name, data in sent)]

    def words(self) -> list[str]:
        trace = self.trace if self.trace.startswith(load.GENERATED) else paths.short(Path(self.trace))
        return ["--load", trace, *(f"--load-arg={word}" for word in self.load_args), *self._arg_words()]

    def facts(self) -> Json:
        return {**super().facts(), "load": self.trace, "load_args": self.load_args}

    def results(self, files: dict[str, bytes]) -> Json | None:
        return load.results(self.trace, self.load_args, files)


@dataclass
class Own(Work):
    """A guest of the user's own, on whose console or network the user works."""

    guest: ownguest.OwnGuest

    @property
    def name(self) -> str:
        return self.guest.name

    @property
    def said(self) -> str:
        return f"a guest of your own, {self.guest.name},"
