"""Lifts PyMTL3's limit of 1023 bits, so that operands of 4096 bits travel as plain Bits.

PyMTL3 3.1.17 refuses Bits of 1024 and more in one `if` of `Bits.__init__` and in two tables of bounds that
end there; nothing else in the package depends on the width (a bitstruct is packed into one Bits, so that the
limit is one for the sum of its fields as well). The constructor is replaced by one with a wider limit, and
the tables by ones that compute a bound when it is first asked for (all 16,384 at once would take 34 MB).

Importing `modexlab.rtl` applies it; `Bits` made before that keep working, they are of the same class.
"""

from collections.abc import Callable
from typing import Any

from pymtl3.datatypes import PythonBits, bits_import

from .pymtl3_release import check

# a message with a private key: base, exponent, modulus, five halves, random words, with guard bits
MAX_NBITS = 7 * (4096 + 64)

PINNED_SHA256 = "b6f830f4356e4e77fdad8d897542ebd73a348558b30405c7be8e650078fa7543"


class _Bounds(dict):
    """Width -> bound, computed when first needed."""

    def __init__(self, bound: Callable[[int], int]) -> None:
        super().__init__()
        self._bound = bound

    def __missing__(self, nbits: int) -> int:
        value = self[nbits] = self._bound(nbits)
        return value


def _upper(nbits: int) -> int:
    return (1 << nbits) - 1


def _lower(nbits: int) -> int:
    return -(1 << (nbits - 1)) if nbits else 0


def _init(self: PythonBits.Bits, nbits: int, v: Any = 0, trunc_int: bool = False) -> None:
    """`Bits.__init__` of PyMTL3 with MAX_NBITS in place of 1023, and otherwise the same checks."""
    nbits = int(nbits)
    if not 1 <= nbits <= MAX_NBITS:
        raise ValueError(f"Only support 1 <= nbits <= {MAX_NBITS}, not {nbits}")
    self._nbits = nbits
    if isinstance(v, PythonBits.Bits):
        if v._nbits != nbits:
            how = "wide" if v._nbits > nbits else "narrow"
            cure = "trunc" if v._nbits > nbits else "zext/sext"
            raise ValueError(
                f"The Bits{v._nbits} object on RHS is too {how} to be used to construct Bits{nbits}!\n"
                f"- Suggestion: directly use {cure}( value, {nbits}/Bits{nbits} )"
            )
        self._uint = v._uint
    else:
        v = int(v)
        upper = PythonBits._upper[nbits]
        if not trunc_int and not PythonBits._lower[nbits] <= v <= upper:
            raise ValueError(
                f"Value {hex(v)} is too wide for Bits{nbits}!\n"
                f"(Bits{nbits} only accepts {hex(PythonBits._lower[nbits])} <= value <= {hex(upper)})"
            )
        self._uint = v & upper


def widen() -> None:
    """Apply the change to the running PyMTL3; a second call changes nothing."""
    if PythonBits.Bits.__init__ is _init:
        return
    check(PythonBits, PINNED_SHA256)
    if bits_import.Bits is not PythonBits.Bits:
        raise RuntimeError(
            "PyMTL3 took its Bits from a package named `mamba`, which modexlab cannot widen: "
            "uninstall it, or set PYMTL_BITS=1"
        )
    PythonBits._upper = _Bounds(_upper)
    PythonBits._lower = _Bounds(_lower)
    PythonBits.Bits.__init__ = _init


widen()
