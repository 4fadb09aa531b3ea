"""Lifts PyMTL3's limit of 1023 bits, so that operands of 4096 bits travel as plain Bits.

PyMTL3 3.1.17 refuses Bits of 1024 and more in one `if` of `Bits.__init__` and in two tables of bounds that
end there; nothing else in the package depends on the width (a bitstruct is packed into one Bits, so that the
limit is one for the sum of its fields as well). The constructor is replaced by one with a wider limit, and
the tables by ones that compute a bound when it is first asked for (all 16,384 at once would take 34 MB).

This reaches into a foreign module, hence it is pinned: a PyMTL3 of another version, or with another source
of `PythonBits.py`, stops the import with one clear message instead of going wrong quietly later.
Importing `modexlab.rtl` applies it; `Bits` made before that keep working, they are of the same class.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymtl3.datatypes import PythonBits, bits_import
from pymtl3.version import __version__ as installed_version

# a message with a private key: base, exponent, modulus, five halves, random words, with guard bits
MAX_NBITS = 7 * (4096 + 64)

PINNED_VERSION = "3.1.17"
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


def check_pin(version: str, source: bytes) -> None:
    """Raise RuntimeError unless this is the PyMTL3 for which the constructor above was written."""
    remedy = f"install pymtl3=={PINNED_VERSION}, or revise modexlab's rtl/wide.py for this release"
    if version != PINNED_VERSION:
        raise RuntimeError(f"modexlab widens Bits of PyMTL3 {PINNED_VERSION}, but found {version}: {remedy}")
    found = hashlib.sha256(source).hexdigest()
    if found != PINNED_SHA256:
        raise RuntimeError(
            f"PyMTL3's PythonBits.py is not that of the {PINNED_VERSION} release "
            f"(sha256 {found[:12]}, expected {PINNED_SHA256[:12]}): {remedy}"
        )


def widen() -> None:
    """Apply the change to the running PyMTL3; a second call changes nothing."""
    if PythonBits.Bits.__init__ is _init:
        return
    check_pin(installed_version, Path(PythonBits.__file__).read_bytes())
    if bits_import.Bits is not PythonBits.Bits:
        raise RuntimeError(
            "PyMTL3 took its Bits from a package named `mamba`, which modexlab cannot widen: "
            "uninstall it, or set PYMTL_BITS=1"
        )
    PythonBits._upper = _Bounds(_upper)
    PythonBits._lower = _Bounds(_lower)
    PythonBits.Bits.__init__ = _init


widen()
