# SPDX-License-Identifier: GPL-2.0-or-later
"""Declares, parses and checks the options of 'slate run'."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from . import (
    apps,
    content,
    drives,
    estimate,
    guests,
    jobfile,
    load,
    names,
    namespaces,
    ownguest,
    ownkernel,
    paths,
    powercut,
    processors,
    units,
)
from .commands import SET, Command, Option
from .drives import Drive
from .errors import SlateError
from .parsing import Parser
from .values import check_settings, memory_available, number, share
from .work import App, Content, Job, Load, Own, Script, Work

MEM_MIN = 384 << 20
APPS_MEM_MIN = 768 << 20  # the images are in memory, from command.IMAGES_AT on
# A run may need these names in the guest's /job for itself.
JOB_FILES = ("env", "start", "job.fio", "run.sh", "app.sh", "drives.sh", "slate-mark", "precondition.fio",
             "args")  # fmt: skip
HANDOFF_MOST = 16 << 20  # of files; a booted guest reads them from a port, 4 bytes at a time, and has them twice
SMP_MAX = 16
SMP_MAX_REALTIME = 64


@dataclass
class RunOptions(Drive):
    """Holds the options of one run. Attributes of Drive are read from the first drive."""

    more: list[Drive] = field(default_factory=list)  # the other drives
    work: Work = field(default_factory=Work)
    programs: dict[str, bytes] = field(default_factory=dict)  # files beside the script, by name
    files: list[Path] = field(default_factory=list)  # those that were asked for
    root: Path | None = None  # the guest's files, in place of the guest's own initramfs
    environment: dict[str, str] = field(default_factory=dict)
    shell: bool = False
    apps: bool = False  # the image of applications is in the guest
    out: Path | None = None
    kernel: str = "debian"
    own_kernel: ownkernel.OwnKernel | None = None  # a kernel of the user's for Slate's guest
    smp: int = 1
    cpu_rate: str = processors.RATE  # 10^9 instructions a second of virtual time
    cpu_quantum: int = processors.QUANTUM_NS
    mem: int = 1 << 30
    realtime: bool = False
    spin_ns: int | None = None  # None: the drive's default
    accel: str = "tcg"
    frontend: str = "nvme"
    qmp: Path | None = None  # a socket for slatectl
    cuts: powercut.Cuts | None = None
    qemu_args: list[str] = field(default_factory=list)
    kernel_args: list[str] = field(default_factory=list)
    timeout: float = 600
    snapshot: str = ""  # "use" one of the booted guest, or "boot" to the same moment; "": the job is in the initramfs
    keep: bool = False
    verbose: bool = False
    dry_run: bool = False
    goal: estimate.Goal | None = None  # what the job asks for, if the drive's size is known

    @property
    def drives(self) -> list[Drive]:
        """Return all drives, in the guest's order."""
        return [self, *self.more]

    @property
    def job(self) -> jobfile.JobFile | None:
        """Return fio's job, if the work is one."""
        return self.work.job if isinstance(self.work, Job) else None

    @property
    def own(self) -> ownguest.OwnGuest | None:
        """Return the user's own guest; None: Slate's."""
        return self.work.guest if isinstance(self.work, Own) else None

    @property
    def handoff(self) -> bool:
        """Does the guest get its job after the boot?"""
        return bool(self.snapshot)

    @property
    def device(self) -> str:
        """Return the name of the first drive in the guest."""
        return "/dev/nvme0n1" if self.frontend == "nvme" else "/dev/vda"

    @property
    def name(self) -> str:
        """Return the name of the run's directory."""
        stems = list(dict.fromkeys(drive.drive_path.stem for drive in self.drives))
        return "-".join([self.work.name, *stems])

    @property
    def guest_control(self) -> str:
        """Return the value of guest-control. Marks need only logs; the user's own programs may control the drive."""
        own = self.work.controls_drive(self.shell) or (self.cuts and self.cuts.script)
        return "on" if own else "logs"


WORK = (
    Option("--profile", "NAME|FILE", "the drive (default: default; 'slate profiles' lists names); once more for each "
           "further drive: /dev/nvme1n1 and so on (docs/running.md)", repeat=True),
    Option("--one-controller", about="with several --profile: the drives are namespaces of one controller, "
           "/dev/nvme0n1, nvme0n2 and so on (docs/namespaces.md)"),
    Option("--job", "NAME|FILE", "a fio job file (default: quick; 'slate jobs' lists names)"),
    Option("--cmd", "SCRIPT", "run a shell script in the guest instead of fio"),
    Option("--cmd-arg", "WORD", "an argument for the script; repeatable", repeat=True),
    Option("--app", "NAME", f"run an application on a file system on the drive: {', '.join(apps.APPS)}"),
    Option("--app-arg", "NAME=VALUE", "a parameter of the application, such as fs=xfs; repeatable (a wrong one lists "
           "them)", repeat=True),
    Option("--load", "TRACE", "replay a trace (a file, or gen:...) in the guest with slate-load (docs/slate-load.md)"),
    Option("--load-arg", "WORD", "an option of slate-load, as --load-arg=--closed=8; repeatable", repeat=True),
    Option("--env", "NAME=VALUE", "a variable for the script or the job file (fio expands ${NAME}); repeatable",
           repeat=True),
    Option("--file", "FILE", "put a file into the guest, beside the script, in /job; repeatable", repeat=True),
    Option("--shell", about="an interactive guest with the drive, on this terminal"),
    Option("--content", "NAME", f"run a content workload ({', '.join(content.names())}), for --record-content; --env "
           "SCALE=2 doubles it ('make guest-content' builds what it needs)"),
    Option("--apps", about="put the image of applications into the guest: a script runs them with 'in-apps' "
           "('make guest-apps' builds it)"),
    Option("--out", "DIR", "where results go (default: out/JOB-PROFILE-NNN)"),
)  # fmt: skip
DRIVE = (
    Option("--drive", "FILE", "a drive file: opened, or with --profile made if it does not exist; with several drives, "
           "one for each", repeat=True),
    Option("--ephemeral", about="start from the drive file, but write nothing to it"),
    Option("--record", "FILE", "write every request, with the drive's own times, to FILE: a trace for 'slate replay "
           "--recorded'", repeat=True),
    Option("--record-content", "FILE", "write every request, and the data of every write, to FILE: a trace for 'slate "
           "replay' (docs/content-trace.md)", repeat=True),
    dataclasses.replace(SET, about=f"{SET.about}; with several drives, N:SECTION.KEY=VALUE is for nvmeN only"),
    Option("--fill", "PCT", "per cent of the drive to write before the job; reads of unwritten sectors touch no flash",
           default="100", unset=True),
    Option("--age", "X", "then overwrite X times its capacity at random", default="0", unset=True),
    Option("--precondition", about="fill and age in no device time, or by I/O in device time",
           choices=("instant", "device"), default="instant", unset=True),
    Option("--namespace", "size=SIZE[,lba=512|4096]", "make a namespace on the new drive: /dev/nvme0n1, and with "
           "further --namespace nvme0n2 and so on (docs/namespaces.md)", repeat=True),
    Option("--frontend", about="the guest's device", choices=("nvme", "virtio-blk"), default="nvme", unset=True),
)  # fmt: skip
GUEST = (
    Option("--kernel", "NAME|FILE", "debian; small: nearly every I/O costs the same number of instructions ('make "
           "guest-kernel' builds it); or a bzImage or vmlinux of your own: docs/kernels.md", default="debian",
           unset=True),
    Option("--modules", "DIR", "modules of --kernel FILE, as 'make modules_install INSTALL_MOD_PATH=DIR' installs them "
           "(also with --image)"),
    Option("--guest", "NAME", "another guest than the default: 'slate guests' lists them"),
    Option("--smp", "N", f"processors, 1 to {SMP_MAX}", default="1", unset=True),
    *processors.OPTIONS,
    Option("--mem", "SIZE", "memory", default="1G", unset=True),
    Option("--seed", "N", "seed of everything random in the guest", default="1"),
    Option("--realtime", about="run by the host's clock instead of virtual time, with the drive in its own thread; the "
           "report says how late completions were"),
    Option("--spin-ns", "NS", "in real time: for how long before a completion the drive's thread polls the clock "
           "instead of sleeping, which takes a processor (default 20000; 0: never)"),
    Option("--accel", about="kvm implies --realtime", choices=("tcg", "kvm"), default="tcg"),
    Option("--kernel-arg", "WORD", "a further word for the kernel's command line, such as nohz=off; repeatable",
           repeat=True),
    Option("--qmp", "SOCKET", "open QEMU's monitor here, for 'slatectl --qmp SOCKET counters'"),
    Option("--qemu-arg", "ARG", "a further argument for QEMU, as --qemu-arg=-X; repeatable", repeat=True),
)  # fmt: skip
MANNER = (
    Option("--timeout", "SECONDS", "end the run when the guest is silent for so long, also in its own time",
           default="600", unset=True),
    Option("--snapshot", about="use (default, where there can be one): begin from a snapshot of the booted guest, "
           "stored by the first such run; boot: the same results without it (docs/running.md)",
           choices=("use", "boot")),
    Option("--keep", about="keep the work files, also after a failure or Ctrl-C"),
    Option("--dry-run", about="only print QEMU's command line"),
    Option("--verbose", about="show the guest's console"),
)  # fmt: skip
GROUPS = (("what to run", WORK), ("the drive", DRIVE), ("power cuts", powercut.OPTIONS), ("the guest", GUEST),
          ("a guest of your own (docs/guests.md)", ownguest.OPTIONS), ("how", MANNER))  # fmt: skip
DEFAULTS = {option.dest: option.default or "" for _, options in GROUPS for option in options}


@dataclass(frozen=True)
class Asked:
    """Looks up options that a job file may give, too."""

    args: argparse.Namespace
    hints: dict[str, str]

    def given(self, name: str) -> str | None:
        """Return an option's value by the command line or the job file."""
        given: str | None = getattr(self.args, name)
        return self.hints.get(name) if given is None else given

    def __call__(self, name: str) -> str:
        """Return an option's value, or its default."""
        given = self.given(name)
        return DEFAULTS[name] if given is None else given


def _memory(text: str) -> int:
    try:
        value = units.parse_size(text)
    except ValueError:
        raise SlateError(f"--mem {text}: not a size", "write it as 1G or 768M") from None
    if value < MEM_MIN:
        raise SlateError(f"--mem {text}: the guest needs {units.size(MEM_MIN)} at least", "use --mem 1G")
    free = memory_available()
    if free is not None and value > free:
        raise SlateError(
            f"--mem {text}: this machine has {units.size(free)} of memory available",
            f"use a smaller --mem (at least {MEM_MIN >> 20}M), or end other programs",
        )
    return value


def _processors(options: RunOptions, args: argparse.Namespace, smp: str) -> None:
    """Set the number of processors, and in virtual time their rate and quantum."""
    if not options.realtime and (units.whole(smp) or 0) > SMP_MAX:
        raise SlateError(
            f"--smp {smp}: in virtual time at most {SMP_MAX}, which is what the small kernel takes",
            f"give a number from 1 to {SMP_MAX}",
        )
    options.smp = int(number("smp", smp, 1, SMP_MAX_REALTIME if options.realtime else SMP_MAX))
    if options.realtime:
        processors.check_real_time(args)
        return
    options.cpu_rate = processors.rate(processors.RATE if args.cpu_rate is None else args.cpu_rate)
    quanta = []
    for drive in options.drives:
        settings = None
        if drive.drive_kept:
            settings = dict(line.split("=", 1) for line in drive.drive_kept.settings + drive.settings)
        elif drive.profile:
            settings = processors.profile_settings(drive.profile, drive.settings)
        quanta.append(processors.quantum(args.cpu_quantum, settings, options.smp))
    options.cpu_quantum = min(quanta)


def parse(words: list[str]) -> RunOptions:
    """Return the options of 'slate run' with these arguments."""
    return from_arguments(Parser(prog="slate run").add(Command("run", "", groups=GROUPS)).parse(words))


def from_arguments(args: argparse.Namespace) -> RunOptions:
    """Check the arguments, and set defaults for those that are not given."""
    if args.guest is not None:
        guests.choose(args.guest)
    drives.prepare(args)
    load.prepare(args)
    content.prepare(args)
    own = ownguest.from_arguments(args)
    check_settings([drives.without_address(line) for line in args.set])
    options = RunOptions(**vars(drives.first(args)))
    options.more = drives.others(args)
    options.shell = args.shell or own is not None
    _work(options, args)
    if own:
        options.work = Own(own)
    asked = Asked(args, options.job.hints if options.job else {})
    options.seed = int(number("seed", args.seed, 0, 2**31 - 1))
    _contents(options, args, asked)
    _guest(options, args, asked)
    _records(options, args)
    options.cuts = powercut.from_arguments(args, options.seed, len(options.drives))
    ownkernel.check(options)
    options.out = Path(args.out) if args.out else None
    options.keep, options.verbose, options.dry_run = args.keep, args.verbose, args.dry_run
    options.snapshot = _snapshot(options, args.snapshot or "")
    return options


def _job_bytes(options: RunOptions) -> int:
    """Return the size of the work's files."""
    own = options.work.files(options.device)
    return sum(map(len, options.programs.values())) + sum(len(data) for _, _, data in own)


def _snapshot(options: RunOptions, asked: str) -> str:
    """Return how the guest comes to its job: RunOptions.snapshot. What was asked for is done or refused.

    A guest that boots for itself gets its job at the same moment, so that runs of both kinds agree: a cut ends what the
    run without it would have done.
    """
    others = {
        "a guest of your own": options.own,
        "--realtime": options.realtime,
        "--shell": options.shell,
        f"--kernel {options.kernel}": options.kernel != "debian",  # the small one has used the drive before its init
        f"--frontend {options.frontend}": options.frontend != "nvme",
        "--kernel-arg=slate.*": [word for word in options.kernel_args if word.startswith("slate.")],
        f"more than {units.size(HANDOFF_MOST)} of files": _job_bytes(options) > HANDOFF_MOST,
    }
    alone = {
        "power cuts": options.cuts,
        "--qemu-arg": options.qemu_args,
        "--namespace": [drive for drive in options.drives if drive.namespaces],  # the controller writes when it is made
    }
    for name, given in (others if asked != "use" else others | alone).items():
        if given and asked:
            raise SlateError(f"--snapshot {asked} with {name}: there are no such snapshots", "leave it out")
        if given:
            return ""
    return "boot" if any(alone.values()) else asked or "use"


def _work(options: RunOptions, args: argparse.Namespace) -> None:
    """Set the work that runs in the guest."""
    what = [f"--{name}" for name in ("job", "cmd", "app") if getattr(args, name)]
    if len(what) > 1:
        raise SlateError(f"{' and '.join(what)} exclude each other", "give one of them")
    options.apps = args.apps or bool(args.app)
    options.environment = _environment(args.env)
    options.files, options.programs = [Path(word) for word in args.file], files(args.file)
    if args.app_arg and not args.app:
        raise SlateError("--app-arg without --app", "name the application with --app")
    if args.app:
        options.work = _app(args)
    elif args.cmd:
        options.work = _script(args)
    elif args.job or not options.shell:
        path = names.find(args.job or str(paths.DEFAULT_JOB), names.JOB)
        options.work = Job(jobfile.load(path, options.environment, options.files))
    _check_script_args(options, args.cmd_arg)


def _guest(options: RunOptions, args: argparse.Namespace, asked: Asked) -> None:
    """Set the guest, its processors and its clock."""
    own = options.own
    if not own:
        set_kernel(options, args, asked("kernel"))
    options.mem = _memory(asked("mem"))
    if options.apps and options.mem < APPS_MEM_MIN:
        raise SlateError(
            f"--mem {options.mem >> 20}M: applications need {APPS_MEM_MIN >> 20}M, their image is in memory",
            "use --mem 1G",
        )
    options.timeout = number("timeout", asked("timeout"), 1, 1e7, float)
    options.accel = args.accel
    options.realtime = args.realtime or options.accel == "kvm"
    if args.spin_ns is not None:
        if not options.realtime:
            raise SlateError(
                f"--spin-ns {args.spin_ns}: virtual time has no thread that could spin",
                "add --realtime, or leave --spin-ns out",
            )
        options.spin_ns = int(number("spin-ns", args.spin_ns, 0, 1_000_000_000))
    if options.accel == "kvm":
        _check_kvm()
    _processors(options, args, asked("smp"))
    if own:
        ownguest.set_network(own, args, options.realtime)
        ownguest.check_drive(own, options)
    options.qmp = _socket(args.qmp)
    options.qemu_args = args.qemu_arg
    options.kernel_args = _kernel_args(args.kernel_arg)


def set_kernel(options: RunOptions, args: argparse.Namespace, name: str | None = None) -> None:
    """Set the kernel of Slate's guest: one of ours by its name, or the user's by --kernel FILE and --modules."""
    if file := ownguest.kernel_file(args):
        options.own_kernel = ownkernel.OwnKernel(file, Path(args.modules) if args.modules else None)
        ownkernel.say_unchecked(file, options.own_kernel.config)
        options.kernel = paths.short(file)
        return
    options.kernel = _choice("kernel", name or args.kernel, tuple(paths.KERNELS))
    if args.modules:
        raise SlateError(f"--modules {args.modules} without --kernel FILE", "name the kernel that they belong to")


def _contents(options: RunOptions, args: argparse.Namespace, asked: Asked) -> None:
    """Set how the guest sees the drives, and their content."""
    precondition = _choice("precondition", asked("precondition"), ("instant", "device"))
    if precondition == "device" and not options.job:
        raise SlateError(
            "--precondition device works with fio jobs only",
            "use --precondition instant, or write to the drive in the script",
        )
    options.frontend = _choice("frontend", asked("frontend"), ("nvme", "virtio-blk"))
    empty = bool(options.own and options.own.from_ssd)
    if empty and not options.drive_kept:
        ownguest.check_no_preconditioning(args)
    for drive in options.drives:
        drive.seed, drive.precondition = options.seed, precondition
        if not drive.drive_kept:
            _fill_and_age(drive, asked, empty)
    drives.check_run(options)
    namespaces.from_arguments(options, args)


def _fill_and_age(drive: Drive, asked: Asked, empty: bool) -> None:
    """Set the content of a new drive, from the command line, the job file or its profile. empty: it stays empty."""
    assert drive.profile
    if empty:
        drive.fill = drive.age = 0.0
        return
    in_profile = drives.profile_preconditions(drive.profile)
    fill = asked.given("fill") if "fill_permille" in in_profile else asked("fill")
    age = asked.given("age") if "age_permille" in in_profile else asked("age")
    drive.fill = None if fill is None else share("fill", fill, 100, 1)
    drive.age = None if age is None else share("age", age, 1000, 3)
    if drive.age and drive.fill == 0:
        raise SlateError(
            f"--age {drive.age:g}: it overwrites what --fill wrote, and the drive is empty (--fill 0)",
            "leave --age out, or fill the drive: --fill 100",
        )


def _records(options: RunOptions, args: argparse.Namespace) -> None:
    """Set the paths of each drive's recordings."""
    for drive, *names_ in zip(
        options.drives, [args.record, *args.more_record], [args.record_content, *args.more_record_content]
    ):
        drive.record, drive.record_content = (
            _record(option, name) for option, name in zip(("--record", "--record-content"), names_)
        )
    files = [path.resolve() for drive in options.drives for path in (drive.record, drive.record_content) if path]
    if len(set(files)) < len(files):
        raise SlateError("two recordings (--record, --record-content) name one file", "name two files")


def _app(args: argparse.Namespace) -> App:
    app = apps.find(args.app)
    values = app.values(args.app_arg)
    return App(app.script, jobfile.read(app.script), args.cmd_arg, app=app, values=values)


def _script(args: argparse.Namespace) -> Script:
    """Return the script of the run: the user's, or Slate's own for a content workload or a trace."""
    path = Path(args.cmd)
    text = jobfile.read(path)
    if args.content:
        return Content(path, text, args.cmd_arg, workload=args.content)
    if args.load:
        return Load(path, text, args.cmd_arg, trace=args.load, load_args=args.load_arg)
    return Script(path, text, args.cmd_arg)


def _record(option: str, name: str | None) -> Path | None:
    """Check that a recording can be written: its directory must exist."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir():
        raise SlateError(f"{option} {name}: is no file in a directory that is there", "name another file")
    return path


def _socket(name: str | None) -> Path | None:
    """Check the path of the monitor's socket, which the kernel limits to 107 bytes."""
    if name is None:
        return None
    path = Path(name)
    if not path.parent.is_dir() or (path.exists() and not path.is_socket()):
        raise SlateError(f"--qmp {name}: is no socket in a directory that is there", "name another file")
    if len(str(path.resolve()).encode()) > 107:
        raise SlateError(f"--qmp {name}: is longer than 107 characters", "use a shorter path, such as /tmp/slate.qmp")
    return path


def _kernel_args(words: list[str]) -> list[str]:
    for word in words:
        if not re.fullmatch(r"[\x21-\x7e]+", word):
            raise SlateError(
                f"--kernel-arg '{word}': not one word of plain characters", "repeat the option for each word"
            )
    return words


def _environment(words: list[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "\n" in value:
            raise SlateError(f"--env {word}: not NAME=VALUE", "for instance --env SIZE=50%")
        found[name] = value
    return found


def files(words: list[str]) -> dict[str, bytes]:
    """Return the content of each --file by its name in the guest."""
    found: dict[str, bytes] = {}
    for word in words:
        name = Path(word).name
        if name in found or name in JOB_FILES:
            taken = "another --file" if name in found else "the run's own"
            raise SlateError(f"--file {word}: {taken} is called {name}", "give the file another name")
        try:
            found[name] = Path(word).read_bytes()
        except OSError as error:
            raise SlateError(f"--file {word}: {error.strerror}", "name a file that can be read") from None
    return found


def _check_script_args(options: RunOptions, words: list[str]) -> None:
    if words and not isinstance(options.work, Script):
        raise SlateError("--cmd-arg without --cmd", "name the script with --cmd")
    for word in words:
        if not re.fullmatch(r"[A-Za-z0-9._/:=@%+-]+", word):
            raise SlateError(
                f"--cmd-arg '{word}': it travels on the kernel's command line",
                "use letters, digits and ._/:=@%+- only",
            )


def _choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise SlateError(f"{name}={value}: not a choice", f"use one of: {', '.join(choices)}")
    return value


def _check_kvm() -> None:
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise SlateError(
            "--accel kvm: this user can not open /dev/kvm",
            "leave --accel out (tcg), load the kvm module, or join the group kvm",
        )
