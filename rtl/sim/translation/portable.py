"""Rewrites the exported text of a design for Icarus 11 and Verilator 5.006, without changing the hardware.

Icarus resolves each bit of a vector with several drivers whenever one of them changes; fold at 64 bits did
not finish its table. So a generate loop that assigns parts of a vector becomes a block, which is one driver.
A choice between two states becomes an if statement, as Icarus takes `a ? b : c` for a number.

Verilator needs no pragma for the chains of instance_loops.py. Version 5.006, which is Debian's, warns of an
operator in a cast or in an index, whose operands it extends, and refuses long numbers without a size. Any
version warns of fields with names that C++ reserves.
"""

import re
from collections import Counter
from collections.abc import Collection

from .instance_loops import SPLIT
from .source_text import MODULE, line_pattern, words_in
from .structure import STATE

_LOOP = line_pattern(  # targets with one index: Icarus takes no variable before another one
    r"^  for \(genvar (?P<head>[^\n]*)\) begin : (?P<label>\w+)\n"
    r"(?P<body>(?:    assign \w+\[[^\]=\n]*\] = .*;\n)+)  end$"
)
_PACKED = line_pattern(r"^  (?:output +)?logic \[[^\n]*\] (\w+)[,;]?$")
_TARGET = line_pattern(r"^ *assign (\w+)")
_CONNECTED = re.compile(r"\.\w+\( *(\w+)\[")  # a part of a vector, which a port may drive
_RANGE = re.compile(r"\[[^\]\n]*[a-z][^\]\n]*:")  # between bounds of a genvar, which a block has not
_HOLDS_STATE = line_pattern(rf"^  (?:output )?(?:{STATE}|\w+_e) (\w+)[,;]?$")
_GAP = line_pattern(r"(^  assign .*;\n|^  (?:end|\);)\n(?=\nendmodule$))\n(?=  assign |endmodule$)")
_CHOICE = line_pattern(r"^( *)(?P<label>(?:\w+: )?)(?P<target>(\w+) <?=) ([^?\n]*) \? (\w+) : (\w+);$")
_EXTENDED = re.compile(r"(\w'\( ?| = \w+\[)(\w+ [-&|^] (?:\w+|\d+'\(\w+\)))(?= ?[)\]])")
# sext() of one bit: a scalar has no index, and its copies are one replication
_SPREAD = re.compile(r"\{ *\{ *(\d+) *\{ *([\w.\[\]*+ -]+?)(?:\[0\])? *\} *\}, *\2 *\}")
_CONSTANT = line_pattern(r"^  localparam logic \[\d+:0\] (\w+) = \d+'d(\d+);$")
_ARRAY = line_pattern(r"^  logic.* (\w+) \[0:(\d+)\];\n")
_ZERO = re.compile(r"(?<=[=?:] )(?:\$?\w+(?:\([^()\n]*\))?|\((?:[^()\n]|\([^()\n]*\))*\))'\( ?'d0 ?\)")
_NO_WILDCARD = re.compile(r"\bcasez (?=[^?]*?\bendcase\b)")
_LONG = re.compile(r"(?<='\()'d(\d{10,})")

_LABEL = line_pattern(r"^( *for \(genvar .* begin : )")
_LAST = re.compile(r"\[0:(\w+)\](?=(?:\[0:\w+\])*(?:;| =))")  # of an unpacked array
_WORD = re.compile(r"//.*|(?<![.\w'])[a-z]\w*")  # or a comment
_LOWER_CASE = line_pattern(r"^  localparam .*\b([a-z]\w*) = ")
_ONE_BIT = re.compile(r"logic \[0:0\] (\w+)((?: \[0:\d+\])?)(?=[ ,;\n])")

_CODE = line_pattern(r"^(?:[^/\n]|/(?!/))+")
_WORDS_OF_CPP = frozenset(
    re.findall(
        r"\w+",
        "asm auto bool catch char delete double explicit export friend goto inline long mutable namespace "
        "operator private protected public short sizeof template this throw try typename using volatile",
    )
)


def without_words_of_cpp(text: str, fields: Collection[str]) -> str:
    """The text with an underscore after those names of fields that C++ reserves."""
    if not (reserved := _WORDS_OF_CPP.intersection(fields)):
        return text
    names = re.compile(rf"\b(?:{'|'.join(sorted(reserved))})\b")
    return _CODE.sub(lambda code: names.sub(r"\g<0>_", code[0]), text)


def in_lowrisc_style(text: str) -> str:
    """The text with labels, sizes of arrays and names of constants as in lowRISC's guide."""
    text = re.sub(rf"\b{STATE}\b", "state_e", text)
    text = _LAST.sub(
        lambda last: f"[{int(last[1]) + 1 if last[1].isdecimal() else f'{last[1]} + 1'}]",
        _LABEL.sub(r"\1gen_", text),
    )
    return MODULE.sub(_with_capitals, text)


def _with_capitals(module: re.Match[str]) -> str:
    """A module with its constants in capitals, if these are no other name."""
    words = words_in(module[0])
    lower = {name for name in _LOWER_CASE.findall(module[0]) if name.upper() not in words}
    return _WORD.sub(lambda word: word[0].upper() if word[0] in lower else word[0], module[0])


def portable(text: str) -> str:
    """The text of a design; a vector that anything else assigns, too, keeps its loop."""
    text = _SPREAD.sub(lambda bit: f"{{{int(bit[1]) + 1}{{{bit[2]}}}}}", _NO_WILDCARD.sub("case ", text))
    text = _LONG.sub(lambda long: f"{int(long[1]).bit_length()}'d{long[1]}", text)
    text = with_plain_zeros(re.sub(r"(?<=\w)\[(\d+):\1\]", r"[\1]", text))
    text = _EXTENDED.sub(r"\1{\2}", text).replace(f" {SPLIT}", "")
    text = re.sub(
        r"(?m)^  logic unused;(  // [^:\n]*)?.*\n  assign unused = (.{,56});$",
        r"  wire unused = \2;\1",
        re.sub("\n\n+", "\n\n", text),
    )
    return MODULE.sub(
        lambda module: _GAP.sub(
            r"\1", with_scalars(_with_ifs(_with_blocks(_with_wide_constants(module[0]))), module[0])
        ),
        text,
    )


def with_scalars(text: str, used: str) -> str:
    """Scalars in the place of vectors of one bit of which nothing in `used` selects a part."""

    def scalar(bit: re.Match[str]) -> str:
        element = r"\[[^]]*]" if bit[2] else ""
        part = rf"\b{bit[1]}{element}\["
        return bit[0] if re.search(part, used) else f"logic {bit[1]}{bit[2]}"

    return _ONE_BIT.sub(scalar, text).replace("enum logic [0:0] {", "enum logic {")


def with_plain_zeros(text: str) -> str:
    """Zeros of any width as '0."""
    return _ZERO.sub("'0", text)


def with_plain_integers(text: str) -> str:
    """A module whose constants are integers where they are but indices and amounts of shifts, and whose
    arrays of successive constants are sums.
    """
    for name, value in _CONSTANT.findall(text):
        used = rf"[\[:]{name}[\]:]|(?:<<|>>) {name}\b(?! [-+*])"
        bare = re.sub(rf":\d+'\({name}\)\]", f":{name}]", text)
        if len(re.findall(used, bare)) + 1 == words_in(text)[name]:
            text = re.sub(rf"localparam logic .* {name} = .*", f"localparam int {name} = {value};", bare)
    for name, last in _ARRAY.findall(text):
        assigned = line_pattern(rf"^  assign {name}\[(\d+)\] = (\d+'d)(\d+);\n")
        found = assigned.findall(text)
        offsets = {int(value) - int(index) for index, _, value in found}
        if len(found) == int(last) + 1 and len(offsets) == 1 and min(offsets) >= 0:
            base = found[0][1]
            rest = line_pattern(rf"^  logic.* {name} \[.*\n").sub("", assigned.sub("", text))
            rest = re.sub(rf"\b{name}\[([a-z]\w*)\]", rf"({base[:-1]}(\1) + {base}{offsets.pop()})", rest)
            text = text if name in words_in(rest) else rest
    return text


def _with_wide_constants(text: str) -> str:
    """A module whose constants have the width to which all their uses cast them."""
    for name, value in _CONSTANT.findall(text):
        casts = re.findall(rf"\b(\d+)'\( ?{name} ?\)", text)
        if len({*casts}) == 1 and len(casts) + 1 == words_in(text)[name]:
            text = re.sub(rf"\b\d+'\( ?{name} ?\)", name, text)
            declared = f"  localparam logic [{int(casts[0]) - 1}:0] {name} = {casts[0]}'d{value};"
            text = line_pattern(rf"^  localparam .* {name} = .*$").sub(declared, text)
    return text


def _with_blocks(text: str) -> str:
    packed = {*_PACKED.findall(text)}
    assigned = Counter([*_TARGET.findall(text), *_CONNECTED.findall(text)])

    def block(loop: re.Match[str]) -> str:
        mine = Counter(_TARGET.findall(loop["body"]))
        other = any(assigned[name] != count for name, count in mine.items())
        if other or not mine.keys() <= packed or _RANGE.search(loop["body"]):
            return loop[0]
        body = loop["body"].replace("    assign ", "      ")
        head = f"  always_comb begin : {loop['label']}\n    for (int unsigned {loop['head']}) begin\n"
        return f"{head}{body}    end\n  end"

    return _LOOP.sub(block, text)


def _with_ifs(text: str) -> str:
    states = {*_HOLDS_STATE.findall(text)}

    def branches(line: re.Match[str]) -> str:
        indent, label, target, name, condition, one, other = line.groups()
        if name not in states:
            return line[0]
        condition = re.sub(r"^\(([^()]*)\)$", r"\1", condition)
        return (
            f"{indent}{label}if ({condition}) begin\n{indent}  {target} {one};\n{indent}end else begin\n"
            f"{indent}  {target} {other};\n{indent}end"
        )

    return _CHOICE.sub(branches, text)
