"""Builds points of the flow, the ledger and sweeps from the options of a command."""

import os
import signal
import threading
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...fl.errors import BadInput
from ...fl.param import PAPER_NBITS
from ..designs.interfaces import DEFAULT, SYSTEM
from ..designs.machine import Design
from ..designs.own import OwnDesign
from ..designs.system_catalogue import HARDWARE, SOFTWARE, find_system
from ..folders import check_file
from ..lab.explore import Sweep
from ..lab.ledger.export import Reference
from ..lab.ledger.ledger import Ledger
from ..lab.point import Point
from ..lab.schedulers import Here, Local, Scheduler
from ..lab.search import Exhaustive
from ..lab.space import Space
from .arguments import assignments, one_entry, program_settings, refuse
from .options import PRIVATE


def flow_point(
    args: Namespace, stage: str, flow: Mapping[str, Any] | None = None, system: bool = False
) -> Point:
    """The point of a command for the flow: a design of any kind, or a system, by its name or by `system`."""
    name, nbits = args.design, args.nbits
    if name is None and not args.manifests:
        raise BadInput(
            "neither a design nor Verilog; give a DESIGN, --accelerator PATH, or --verilog FILE --top NAME"
        )
    design: Design | OwnDesign | None
    if name is not None and name.startswith((SOFTWARE, HARDWARE)):
        design, system = find_system(name).design, True
    else:
        design = one_entry(args)
        name = design.reference
        if system and "@" in name:
            raise BadInput(f"{design.name} is not a machine of the catalogue: drop --system")
    if system and args.interface != DEFAULT.name:
        raise BadInput("--interface with --system: behind a processor the interface is always xcel; drop it")
    if design is None and args.settings:
        raise BadInput(f"--set {args.settings[0]}: software on the processor has no parameters; drop it")
    if design is None:
        refuse(args, PRIVATE, ": software on the processor has no such hardware; drop it")
    if nbits is None:
        nbits = design.usual_nbits if design else PAPER_NBITS
    settings = program_settings(args, design, nbits) if design else {}
    interface = SYSTEM if system else args.interface
    chosen = tuple((flow or {}).items())
    return Point(name, nbits, tuple(settings.items()), interface, stage=stage, flow=chosen)


def flow_of(args: Namespace, options: Collection[str], command: str) -> dict[str, str]:
    """The values of `--flow`; those of `options` have an option of their own in this command."""
    from ...flow.graph import graph  # not at the top: it needs the extra [flow]

    values = dict(assignments("--flow", args.other, "PARAM=VALUE, as in --flow glitches=False"))
    for name in values:
        if name in options or name in graph.declaration("rtl").parameters:
            raise BadInput(f"--flow {name}: it has an option of its own; see `modexlab {command} --help`")
    return values


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


def scheduler_of(args: Namespace, tasks: int) -> Scheduler:
    """The processes of --jobs for a number of tasks; a single task runs in this process."""
    jobs = min(jobs_of(args), tasks)
    return Local(jobs) if jobs > 1 else Here()


def ledger_of(args: Namespace, *, read_only: bool = False, reference: bool = False) -> Ledger:
    """The ledger of `--ledger`; if it is only read, it must exist.

    reference: add the reference results, for points without figures in the ledger.
    """
    if args.ledger is not None:
        check_file("--ledger", args.ledger)
    ledger = Ledger(args.ledger, Reference() if reference else None)
    if read_only and args.ledger is not None and not ledger.exists:
        raise BadInput(f"--ledger {args.ledger}: there is no such file; `modexlab sweep` writes one")
    return ledger


def swept(args: Namespace, space: Space, points: list[Point], ledger: Ledger, label: str) -> Sweep:
    """Measure these points of a space in processes, with --jobs and --retry."""
    jobs = min(jobs_of(args), max(1, len(points)))
    return Sweep(space, ledger, Exhaustive(points), args.retry).run(Local(jobs), label, quiet=args.json)


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
