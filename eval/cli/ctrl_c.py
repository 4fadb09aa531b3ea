"""Handling of Ctrl-C during imports, after the end of a command, and in finalisers."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

from .exit_codes import INTERRUPTED

SECONDS = 0.01  # delay before a lost interrupt is raised again


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
    """Raise a Ctrl-C again that arrived in a finaliser or in a callback of a weak reference.

    Python would print it as ignored, and the command would continue.
    """
    before = sys.unraisablehook

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            before(unraisable)
            return
        # a signal also ends calls that wait, such as those for a tool
        timer = threading.Timer(SECONDS, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        timer.daemon = True
        try:
            timer.start()
        except KeyboardInterrupt:  # the signal arrived before start() returned, and would be lost here
            hook(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
