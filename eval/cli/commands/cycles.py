"""`modexlab run --level formula`: cycles of an operation by its closed formula, without simulation."""

from argparse import Namespace

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS
from ...designs.machine import Design, Machine
from ...designs.own import OwnDesign
from ...designs.widths import check_fit, check_width
from ...designs.workload_names import PRODUCT, Workload, cycles_of, parts_of, private_operation
from ...json_values import json_number
from .. import own
from ..arguments import Settings, described, entries_of, refuse, settings_of
from ..options import RSA_OPERANDS, shared
from ..render import Json, answer_all

Counted = tuple[Json, str]  # for scripts, and as text

SUMMARY = "count cycles without simulating"
TEXT = """\
Cycles from the handshake of the request to
that of the response, by the closed formula of the design; missing operands are fixed pseudo-random numbers.
Two products that are computed in parallel count once. A core with a manifest (--accelerator) has no formula:
it is simulated, and its result is checked."""
EXAMPLES = """\
  modexlab run mont --level formula --nbits 1024 --exp 65537
  modexlab run mont-ct --level formula --nbits 4096 --exp 0xffff --set nstages=8 --json
  modexlab run ssmm --level formula --nbits 2048 --workload sign+9verify
  modexlab run mont --level formula --nbits 2048 --set schedule=fixed-window --set crt=true --workload decrypt
  modexlab run naive-001 --level formula --base 1119317562 --exp 65537 --mod 2603398711
  modexlab run --level formula --accelerator cores/mine/design.toml --nbits 512 --workload decrypt"""


OPTIONS = (
    *("design", "--accelerator", *RSA_OPERANDS, "--workload", "--field"),
    shared(
        "--nbits",
        f"default: length of the modulus, rounded up to a multiple of 32; without --mod {PAPER_NBITS}",
    ),
    *("--set", "--json"),
)


def execute(args: Namespace) -> int:
    counted = [
        _of_own(args, design) if isinstance(design, OwnDesign) else _of(args, design)
        for design in entries_of(args)
    ]
    answer_all(args, counted)
    return 0


def _of_own(args: Namespace, design: OwnDesign) -> Counted:
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
    return report, f"{design.name}, {accelerator.nbits} bits, {operation.name}: {report['cycles']} cycles"


def _of(args: Namespace, design: Design) -> Counted:
    """The cycles of one RSA machine."""
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
    about: Json = {}
    if products is not None:
        about = {"products": products, "product_cycles": machine.product_cycles}
    about |= {"base": json_number(base), "exp": json_number(exp), "mod": json_number(mod)}
    what = f"exponent of {exp.bit_length()} bits"
    if args.exp is None and (args.base is not None or args.mod is not None):
        what += " (drawn; give --exp for yours)"
    return _report(machine, cycles, about, what)


def _private(args: Namespace, machine: Machine) -> Counted:
    """Count the private operation with the key that a machine holds."""
    refuse(
        args,
        ("base", "exp", "mod"),
        ": with crt, blind or verify the machine does the private operation of its key, which has its own "
        "operands; drop it, or give --workload decrypt",
    )
    work = private_operation(machine.nbits, machine.key)
    about: Json = {**_private_products(machine, work), "mod": json_number(work.mod)}
    return _report(machine, machine.counted(*work.operands), about, "a private operation of its key")


def _private_products(machine: Machine, work: Workload) -> Json:
    """The products of a program with a key: their modulus, and so their cycles, is not the same in all."""
    trace = machine.programmed.trace(machine.carried(*work.operands))
    in_turn = sum(-(-len(step.made) // machine.programmed.recipe.nunits) for step in trace)
    return {"products": in_turn, "product_cycles": machine.product_cycles}


def _named(args: Namespace, design: Design, settings: Settings) -> Counted:
    """Count a workload by its name."""
    refuse(args, ("base", "exp", "mod"), " beside --workload, which has its own operands; drop one of them")
    nbits = check_width(args.nbits) if args.nbits is not None else PAPER_NBITS
    machine = design.at(nbits, **settings)
    parts = parts_of(args.workload, machine, nbits)
    cycles = sum(part.times * cycles_of(args.workload, machine, part.work) for part in parts)
    about: Json = {"workload": args.workload}
    if machine.keyed:
        about |= _private_products(machine, parts[0].work)
    elif None not in (products := [machine.products(part.work.exp) for part in parts]):
        in_turn = sum(part.times * (count or 0) for part, count in zip(parts, products, strict=True))
        about["products"] = 1 if args.workload == PRODUCT else in_turn
        about["product_cycles"] = machine.product_cycles
    return _report(machine, cycles, about, args.workload)


def _products(about: Json) -> str:
    """How many products follow one another, and their cycles where all have the same."""
    cost = "" if about["product_cycles"] is None else f" of {about['product_cycles']}"
    count = about["products"]
    return f"{count:,} product{'' if count == 1 else 's'}{cost} in turn"


def _report(machine: Machine, cycles: int, about: Json, what: str) -> Counted:
    measured = "products" not in about
    how = "measured by running it" if measured else _products(about)
    report = {**described(machine), "cycles": cycles, **about, **({"measured": True} if measured else {})}
    return report, f"{machine.name}, {machine.nbits} bits, {what}: {cycles} cycles ({how})"
