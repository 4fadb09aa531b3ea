"""Ctrl-C while a command is imported, after it has ended, and where Python would lose it."""

import _thread
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

from .exit_codes import INTERRUPTED

SECONDS = 0.01  # until an interrupt that was lost is repeated


def leave_at_once() -> bool:
    """Make Ctrl-C end the process without more ado; return whether this is so now.

    In other threads, and for a caller with a handler of its own or one that ignores Ctrl-C, nothing changes.
    """
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    return True


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Let Ctrl-C end the process at once while modules are imported and nothing has begun.

    A KeyboardInterrupt might be lost there: Python only prints those that are raised in callbacks of imports.
    """
    changed = leave_at_once()
    try:
        yield
    finally:
        if changed:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def repeated() -> Iterator[None]:
    """Repeat a Ctrl-C that arrives in a finaliser or in a callback of a weak reference.

    Python prints "Exception ignored" for an exception that is raised there, and the command would run on.
    """
    before = sys.unraisablehook

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            before(unraisable)
            return
        timer = threading.Timer(SECONDS, _thread.interrupt_main)
        timer.daemon = True
        timer.start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
