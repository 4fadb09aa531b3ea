"""Builds the kit, the store, executors and sweeps from the options of a command."""

import os
import signal
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from ...fl.errors import BadInput
from ..lab.executors import Executor, Here, Processes
from ..lab.point import Point
from ..lab.search import Exhaustive
from ..lab.space import Space
from ..lab.store.reference import Reference
from ..lab.store.store import Store
from ..lab.sweep import Sweep


def kit_of(args: Namespace, *, installed: bool = False) -> str:
    """The value of `--kit` as in points: "" for the default; BadInput if the kit is unknown or, with
    `installed`, not installed.
    """
    from ...flow.kit import kit  # not at the top: it needs the extra [flow]

    name = args.kit or kit.DEFAULT.stem
    kit.described(name)
    if installed:
        kit.find(kit.named(name))
    return "" if name == kit.DEFAULT.stem else name


def jobs_of(args: Namespace) -> int:
    return args.jobs or len(os.sched_getaffinity(0))


def executor_of(args: Namespace, tasks: int) -> Executor:
    """The processes of --jobs for a number of tasks; a single task runs in this process."""
    jobs = min(jobs_of(args), tasks)
    return Processes(jobs) if jobs > 1 else Here()


def store_of(args: Namespace, *, read_only: bool = False, reference: bool = False) -> Store:
    """The store of `--store`; if it is only read, it must exist.

    reference: add the reference results, for points without figures in the store.
    """
    store = Store(args.store, Reference() if reference else None)
    if read_only and args.store is not None and not store.exists:
        raise BadInput(f"--store {args.store}: there is no such file; `modexlab sweep` writes one")
    return store


def swept(args: Namespace, space: Space, points: list[Point], store: Store, label: str) -> Sweep:
    """Measure these points of a space in processes, with --jobs and --retry."""
    jobs = min(jobs_of(args), max(1, len(points)))
    return Sweep(space, store, Exhaustive(points), args.retry).run(Processes(jobs), label, quiet=args.json)


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """End the block and its processes on SIGTERM, which `timeout` sends, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():  # other threads get no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
