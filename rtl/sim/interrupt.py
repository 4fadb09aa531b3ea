"""Delays Ctrl-C until no PyMTL3 code is running.

Elaboration, translation and the values of PyMTL3 (`Bits.__getitem__`, comparisons) have an `except:` that
names no exception. A KeyboardInterrupt that arrives in one of them turns into another error, or is lost, and
the run goes on.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_kept = threading.Event()


def check() -> None:
    """Raise the interrupt that has been kept, if there is one."""
    if _kept.is_set():
        _kept.clear()
        raise KeyboardInterrupt


@contextmanager
def kept() -> Iterator[None]:
    """Within, Ctrl-C waits for `check`, or for the end.

    Nothing changes in other threads than the main one, which get no signals, nor where a caller handles
    SIGINT.
    """
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: _kept.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        check()
