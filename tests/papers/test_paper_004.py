"""Paper 004, Table 1: the mean cycles of encryption and decryption over random keys, by the formulas of the
twins.

Other tests compare these formulas with RTL in every row. Keys are random as in the paper's example: two
primes of half the width with their top two bits set (cycles do not depend on primality, so odd numbers
replace primes), a random e, a random d, a random message.
"""

import random

from modexlab.eval.designs.catalogue import find
from modexlab.eval.papers.published import paper

from tests.harness import one_now, parametrize

TABLE_1 = {
    (figure.twin, figure.nbits): figure.amount
    for figure in paper("004").table("1").figures()
    if figure.metric == "cycles"
}
EACH_WIDTH = parametrize("nbits", one_now(sorted({nbits for _, nbits in TABLE_1}), 64, 1024))


def mean_cycles(name, nbits):
    design = find(name)
    nkeys = {64: 400, 128: 200, 256: 100}.get(nbits, max(4, 8192 // nbits))
    rng = random.Random(f"paper 004 {nbits}")
    total = 0
    for _ in range(nkeys):
        p, q = ((3 << (nbits // 2 - 2)) | rng.getrandbits(nbits // 2 - 2) | 1 for _ in range(2))
        mod = p * q
        for _ in ("encryption", "decryption"):
            total += design.at(nbits).cycles(rng.randrange(mod), rng.randrange(mod), mod)
    return total / (2 * nkeys)


@EACH_WIDTH
# Algorithms 2, 4 and 6; the paper prints one figure for 2 and 4
@parametrize("name", ["mmred-004", "mmmul-004", "ssmm-004"])
def test_table_1(name, nbits):
    assert abs(mean_cycles(name, nbits) / TABLE_1[name, nbits] - 1) <= 0.02


@EACH_WIDTH
def test_ours_with_one_bit_a_cycle_is_not_slower(nbits):
    assert find("ssmm").at(nbits).parameters["bits_per_cycle"] == 1
    assert mean_cycles("ssmm", nbits) <= TABLE_1["ssmm-004", nbits]
