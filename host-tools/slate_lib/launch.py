# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes 'slate run': in Slate's guest (run.py), or in one of the user's (ownrun.py)."""

from __future__ import annotations

import contextlib
import io
import os
import sys

from . import command, fioseed, ownrun, paths, units
from .errors import INTERRUPTED, MachineError, SlateError
from .options import RunOptions, parse
from .run import Run, check_job, check_profiles, dry_run


def _check_input(options: RunOptions) -> None:
    """Refuse an interactive shell whose input is closed: it would wait forever."""
    if not options.shell or options.own:
        return
    try:
        empty = os.path.samestat(os.fstat(0), os.stat(os.devnull))
    except OSError:  # closed
        empty = True
    if empty:
        raise SlateError(
            "--shell: the standard input is empty: the guest's shell would wait for ever",
            "run it on a terminal, or put the commands into a script: --cmd FILE",
        )


def run(options: RunOptions) -> int:
    """Run 'slate run'."""
    check_job(options)
    _check_input(options)
    if options.dry_run:
        check_profiles(options)
    if options.own and (options.dry_run or options.own.print_libvirt):
        return ownrun.show(options)
    if options.dry_run:
        return dry_run(options)
    if options.own:
        command.check_qemu()
    else:
        command.check_built(options)
    if command.firmware_missing():
        raise SlateError(
            "the PC's firmware (bios-256k.bin) is not there", "run host-tools/install-packages.sh"
        )
    print(
        f"{'slate':<9} {options.work.said} on {', '.join(paths.short(drive.drive_path) for drive in options.drives)}, "
        f"{_kernel_words(options)}"
        f"{units.many(options.smp, 'vCPU')}{'' if options.realtime else f' at {options.cpu_rate} GIPS'}, "
        f"{units.size(options.mem)}, seed {options.seed}, "
        f"{'the host’s time' if options.realtime else 'virtual time'}"
    )
    if options.goal and options.goal.words():
        print(f"{'job':<9} {options.goal.words()}")
    if options.own:
        print("          its console is here; the guest powers off by itself, Ctrl-A x ends QEMU")
    elif options.shell:
        print(
            "          a shell on /dev/ttyS0; leave it with 'exit' (powers off, prints the report), "
            "end QEMU with Ctrl-A x"
        )
        if not sys.stdin.isatty():
            print(
                "          its input is no terminal: the guest loses what arrives before its prompt; put commands into "
                "a script: --cmd FILE"
            )
    if fixed := fioseed.fixed_jobs(options.job, options.seed):
        print(f"          {', '.join(fixed)}: the job's own seed decides the addresses, not --seed {options.seed}")
    sys.stdout.flush()
    if options.own:
        return ownrun.OwnRun(options).execute()
    return Run(options).execute()


def _kernel_words(options: RunOptions) -> str:
    """Return the kernel's name for the first line, unless it is the default."""
    own = options.own_kernel
    return f"Linux {own.image.release}, " if own else "small kernel, " if options.kernel == "small" else ""


def quietly(words: list[str]) -> None:
    """Run 'slate run' with these arguments for another command, without its report. Raises an error if it fails."""
    with contextlib.redirect_stdout(io.StringIO()):
        status = run(parse(words))
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    if status:
        raise MachineError(f"the guest's job failed (status {status})", "look at what is told above")
