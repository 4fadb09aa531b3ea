"""CM, DM and MM of paper 000: units for one modulus or for the pseudo-modulus 2^nbits - 1 above it."""

from functools import partial

from ....cl.fixed_mod_exp import DirectMulCL, UnsubtractedCL
from ....cl.pseudo_mul import PSEUDO_MUL_TIMING, PseudoMulCL
from ....cl.timing import SerialMontTiming
from ....fl.compression.compression import BEST, STRATEGIES
from ....fl.compression.prefix import ADDERS
from ....fl.domains import DOMAINS, Redundant
from ....fl.errors import BadInput, shown
from ....fl.param import Count, Param
from ....rtl.units.compression_tree import MAX_OPERAND_NBITS
from ....rtl.units.direct_mul import MAX_NBITS as MOST_DIVIDED_NBITS
from ....rtl.units.direct_mul import DirectMul
from ....rtl.units.mm_mul import MMMul
from ....rtl.units.pseudo_mul import PseudoMul, modulus_of
from .multiplier import DOMAIN, Multiplier, Unit, Values

MODULUS = Param(
    "modulus",
    lambda nbits: ((1 << nbits) - 1) // (1 if nbits % 2 else 3),
    Count(3),
    "the built-in modulus; the default is the paper's (2^nbits - 1) / 3, whose "
    "factors are known, so it is no RSA key",
)
FIXED_OR_PSEUDO = Param(
    DOMAIN,
    "fixed",
    ("fixed", "pseudo"),
    "products modulo the built-in modulus, or modulo 2^nbits - 1 with a final correction",
)
TREE_PARAMS = (
    Param(
        "strategy",
        BEST,
        (BEST, *STRATEGIES),
        "compressors of the tree; best: the least delay x area",
    ),
    Param("adder", "brent-kung", tuple(ADDERS), "the adder after the tree"),
)


def modulus(nbits: int, values: Values) -> int:
    """The modulus of the machine; 0: any."""
    number = values.get(MODULUS.name, 0)
    if number.bit_length() > nbits:
        raise BadInput(
            f"modulus = {shown(number)} does not fit in {nbits} bits; give --nbits {number.bit_length()}"
        )
    return number


def working(nbits: int, domain: str, values: Values) -> int:
    """The modulus that reduces the products; 0: any."""
    number = modulus(nbits, values)
    if domain == "pseudo":
        DOMAINS[domain](number, nbits)  # BadInput unless the modulus divides 2^nbits - 1
        return (1 << nbits) - 1
    return number


def tree(values: Values) -> dict[str, str]:
    """The parameters of a compression tree among these values."""
    return {param.name: values[param.name] for param in TREE_PARAMS if param.name in values}


def check_tree(kind: str, what: str, number: int, nbits: int) -> None:
    """BadInput for a compression tree that is too large to build, or whose modulus is out of range."""
    most = MAX_OPERAND_NBITS[kind]
    if nbits > most:
        raise BadInput(
            f"a compression tree of {nbits} bits ({what}) is too large to translate; give at most {most} "
            "bits "
            "(`modexlab show --tree` plans larger ones)"
        )
    modulus_of(number, nbits)


def compressed(nbits: int, values: Values) -> Unit:
    """A unit of CM."""
    number = working(nbits, values[DOMAIN], values)
    check_tree("multiply", "cm", number, nbits)
    shape = {"modulus": number, **tree(values)}
    return Unit(partial(PseudoMul, **shape), partial(PseudoMulCL, **shape), PSEUDO_MUL_TIMING)


def direct(nbits: int, values: Values) -> Unit:
    """A unit of DM."""
    number = working(nbits, values[DOMAIN], values)
    if nbits > MOST_DIVIDED_NBITS:
        raise BadInput(
            f"dm at {nbits} bits: Verilator simulates `%` of products of up to {MOST_DIVIDED_NBITS}-bit "
            "operands; "
            f"give at most {MOST_DIVIDED_NBITS} bits"
        )
    return Unit(partial(DirectMul, modulus=number), partial(DirectMulCL, modulus=number), PSEUDO_MUL_TIMING)


def unsubtracted(domain: str, nbits: int, values: Values) -> Unit:
    """A unit of MM, one bit wider than the modulus."""
    number = working(nbits, domain, values)
    space = (lambda _: Redundant(number, nbits)) if domain == "pseudo" else None
    return Unit(partial(MMMul, subtracts=False), UnsubtractedCL, SerialMontTiming(nbits + 1), space)


# CM: a compression tree; DM: `*` and `%`
CM = Multiplier("PseudoMul", (FIXED_OR_PSEUDO, MODULUS, *TREE_PARAMS), compressed)
DM = Multiplier("DirectMul", (FIXED_OR_PSEUDO, MODULUS), direct)
# MM: Montgomery products without final subtraction; any modulus, except on the pseudo-modulus
MM = Multiplier("MMMul", (), partial(unsubtracted, "redundant"))
MM_PSEUDO = Multiplier("MMMul", (MODULUS,), partial(unsubtracted, "pseudo"))
