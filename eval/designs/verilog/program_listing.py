"""The program of a machine in the header of its Verilog: a legend of the words in it, and its listing."""

import re
import textwrap
from collections.abc import Iterator

from ....fl.program.ir import Program, Setup, folded
from ..verilog_header import LONGEST, wrapped

INTRODUCTION = (
    "One microinstruction per line: products and actions that run in parallel, then its successor if that is "
    "not the next line, then a comment. Registers are loaded when it ends."
)
Words = tuple[tuple[str, str], ...]  # a pattern in the listing, and what it means
OPERATIONS: Words = (
    (r"\btake\b", "take: wait for a request and accept it"),
    (r"\blook\b", "look: wait for a request, which is accepted later"),
    (r"\balign\b", "align: shift out the leading zeros of the exponent"),
    (r"\bnop\b", "nop: no operation"),
    (r"\bmulw?\b", "mul d, x, y: d = x * y in the domain"),
    (r"\bmulw?\S* -,", "mul -: the product is discarded"),
    (r"\bmulw?\S* \w+ \w", "mul d e: both registers get the product"),
    (r"\bmulw\b", "mulw: over the whole width"),
    (r"\bmulw?\.up\b", ".up: x is shifted up first"),
    (r"\.if\b", ".if: only if the exponent bit is 1"),
    (r"\(\w+\|\w+\)", "(x|y): x if the exponent bit is 1, else y"),
    (r"\bmov\b", "mov d, x: d = x"),
    (r"\bld\b", "ld d, [x]: d = word x of the memory"),
    (r"\bst\b", "st m, x: store x in word m of the memory, in the first cycle"),
    (r"\bclr\b", "clr mem[index]: store 0 in this word of the memory, in the first cycle"),
    (r"\bscan\b", "scan s, table[digit]: read all entries of the table, s = that of the current digit"),
    (r"\bpick\b", "pick s, table[window]: s = the entry of the current window"),
    (r"\bindex\b", "index: the repetition counter"),
    (r"\badd\b", "add d, x, y: d = x + y modulo the modulus"),
    (r"\bsub\b", "sub d, x, y: d = x - y modulo the modulus"),
    (r"\bcmp\b", "cmp x, y, status: end with this status unless x = y"),
    (r"\bmodulus\b", "modulus x: load the modulus"),
    (r"\bmodulus ones\b", "modulus ones: 0, with an M' of ones"),
    (r"\bexp\b", "exp x: load the exponent"),
    (r"\bexpadd\b", "expadd x: add x to the exponent"),
    (r"\bexpstep\b", "expstep x: double the exponent, and add x if the next bit of the random factor is 1"),
    (r"\beven\b", "even: with bit 0 cleared"),
    (r"\bdigits\b", "n digits: how many are scanned"),
    (r"\brandom\b", "random x: load the random factor of the exponent"),
    (r"\bskip blocks\b", "skip blocks: shift out a leading block of zeros of the exponent"),
)
DOUBLINGS: Words = (
    (r"\bdouble\b", "double d, x, n: d = x * 2^n modulo the modulus"),
    (r"\bblocks\b(?<!skip blocks)", "blocks: those of the modulus"),
)
SCALED: Words = (
    (
        r"\bscale\b",
        "scale d, x, 0: compute M' of the unit, and d = a power of 2 modulo the aligned multiple of n",
    ),
    (r"\bdouble\b", "double d, x, 0: d = one doubling step of x modulo this multiple"),
    (r"\bhalve\b", "halve d, x, 0: d = x / 2^h modulo the modulus, with the machine's h"),
    (r"\bclear\b", "clear d, x, 0: overwrite the converter"),
    (r"\bunit\b", "unit: 2^h"),
    (r"\bhalf\b", "half: 2^k for product units of k bits"),
)
SUCCESSORS: Words = (
    (r"\benter\b", "enter i, else j: go to i if the exponent has a digit left, else to j"),
    (r"\bloop\b", "loop i, else j: the same for the next digit"),
    (r"\brepeat\b", "repeat i..j: once for each index from i to j"),
    (r"\bwindow\b(?<!\[window)", "window: the length of the current one"),
    (r"\bskipped\b", "skipped: until nothing is left to skip"),
    (r"\b1: ", "1: i; 0: j: i if the exponent bit is 1, else j"),
    (r"\bnext\b", "next: the next line"),
    (r"(?<!public: )\bgoto\b", "goto i: go to i"),
    (r"\bpublic: ", "public: goto i: go to i if the request has a public exponent"),
    (r"\banswer\b", "answer: offer the result until it is accepted, then go to 0"),
)
OPERANDS: Words = (
    (r"\bin\.", "in.x: field x of the request"),
    (r"\br\b", "r: the result"),
    (r"\bb\b", "b: the base"),
    (r"\bs\b", "s: the operand fetched last"),
    (r"\.(low|high|top)\b", ".low, .high, .top: parts of a number of two words"),
)


def program_lines(program: Program) -> Iterator[str]:
    """The legend and the listing."""
    text = " ".join(part for operation, flow, _ in program.assembly for part in (operation, "", flow, ""))
    scaled = any(setup.kind == "scale" for setup in program.find(Setup))
    yield from wrapped(f"  {INTRODUCTION}", 2)
    operations = (*OPERATIONS, *(SCALED if scaled else DOUBLINGS))
    for title, words in (("Operations", operations), ("Successors", SUCCESSORS), ("Operands", OPERANDS)):
        found = "; ".join(meaning for pattern, meaning in words if re.search(pattern, text))
        yield from wrapped(f"  {title}: {found}.", 4)
    yield from listing(program)


def listing(program: Program) -> Iterator[str]:
    """The program in columns: address, operation, successor and comment; a long operation takes several
    lines.
    """
    rows = [(text, flow, note and f"; {note}") for text, flow, note in program.assembly]
    wide = len(str(len(rows) - 1))
    indent = wide + 4
    flows = max(len(flow) for _, flow, _ in rows)
    notes = max(len(note) for *_, note in rows)
    most = max((len(text) for text, *more in rows if any(more)), default=0)
    column = min(most, max(36, LONGEST - indent - flows - notes - 4))
    for pc, (text, flow, note) in enumerate(rows):
        first, *rest = folded(text, column if flow or note else LONGEST - indent)
        line = f"  {pc:>{wide}}  {first:<{column}}  {flow:<{flows}}  ".rstrip()
        behind = indent + column + flows + 4
        if note and behind + len(note) <= LONGEST:
            line = f"{line:<{behind}}{note}"
            note = ""
        yield line
        yield from (f"{'':{indent}}{part}" for part in rest)
        yield from textwrap.wrap(note, LONGEST, initial_indent=" " * indent, subsequent_indent=" " * indent)
