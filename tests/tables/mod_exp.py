"""The table of modular exponentiations, for every machine of the catalogue at any width from 8 bits on.

Operands that a machine must refuse stand between operands that it must not: the next operation works.
"""

from .rows import ModExpRow, odd_moduli, with_delays

# paper 001, Figure 1 and Table 1: a message, its ciphertext, and the key
PAPER_001 = [
    ModExpRow("paper 001, encryption", 1119317562, 65537, 2603398711),
    ModExpRow("paper 001, decryption", 1460365373, 977851481, 2603398711),
]

# paper 004, section I: a key of 128 bits with a message and its ciphertext
M_004 = 291173165596690131543379395216261834371
PAPER_004 = [
    ModExpRow(
        "paper 004, encryption",
        179441695220040973036856247560209845703,
        78624383815806095082831236375207684303,
        M_004,
    ),
    ModExpRow(
        "paper 004, decryption",
        212957456342734650649396939600336433714,
        232543530691965449749356023879307323711,
        M_004,
    ),
]


def corners(nbits, exp_nbits):
    """Corner rows; exponents have at most exp_nbits bits, so that wide machines take a short time."""
    top = (1 << nbits) - 1
    half = nbits // 2
    p, q = (1 << half) - 1, (1 << half) - 3
    n = p * q
    all_ones = (1 << exp_nbits) - 1
    high_bit = 1 << (exp_nbits - 1)
    return [
        ModExpRow("exponent 0", 5, 0, n),
        ModExpRow("exponent 0, base 0", 0, 0, n),
        ModExpRow("exponent 1", 5, 1, n),
        ModExpRow("exponent 2, zero divisor", p, 2, p * p),
        ModExpRow("all ones in the exponent", n - 2, all_ones, n),
        ModExpRow("one bit in the exponent", n - 2, high_bit, n),
        ModExpRow("alternating exponent", 3, all_ones // 3, n),
        ModExpRow("base 0", 0, 5, n),
        ModExpRow("base 1", 1, all_ones, n),
        ModExpRow("base n - 1, odd exponent", n - 1, 7, n),
        ModExpRow("base n - 1, even exponent", n - 1, 6, n),
        ModExpRow("modulus 1", 0, 5, 1),
        ModExpRow("modulus 1, exponent 0", 0, 0, 1),
        ModExpRow("modulus 3", 2, 5, 3),
        ModExpRow("largest modulus, largest base", top - 1, 9, top),
        ModExpRow("zero divisor to a power", q, 3, n),
        ModExpRow("modulus 0", 5, 3, 0),
        ModExpRow("base 0, exponent 0, modulus 0", 0, 0, 0),
        ModExpRow("even modulus", 5, 3, 8),
        ModExpRow("even modulus, largest", 7, 3, top - 1),
        ModExpRow("base equal to the modulus", 9, 3, 9),
        ModExpRow("base above the modulus, exponent 1", top, 1, 5),
        ModExpRow("base above the modulus", top, 6, 5),
        ModExpRow("base above the modulus, modulus 1", top, 6, 1),
        ModExpRow("after all of these, an operation as usual", 2, 5, n),
    ]


def one_modulus(nbits, mod, exp_nbits):
    """Corner rows for a machine that is made for one modulus."""
    all_ones = (1 << exp_nbits) - 1
    divisor = next((d for d in (3, 5, 7, 11, 13, 17) if mod % d == 0), 1)
    return [
        ModExpRow("exponent 0", 5 % mod, 0, mod),
        ModExpRow("exponent 0, base 0", 0, 0, mod),
        ModExpRow("exponent 1, largest base", mod - 1, 1, mod),
        ModExpRow("base 0", 0, 3, mod),
        ModExpRow("base 1, all ones in the exponent", 1, all_ones, mod),
        ModExpRow("all ones in the exponent", mod - 2, all_ones, mod),
        ModExpRow("one bit in the exponent", mod - 2, 1 << (exp_nbits - 1), mod),
        ModExpRow("n - 1 squared", mod - 1, 2, mod),
        ModExpRow("zero divisor", mod // divisor % mod, all_ones // 3, mod),
        ModExpRow("the base is the modulus", mod, 2, mod),
        ModExpRow("another modulus", 2, 5, mod - 2),
        ModExpRow("the pseudo-modulus in its place", 2, 5, 3 * mod),
        ModExpRow("modulus 0", 2, 5, 0),
        ModExpRow("after all of these, an operation as usual", 2, 5, mod),
    ]


def drawn(nbits, exp_nbits, count):
    """Random operands of all lengths, the same in every run."""
    rows = []
    for name, rng, mod in odd_moduli("mod_exp", nbits, count):
        exp = rng.getrandbits(rng.randint(1, exp_nbits))
        rows.append(ModExpRow(name, rng.randrange(mod), exp, mod))
    return rows


def table(nbits, exp_nbits=None, count=4, mod=0):
    """All rows for a machine of nbits bits; with `mod`, for one that is made for that modulus."""
    exp_nbits = min(nbits, exp_nbits or nbits)
    if mod:
        rows = one_modulus(nbits, mod, exp_nbits)
        rows += [ModExpRow(row.name, row.base % mod, row.exp, mod) for row in drawn(nbits, exp_nbits, count)]
        return with_delays(rows, every=5)
    rows = corners(nbits, exp_nbits) + drawn(nbits, exp_nbits, count)
    rows += {32: PAPER_001, 128: PAPER_004}.get(nbits, [])
    return with_delays(rows, every=5)
