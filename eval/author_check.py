"""Checks of a user's accelerator class: its attributes when it is loaded, and the values of its methods when
they are called. Each error begins with the file and line of the attribute or method.
"""

import functools
import keyword
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from types import FunctionType
from typing import Any

from pymtl3 import Component

from ..fl.accelerator import MAX_NBITS, Accelerator, Row, place_of_function
from ..fl.errors import BadInput, shown
from ..fl.memory import OnMemory, image_of, wrong_image
from ..fl.param import Param
from .mistakes import place_in_class

SET_LATER = ("nbits", "design", "parameters")  # attributes of every instance
COUNTS = ("usual_nbits", "in_flight", "longest")
NAMES = ("secret", "steady")  # attributes that list fields


def check_class(kind: type[Accelerator]) -> None:
    """BadInput for class attributes that an accelerator cannot have."""
    for name in COUNTS:
        value = getattr(kind, name)
        if not _is_count(value) or (name == "usual_nbits" and value > MAX_NBITS):
            most = f" from 1 to {MAX_NBITS}" if name == "usual_nbits" else ""
            raise _wrong(kind, name, f"{name} = {value!r} is no count; give a whole number{most}")
    for name in NAMES:
        value = getattr(kind, name)
        if isinstance(value, str) or not (
            isinstance(value, Iterable) and all(isinstance(item, str) for item in value)
        ):
            raise _wrong(kind, name, f'{name} = {value!r} is no tuple; give names of fields, as in ("a",)')
    if not isinstance(kind.function, str):
        raise _wrong(kind, "function", f'function = {kind.function!r} is no name; give one, as in "sort"')
    if not isinstance(kind.statuses, Mapping):
        raise _wrong(kind, "statuses", 'statuses is no dictionary; give one, as in {1: "too large"}')
    params = kind.params
    if not isinstance(params, tuple | list) or not all(isinstance(param, Param) for param in params):
        raise _wrong(
            kind,
            "params",
            "params is no tuple of modexlab.Param; give one, with a comma after the last Param",
        )
    seen = set[str]()
    for param in params:
        _check_param(kind, param, seen)
        seen.add(param.name)


def _check_param(kind: type[Accelerator], param: Param, seen: set[str]) -> None:
    name = param.name
    place = repr(name)
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise _wrong(kind, place, f"parameter {name!r} is no name; give letters, digits and underscores")
    if name in seen:
        raise _wrong(kind, place, f"parameter {name!r} is defined twice; give each its own name")
    if hasattr(kind, name) or name in SET_LATER:
        raise _wrong(
            kind, place, f"parameter {name!r} has the name of an attribute of the class; take another name"
        )
    try:
        param.checked(param.default_at(kind.usual_nbits))
    except BadInput as error:
        raise _wrong(kind, place, f"the default of parameter {name!r} is not legal: {error}") from None
    except Exception as error:
        raise _wrong(
            kind,
            place,
            f"parameter {name!r}: {type(error).__name__}: {error}; give a default, and a tuple of legal "
            "values or modexlab.Count",
        ) from None


def _wrong(kind: type, text: str, message: str) -> BadInput:
    """An error at the line of the class that has this text."""
    return BadInput(f"{place_in_class(kind, text.replace(chr(39), chr(34)), text)}: {message}")


def _is_count(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _whole(value: Any) -> int | None:
    """A value as an integer, as of Bits or numpy; None if it is none."""
    try:
        return index(value)
    except TypeError:
        return None


# ---- values of methods


def check_methods(kind: type) -> None:
    """Wrap the methods that a class defines so that each call checks the value."""
    for name, check in CHECKS.items():
        if isinstance(member := vars(kind).get(name), FunctionType):
            setattr(kind, name, _checked(member, check))


Check = Callable[[Any, Any, tuple[Any, ...]], str]  # accelerator, value, arguments -> what is wrong, or ""


def _checked(function: Callable[..., Any], check: Check) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        value = function(self, *arguments, **options)
        if wrong := check(self, value, arguments):
            raise BadInput(f"{place_of_function(function)}: {wrong}")
        return value

    return call


def _cycles(accelerator: Any, value: Any, arguments: tuple[Any, ...]) -> str:
    number = _whole(value)
    if value is None or (number is not None and number >= 0):
        return ""
    asked = ", ".join(shown(item) if isinstance(item, int) else repr(item) for item in arguments)
    return f"cycles({asked}) returns {value!r}; return a whole number of 0 or more"


def _total(accelerator: Any, value: Any, _: Any) -> str:
    number = _whole(value)
    if value is None or (number is not None and number >= 0):
        return ""
    return f"total_cycles() returns {value!r}; return a whole number of 0 or more, or None"


def _component(level: str) -> Check:
    """The check of a method that returns the hardware or the model of a level."""

    def check(accelerator: Any, value: Any, _: Any) -> str:
        if isinstance(value, Component):
            return ""
        return f"{level}() returns {_what(value)}; return a new PyMTL3 component"

    return check


def _rows(accelerator: Any, value: Any, _: Any) -> str:
    if not isinstance(value, Sequence):
        return f"rows() returns {_what(value)}; return a list of modexlab.Row"
    for row in value:
        if not isinstance(row, Row):
            return f"rows() has {row!r:.60}; give modexlab.Row(name, request)"
        if wrong := wrong_request(accelerator, row.request):
            return f"{accelerator.name}, row {row.name!r}{wrong}; correct the row"
        if not all(_is_count(delay, 0) for delay in (row.source_delay, row.sink_delay, row.memory_delay)):
            return f"row {row.name!r}: a delay is a whole number of cycles; correct the row"
    return ""


def _workloads(accelerator: Any, value: Any, _: Any) -> str:
    if not isinstance(value, Mapping) or not value:
        return (
            f"workloads() returns {_what(value)}; return a dictionary of lists of requests, "
            'as in {"typical": [(1, 2)]}'
        )
    for name, requests in value.items():
        if not isinstance(name, str) or not isinstance(requests, Sequence) or not requests:
            return f"workload {name!r}: give a list of one request or more under a name"
        for request in requests:
            if wrong := wrong_request(accelerator, request):
                return f"workload {name!r}{wrong}; correct the workload"
    return ""


def wrong_request(accelerator: Any, request: Any) -> str:
    """A reason why values are no request; "" if they are one."""
    fields = accelerator.shape.request
    if not isinstance(request, tuple | list):
        return f": {request!r:.60} is no request; give a tuple with a value for each field"
    if len(request) != len(fields):
        names = ", ".join(name for name, _ in fields)
        return f" has {len(request)} values, and a request has {len(fields)} fields ({names})"
    for (name, nbits), value in zip(fields, request, strict=True):
        number = _whole(value)
        if number is None:
            return f": {name} = {value!r:.60} is no whole number"
        if not 0 <= number < 1 << nbits:
            return f": {name} = {shown(number)} does not fit in {nbits} bits"
    if isinstance(request, OnMemory) and not accelerator.shape.memory:
        return " has a memory, and the shape has no memory port; add memory=(modexlab.MemoryPort(),)"
    wrong = wrong_image(image_of(request), accelerator.shape.memory_nbytes)
    return f": {wrong}" if wrong else ""


def _what(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r:.40}"


CHECKS: Mapping[str, Check] = {
    "cycles": _cycles,
    "total_cycles": _total,
    "rows": _rows,
    "workloads": _workloads,
    "rtl": _component("rtl"),
    "cl": _component("cl"),
}
