"""Products that consume one bit of a factor at a time: the algorithms of papers 001 and 004, and of `tiny`.

    function       paper                                  result
    add_red        001, Algorithm 4, lines 3 to 7         (state + x y + q n) / 2
    add_reds       a number of these steps, one for each bit of x
    reduced        001, Algorithm 4, last line            value mod n, below 2n before
    mont_mul_rem   001, Algorithm 4; 004, Algorithm 3     x y / R mod n    from the lowest bit of x
    mm_red         004, Algorithm 1                       z / R mod n
    shift_sub      004, Algorithm 5, lines 4 to 9         product and a for the next bit of b
    ss_mul         004, Algorithm 5                       a b mod n        from the lowest bit of b
    interleaved    Blakley 1983                           x y mod n        from the highest bit of x
    interleaved_signed
                   `tiny`                                 the same, with a sum that may be negative
    power_mm_red, power_mm_mul, power_ss_mul
                   004, Algorithms 2, 4 and 6             base^exp mod n

R = 2^nbits > n, and n is odd where R divides. The papers print the last subtraction for a state above n; it
must be made for a state of n, too (docs/reference/errata.md).
"""


def add_red(state: int, bit: int, y: int, n: int) -> int:
    """One step of Montgomery's product: add y for a bit of 1, add n to an odd sum, and halve the sum."""
    state += bit * y
    state += (state & 1) * n
    return state >> 1


def add_reds(state: int, x: int, y: int, n: int, nsteps: int) -> int:
    """The state after as many steps, which take the lowest bits of x."""
    for i in range(nsteps):
        state = add_red(state, x >> i & 1, y, n)
    return state


def reduced(value: int, n: int) -> int:
    """value mod n for a value below 2n."""
    return value - n if value >= n else value


def mont_mul_rem(x: int, y: int, n: int, nbits: int) -> int:
    """x y / R mod n for x < R and y < n; the state stays below 2n."""
    return reduced(add_reds(0, x, y, n, nbits), n)


def mm_red(z: int, n: int, nbits: int) -> int:
    """z / R mod n for z < R n: a reduction halves, and adds n where the state is odd."""
    return reduced(add_reds(z, 0, 0, n, nbits), n)


def shift_sub(product: int, a: int, bit: int, n: int) -> tuple[int, int]:
    """One step of a product without a division: a is added for a bit of 1, and doubled; both stay below n."""
    return reduced(product + bit * a, n), reduced(2 * a, n)


def ss_mul(a: int, b: int, n: int) -> int:
    """a b mod n for a < n."""
    product = 0
    while b:
        product, a = shift_sub(product, a, b & 1, n)
        b >>= 1
    return product


def interleaved(x: int, y: int, n: int, nbits: int) -> int:
    """x y mod n for y < n: the product is doubled for each bit of x and reduced at once. Before the reduction
    it is below 3n.
    """
    product = 0
    for i in reversed(range(nbits)):
        product = 2 * product + (x >> i & 1) * y
        product = reduced(reduced(product, n), n)
    return product


def double_signed(p: int, n: int) -> int:
    """2 p modulo n, from -n to n - 1 like p; its sign says whether n is added or subtracted."""
    return 2 * p + (n if p < 0 else -n)


def add_signed(p: int, addend: int, n: int) -> int:
    """p + addend modulo n in the same range, for an addend below n."""
    return p + addend - (0 if p < 0 else n)


def interleaved_signed(x: int, y: int, n: int, nbits: int) -> int:
    """x y mod n for y < n, without a comparison."""
    p = 0
    for i in reversed(range(nbits)):
        p = add_signed(double_signed(p, n), (x >> i & 1) * y, n)
    return p + n if p < 0 else p


# ---- exponentiation, from the lowest bit of the exponent


def r_squared(n: int, nbits: int) -> int:
    """R^2 mod n by a shift and a subtraction for each of 2 * nbits bits, as the machines of 004 do it."""
    square = 1 % n
    for _ in range(2 * nbits):
        square = reduced(2 * square, n)
    return square


def power_mm_red(base: int, exp: int, n: int, nbits: int) -> int:
    """base^exp mod n by whole products, each with a reduction after it: 004, Algorithm 2."""
    q = r_squared(n, nbits)
    r, s = mm_red(q, n, nbits), mm_red(base * q, n, nbits)
    while exp:
        if exp & 1:
            r = mm_red(r * s, n, nbits)
        exp >>= 1
        s = mm_red(s * s, n, nbits)
    return mm_red(r, n, nbits)


def power_mm_mul(base: int, exp: int, n: int, nbits: int) -> int:
    """base^exp mod n by products that reduce bit by bit: 004, Algorithm 4."""
    q = r_squared(n, nbits)
    r, s = mont_mul_rem(1, q, n, nbits), mont_mul_rem(base, q, n, nbits)
    while exp:
        if exp & 1:
            r = mont_mul_rem(r, s, n, nbits)
        exp >>= 1
        s = mont_mul_rem(s, s, n, nbits)
    return mont_mul_rem(1, r, n, nbits)


def power_ss_mul(base: int, exp: int, n: int) -> int:
    """base^exp mod n for a base below n, without Montgomery's form: 004, Algorithm 6."""
    r, s = 1 % n, base
    while exp:
        if exp & 1:
            r = ss_mul(r, s, n)
        exp >>= 1
        s = ss_mul(s, s, n)
    return r
