"""Mistakes in users' own Python code: any exception that it raises becomes one sentence.

The sentence begins with the innermost line of theirs that was running, or that PyMTL3's message names, and
ends with a remedy.
"""

import inspect
import linecache
import re
import sys
import traceback

from ..fl.accelerator import place_of_function
from ..fl.errors import BadInput
from . import own_code
from .own_code import Trace

MOST_CHARACTERS = 300  # of an exception's message
# PyMTL3's ways to name a place
NAMED = re.compile(r"^In file (?P<file>.+?)(?::|, Line )(?P<line>\d+)\b.*$", re.MULTILINE)
PACKAGE = re.compile(rf"\b{own_code.PREFIX}\w+_\d+\b\.?")  # of a user's folder
NODE = re.compile(r"<ast\.(\w+) object at 0x[0-9a-f]+>")
CYCLE = re.compile(r"Combinational loop detected at runtime in \{(.*)\}")
ARGUMENTS = re.compile(r"(?P<name>\w+\.\w+)\(\) (takes|missing|got) ")
WIDTHS = re.compile(r"bitwidth|too wide|not a valid binop|bits|Vector\d", re.IGNORECASE)
CORRECT = "correct this line"
REMEDIES = {
    "SyntaxError": "correct the syntax",
    "IndentationError": "correct the indentation",
    "ModuleNotFoundError": "correct the name, or install the module",
    "ImportError": "correct the name",
    "NameError": "define it, or correct the name",
    "AttributeError": "define it, or correct the name",
    "AssertionError": "give values that satisfy it, or raise modexlab.BadInput with a sentence",
    "RecursionError": "end the recursion",
    "NotImplementedError": "define it",
    "NoWriterError": "assign or connect one of them",
    "MultiWriterError": "keep one of the writers",
    "VarNotDeclaredError": "declare it in construct()",
    "UpblkCyclicError": "put a register (update_ff) into the loop",
    "InvalidConnectionError": "give both sides the same width",
    "PyMTLSyntaxError": "write it in PyMTL3's translatable subset",
}


def mistake(error: BaseException, trace: Trace | None = None) -> BadInput | None:
    """The sentence for an exception of a user's code; None for any other. `trace`: the code that was running,
    by default the newest.
    """
    if isinstance(error, BadInput):
        return error
    place = place_of(error)
    if not place and (called := _called(error)):
        return BadInput(f"{called}: TypeError: {error}; make its parameters those of the call")
    trace = trace or own_code.newest()
    if trace is None or not (place or type(error).__module__.partition(".")[0] == "pymtl3"):
        return None
    if isinstance(error, SystemExit):
        return BadInput(
            f"{place}: this line calls sys.exit({error.code!r}); remove the call, or raise an error"
        )
    kind = type(error).__name__
    named, text = _text(error, trace)
    if not text and place:  # an assert without a message
        file, _, number = place.rpartition(", line ")
        text = linecache.getline(file, int(number))
    text = " ".join(text.split()) or "no message"
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}..."
    remedy = REMEDIES.get(kind, CORRECT)
    if kind in ("ValueError", "PyMTLTypeError") and WIDTHS.search(text):
        remedy = "make the widths equal with zext or trunc, or take a smaller number"
    return BadInput(f"{named or place or trace.folder}: {kind}: {text.rstrip(' .;!')}; {remedy}")


def place_in_class(kind: type, *texts: str) -> str:
    """File and line of a class, at the first of its lines that has one of these texts if there is one."""
    try:
        lines, first = inspect.getsourcelines(kind)
        file = inspect.getsourcefile(kind) or ""
    except (OSError, TypeError):  # defined in a notebook or a shell
        return kind.__qualname__
    at = next((at for text in texts for at, line in enumerate(lines) if text in line), 0)
    return f"{file}, line {first + at}"


def place_of(error: BaseException) -> str:
    """File and line of the user's code that raised an error or its cause; "" if none of it was running."""
    if isinstance(error, SyntaxError) and error.filename and own_code.is_users(error.filename):
        return f"{error.filename}, line {error.lineno or 1}"
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        for frame in reversed(traceback.extract_tb(current.__traceback__)):
            if own_code.is_users(frame.filename):
                return f"{frame.filename}, line {frame.lineno}"
        current = current.__cause__ or current.__context__
    return ""


def _called(error: BaseException) -> str:
    """The place of a user's method that was called with wrong arguments."""
    found = ARGUMENTS.match(str(error)) if isinstance(error, TypeError) else None
    if found is None:
        return ""
    for module in reversed([*sys.modules.values()]):  # the newest first
        member: object = module
        for part in found["name"].split("."):
            member = vars(member).get(part) if hasattr(member, "__dict__") else None
        place = place_of_function(member)
        if own_code.is_users(place.rpartition(", line ")[0]):
            return place
    return ""


def _text(error: BaseException, trace: Trace) -> tuple[str, str]:
    """The place that an exception's message names, if any, and the message without it."""
    said = NODE.sub(r"\1", PACKAGE.sub("", str(error)))
    kind = type(error).__name__
    if found := NAMED.search(said):
        return f"{found['file']}, line {found['line']}", _of_pymtl3(said[found.end() :])
    if isinstance(error, SyntaxError):
        return "", error.msg
    if found := CYCLE.search(said):
        blocks = sorted(name.strip() for name in found[1].split(","))
        said = f"combinational loop through the update blocks {', '.join(blocks)}"
        return _search(trace, rf"def {re.escape(blocks[0])}\b"), said
    if kind == "NoWriterError":
        nets = re.findall(r"^ - (\S+)", said, re.MULTILINE)
        return _search(trace, _attribute(nets[0]) if nets else ""), f"nothing drives {', '.join(nets)}"
    if kind == "MultiWriterError":
        nets = re.findall(r"write (\S+?)\.?$", said, re.MULTILINE)
        return _search(trace, rf"{_attribute(nets[0])}.*(@=|<<=)" if nets else ""), said
    if kind == "InvalidConnectionError":
        sides = re.search(r"When connecting (\S+) <-> (\S+)", said)
        text = said.partition("- In class")[0]
        return "", text + (f": {sides[1]} and {sides[2]}" if sides else "")
    return "", said


def _attribute(signal: str) -> str:
    """A pattern of the attribute of a component that a signal is, or is in."""
    return rf"\.{re.escape(signal.rpartition('.')[2].partition('[')[0])}\b"


def _of_pymtl3(said: str) -> str:
    """The sentence in PyMTL3's message, without source lines and marks."""
    said = said.partition("Suggestion:")[0].partition("(when constructing")[0]
    if "^^^" in said:
        return said.partition("^^^")[2]
    return said.partition("\n- ")[2] or said


def _search(trace: Trace, pattern: str) -> str:
    """The first line of a user's code that matches."""
    for path in (path for path in trace.files if path.suffix == ".py" and pattern):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if re.search(pattern, line):
                return f"{path}, line {number}"
    return ""
