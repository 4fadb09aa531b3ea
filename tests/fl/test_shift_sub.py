"""Shift-sub at the functional level: against Python's own product, and against the paper's mistake."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modexlab.fl.multipliers.shift_sub import shift_sub, square_of_r

from tests.harness import examples, refused


def as_printed(a, b, m):
    """Paper 004, Algorithm 5 to the letter, with > where >= is needed."""
    p, c = 0, a
    while b:
        p = p + c if b & 1 else p
        p = p - m if p > m else p
        c = c << 1
        c = c - m if c > m else c
        b >>= 1
    return p


@settings(max_examples=examples(1000))
@given(st.integers(1, 2**130), st.integers(0, 2**130), st.integers(0, 2**130))
def test_any_product(m, a, b):
    assert shift_sub(a % m, b, m) == a * b % m


def test_the_paper_answers_m_for_0():
    assert as_printed(7, 29, 203) == 203
    assert shift_sub(7, 29, 203) == 0


@pytest.mark.parametrize("nbits", [8, 64, 1024])
def test_square_of_r(nbits):
    for m in (1, 3, 5, 2 ** (nbits - 1) + 1, 2**nbits - 1, 2 ** (nbits // 2) + 1):
        assert square_of_r(m, nbits) == pow(2, 2 * nbits, m), m


def test_unreduced_factor():
    with refused(r"a = 9, m = 7; reduce a first"):
        shift_sub(9, 1, 7)
