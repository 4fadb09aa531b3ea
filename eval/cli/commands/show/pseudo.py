"""`modexlab show --multiples`: multiples of a modulus that make reduction easy, and a warning if its
factors are known.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from typing import Any

from .....fl.errors import BadInput, shown
from .....fl.multipliers.pseudo_modulus import PseudoModuli, PseudoModulus
from ....designs.widths import MAX_NBITS
from ....table import table
from ...arguments import add_json, answer, json_number, number

SUMMARY = "find easy multiples of a modulus"
TEXT = """\
A pseudo-modulus is a multiple c*N of the modulus N: who
computes modulo c*N goes back to N by one reduction at the end.
For each shape: c, the bits that operands gain, the steps and
digit products of one modular product in radix 2^w, what the
shape saves and what it costs. Then: factors of N, if a short
search finds any, and what follows."""
EXAMPLES = """\
  modexlab show 0xb5c3 --multiples --w 4
  modexlab show 1431655765 --multiples
  modexlab show --multiples --key key.pem --w 32 --json"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "modulus", metavar="N", type=number, nargs="?", help="an odd modulus (decimal or 0x...)"
    )
    parser.add_argument("--key", metavar="FILE", help="PEM or DER file with an RSA key, instead of N")
    parser.add_argument(
        "--w", type=number, default=16, metavar="W", help="bits of a digit, 4 to 130 (default: 16)"
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    if (args.modulus is None) == (args.key is None):
        raise BadInput(
            "--multiples needs one of N and --key FILE; give a modulus, as in `modexlab show 0xb5c3 --multiples`"
        )
    if args.key is not None:
        from .....fl.rsa_keys import RSAKey  # not at the top: it brings `cryptography`

        n = RSAKey.load(args.key).n
    else:
        n = args.modulus
    if n.bit_length() > MAX_NBITS:
        raise BadInput(f"modulus {shown(n)} is longer than any machine; give one of at most {MAX_NBITS} bits")
    moduli = PseudoModuli(n, args.w)
    answer(args, lambda: _as_json(moduli), lambda: _lines(moduli))
    return 0


def _as_json(moduli: PseudoModuli) -> dict[str, Any]:
    return {
        "n": json_number(moduli.n),
        "nbits": moduli.nbits,
        "w": moduli.w,
        "montgomery": {"steps": moduli.plain_steps, "digit_products": moduli.plain_digit_products},
        "shapes": [_row_as_json(*row) for row in moduli.table()],
        "factors": [
            {
                "value": json_number(factor.value),
                "nbits": factor.value.bit_length(),
                "prime": factor.prime,
                "by": factor.by,
            }
            for factor in moduli.factors.factors
        ],
        "complete": moduli.factors.complete,
        "searched": moduli.factors.searched,
        "warning": moduli.warning,
    }


def _row_as_json(shape: str, found: PseudoModulus | None, why: str) -> dict[str, Any]:
    if found is None:
        return {"shape": shape, "found": False, "why": why}
    return {
        "shape": shape,
        "found": True,
        "formula": found.formula,
        "c": json_number(found.c),
        "pseudo_modulus": json_number(found.value),
        "nbits": found.value.bit_length(),
        "extra_nbits": found.extra_nbits,
        "steps": found.steps,
        "digit_products": found.digit_products,
        "saves": found.saves,
        "costs": found.costs,
    }


def _lines(moduli: PseudoModuli) -> Iterator[str]:
    yield f"N = {shown(moduli.n)}, {moduli.nbits} bits, digits of {moduli.w} bits\n"
    rows = [["Montgomery, N itself", "1", "0", str(moduli.plain_steps), str(moduli.plain_digit_products)]]
    notes = []
    for shape, found, why in moduli.table():
        if found is None:
            rows.append([shape, "-", "-", "-", "-"])
            notes.append((shape, [why]))
            continue
        numbers = (found.extra_nbits, found.steps, found.digit_products)
        rows.append([shape, shown(found.c), *map(str, numbers)])
        notes.append((shape, [found.formula, f"saves: {found.saves}", f"costs: {found.costs}"]))
    yield table(["shape", "c", "extra bits", "steps", "digit products"], rows)
    for shape, lines in notes:
        yield f"\n{shape}"
        for line in lines:
            yield textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="    ")
    yield ""
    yield textwrap.fill(f"Warning: {moduli.warning}" if moduli.warning else moduli.verdict, 100)
