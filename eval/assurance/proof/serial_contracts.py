"""Contracts of memories and of units that compute digit by digit: the effect of one cycle on their
registers.
"""

from collections.abc import Sequence

from pymtl3 import Component

from .contract_lang import SPARE, Contract, word
from .ports import arguments


def _kept(words: Sequence[str], write: str, at: str, value: str) -> list[str]:
    """A memory after a cycle: one word is written, the others keep their values."""
    return [f"{word} == (({write}) && ({at}) == {i} ? {value} : old_{word})" for i, word in enumerate(words)]


def _read(words: Sequence[str], at: str) -> str:
    """The memory's word at a valid address."""
    return "".join(f"{at} == {i} ? {word} : " for i, word in enumerate(words)) + "0"


def residue_memory(unit: Component) -> Contract:
    """A memory at addresses that have a word."""
    depth = arguments(unit)["depth"]
    registers = [f"words[{i}]" for i in range(depth)]
    words = [word(register) for register in registers]
    return Contract(
        "data is the word at read_at in the cycle before; a word is what was written there last",
        (
            f"old_read_at >= {depth} || data == ({_read([f'old_{item}' for item in words], 'old_read_at')})",
            *_kept(words, "old_write[0]", "old_write_at", "old_in_data"),
        ),
        registers=tuple(registers),
    )


def shielded_memory(unit: Component) -> Contract:
    """A shielded memory: a word that is being written reads as the value that arrives."""
    depth = arguments(unit)["depth"]
    registers = ("words", "taking", "opened")
    words, taking, opened = ([word(f"{register}[{i}]") for i in range(depth)] for register in registers)
    before, after = (
        [f"({old}{takes} ? {old}arrived : {old}{item})" for item, takes in zip(words, taking, strict=True)]
        for old in ("old_", "")
    )
    written = [
        f"{now} == (old_write && old_write_at == {i} ? old_in_data : {was})"
        for i, (was, now) in enumerate(zip(before, after, strict=True))
    ]
    # ... and an enable is 1 only for the word that is addressed
    shut = [
        f"{name} == (old_{port} && old_{port}_at == {i})"
        for name, port, i in (
            *((name, "read", i) for i, name in enumerate(opened)),
            *((name, "write", i) for i, name in enumerate(taking)),
        )
    ]
    return Contract(
        "data is what the word at read_at held in the cycle before, 0 if none was read; a word holds what "
        "was written there last",
        (
            f"data == (old_read ? {_read(before, 'old_read_at')} : 0)",
            *written,
            *shut,
            "old_write || arrived == old_arrived",
        ),
        registers=(*(f"{register}[{i}]" for register in registers for i in range(depth)), "arrived"),
    )


def digit_memory(unit: Component) -> Contract:
    """A digit is read in the cycle in which its index is applied."""
    ndigits = arguments(unit)["ndigits"]
    registers = [f"digits[{i}]" for i in range(ndigits)]
    words = [word(register) for register in registers]
    return Contract(
        "digit is the one at index; a digit is what was written there last",
        (
            f"index >= {ndigits} || digit == ({_read(words, 'index')})",
            *_kept(words, "old_write[0]", "old_write_index", "old_write_digit"),
        ),
        registers=tuple(registers),
    )


def digit_inverse(unit: Component) -> Contract:
    """By induction over the known bits: `bits` of them, of the inverse of `odd`."""
    k = arguments(unit)["k"]
    top = 1 << k
    old = ("old_shifted", "old_rest", "old_place", "old_c")
    begun = "shifted == old_n && rest == 1 && place == 1 && c == 0"
    goes_on = " && ".join(_inverse(("shifted", "rest", "place", "c"), "(bits + 1)", top))
    return Contract(
        f"c n = -1 modulo 2^i after i cycles, n odd: modulo 2^{k} after {k}",
        (
            f"!old_load[0] || {begun}",
            f"old_load[0] || !(odd[0] && odd < {top} && bits < {k} && "
            f"{' && '.join(_inverse(old, 'bits', top))}) || {goes_on}",
        ),
        free=("odd", "bits"),
        registers=("shifted", "rest", "place"),
        nbits=3 * k + SPARE,
    )


def _inverse(names: tuple[str, ...], bits: str, top: int) -> tuple[str, ...]:
    """The condition that holds once so many bits are known."""
    shifted, rest, place, c = names
    return (
        f"{shifted} == ((odd << {bits}) & {top - 1})",
        f"{place} == ((1 << {bits}) & {top - 1})",
        f"{rest} == (({c} * odd + 1) & {top - 1})",
        f"({rest} & ((1 << {bits}) - 1)) == 0",
        f"{c} < (1 << {bits})",
    )


def digit_processor(unit: Component) -> Contract:
    """Each pipeline stage as a function of the registers of the previous stage."""
    given = arguments(unit)
    shape, reduces = given["shape"], given["reduces"]
    s, last, wide = shape.digit_nbits, shape.ndigits - 1, shape.wide
    digits = [f"memory.digits[{i}]" for i in range(shape.ndigits)]
    words = [word(digit) for digit in digits]
    fetched = "old_first[0] ? 0 : old_u"
    v, carry_in = "old_v", "kept"
    subtracts, keeps, changing = "0", "1", ""
    if reduces:
        subtracts, keeps, changing = "subtracts", "old_keeps[0]", "subtracts keeps "
        fetched, v = (
            f"old_from_other[0] ? old_other : ({fetched})",
            f"(old_subtract[0] ? {(1 << s) - 1} ^ old_v : old_v)",
        )
    holds = [
        f"a == (old_load_a[0] ? (old_a >> {s}) + (old_a_digit << {wide - s}) : old_shift_a[0] ? old_a >> 1 "
        ": old_a)",
        "a_bit == (a & 1)",
        f"operand_u == (old_fetch[0] ? ({fetched}) : old_operand_u)",
        f"operand_v == (old_fetch[0] ? {v} : old_operand_v)",
        "adds == old_fetch",
        "adds_index == (old_fetch[0] ? old_index : old_adds_index)",
        f"total == operand_u + operand_v + (adds_index == 0 ? {subtracts} : {carry_in})",
        f"!old_adds[0] || (kept << {s}) + low == old_total",
        "old_adds[0] || kept == old_kept && low == old_low",
        f"waits == (old_adds[0] && {keeps} && old_adds_index == {last})",
        *_kept(
            words,
            f"old_waits[0] || old_adds[0] && {keeps} && old_adds_index != 0",
            f"old_waits[0] ? {last} : old_adds_index - 1",
            f"((old_low >> 1) + ((old_waits[0] ? old_kept : old_total & 1) << {s - 1}))",
        ),
        f"index > {last} || u == ({_read(words, 'index')})",
        "next_bit == (old_adds[0] && old_adds_index == 0 ? (old_total >> 1) & 1 : old_next_bit)",
        "u_bit == (old_load_a[0] ? 0 : old_shift_a[0] ? old_next_bit : old_u_bit)",
    ]
    if reduces:
        holds += [
            "subtracts == (old_fetch[0] ? old_subtract : old_subtracts)",
            "keeps == (old_fetch[0] ? old_to_u : old_keeps)",
            "sum == low && kept_carry == kept",
            f"carry == total >> {s}",
            "sum_val == (old_adds[0] && !old_keeps[0])",
            "!old_adds[0] || sum_index == old_adds_index",
        ]
    names = f"a operand_u operand_v adds adds_index {changing}total kept low waits next_bit"
    return Contract(
        "digit by digit U + V with its carry, all of it kept; U takes the sums shifted right by a bit, and "
        "loses none in between",
        tuple(holds),
        registers=(*names.split(), *digits),
        nbits=wide + SPARE,
    )


def word_multiplier(unit: Component) -> Contract:
    """The contract of `digit_processor`, for words and with two products."""
    shape = arguments(unit)["shape"]
    s, k, last = shape.word_nbits, shape.digit_nbits, shape.nwords - 1
    total = "q * operand_c + x * operand_y + operand_u + (adds_index == 0 ? starts : carry)"
    taken = {
        "operand_u": "u",
        "operand_c": "c",
        "operand_y": "y",
        "starts": "carry_in",
        "shifting": "shifts",
        "adds_to": "to",
        "adds_index": "index",
    }
    kept = {"write_index": "adds_index", "write_to": "adds_to"}
    upper = f"(kept >> {k}) + "
    return Contract(
        "word by word u + q c + x y with its carry, none lost; written as it is, or shifted right by a digit",
        (
            f"total == {total}",
            "adds == old_fetch",
            *(f"{name} == (old_fetch[0] ? old_{source} : old_{name})" for name, source in taken.items()),
            f"!old_adds[0] || (carry << {s}) + kept == old_total",
            "old_adds[0] || kept == old_kept && carry == old_carry",
            *(f"{name} == (old_adds[0] ? old_{source} : old_{name})" for name, source in kept.items()),
            "plain == (old_adds[0] ? !old_shifting[0] : old_plain)",
            f"waits == (old_adds[0] && (!old_shifting[0] || old_adds_index == {last}))",
            f"low_digit == (total & {(1 << k) - 1})",
            f"carries == ((total >> {s}) & 1)",
            "write == (waits[0] || adds[0] && shifting[0] && adds_index != 0)",
            f"write_word == (waits[0] ? (plain[0] ? kept : {upper}((carry & {(1 << k) - 1}) << {s - k})) "
            f": {upper}((total & {(1 << k) - 1}) << {s - k}))",
        ),
        registers=(
            "operand_u",
            "operand_c",
            "operand_y",
            "starts",
            "shifting",
            "adds_to",
            "carry",
            "kept",
            "waits",
            "plain",
            "total",
        ),
        nbits=s + k + 1 + SPARE,
    )
