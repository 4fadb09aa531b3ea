"""Products and powers word by word, as the arrays and the digit-serial processors compute them, against plain
integers.
"""

from hypothesis import strategies as st
from modexlab.fl.multipliers import digit_serial, scaled_serial
from modexlab.fl.multipliers.scaled import ScaledMontgomery, ScaledShape, word_step
from modexlab.fl.multipliers.systolic import SystolicShape, step
from modexlab.fl.words import number_of, shifted, split_words

from tests.harness import any_odd, any_word, draws


@draws(200, st.integers(1, 40), st.data())
def test_words(nbits, data):
    count = data.draw(st.integers(1, 9))
    x = data.draw(any_word(nbits * count))
    words = split_words(x, nbits, count)
    assert len(words) == count and max(words) < 1 << nbits
    assert number_of(words, nbits) == x
    places, above = data.draw(st.integers(0, nbits)), data.draw(any_word(nbits))
    right = (x | above << nbits * count) >> places
    assert shifted(words, above, nbits, places) == split_words(right, nbits, count)


@draws(200, st.integers(2, 20), st.integers(2, 9), st.data())
def test_step_of_a_systolic_product(k, nwords, data):
    """Paper 002: a step divides by 2^k, and the words of the sum below the one that is added stay."""
    shape = SystolicShape(k * nwords, k, nwords)
    m = data.draw(any_odd(shape.modulus_nbits))
    y, a = data.draw(st.integers(0, 2 * m - 1)), data.draw(st.integers(0, 2 * m - 1))
    x_i = data.draw(any_word(k))
    u_i = (a + x_i * y) * shape.inverse(m) % (1 << k)
    words = shape.words(a)
    total = a + x_i * y + u_i * m
    for j in step(shape, words, x_i, u_i, shape.words(y), shape.words(m)):
        if j:
            assert words[:j] == shape.words(total >> k)[:j]
    assert shape.number(words) << k == total


@draws(200, st.integers(1, 60), st.integers(4, 20), st.data())
def test_steps_on_a_scaled_modulus(nbits, w, data):
    n = data.draw(any_odd(nbits))
    shape = ScaledShape(nbits, w)
    arithmetic = ScaledMontgomery(n, shape)
    x, y = (data.draw(st.integers(0, 2 * arithmetic.m - 1)) for _ in "xy")
    s = [0] * (shape.ndigits + 1)
    for digit in (*shape.words(x), 0):
        for _ in word_step(shape, s, s[0], shape.words(arithmetic.m_prime), digit, shape.words(y)):
            pass
    product = number_of(s, w)
    assert product < 2 * arithmetic.m
    assert (product << shape.wide) % n == x * y % n
    assert product == arithmetic.digit_serial(x, y)


@draws(100, st.integers(1, 60), st.data())
def test_powers_of_paper_003(nbits, data):
    n = data.draw(any_odd(nbits))
    base, exp = data.draw(st.integers(0, n - 1)), data.draw(any_word(nbits))
    assert digit_serial.power(nbits, base, exp, n) == pow(base, exp, n)


@draws(100, st.integers(4, 12), st.integers(2, 4), st.data())
def test_powers_of_serial(k, digits, data):
    """Our processor: R^2 by doublings and squares, and the way out by the inverse of the modulus."""
    nbits = data.draw(st.integers(k * digits * 2, 60 + k * digits * 2))  # for three words
    shape = scaled_serial.ScaledSerialShape(nbits, k * digits, k)
    n = data.draw(any_odd(nbits))
    base, exp = data.draw(st.integers(0, n - 1)), data.draw(any_word(nbits))
    assert scaled_serial.power(shape, base, exp, n) == pow(base, exp, n)


@draws(100, any_odd(40), st.integers(0, 40))
def test_inverse_bit_by_bit(n, nbits):
    c, rest = 0, 1
    for place in range(nbits):
        c, rest = scaled_serial.inverse_step(c, rest, n, place)
        assert c * n + 1 == rest << place + 1
    assert c < 1 << nbits
