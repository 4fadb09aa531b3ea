"""Find easy multiples of a modulus.

A pseudo-modulus is a multiple c*N of the modulus N: computations modulo c*N need one reduction modulo N at
the end. For each shape of pseudo-modulus the table shows c, the extra operand bits, and the steps and digit
products of a modular product in radix 2^w, with advantages and drawbacks. A warning follows if N belongs to
the family of paper 000, whose factors are known, or divides another 2^t - 1 or 2^t + 1 of moderate length.

examples:
  modexlab show 0xb5c3 --multiples --w 4
  modexlab show 1431655765 --multiples
  modexlab show --multiples --key key.pem --w 32 --json
"""

import textwrap
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Any

from .....fl.errors import BadInput, shown
from .....fl.multipliers.pseudo_modulus import PseudoModuli
from .....fl.multipliers.scaled import DIGIT_NBITS
from .....fl.rsa_keys import RSAKey
from ....designs.widths import MAX_NBITS
from ....json_values import attributes, json_number
from ...options import number, option
from ...render import Json, Table, answer

OPTIONS = (
    option("modulus", "N", "an odd modulus (decimal or 0x...)", type=number, nargs="?"),
    "--key (instead of N)",
    option(
        "--w",
        "W",
        f"bits of a digit, {DIGIT_NBITS[0]} to {DIGIT_NBITS[-1]} (default: 16)",
        type=number,
        default=16,
    ),
    "--json",
)


def execute(args: Namespace) -> int:
    if (args.modulus is None) == (args.key is None):
        raise BadInput(
            "--multiples needs one of N and --key FILE; give a modulus, as in `modexlab show 0xb5c3 "
            "--multiples`"
        )
    n = args.modulus if args.key is None else RSAKey.load(args.key).n
    if n.bit_length() > MAX_NBITS:
        raise BadInput(f"modulus {shown(n)} is longer than any machine; give one of at most {MAX_NBITS} bits")
    moduli = PseudoModuli(n, args.w)
    rows = [["Montgomery, N itself", 1, 0, moduli.plain_steps, moduli.plain_digit_products]]
    notes = []
    wrap = partial(textwrap.fill, width=100, initial_indent="  ", subsequent_indent="    ")
    for shape, found, why in moduli.table():
        row: Sequence[Any] = (None,) * 4
        lines = [why]
        if found:
            row = (shown(found.c), found.extra_nbits, found.steps, found.digit_products)
            lines = [found.formula, f"saves: {found.saves}", f"costs: {found.costs}"]
        rows.append([shape, *row])
        notes.append("\n".join([shape, *map(wrap, lines)]))
    return answer(
        args,
        _as_json(moduli),
        f"N = {shown(n)}, {moduli.nbits} bits, digits of {moduli.w} bits",
        Table(["shape", "c", "extra bits", "steps", "digit products"], rows),
        *notes,
        textwrap.fill(f"Warning: {moduli.warning}" if moduli.warning else moduli.verdict, 100),
    )


def _as_json(moduli: PseudoModuli) -> Json:
    shapes = []
    for shape, found, why in moduli.table():
        row = {"shape": shape, "found": found is not None}
        if found is None:
            row["why"] = why
        else:
            row |= {
                **attributes(found, "formula", "extra_nbits", "steps", "digit_products", "saves", "costs"),
                "c": json_number(found.c),
                "pseudo_modulus": json_number(found.value),
                "nbits": found.value.bit_length(),
            }
        shapes.append(row)
    return {
        "n": json_number(moduli.n),
        **attributes(moduli, "nbits", "w", "warning"),
        "montgomery": {"steps": moduli.plain_steps, "digit_products": moduli.plain_digit_products},
        "shapes": shapes,
    }
