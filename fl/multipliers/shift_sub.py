"""Shift-sub modular multiplication (paper 004, Algorithm 5), and R^2 mod n by it (section III).

The paper subtracts where p > m and c > m; it must be >=: with a * b = m, such as the factors of m, it answers
m instead of 0.
"""

from __future__ import annotations

from ..errors import BadInput, shown


def shift_sub(a: int, b: int, m: int) -> int:
    """a * b mod m for a < m, a bit of b after the other, by shifts, additions and subtractions."""
    if m <= 0 or not 0 <= a < max(m, 2):
        raise BadInput(f"shift-sub needs 0 <= a < m: a = {shown(a)}, m = {shown(m)}; reduce a first")
    p, c = 0, a
    while b:
        if b & 1:
            p += c
            if p >= m:
                p -= m
        c <<= 1
        if c >= m:
            c -= m
        b >>= 1
    return p


def square_of_r(m: int, nbits: int) -> int:
    """R^2 mod m with R = 2^nbits, from R - m; where m is short, R - m is reduced first (the paper asks for an
    m of nbits).
    """
    r = (1 << nbits) - m
    if r >= m:
        r = shift_sub(1, r, m)
    return shift_sub(r, r, m)
