"""Accelerator: the interface that every simulated, implemented and measured design implements.

An accelerator accepts requests and gives one response to each, in order, on two val/rdy streams of named
fields:

    istream {a, b, ...} -> ostream {g, ...}

It may also have memory ports (memory.py), through which it reads and writes data at addresses in the fields.

A subclass defines its parameters, the fields of both messages, its function (`fl`), and its cycle-level and
register-transfer-level components (`cl`, `rtl`), which have these streams as ports. An instance is one
configuration, with all parameters set. Everything else has a default: a formula for the cycles, table rows,
workloads, preconditions, promises and secret fields.

This level has no clock and no PyMTL3: `cl` and `rtl` return components and import them when they are called.
"""

import contextlib
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from keyword import iskeyword
from operator import index
from types import MappingProxyType
from typing import Any, ClassVar

from .errors import BadInput, shown
from .memory import (
    ADDRESS_NBITS,
    MEMORY_NBYTES,
    MOST_MEMORY_NBYTES,
    Image,
    Left,
    Memory,
    MemoryPort,
    OnMemory,
    bytes_of,
    difference,
    image_of,
    like,
    memory_of,
    snapshots,
)
from .param import Param, values_of

Fields = tuple[tuple[str, int], ...]  # names and widths, most significant field first
Message = tuple[int, ...]  # the values of fields
Function = Callable[..., int | Message]

STATUS = "status"  # name of the optional first field of a response: the reason for a refusal, or 0
WORD_NBITS = 32  # width of a register
MAX_NBITS = 4096
DRAWN_ROWS = 16
DRAWS = 10_000  # attempts to find a random request that is accepted
SELECTOR_NBITS = 4  # fields up to this width select an operation or a register; wider ones are data
WARM_UPS = 16  # attempts to find a warm-up with other answers than the operation
MEMORY_DELAYS = (0, 0, 1, 3, 0)  # of rows by default; with DELAYS all pairs occur
DELAYS = ((0, 0), (5, 0), (0, 7), (3, 4))  # of source and sink; rows cycle through them


def in_words(fields: Fields, values: Sequence[Any]) -> str:
    """Names and values of fields, as text for a message."""
    return ", ".join(
        f"{name} = {shown(int(value))}" for (name, _), value in zip(fields, values, strict=False)
    )


def answer_in_words(shape: "Shape", response: Sequence[Any], expected: Sequence[Any]) -> str:
    """A response as text for a message, with the first word of the memory that is not the expected one."""
    fields = in_words(shape.response, response)
    found, right = memory_of(response), memory_of(expected)
    if found is None or right is None or found == right:
        return fields
    return f"{fields} (in memory, {difference(found, right)})"


def place_of_function(function: Any) -> str:
    """File and line of a function, method or property; "" if it has none."""
    plain = getattr(function, "fget", None) or getattr(function, "func", None) or function
    code = getattr(getattr(plain, "__wrapped__", plain), "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}" if code is not None else ""


def _numbers(returned: Any) -> Message | None:
    """The values that a function returns as a message; None if one is no whole number."""
    values = tuple(returned) if isinstance(returned, Iterable) else (returned,)
    if all(isinstance(value, int) for value in values):
        return values
    try:
        return tuple(map(index, values))
    except TypeError:
        return None


@dataclass(frozen=True)
class Shape:
    """The fields of the request and the response, static ports, which must be stable while requests are in
    flight, and memory ports. `pointers` names the fields of a request that are addresses.
    """

    request: Fields
    response: Fields
    statics: Fields = ()
    memory: tuple[MemoryPort, ...] = ()
    pointers: tuple[str, ...] = ()
    memory_nbytes: int = MEMORY_NBYTES  # of the memory in tests

    def wrong(self) -> str:
        """A reason why these are no fields of messages; "" if they are."""
        for what, fields in (
            ("request", self.request),
            ("response", self.response),
            ("statics", self.statics),
        ):
            if not isinstance(fields, tuple) or not (fields or what == "statics"):
                return f'the {what} is {fields!r:.60}; give a tuple of fields, as in (("a", 16),)'
            names = []
            for item in fields:
                if not (isinstance(item, tuple) and len(item) == 2):
                    return (
                        f'{item!r:.60} in the {what} is no field; give a name and a width, as in (("a", 16),)'
                    )
                name, nbits = item
                if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
                    return f"{name!r:.60} is no name of a field; give letters, digits and underscores"
                if not isinstance(nbits, int) or nbits < 1:
                    return f"field {name} has {nbits!r:.60} bits; give a width of 1 or more"
                names.append(name)
            if len({*names}) < len(names):
                return f"two fields of the {what} have one name; give each its own"
        return self._wrong_memory()

    def _wrong_memory(self) -> str:
        """A reason why these are no memory ports; "" if they are."""
        if not isinstance(self.memory, tuple) or not all(
            isinstance(port, MemoryPort) for port in self.memory
        ):
            return (
                f"memory is {self.memory!r:.60}; give a tuple of modexlab.MemoryPort, with a trailing comma "
                "for a single port"
            )
        for port in self.memory:
            if wrong := port.wrong():
                return wrong
        names = [*(port.name for port in self.memory), *(name for name, _ in self.statics)]
        if len({*names}) < len(names):
            return f"two ports have the same name ({', '.join(names)}); give each its own"
        fields = dict(self.request)
        for name in self.pointers:
            if name not in fields:
                known = ", ".join(fields)
                return f"pointers has {name!r:.60}, which is not a field of the request; name one of {known}"
            if fields[name] != ADDRESS_NBITS:
                return f"pointer {name} has {fields[name]} bits; give it {ADDRESS_NBITS}"
        if self.memory and "memory" in fields:
            return "a field is named memory, as is what the function gets besides; choose another name"
        if self.pointers and not self.memory:
            return "pointers needs a memory port; give memory=(modexlab.MemoryPort(),)"
        size = self.memory_nbytes
        if not isinstance(size, int) or not 0 < size <= MOST_MEMORY_NBYTES or size % 128:
            return f"memory_nbytes is {size!r:.60}; give a multiple of 128 up to {MOST_MEMORY_NBYTES:,}"
        return ""

    @property
    def has_status(self) -> bool:
        """Whether a request can be refused."""
        return self.response[0][0] == STATUS

    @property
    def results(self) -> Fields:
        """The fields of the response without the status."""
        return self.response[1:] if self.has_status else self.response

    @property
    def widest(self) -> int:
        """The width of the widest field of a request."""
        return max(nbits for _, nbits in self.request)

    # ---- the response in registers: a status, and one number in which each result has as many words

    @property
    def stride(self) -> int:
        """The distance in bits between two results that are packed into one number."""
        return -(-max(nbits for _, nbits in self.results) // WORD_NBITS) * WORD_NBITS

    @property
    def result_nbits(self) -> int:
        """The width of all results packed into one number."""
        return self.stride * (len(self.results) - 1) + self.results[-1][1]

    def packed(self, response: Message) -> tuple[int, int]:
        """The status of a response, and its results packed into one number."""
        status, results = (response[0], response[1:]) if self.has_status else (0, response)
        return status, sum(value << self.stride * place for place, value in enumerate(results))

    def unpacked(self, status: int, number: int) -> Message:
        """The response with this status and these packed results."""
        results = [
            number >> self.stride * place & (1 << nbits) - 1 for place, (_, nbits) in enumerate(self.results)
        ]
        return (status, *results) if self.has_status else tuple(results)


@dataclass(frozen=True)
class Row:
    """A row of a test table: a request, the cycles for which its source and its sink wait, the contents of
    the memory before it, and the cycles for which the memory delays its answers.
    """

    name: str
    request: Message
    source_delay: int = 0
    sink_delay: int = 0
    statics: Mapping[str, int] = field(default_factory=dict)
    memory: Image = field(default_factory=dict)
    memory_delay: int = 0

    def __post_init__(self) -> None:
        if not self.memory:
            return
        request = OnMemory(self.request, self.memory)
        if image_of(self.request) and self.request != request:
            raise BadInput(f"row {self.name!r} has two memories; give it one, in the request or as memory=")
        object.__setattr__(self, "request", request)


class Accelerator(ABC):
    """One accelerator. A subclass defines class attributes and the abstract methods; the rest has
    defaults.
    """

    summary: ClassVar[str] = ""
    params: ClassVar[tuple[Param, ...]] = ()  # in addition to the width
    usual_nbits: ClassVar[int] = 32
    statuses: ClassVar[Mapping[int, str]] = {}  # the meaning of each refusal code
    secret: ClassVar[tuple[str, ...]] = ()  # fields that an attacker must not learn
    steady: ClassVar[tuple[str, ...]] = ()  # fields that do not affect the cycle count: a promise
    function: ClassVar[str] = (
        ""  # accelerators of one function are compared with each other; default: its name
    )
    in_flight: ClassVar[int] = 1  # requests that can be in flight at a time
    longest: ClassVar[int] = 100_000  # upper bound for the cycles of a request without a formula
    _is_repeatable = False  # its functional level has given the same responses twice

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name, which a subclass defines as a class attribute: name = "gcd"."""

    def __init__(self, nbits: int, **settings: Any) -> None:
        if not 1 <= nbits <= MAX_NBITS:
            raise BadInput(f"{self.name} of {nbits} bits is not possible; give a width from 1 to {MAX_NBITS}")
        self.nbits = nbits
        self._parameters = values_of(self.params, nbits, settings, self.name)
        self.prepare()
        shape = self.shape
        if wrong := shape.wrong() if isinstance(shape, Shape) else f"it is {shape!r:.60}; give a Shape":
            place = place_of_function(type(self).shape) or type(self).__qualname__
            raise BadInput(f"{place}: shape of {self.name}: {wrong}")
        fields = dict(shape.request)
        for name in (*self.secret, *self.steady):
            if name not in fields:
                raise BadInput(
                    f"{self.name}: secret or steady has {name!r}, which is no field of a request; "
                    f"name one of {', '.join(fields)}"
                )

    def __getattr__(self, name: str) -> Any:
        """A parameter by its name."""
        values = self.__dict__.get("_parameters", {})
        if name in values:
            return values[name]
        member = getattr(type(self), name, None)
        if isinstance(member, property) and member.fget is not None:
            return member.fget(self)  # raises the error that led here again
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters and their values, without the width."""
        return self._parameters

    def prepare(self) -> None:  # noqa: B027
        """Hook that runs when all parameters are set; it raises BadInput for values that do not go
        together.
        """

    # ---- messages and levels

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The fields of its messages."""

    @abstractmethod
    def fl(self, *request: Any, **_: Any) -> Any:
        """The function: the response to a request as a tuple of fields, or a plain number if it has one
        field. With memory ports it gets the memory as `memory`.
        """

    def model(self) -> Function:
        """A function that starts from reset; a new model if the accelerator has state between requests."""
        return self.fl

    def check(self, *request: Any, **_: Any) -> int:
        """The status with which a request is refused, or 0."""
        return self.answers([request])[0][0] if self.shape.has_status else 0

    def steps(self, *request: Any) -> Any:
        """The cycle-level model as a generator, for an accelerator with memory ports: its arguments are the
        fields of a request and the port, or a tuple of ports; each yield is a cycle (modexlab.cl.steps).
        """
        raise BadInput(f"{self.name} has no cycle-level model: define steps() or cl()")

    @abstractmethod
    def rtl(self) -> Any:
        """The hardware: a component with istream and ostream."""

    @abstractmethod
    def cl(self) -> Any:
        """The cycle-level model, with the ports and cycle counts of `rtl`."""

    def cycles(self, *request: Any, **_: Any) -> int | None:
        """Cycles from request to response by a closed formula; None if there is none. It assumes that the
        memory answers in the cycle after the request.
        """
        return None

    def total_cycles(self, requests: Sequence[Message]) -> int | None:
        """Cycles from the first request to the last response by a formula, if source, sink and memory never
        stall; None if there is no formula. By default each request is accepted in the cycle after the
        response before it; an accelerator with several requests in flight defines its own.
        """
        counts = [self.cycles(*request) for request in requests]
        if None in counts or (self.in_flight > 1 and len(counts) > 1):
            return None
        return sum(count or 0 for count in counts) + len(counts) - 1

    @property
    def constant_time(self) -> bool:
        """Whether the cycle count is independent of the secret fields, or of all fields if none is secret."""
        return set(self.secret or dict(self.shape.request)) <= set(self.steady)

    # ---- requests

    def rows(self) -> Sequence[Row]:
        """The test table that all levels run; by default all-zero, all-one and random requests."""
        generator = random.Random(self.nbits)
        ends: dict[str, Message] = {
            "zeros": tuple(0 for _ in self.shape.request),
            "ones": tuple((1 << nbits) - 1 for _, nbits in self.shape.request),
        }
        requests = {f"drawn {index}": self.drawn(generator) for index in range(DRAWN_ROWS)}
        if self.shape.memory:  # its fields point into the memory
            return [
                Row(*row, source, sink, memory_delay=delay)
                for row, (source, sink), delay in zip(
                    requests.items(), cycle(DELAYS), cycle(MEMORY_DELAYS), strict=False
                )
            ]
        requests = ends | requests
        return [Row(*row, *delays) for row, delays in zip(requests.items(), cycle(DELAYS), strict=False)]

    def drawn(self, generator: random.Random) -> Message:
        """A random request; by default uniform in each field. A class with memory ports defines its own,
        which returns `modexlab.OnMemory(fields, image)`.
        """
        if self.shape.memory:
            raise BadInput(
                f"{self.name}: uniformly random fields are not valid addresses; define "
                "drawn(self, generator), which returns modexlab.OnMemory(fields, image)"
            )
        return tuple(generator.getrandbits(nbits) for _, nbits in self.shape.request)

    def accepted(self, generator: random.Random, held: Mapping[str, int] = MappingProxyType({})) -> Message:
        """A random request that is not refused and whose fields have the values in `held`."""
        names = [name for name, _ in self.shape.request]
        for _ in range(DRAWS):
            drawn = self.drawn(generator)
            values = {**dict(zip(names, drawn, strict=True)), **held}
            request = like(drawn, (values[name] for name in names))
            if not (self.shape.has_status and self.answers([request])[0][0]):
                return request
        raise BadInput(
            f"{self.name} of {self.nbits} bits refuses {DRAWS:,} requests that drawn() makes; "
            "let drawn() make usual requests"
        )

    def workloads(self) -> Mapping[str, Sequence[Message]]:
        """Named lists of requests; each list counts as one operation."""
        return {"typical": [self.drawn(random.Random(self.nbits))]}

    def warm_up(self, workload: str) -> Sequence[Message]:
        """The requests that run before a measured operation, so that registers do not hold its operands; by
        default the operation's requests with random numbers in the fields of more than SELECTOR_NBITS bits;
        with memory ports, the same fields on random contents.
        """
        generator = random.Random(f"{workload}, warm-up")
        requests = self.workloads()[workload]
        answers = self.answers(requests)
        others = list(requests)
        for _ in range(WARM_UPS):
            others = [self._like(request, generator) for request in requests]
            if self.answers(others) != answers:
                break
        return others

    def _like(self, request: Message, generator: random.Random) -> Message:
        """A random request of the same kind; any random one if those of the same kind are refused."""
        fields = self.shape.request
        kept = [nbits <= SELECTOR_NBITS < self.shape.widest for _, nbits in fields]
        if self.shape.memory:  # fields are addresses and sizes
            image = image_of(request)
            data = {address: generator.randbytes(len(bytes_of(image[address]))) for address in image}
            return OnMemory(request, data) if data else request
        drawn = self.drawn(generator)
        for _ in range(DRAWS):
            values = zip(kept, request, self.drawn(generator), strict=True)
            other = tuple(own if keep else new for keep, own, new in values)
            with contextlib.suppress(BadInput):
                self.require(*other)
                return other
        return drawn

    # ---- derived from these

    def answers(self, requests: Sequence[Message]) -> list[Message]:
        """The responses of the functional level to these requests, starting from reset; BadInput if a user's
        level has other responses the second time that it is asked at first. With memory each is a `Left`.
        """
        found = self._answered(requests)
        if not self._is_repeatable and not type(self).__module__.startswith("modexlab."):
            self._require_equal(requests, found, self._answered(requests))
            self._is_repeatable = True
        return found

    def _answered(self, requests: Sequence[Message]) -> list[Message]:
        if not self.shape.memory:
            return list(map(self.responder(), requests))
        memory = Memory(self.shape.memory_nbytes)
        respond = self.responder(memory=memory)
        return [
            Left(respond(request), bytes(memory.data) if kept else None)
            for request, kept in zip(requests, snapshots(requests), strict=True)
        ]

    def _require_equal(
        self, requests: Sequence[Message], once: Sequence[Message], twice: Sequence[Message]
    ) -> None:
        """BadInput for the first request with two responses."""
        for request, one, other in zip(requests, once, twice, strict=True):
            if one != other:
                level = type(self).model if self.has_model else type(self).fl
                response = self.shape.response
                raise BadInput(
                    f"{place_of_function(level)}: {self.name} has two responses to "
                    f"{in_words(self.shape.request, request)}: {in_words(response, one)}, then "
                    f"{answer_in_words(self.shape, other, one)}; draw random numbers from a new "
                    "random.Random, and define model() for state between requests"
                )

    @property
    def has_model(self) -> bool:
        """Whether the class overrides `model`, so that it keeps state between requests."""
        return type(self).model is not Accelerator.model

    def responder(
        self, function: Function | None = None, memory: Memory | None = None
    ) -> Callable[[Message], Message]:
        """A new model, or `function`, with a check that each response fits the fields; on a memory, which it
        loads with the image of each request, if the accelerator has one.
        """
        model = function or self.model()
        fields = self.shape.response
        shared = {"memory": memory or Memory(self.shape.memory_nbytes)} if self.shape.memory else {}

        def respond(request: Message) -> Message:
            for used in shared.values():
                used.load(image_of(request))
            returned = model(*request, **shared)
            response = _numbers(returned)
            where = f"{self.name}: fl({', '.join(map(shown, request))})"
            if not type(self).__module__.startswith("modexlab."):
                where = f"{place_of_function(model)}: {where}"
            names = ", ".join(name for name, _ in fields)
            if response is None:
                raise BadInput(
                    f"{where} returns {returned!r:.60}; return a whole number for each field ({names})"
                )
            if len(response) != len(fields):
                raise BadInput(
                    f"{where} returns {len(response)} values, and the response has {len(fields)} fields "
                    f"({names}); return one value a field"
                )
            for (name, nbits), value in zip(fields, response, strict=True):
                if not 0 <= value < 1 << nbits:
                    raise BadInput(
                        f"{where} returns {name} = {shown(value)}, which does not fit in {nbits} bits; "
                        "widen the field, or correct the function"
                    )
            return response

        return respond

    def computing(self, memory: Memory | None = None) -> Callable[..., Message]:
        """A new checked model that takes the fields of a request as separate arguments."""
        respond = self.responder(memory=memory)
        return lambda *request: respond(request)

    def most_cycles(self, requests: Sequence[Any]) -> int:
        """An upper bound for the cycles of these requests; after twice as many an accelerator
        counts as hung.
        """
        formula = self.total_cycles(requests)
        if formula is not None:
            return formula + 1
        return sum(self.cycles(*request) or self.longest for request in requests) + len(requests)

    def require_no_memory(self, why: str) -> None:
        """BadInput for an accelerator with memory ports."""
        if self.shape.memory:
            ports = ", ".join(port.name for port in self.shape.memory)
            raise BadInput(f"{self.name} has memory ports ({ports}), {why}")

    def require(self, *request: Any, **_: Any) -> None:
        """Raise BadInput, with the remedy, for a request that has no result."""
        for (name, nbits), value in zip(self.shape.request, request, strict=True):
            if value < 0:
                raise BadInput(f"{name} {shown(value)} is negative; give 0 or more")
            if value >> nbits:
                raise BadInput(
                    f"{name} {shown(value)} does not fit in its {nbits} bits at --nbits {self.nbits}; "
                    "give a smaller number, or a larger --nbits"
                )
        if self.shape.memory:  # its status may depend on the memory
            return
        if code := self.check(*request):
            said = self.statuses.get(code, "refused")
            asked = in_words(self.shape.request, request)
            raise BadInput(f"{asked}: {said} (status {code}); give another request")
