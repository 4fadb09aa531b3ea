"""Count cycles without simulating.

Cycles from the handshake of the request to that of the response, by the closed formula of the design.
Missing operands are fixed pseudo-random numbers. Two products that are computed in parallel count once. A
core with a manifest (--accelerator) has no formula: it is simulated, and its result is checked.

examples:
  modexlab run mont --level formula --nbits 1024 --exp 65537
  modexlab run mont-ct --level formula --nbits 4096 --exp 0xffff --set nstages=8 --json
  modexlab run mont --level formula --nbits 2048 --workload sign+9verify
  modexlab run mont-keyed --level formula --nbits 2048 --crt --workload decrypt
  modexlab run naive-001 --level formula --base 1119317562 --exp 65537 --mod 2603398711
  modexlab run --level formula --accelerator cores/mine/design.toml --nbits 512 --workload decrypt
"""

from argparse import Namespace

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS
from ...designs.machine import Design, Machine
from ...designs.own import OwnDesign
from ...designs.workload_names import PRODUCT, Workload, cycles_of, parts_of, private_operation
from ...json_values import json_number
from .. import own
from ..arguments import accelerator_of, described, entries_of, operands_of, refuse
from ..options import RSA_OPERANDS, SETTINGS
from ..render import Json, answer_all

Counted = tuple[Json, str]  # the report as JSON and as text


OPTIONS = (
    "design",
    "--accelerator",
    *RSA_OPERANDS,
    "--workload",
    "--field",
    f"--nbits (default: length of the modulus, rounded up to a multiple of 32; without --mod {PAPER_NBITS})",
    *SETTINGS,
    "--json",
)


def execute(args: Namespace) -> int:
    counted = [
        _of_own(args, design) if isinstance(design, OwnDesign) else _of(args, design)
        for design in entries_of(args)
    ]
    return answer_all(args, counted)


def _of_own(args: Namespace, design: OwnDesign) -> Counted:
    """The cycles of an accelerator that is not an RSA machine, by its formula."""
    operation = own.operation(args, design)
    accelerator, (requests,) = operation.accelerator, operation.parts
    cycles = accelerator.total_cycles(requests)
    if cycles is None:
        what = "its cycles" if len(requests) == 1 else f"the cycles of {len(requests)} requests"
        raise BadInput(f"{design.name} has no formula of {what}; simulate it with `modexlab run`")
    report = {
        **described(accelerator),
        "cycles": cycles,
        "operation": operation.name,
        "requests": [own.named(accelerator.shape.request, request) for request in requests],
    }
    return report, f"{design.name}, {accelerator.nbits} bits, {operation.name}: {cycles} cycles"


def _of(args: Namespace, design: Design) -> Counted:
    """The cycles of one RSA machine."""
    own.refuse_fields(args)
    if args.workload is not None:
        refuse(args, RSA_OPERANDS, " with --workload, which has its own operands; drop one of them")
        return _named(accelerator_of(args, design), args.workload)
    machine = accelerator_of(args, design, (1 << PAPER_NBITS) - 1 if args.mod is None else args.mod)
    if machine.keyed:
        refuse(
            args,
            RSA_OPERANDS,
            ": with crt, blind or verify the machine does the private operation of its key, which has its "
            "own operands; drop it, or give --workload decrypt",
        )
        work = private_operation(machine.nbits, machine.key)
        about = {**_private_products(machine, work), "mod": json_number(work.mod)}
        return _report(machine, machine.counted(*work.operands), about, "a private operation of its key")
    operands = operands_of(args, machine)
    exp = operands[1]
    about = {}
    if (products := machine.products(exp)) is not None:
        about = {"products": products, "product_cycles": machine.product_cycles}
    about |= zip(("base", "exp", "mod"), map(json_number, operands), strict=True)
    what = f"exponent of {exp.bit_length()} bits"
    if args.exp is None and (args.base is not None or args.mod is not None):
        what += " (random; give --exp for yours)"
    return _report(machine, machine.counted(*operands), about, what)


def _private_products(machine: Machine, work: Workload) -> Json:
    """The products of a program with a key. Their cycles differ, as their moduli do."""
    trace = machine.programmed.trace(machine.carried(*work.operands))
    in_turn = sum(len(step.made) for step in trace)
    return {"products": in_turn, "product_cycles": machine.product_cycles}


def _named(machine: Machine, name: str) -> Counted:
    """Count the cycles of a workload."""
    parts = parts_of(name, machine, machine.nbits)
    cycles = sum(part.times * cycles_of(name, machine, part.work) for part in parts)
    about: Json = {"workload": name}
    if machine.keyed:
        about |= _private_products(machine, parts[0].work)
    elif None not in (products := [machine.products(part.work.exp) for part in parts]):
        in_turn = sum(part.times * (count or 0) for part, count in zip(parts, products, strict=True))
        about |= {"products": 1 if name == PRODUCT else in_turn, "product_cycles": machine.product_cycles}
    return _report(machine, cycles, about, name)


def _report(machine: Machine, cycles: int, about: Json, what: str) -> Counted:
    """The cycles, the number of sequential products, and the cycles of each if all are equal."""
    report = {**described(machine), "cycles": cycles, **about}
    if (count := about.get("products")) is None:
        report["measured"], how = True, "measured by running it"
    else:
        cost = "" if about["product_cycles"] is None else f" of {about['product_cycles']}"
        how = f"{count:,} product{'' if count == 1 else 's'}{cost} in turn"
    return report, f"{machine.name}, {machine.nbits} bits, {what}: {cycles} cycles ({how})"
