"""Delays Ctrl-C until no PyMTL3 code is running.

Elaboration, translation and the value types of PyMTL3 (`Bits.__getitem__`, comparisons) contain bare
`except:` clauses. A KeyboardInterrupt that arrives in one of them turns into another error, or is lost, and
the run continues.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_kept = threading.Event()


def check() -> None:
    """Raise the delayed interrupt, if there is one."""
    if _kept.is_set():
        _kept.clear()
        raise KeyboardInterrupt


@contextmanager
def kept() -> Iterator[None]:
    """Context in which Ctrl-C is delayed until `check` or the end.

    It does nothing in threads other than the main one, which get no signals, or if the caller handles SIGINT.
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
