# SPDX-License-Identifier: GPL-2.0-or-later
"""Handles the signals that end a run in each of its phases: SIGINT, SIGTERM, SIGHUP.

While QEMU runs, a signal cancels the event loop's task. Before and after that, it raises
KeyboardInterrupt, as Ctrl-C does. Signals after the first are ignored until the process ends, so that
they do not interrupt the removal of what the run made. If SIGHUP is ignored at the start (nohup), it
stays ignored.

The event loop has signal handlers of its own. They are not used, because for a moment after the loop
is closed SIGTERM would have its default action.
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
        """Ignore signals from now on, while the run cleans up and until the process ends."""
        self._ignored = True
        self._set(signal.SIG_IGN)

    def cancel(self, task: asyncio.Task[object]) -> None:
        """Let a signal cancel a task of the running loop."""
        loop = asyncio.get_running_loop()
        self._finishing = False
        self._set(lambda *_: loop.call_soon_threadsafe(self._cancel, task))

    def _cancel(self, task: asyncio.Task[object]) -> None:
        if not self._finishing:
            task.cancel()

    def let_finish(self) -> None:
        """Ignore signals while the task cleans up."""
        self._finishing = True
        self._set(lambda *_: None)

    def interrupt(self) -> None:
        """Make signals raise KeyboardInterrupt, for code outside the event loop. It has no effect after ignore()."""
        if not self._ignored:
            self._set(self._interrupted)

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        self.ignore()  # also signals that have arrived meanwhile, which would interrupt the cleaning up
        raise KeyboardInterrupt
