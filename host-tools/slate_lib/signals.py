# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals that end a run in each of its phases: SIGINT, SIGTERM, SIGHUP.

While QEMU runs, a signal cancels the event loop's task. Before and after that, it raises
KeyboardInterrupt, as Ctrl-C does. Further signals are ignored, so that what the run made is
removed whole, and until the process ends. A SIGHUP that is ignored at the start (nohup) stays so.

The event loop's own signal handlers would not do: when the loop is closed, they leave SIGTERM
with its default action for a moment.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import FrameType

_ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Handler = Callable[[int, FrameType | None], object] | int | None


class Signals:
    """Handles signals while it is active, as a context."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Handler] = {}
        self._ignored = self._finishing = False

    def __enter__(self) -> Signals:
        found = {number: signal.getsignal(number) for number in _ALL}
        hidden = found[signal.SIGHUP] is signal.SIG_IGN
        self._before = {number: was for number, was in found.items() if number is not signal.SIGHUP or not hidden}
        self.interrupt()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._ignored:
            for number, was in self._before.items():
                signal.signal(number, signal.SIG_DFL if was is None else was)

    def _set(self, handler: Handler) -> None:
        for number in self._before:
            signal.signal(number, handler)

    def ignore(self) -> None:
        """From now on signals have no effect: the run cleans up, then the process ends."""
        self._ignored = True
        self._set(signal.SIG_IGN)

    def cancel(self, task: asyncio.Task[object]) -> None:
        """From now on a signal cancels a task of the running loop."""
        loop = asyncio.get_running_loop()
        self._finishing = False
        self._set(lambda *_: loop.call_soon_threadsafe(self._cancel, task))

    def _cancel(self, task: asyncio.Task[object]) -> None:
        if not self._finishing:
            task.cancel()

    def let_finish(self) -> None:
        """From now on a signal has no effect: the task cleans up."""
        self._finishing = True
        self._set(lambda *_: None)

    def interrupt(self) -> None:
        """From now on, while no loop runs, the first signal interrupts, unless signals are ignored already."""
        if not self._ignored:
            self._set(self._interrupted)

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        self.ignore()  # also of those that have come meanwhile, which would interrupt the tidying up
        raise KeyboardInterrupt
