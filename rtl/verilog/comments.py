"""Comments above modules: the subject of the class in one sentence, and its plain parameters."""

import inspect
import re
import sys
from collections.abc import Iterable
from typing import Any

from pymtl3 import Component

from ...fl.errors import shown

STDLIB = {  # components of PyMTL3 that have no docstring
    "EqComparator": "out = (in0 == in1)",
    "Mux": "a multiplexer",
    "RegEn": "a register with an enable",
    "RegEnRst": "a register with an enable and a synchronous reset",
}


def comment_of(component: Component) -> tuple[str, ...]:
    """Return the comment of a component's module: a sentence, and the parameters if it has any."""
    kind = type(component)
    bound = inspect.signature(kind.construct).bind(component, *component._dsl.args, **component._dsl.kwargs)
    bound.apply_defaults()
    return tuple(filter(None, (sentence(kind), plain(bound.arguments.items()))))


def sentence(kind: type) -> str:
    """Return the name of a class and the first sentence about it."""
    return f"{kind.__name__}: {_summary(kind)}".removesuffix(": ")


def plain(parameters: Iterable[tuple[str, Any]]) -> str:
    """Return the parameters that are numbers or text."""
    return ", ".join(
        f"{key} = {value if isinstance(value, str) else shown(int(value))}"
        for key, value in parameters
        if isinstance(value, int | str)
    )


def _summary(kind: type) -> str:
    """The first sentence about a class, in its docstring or in that of its module."""
    text = STDLIB.get(kind.__name__) or vars(kind).get("__doc__") or ""
    text = re.sub(r"^[A-Z](?=[a-z-]* )", lambda initial: initial[0].lower(), text)
    if not text:
        name, _, text = (sys.modules[kind.__module__].__doc__ or "").partition(": ")
        text = text if name == kind.__name__ else ""
    paragraph = re.sub(r" \([^()]*(?:\.py|paper \d+)\b[^()]*\)", "", " ".join(text.split("\n\n")[0].split()))
    if ".py" in paragraph:  # a file means nothing to who has the Verilog alone
        return ""
    return re.split(r"(?<=[^.]\.) (?=[A-Z])", paragraph)[0].removesuffix(".")
