"""Modular exponentiation: a schedule over a domain, with conversions before and after (paper 001, Algorithm
3).

    enter:  b <- base * R^2,  r <- 1 * R^2     two products, in parallel or one after the other
    run:    the products of the schedule
    leave:  result * 1

These are Montgomery products, for the domain "montgomery"; "identity" needs neither enter nor leave. This is
the functional level of ModExp: it raises BadInput for operands to which the hardware answers with a status
other than OK.
"""

from .accelerator import Fields, Shape
from .domains import Domain, make_domain
from .errors import BadInput, shown, unknown
from .program.schedules import SCHEDULES, Product, Step, execute
from .status import STATUS_NBITS, Status


def exponentiation(nbits: int, given: Fields = ()) -> Shape:
    """The shape of a modular exponentiation; `given` lists the fields after the modulus."""
    request = (("base", nbits), ("exp", nbits), ("mod", nbits), *given)
    return Shape(request, (("status", STATUS_NBITS), ("result", nbits)))


def is_exponentiation(shape: Shape) -> bool:
    """Whether a shape is that of a modular exponentiation."""
    nbits = shape.widest
    given = shape.request[3:]
    return shape == exponentiation(nbits, given)


def operand_status(base: int, mod: int, *, odd_only: bool, reduced_only: bool) -> Status:
    """The status of a machine for operands that fit its width; `mod_exp` raises for all but OK."""
    if mod == 0:
        return Status.ZERO_MODULUS
    if odd_only and mod % 2 == 0:
        return Status.EVEN_MODULUS
    if reduced_only and base >= mod:
        return Status.BASE_TOO_LARGE
    return Status.OK


def mod_exp(
    base: int,
    exp: int,
    mod: int,
    *,
    domain: str | Domain = "identity",
    schedule: str = "right-to-left-2",
    nbits: int | None = None,
    exp_nbits: int | None = None,
    k: int | None = None,
    trace: list[Step] | None = None,
) -> int:
    """base to the exp mod `mod`, by products of the domain in the order of the schedule.

    nbits: width of the machine, R = 2^nbits (default: the length of the modulus, and an exponent of any
    length); exp_nbits: bits of the exponent to scan, for constant-time schedules; k: width of the window;
    trace: a list to which every executed step is appended, conversions included.
    """
    if schedule not in SCHEDULES:
        raise unknown("schedule", schedule, SCHEDULES)
    chosen = SCHEDULES[schedule]
    space = domain if isinstance(domain, Domain) else make_domain(domain, mod, nbits)
    if space.n != mod or nbits not in (None, space.nbits):
        raise BadInput(
            f"the domain at hand is that of modulus {shown(space.n)} in {space.nbits} bits: "
            f"make one for modulus {shown(mod)}, and the width of the machine"
        )
    if space.reduced_only and base >= mod:
        raise BadInput(f"base {shown(base)} is not below the modulus {shown(mod)}: give base mod modulus")
    if base < 0:
        raise BadInput(f"base {shown(base)}: give 0 or more")
    for name, value in (("base", base), ("exponent", exp)):
        if nbits is not None and value.bit_length() > nbits:
            raise BadInput(
                f"{name} {shown(value)} does not fit in {nbits} bits: give at least {value.bit_length()}"
            )
    plan = chosen.plan(exp, nbits=exp_nbits, k=k)

    def record(*conversions: Product) -> None:
        if trace is not None:
            trace.extend([conversions] if chosen.multipliers > 1 else [(made,) for made in conversions])

    entered = space.enter(base)
    if space.enter_by is not None:
        by = space.enter_by
        record(Product("b", "b", "enter", base, by, entered), Product("r", "1", "enter", 1, by, space.one))
    value = execute(plan, entered, space.product, space.one, trace)
    result = space.leave(value)
    if space.leave_by is not None:
        record(Product("r", plan.result, "leave", value, space.leave_by, result))
    return result
