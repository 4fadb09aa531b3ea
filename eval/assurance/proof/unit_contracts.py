"""Contracts of units: outputs as functions of inputs, or the effect of one step on registers, with the bounds
that the units' headers state.

contract_lang.py defines a contract; fold_contracts.py and serial_contracts.py have those of folded products
and of machines in words. CONTRACTS has one for each class, which is proved of each unit of that class in a
design (unit_checks.py).
"""

from collections.abc import Callable
from typing import Any

from pymtl3 import Component

from ....fl.compression.compression import make_plan
from ....fl.moduli import classify
from ....fl.multipliers.scaled_heap import step_heap, step_rows
from ....rtl.mod_exp.tiny.digit_reader import DigitReader, Lines
from ....rtl.units.add_red import AddRedCarrySave, AddRedKoc, AddRedTextbook, Resolve
from ....rtl.units.compression_tree import CompressionTree, FiveThreeCompressors
from ....rtl.units.cond_sub import CondSub
from ....rtl.units.div_rem import DivStep
from ....rtl.units.fold.aligner import Aligner
from ....rtl.units.fold.mod_quadruple import ModQuadruple
from ....rtl.units.fold.product_pair import ProductPair
from ....rtl.units.fold.row_fold import RowFold
from ....rtl.units.fold.split_adder import AdderBack, AdderFront
from ....rtl.units.heap.full_adders import FullAdders, FullAddersLevel, HalfAdders
from ....rtl.units.heap.heap_step import HeapStep
from ....rtl.units.memory.held_word import HeldWord
from ....rtl.units.memory.residue_memory import ResidueMemory
from ....rtl.units.memory.shielded_memory import ShieldedMemory
from ....rtl.units.mm_red import Halve
from ....rtl.units.mod_add_sub import ModAddSub
from ....rtl.units.mod_adder import ModAdder, SumMinus
from ....rtl.units.multiplier import AddRow
from ....rtl.units.prefix_adder import PrefixAdder
from ....rtl.units.serial.digit_inverse import DigitInverse
from ....rtl.units.serial.digit_memory import DigitMemory
from ....rtl.units.serial.digit_processor import DigitProcessor
from ....rtl.units.serial.word_multiplier import WordMultiplier
from ....rtl.units.shift_sub import ShiftSubStep
from ....rtl.units.systolic.quotient_unit import QuotientUnit
from ....rtl.units.systolic.scaled_pe import ScaledPE
from ....rtl.units.systolic.systolic_pe import SystolicPE
from . import fold_contracts as fold
from . import serial_contracts as serial
from .contract_lang import SPARE, Contract, number, sum_of_rows
from .ports import arguments, width

ADD_RED = Contract(
    "2 out = S + x y + q n and out < 2n, q its parity, for S < 2n, y < n, n odd",
    ("2 * out == total + (total[0] ? n : 0)", "out < 2 * n"),
    ("n[0]", "y < n", "state < 2 * n"),
    {"total": "state + (x_i[0] ? y : 0)"},
)


def _add_red_carry_save(unit: Component) -> Contract:
    half = width(unit.n) + 1
    return Contract(
        "2 out = S + x y + q n and out < 2n, S and out sums of pairs, for S < 2n, y < n, n odd",
        ("2 * s_out == total + (total[0] ? n : 0)", "s_out < 2 * n"),
        ("n[0]", "y < n", "s_in < 2 * n"),
        {
            "s_in": f"state[{half - 1}:0] + (state >> {half})",
            "s_out": f"out[{half - 1}:0] + (out >> {half})",
            "total": "s_in + (x_i[0] ? y : 0)",
        },
    )


def _resolve(unit: Component) -> Contract:
    half = width(unit.value)
    total = f"state[{half - 1}:0] + (state >> {half})"
    return Contract(
        f"value is the sum of the pair, for a sum below 2^{half}",
        ("value == total",),
        (f"total >> {half} == 0",),
        {"total": total},
    )


COND_SUB = Contract(
    "out = value mod n, for value < 2n",
    ("out == value || out + n == value", "out < n"),
    ("value < 2 * n",),
)
MOD_ADD_SUB = Contract(
    "out = x + y or x - y mod n, for x, y < n",
    (
        "out < n",
        "subtract[0] ? out + y == x || out + y == x + n : out == x + y || out + n == x + y",
    ),
    ("x < n", "y < n"),
)


def _mod_quadruple(unit: Component) -> Contract:
    digit = "4 * x + digit"
    multiples = " || ".join(f"{digit} == out + {times} * modulus" for times in range(4))
    ones = (1 << width(unit.thrice)) - 1
    return Contract(
        "out = 4x + digit mod n, for x < n, by 3n or, for 4x + digit < 3n, without it",
        ("out < modulus", multiples),
        ("x < modulus", f"thrice == 3 * modulus || thrice == {number(unit, ones)} && {digit} < 3 * modulus"),
    )


SHIFT_SUB_STEP = Contract(
    "p' = p + b c mod n and c' = 2c mod n, for p, c < n",
    (
        "p_out < n",
        "c_out < n",
        "p_out == total || p_out + n == total",
        "c_out == 2 * c || c_out + n == 2 * c",
    ),
    ("p < n", "c < n"),
    {"total": "p + (b_i[0] ? c : 0)"},
)
DIV_STEP = Contract(
    "2r + bit = q d + r' with r' < d, for r < d",
    ("2 * remainder + next_bit == (quotient_bit[0] ? divisor : 0) + out", "out < divisor"),
    ("remainder < divisor",),
)
ADD_ROW = Contract("out = high + b a", ("out == high + (b_i[0] ? a : 0)",))


def _halve(unit: Component) -> Contract:
    nbits = width(unit.n)
    return Contract(
        "2 out = value + q n, q its parity, for value < 2^nbits n, n odd",
        ("2 * out == value + (value[0] ? n : 0)",),
        ("n[0]", f"value < (n << {nbits})"),
    )


def _prefix_adder(unit: Component) -> Contract:
    return Contract("sum and carry are x + y", (f"sum + (carry_out << {width(unit.sum)}) == x + y",))


def _sum_minus(unit: Component) -> Contract:
    multiple = number(unit, arguments(unit)["multiple"])
    return Contract(
        "difference = a + b - c for a constant c, where it fits",
        (
            f"fits[0] == (a + b >= {multiple})",
            f"!fits[0] || difference + {multiple} == a + b",
        ),
    )


def _mod_adder(unit: Component) -> Contract:
    given = arguments(unit)
    modulus = number(unit, given["m"])
    return Contract(
        "out = a + b mod m, for rows as large as the tree makes them",
        (f"out == (a + b) % {modulus}",),
        (f"a <= {number(unit, given['most_a'])}", f"b <= {number(unit, given['most_b'])}"),
    )


OPERATIONS = {"multiply": ("a * b", "a b"), "square": ("a * a", "a a"), "reduce": ("a", "a")}


def _compression_tree(unit: Component) -> Contract:
    given = arguments(unit)
    nbits = 2 * width(unit.row_a) + SPARE
    modulus = number(unit, given["m"], nbits)
    what, said = OPERATIONS[given["operation"]]
    plan = make_plan(
        given["operation"], classify(given["m"]), given["operand_nbits"], given["strategy"], given["adder"]
    ).mod_sum
    return Contract(
        f"row_a + row_b = {said} mod m, and no row is above what the last adder takes",
        (
            f"(row_a + row_b) % {modulus} == ({what}) % {modulus}",
            f"row_a <= {number(unit, plan.most_a, nbits)}",
            f"row_b <= {number(unit, plan.most_b, nbits)}",
        ),
        nbits=nbits,
    )


def _adders(unit: Component, says: str, inputs: str) -> Contract:
    """Sum and carry of these inputs in every bit."""
    return Contract(
        says,
        tuple(
            f"sum[{i}] + 2 * carry[{i}] == {' + '.join(f'{name}[{i}]' for name in inputs)}"
            for i in range(width(unit.sum))
        ),
    )


def _adders_level(unit: Component) -> Contract:
    """Each row has a full adder in every column, which maps complements to complements."""
    given = arguments(unit)
    columns = given["columns"]
    lows = range(0, given["count"] * columns, columns)
    return Contract(
        "sum + 2 carry = v + w + x in every column, the carry in the next one",
        (
            *(f"carry[{low}] == 1" for low in lows),
            *(f"sum[{i}] == v[{i}] ^ w[{i}] ^ x[{i}]" for low in lows for i in range(low, low + columns)),
            *(
                f"sum[{i}] + 2 * carry[{i + 1}] == v[{i}] + w[{i}] + x[{i}]"
                for low in lows
                for i in range(low, low + columns - 1)
            ),
        ),
    )


FIVE_THREE = Contract(
    "sum + 2 carry + 4 four = v + w + x + y + z", ("sum + 2 * carry + 4 * four == v + w + x + y + z",)
)


def _heap_step(unit: Component) -> Contract:
    given = arguments(unit)
    shape, rows = given["shape"], given["rows"]
    columns, w = shape.state_nbits, shape.digit_nbits
    nbits = columns + SPARE
    ones, digit = number(unit, (1 << columns) - 1, nbits), number(unit, (1 << w) - 1, nbits)
    delayed = shape.quotient_delay == 1
    thrice = {
        "radix-4": ("b_thrice == 3 * b", "m_thrice == 3 * m_prime"),
        "joint": ("b_and_m == b + m_prime",),
        "and": (),
    }[rows]
    products = [_row_of_step(rows, row.product, row.place) for row in step_rows(shape, rows)]
    pair = f"(first[0] ? 0 : ({ones} ^ sum) >> {w}) + (first[0] ? 0 : ({ones} ^ carry) >> {w})"
    holds = [
        f"(({pair} + next_carry_in) & {ones}) == ((s_in >> {w}) & {ones})",
        f"(s_out & {ones}) == (({' + '.join([pair, *products])}) & {ones})",
    ]
    if delayed:
        holds.append(f"next_quotient == (s_in & {digit})")
    return Contract(
        "S' = floor(S / 2^w) + q M' + digit B, digit by digit, S and S' by pairs of complements, modulo the "
        "heap" + (", q of the step before" if delayed else ", q the low word of S"),
        tuple(holds),
        thrice,
        {
            "s_in": f"first[0] ? 0 : ({ones} ^ sum) + ({ones} ^ carry) + carry_in",
            "s_out": f"({ones} ^ next_sum) + ({ones} ^ next_carry)",
            "q": "first[0] ? 0 : late_quotient" if delayed else f"s_in & {digit}",
        },
        instead={"BitHeap": sum_of_rows(step_heap(shape, rows))},
        nbits=nbits,
    )


def _row_of_step(rows: str, product: str, place: int) -> str:
    """The expected row of a heap: a word times the digits at its place."""
    word, thrice, digits = ("b", "b_thrice", "digit") if product == "digit" else ("m_prime", "m_thrice", "q")
    once = f"({digits}[{place}] ? {word} : 0)"
    if rows == "joint":
        once = f"(digit[{place}] ? (q[{place}] ? b_and_m : b) : (q[{place}] ? m_prime : 0))"
    if rows == "radix-4":
        upper = f"{digits}[{place + 1}]"
        once = f"({upper} ? ({digits}[{place}] ? {thrice} : {word} << 1) : {once})"
    return f"({once} << {place})"


def _quotient_unit(unit: Component) -> Contract:
    k = width(unit.u)
    return Contract(
        f"u = (x y + a) n' modulo 2^{k}, of the x and y that were taken",
        (
            f"xy == (old_take[0] ? (old_x * old_y_0) & {(1 << k) - 1} : old_xy)",
            f"u == (((xy + a_0) * n_prime) & {(1 << k) - 1})",
        ),
        registers=("xy",),
        nbits=2 * k + SPARE,
    )


def _systolic_pe(unit: Component) -> Contract:
    given = arguments(unit)
    k, place = given["k"], given["place"]
    most = f"old_acc <= {((1 << k) - 1) ** 2}"
    carried = "" if place == "first" else " + old_carry"
    kept = "old_kept" if place == "last" else "old_a"
    holds = [
        "old_st != 0 || x_i == old_x && is_first == old_first && is_last == old_last",
        "old_st == 0 || x_i == old_x_i && is_first == old_is_first && is_last == old_is_last",
        "old_st != 0 || acc == old_q * old_m",
        f"old_st != 1 || !({most}) || acc == old_acc + old_x_i * old_y{carried} + (old_is_first[0] ? 0 : "
        f"{kept})",
        "old_st != 2 || acc == old_acc && st == 0",
        "old_st != 1 || st == 2",
        "old_st != 0 || st == old_go",
    ]
    registers = ["st", "acc", "x_i", "is_first", "is_last"]
    if place == "last":
        holds.append(f"old_st == 2 ? kept == ((old_acc >> {k}) % {1 << k}) : kept == old_kept")
        registers.append("kept")
    else:
        holds += [
            "next_q == (old_st == 0 ? old_q : old_next_q)",
            "next_go[0] == (st == 1) && next_first == is_first && next_last == is_last",
            f"next_x == x_i && next_carry == acc >> {k}",
        ]
    if place != "first":
        holds += [
            f"old_st != 2 || low == old_acc % {1 << k}",
            f"sum == acc % {1 << (2 * k if place == 'last' else k)}",
            "done[0] == (st == 2 && is_last[0])",
        ]
    return Contract(
        "acc = u m, then acc + x y + a + carry with none lost, then its low word is kept; what came goes on",
        tuple(holds),
        registers=tuple(registers),
        nbits=2 * k + SPARE,
    )


def _scaled_pe(unit: Component) -> Contract:
    given = arguments(unit)
    k, place = given["k"], given["place"]
    low = f"(old_first[0] ? 0 : old_acc % {1 << k})"
    quotient = low if place == "first" else "old_q"
    above = f" + (old_first[0] ? 0 : old_acc >> {k})" if place == "last" else ""
    carried = "" if place == "first" else " + old_carry"
    kept = "" if place == "last" else " + (old_is_first[0] ? 0 : old_a)"
    total = f"old_acc + old_x * old_y{carried}{kept}"
    exact = f"old_acc > {((1 << k) - 1) ** 2} || acc == {total}"
    modulo = f"acc == (({total}) % {2 << 2 * k})"
    passed = (
        "next_go == adds && next_first == is_first && next_last == is_last",
        f"next_carry == acc >> {k}",
        f"!old_go[0] || is_first == old_first && next_q == {quotient}",
        "!old_adds[0] || next_x == old_x",
    )
    return Contract(
        "acc = q m, then acc + x y + a + carry"
        + (", modulo its word" if place == "last" else " with none lost; what came goes on"),
        (
            f"!old_go[0] || acc == {quotient} * old_m{above}",
            f"!old_adds[0] || {modulo if place == 'last' else exact}",
            "old_go[0] || old_adds[0] || acc == old_acc",
            "adds == old_go",
            "is_last == (old_go[0] ? old_last : old_is_last)",
            "done[0] == (old_adds[0] && old_is_last[0])",
            f"low == acc % {1 << k}",
            *(passed if place != "last" else ()),
        ),
        ("!(old_go[0] && old_adds[0])",),
        registers=("acc", "adds", "is_last", *(("is_first",) if place != "last" else ())),
        nbits=2 * k + SPARE,
    )


HELD_WORD = Contract(
    "the word is the last that entered while it was open",
    ("word == (old_opens[0] ? old_entering : old_word)",),
    registers=("word",),
)


def _lines(unit: Component) -> Contract:
    pairs = range(len(unit.lines))
    return Contract(
        "of four lines for two bits, the one of their number is 1",
        tuple(f"((lines >> {4 * i}) & 15) == (1 << ((index >> {2 * i}) & 3))" for i in pairs),
    )


def _digit_reader(unit: Component) -> Contract:
    k = width(unit.digit)
    groups = [f"((lines >> {4 * i}) & 15)" for i in range(len(unit.lines))]
    numbers = [f"(({one} == 2) + 2 * ({one} == 4) + 3 * ({one} == 8))" for one in groups]
    place = " + ".join(f"{4**i} * {one}" for i, one in enumerate(numbers))
    return Contract(
        "digit is that of the word at the place of the lines, of which one in each group is 1",
        (f"digit == ((word >> ({k} * place)) & {(1 << k) - 1})",),
        tuple(f"{one} == 1 || {one} == 2 || {one} == 4 || {one} == 8" for one in groups),
        {"place": place},
    )


# a contract, or a function of the unit that makes it
CONTRACTS: dict[type[Component], Contract | Callable[[Any], Contract]] = {
    AddRedTextbook: ADD_RED,
    AddRedKoc: ADD_RED,
    AddRedCarrySave: _add_red_carry_save,
    Resolve: _resolve,
    HeldWord: HELD_WORD,
    Lines: _lines,
    DigitReader: _digit_reader,
    CondSub: COND_SUB,
    ModAddSub: MOD_ADD_SUB,
    ModQuadruple: _mod_quadruple,
    ShiftSubStep: SHIFT_SUB_STEP,
    DivStep: DIV_STEP,
    AddRow: ADD_ROW,
    Halve: _halve,
    PrefixAdder: _prefix_adder,
    SumMinus: _sum_minus,
    ModAdder: _mod_adder,
    CompressionTree: _compression_tree,
    FullAdders: lambda unit: _adders(unit, "sum + 2 carry = v + w + x in every bit", "vwx"),
    HalfAdders: lambda unit: _adders(unit, "sum + 2 carry = v + w in every bit", "vw"),
    FullAddersLevel: _adders_level,
    FiveThreeCompressors: FIVE_THREE,
    HeapStep: _heap_step,
    Aligner: fold.aligner,
    ProductPair: fold.product_pair,
    RowFold: fold.row_fold,
    AdderFront: fold.adder_front,
    AdderBack: fold.adder_back,
    ResidueMemory: serial.residue_memory,
    ShieldedMemory: serial.shielded_memory,
    DigitMemory: serial.digit_memory,
    DigitInverse: serial.digit_inverse,
    DigitProcessor: serial.digit_processor,
    WordMultiplier: serial.word_multiplier,
    QuotientUnit: _quotient_unit,
    SystolicPE: _systolic_pe,
    ScaledPE: _scaled_pe,
}


def contract_of(unit: Component) -> Contract:
    """The contract of a unit by its class."""
    said = CONTRACTS[type(unit)]
    return said if isinstance(said, Contract) else said(unit)
