"""C header of an accelerator, with NAME_call(...) for programs on the processor.

Fields of up to 32 bits are numbers, longer ones arrays of words, least significant first, and those that are
addresses are pointers. A call returns the status (0: done) and writes the results through pointers. If the
accelerator refuses nothing and has one result of up to 32 bits, the call returns the result.
"""

import re
from collections.abc import Mapping, Sequence

from ...fl.accelerator import WORD_NBITS, Shape
from ...fl.axi4lite import operand_names, register_map
from ...fl.register_map import Register
from ...fl.xcel import GO, STATUS, operand_registers, words_of

BYTES = 4
# keywords of C that are not also keywords of Python, which fields may not have as names anyway
WORDS_OF_C = frozenset(
    re.findall(
        r"\w+",
        "auto bus case char const default do double enum extern float goto inline int long register restrict "
        "short signed sizeof static status struct switch typedef union unsigned void volatile",
    )
)

NEEDS_BASE = ["#ifndef BUS_BASE", '#error "define BUS_BASE, the address of the registers"', "#endif"]


def identifier(name: str) -> str:
    """The name of an accelerator as a C identifier."""
    return re.sub(r"\W", "_", name)


def call_header(name: str, nbits: int, shape: Shape, *, on_bus: bool = False) -> str:
    """The text of NAME.h."""
    own = identifier(name)
    body = _bus(in_c(shape), register_map(shape), operand_names(shape)) if on_bus else _port(in_c(shape))
    place = "on the bus" if on_bus else "at the accelerator port"
    shape = in_c(shape)
    arguments = [
        f"const volatile void *{field}" if field in shape.pointers else _argument(field, wide, "const ")
        for field, wide in shape.request
    ]
    if not returns_result(shape):
        arguments += [_argument(field, wide, "", "*") for field, wide in shape.results]
    lines = [
        f"// {own}_call(): {name} of {nbits} bits {place} of the processor. Made by modexlab.",
        "// SPDX-License-Identifier: BSD-3-Clause",
        "",
        f"#ifndef {own.upper()}_CALL_H",
        f"#define {own.upper()}_CALL_H",
        "",
        "#include <stdint.h>",
        *(NEEDS_BASE if on_bus else ['#include "xcel.h"']),
        "",
        f"static inline uint32_t {own}_call({', '.join(arguments)}) {{",
        *(f"  {line}" for line in body),
        "}",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def returns_result(shape: Shape) -> bool:
    """Whether a call returns the result itself."""
    return not shape.has_status and len(shape.results) == 1 and shape.results[0][1] <= WORD_NBITS


def in_c(shape: Shape) -> Shape:
    """The same fields with distinct names that are legal in C."""
    request = tuple((f"{field}_" if field in WORDS_OF_C else field, nbits) for field, nbits in shape.request)
    taken = {*dict(request), *WORDS_OF_C}
    status = shape.response[:1] if shape.has_status else ()
    results = tuple((f"{field}_out" if field in taken else field, nbits) for field, nbits in shape.results)
    pointers = tuple(f"{field}_" if field in WORDS_OF_C else field for field in shape.pointers)
    return Shape(request, (*status, *results), shape.statics, shape.memory, pointers)


def _argument(field: str, nbits: int, constant: str, pointer: str = "") -> str:
    if nbits <= WORD_NBITS:
        return f"uint32_t {pointer}{field}"
    return f"{constant}uint32_t {field}[{words_of(nbits)}]"


def _sent(shape: Shape) -> list[list[str]]:
    """The words of each field of a request, padded with zeros to those of the widest field."""
    count = words_of(shape.widest)
    request = [
        (f"(uint32_t){field}" if field in shape.pointers else field, nbits) for field, nbits in shape.request
    ]
    return [
        [field if nbits <= WORD_NBITS else f"{field}[{place}]" for place in range(words_of(nbits))]
        + ["0"] * (count - words_of(nbits))
        for field, nbits in request
    ]


def _received(shape: Shape) -> list[str]:
    """The destination of each word of the results; "" for a padding word."""
    words = []
    for field, nbits in shape.results:
        target = [f"*{field}"] if nbits <= WORD_NBITS else [f"{field}[{i}]" for i in range(words_of(nbits))]
        words += target + [""] * (shape.stride // WORD_NBITS - len(target))
    return words[: words_of(shape.result_nbits)]


def _barrier(shape: Shape) -> list[str]:
    """The line before which the program writes what the accelerator reads, and after which it reads."""
    return ['__asm__ volatile("" ::: "memory"); // the accelerator reads and writes memory'] * bool(
        shape.memory
    )


def _port(shape: Shape) -> list[str]:
    """The body of a call by csr instructions; reading the status waits until the operation is done."""
    lines = [
        f"XCEL_WRITE({register}, {word});"
        for register, words in zip(operand_registers(shape), _sent(shape), strict=True)
        for word in words
    ]
    barrier = _barrier(shape)
    lines += [*barrier, f"XCEL_WRITE({GO}, 0);"]
    if returns_result(shape):
        return [*lines, f"(void)XCEL_READ({STATUS}); // waits", *barrier, f"return XCEL_READ({GO});"]
    lines += [f"uint32_t status = XCEL_READ({STATUS}); // waits", *barrier]
    for target in _received(shape):
        lines.append(f"{target} = XCEL_READ({GO});" if target else f"(void)XCEL_READ({GO});")
    return [*lines, "return status;"]


def _bus(shape: Shape, registers: Mapping[str, Register], names: Sequence[str]) -> list[str]:
    """The body of a call by loads and stores: poll STATUS, then read the results unless the request was
    refused.
    """
    status, control = registers["STATUS"], registers["CONTROL"]

    def at(address: int) -> str:
        return f"bus[{address // BYTES}]"

    lines = ["volatile uint32_t *bus = (volatile uint32_t *)BUS_BASE;", "uint32_t status;"]
    for name, words in zip(names, _sent(shape), strict=True):
        lines += [
            f"{at(registers[name].address + BYTES * place)} = {word}; // {name}"
            for place, word in enumerate(words)
        ]
    lines += _barrier(shape)
    lines.append(f"{at(control.address)} = {1 << control.field('start').low}; // start")
    lines.append("do")
    lines.append(f"  status = {at(status.address)};")
    lines.append(f"while (!(status & {1 << status.field('done').low})); // done")
    lines += _barrier(shape)
    code = status.field("code")
    lines.append(f"status = status >> {code.low} & {(2 << code.high - code.low) - 1};")
    result = registers["RESULT"].address
    if returns_result(shape):
        return [*lines, f"return status ? 0 : {at(result)}; // a refused request has no result to read"]
    targets = {target: at(result + BYTES * place) for place, target in enumerate(_received(shape)) if target}
    lines.append("if (!status) {")
    lines += [f"  {target} = {word};" for target, word in targets.items()]
    lines.append("} else { // no result to read")
    lines += [f"  {target} = 0;" for target in targets]
    return [*lines, "}", "return status;"]
