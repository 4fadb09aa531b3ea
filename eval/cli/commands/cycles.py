"""`modexlab run --level formula`: cycles of an operation by its closed formula, without simulation."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS
from ...designs.widths import check_fit, check_width
from .. import own
from ..arguments import (
    add_design,
    add_json,
    add_operands,
    add_settings,
    add_width,
    add_workload,
    answer_all,
    described,
    entries_of,
    json_number,
    refuse_with_workload,
    settings_of,
)

if TYPE_CHECKING:
    from ...designs.machine import Design, Machine
    from ...designs.own import OwnDesign
    from ...designs.workload_names import Workload

Counted = tuple[dict[str, Any], list[str]]  # for scripts, and in words

SUMMARY = "count cycles without simulating"
TEXT = """\
Cycles from the handshake of the request to that of the
response, by the design's formula; operands that are not given are fixed pseudo-random numbers.
Products in turn: two that are made side by side count once. A design by a manifest (--design)
has no formula: it is run, and its result checked."""
EXAMPLES = """\
  modexlab run mont --level formula --nbits 1024 --exp 65537
  modexlab run mont-ct --level formula --nbits 4096 --exp 0xffff --set nstages=8 --json
  modexlab run ssmm --level formula --nbits 2048 --workload sign+9verify
  modexlab run mont --level formula --nbits 2048 --set schedule=fixed-window --set crt=true --set fit=modulus --workload decrypt
  modexlab run naive-001 --level formula --base 1119317562 --exp 65537 --mod 2603398711
  modexlab run --level formula --design cores/mine/design.toml --nbits 512 --workload decrypt"""


def add(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    add_operands(parser, required=False)
    add_workload(parser)
    add_width(
        parser, f"default: length of the modulus, rounded up to a multiple of 32; without --mod {PAPER_NBITS}"
    )
    add_settings(parser)
    own.add_fields(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...designs.own import OwnDesign  # not at the top: it brings PyMTL3, and --help must be quick

    counted = [
        _of_own(args, design) if isinstance(design, OwnDesign) else _of(args, design)
        for design in entries_of(args)
    ]
    answer_all(args, counted)
    return 0


def _of_own(args: argparse.Namespace, design: OwnDesign) -> Counted:
    """The cycles of an accelerator of another kind, by its formula."""
    operation = own.operation(args, design)
    accelerator, (requests,) = operation.accelerator, operation.parts
    counts = [accelerator.cycles(*request) for request in requests]
    if None in counts:
        raise BadInput(f"{design.name} has no formula of its cycles; define cycles(), or use `modexlab run`")
    report = {
        **described(accelerator),
        "cycles": sum(count or 0 for count in counts),
        "operation": operation.name,
        "requests": [own.named(accelerator.shape.request, request) for request in requests],
    }
    return report, [f"{design.name}, {accelerator.nbits} bits, {operation.name}: {report['cycles']} cycles"]


def _of(args: argparse.Namespace, design: Design) -> Counted:
    """The cycles of one RSA machine, for scripts and in words."""
    own.refuse_fields(args)
    settings = settings_of(design, args.settings)
    if args.workload is not None:
        return _named(args, design, settings)
    if args.nbits is None:
        nbits = design.width_for((1 << PAPER_NBITS) - 1 if args.mod is None else args.mod)
    else:
        nbits = check_width(args.nbits)
    machine = design.at(nbits, **settings)
    if machine.keyed:
        return _private(args, machine)
    some = machine.some_operands(args.mod)
    given = (args.base, args.exp, args.mod)
    base, exp, mod = (default if value is None else value for value, default in zip(given, some, strict=True))
    check_fit(nbits, [(base, exp, mod)])
    machine.require(base, exp, mod)
    cycles = machine.counted(base, exp, mod)
    products = machine.products(exp)
    about: dict[str, Any] = {}
    if products is not None:
        about = {"products": products, "product_cycles": machine.product_cycles}
    about |= {"base": json_number(base), "exp": json_number(exp), "mod": json_number(mod)}
    what = f"exponent of {exp.bit_length()} bits"
    if args.exp is None and (args.base is not None or args.mod is not None):
        what += " (drawn; give --exp for yours)"
    return _report(machine, cycles, about, what)


def _private(args: argparse.Namespace, machine: Machine) -> Counted:
    """Count the private operation with the key that a machine holds."""
    for name in ("base", "exp", "mod"):
        if getattr(args, name) is not None:
            raise BadInput(
                f"--{name}: with crt, blind or verify the machine does the private operation of its key, "
                f"and {name} is of that; "
                "drop it, or give --workload decrypt"
            )
    from ...designs.workload_names import private_operation

    work = private_operation(machine.nbits, machine.key)
    about: dict[str, Any] = {**_private_products(machine, work), "mod": json_number(work.mod)}
    return _report(machine, machine.counted(*work.operands), about, "a private operation of its key")


def _private_products(machine: Machine, work: Workload) -> dict[str, Any]:
    """The products of a program with a key: their modulus, and so their cycles, is not the same in all."""
    trace = machine.programmed.trace(machine.carried(*work.operands))
    in_turn = sum(-(-len(step.made) // machine.programmed.recipe.nunits) for step in trace)
    return {"products": in_turn, "product_cycles": machine.product_cycles}


def _named(args: argparse.Namespace, design: Design, settings: dict[str, Any]) -> Counted:
    """Count a workload by its name."""
    from ...designs.workload_names import (
        PRODUCT,
        cycles_of,
        parts_of,
    )  # not at the top: it brings the keys, and --help must be quick

    refuse_with_workload(args, ("base", "exp", "mod"))
    nbits = check_width(args.nbits) if args.nbits is not None else PAPER_NBITS
    machine = design.at(nbits, **settings)
    parts = parts_of(args.workload, machine, nbits)
    cycles = sum(part.times * cycles_of(args.workload, machine, part.work) for part in parts)
    about: dict[str, Any] = {"workload": args.workload}
    if machine.keyed:
        about |= _private_products(machine, parts[0].work)
    elif None not in (products := [machine.products(part.work.exp) for part in parts]):
        in_turn = sum(part.times * (count or 0) for part, count in zip(parts, products, strict=True))
        about["products"] = 1 if args.workload == PRODUCT else in_turn
        about["product_cycles"] = machine.product_cycles
    return _report(machine, cycles, about, args.workload)


def _products(about: dict[str, Any]) -> str:
    """How many products follow one another, and their cycles where all have the same."""
    cost = "" if about["product_cycles"] is None else f" of {about['product_cycles']}"
    count = about["products"]
    return f"{count:,} product{'' if count == 1 else 's'}{cost} in turn"


def _report(machine: Machine, cycles: int, about: dict[str, Any], what: str) -> Counted:
    measured = "products" not in about
    how = "measured by running it" if measured else _products(about)
    return (
        {**described(machine), "cycles": cycles, **about, **({"measured": True} if measured else {})},
        [f"{machine.name}, {machine.nbits} bits, {what}: {cycles} cycles ({how})"],
    )
