"""Fault campaigns: single-bit faults in the flip-flops of an accelerator, and their effects on its responses.

A campaign injects a fault into every flip-flop in every cycle if that is feasible, else a random sample;
net_campaign.py injects into nets of the netlist. The faults are spread over operations with random requests,
some from reset and some from the state that earlier operations leave. An operation that has not responded
after three times its normal cycles counts as hung. A response with an error status and without a wrong result
is a detected fault; any other response that differs from that of `fl` is a wrong result. A store keeps the
outcomes part by part, so an interrupted campaign can resume.
"""

import functools
import itertools
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from ....fl.accelerator import Message
from ....fl.errors import BadInput
from ....rtl.sim import cache, sources
from ....rtl.sim.campaigns.faults import Effect, Fault, Faulted, compared, faults_of, judged
from ....rtl.sim.ports import Value
from ....rtl.sim.translation.translated import Digests
from ...designs.runnable import Runnable
from ...errors import NoMeasurement
from ...lab import keys
from ...lab.executors import Here, Report
from ...lab.runner import Cost, Results, Runner, Task
from ...lab.store.store import Store
from ...progress import Progress
from . import bellcore
from .bellcore import Factored
from .rsa_operands import drawn_request

MOST_EXHAUSTIVE = 200_000  # up to this many, all faults are injected unless a number is given
SAMPLES = 5_000
OPERATIONS = 16
EARLIER = (0, 0, 1, 2)  # operations before one with a fault; one of these numbers is drawn
HANGS = 3  # an operation counts as hung after this many times its normal cycles
SHOWN = 20  # wrong results that are kept as examples
# faults per part: the maximum, the minimum (also used if the run may end early) and, between them, PART
# divided by the number of possible faults
MOST_OF_PART, LEAST_OF_PART = 4_096, 64
PART = 500_000_000
CONFIDENCE = 1.96  # standard deviations: 95 %
KEYS = {effect: effect.value.replace(" ", "_") for effect in Effect}  # in JSON


class Operation(NamedTuple):
    """A request, its expected response, and the earlier requests, which determine the state."""

    request: Message
    golden: Message
    before: tuple[Message, ...]


class FaultResult(NamedTuple):
    """A fault and its effect; `response` is None without an answer."""

    fault: Any  # Fault, or NetFault
    effect: Effect
    response: Value | None


@dataclass
class FaultCampaign:
    """Faults in an accelerator, and their effects."""

    machine: Runnable
    count: int = OPERATIONS  # of different operations
    seed: int = 1
    outcomes: list[FaultResult] = field(default_factory=list)
    factored: list[Factored] = field(default_factory=list)
    seconds: float = 0.0  # CPU time of all outcomes, earlier runs included
    exhaustive: bool = False
    reused: int = 0  # faults whose outcomes the store had

    def __post_init__(self) -> None:
        if self.count < 1:
            raise BadInput(f"--operations {self.count}: faults need an operation to act on; give 1 or more")
        why = "which this attack does not drive yet; attack an accelerator without them"
        self.machine.require_no_memory(why)
        self._draw = random.Random(f"{self.machine.nbits} {self.seed}")
        self.operations = [self._operation() for _ in range(self.count)]
        self.machine.require_verilog()
        self.model = self._model()
        self.key = bellcore.key_by_crt(self.machine)
        # the cycles are those of fault-free runs, whose answers must be right
        self.cycles = 0
        for operation in self.operations:
            most = max(self.machine.longest, 1000 * (self.machine.nbits + 100) ** 2)
            answer, cycle = self.model.run(operation.request, most, before=operation.before)
            if answer != operation.golden:
                after = f" after {', '.join(map(str, operation.before))}" if operation.before else ""
                raise NoMeasurement(
                    f"without a fault {self.machine.name} answers {answer} to {operation.request}{after}, "
                    f"and not {operation.golden}"
                )
            self.cycles = max(self.cycles, cycle)

    def _model(self) -> Any:
        return Faulted(self.machine.rtl())

    def _operation(self) -> Operation:
        """Accepted requests: some earlier ones, the last of which may be the same, and one for faults."""
        draw = self._draw
        earlier = draw.choice(EARLIER)
        *before, request = (drawn_request(self.machine, draw) for _ in range(earlier + 1))
        if before and draw.randrange(4) == 0:
            before[-1] = request
        return Operation(request, self.machine.answers([*before, request])[-1], tuple(before))

    @functools.cached_property
    def hardware(self) -> str:
        """The digest of the Verilog, without comments and layout."""
        return Digests.of(self._verilog()).hardware

    def _verilog(self) -> str:
        return self.model.verilog

    # ---- choice of faults

    few: ClassVar[int] = MOST_EXHAUSTIVE
    samples: ClassVar[int] = SAMPLES
    backend: ClassVar[str] = "native"

    @property
    def nbits(self) -> int:
        """The number of bits in all flip-flops."""
        return sum(register.nbits for register in self.model.registers)

    @property
    def possible(self) -> int:
        """The number of faults: every bit in every cycle."""
        return self.nbits * self.cycles

    def faults(self, samples: int | None, exhaustive: bool) -> list[Any]:
        """All faults or a sample; by default all if there are few."""
        self.exhaustive = exhaustive or (samples is None and self.possible <= self.few)
        if not self.exhaustive:
            return self._drawn(self.samples if samples is None else samples)
        every = self._every()
        # spreads the faults evenly over the operations, for a good estimate of the time left
        self._draw.shuffle(every)
        return every

    def _every(self) -> list[Any]:
        return faults_of(self.model.registers, lambda _: range(self.cycles))

    def _drawn(self, count: int) -> list[Any]:
        bits = [(site, bit) for site in self.model.registers for bit in range(site.nbits)]
        chosen = self._draw.choices(bits, k=count)
        return [Fault(site, bit, self._draw.randrange(self.cycles)) for site, bit in chosen]

    # ---- injection

    def run(
        self,
        faults: Sequence[Any],
        progress: Progress | Report = lambda *_: None,
        enough: "Callable[[FaultCampaign], bool] | None" = None,
        store: Store | None = None,
    ) -> None:
        """Inject the faults; `enough` may end the run early. A store keeps each finished part."""
        size = self.size_of_part if enough is None else LEAST_OF_PART
        size = max(self.count, size - size % self.count)
        parts = [Part(self, faults[at : at + size]) for at in range(0, len(faults), size)]
        running = Runner(Here(), progress, Results(store))
        for outcome in running.results(parts):
            seconds, effects = outcome.result
            came = [
                FaultResult(
                    fault, Effect[effect], tuple(response) if isinstance(response, list) else response
                )
                for fault, (effect, response) in zip(outcome.task.faults, effects, strict=True)
            ]
            self.outcomes += came
            self.factored += self._factors(came)
            self.seconds += seconds
            self.reused += len(came) if outcome.reused else 0
            if enough is not None and enough(self):
                self.exhaustive = self.exhaustive and len(self.outcomes) == len(faults)
                break

    @property
    def size_of_part(self) -> int:
        """Faults that are kept together: a few seconds of work, the same in each run."""
        return max(LEAST_OF_PART, min(MOST_OF_PART, PART // self.possible))

    def _made_by(self) -> list[str]:
        """Digests of the sources that the outcomes depend on."""
        return [sources.digest("eval.designs.catalogue", type(self).__module__.partition(".")[2])]

    def _factors(self, outcomes: Sequence[Any]) -> Iterator[Factored]:
        """The primes that wrong results of these faults reveal; fault i was injected into operation i modulo
        `count`.
        """
        if self.key is None:
            return
        for at, outcome in enumerate(outcomes):
            if outcome.effect is Effect.WRONG and isinstance(outcome.response, tuple):
                message, *_ = self.operations[at % self.count].request
                found = bellcore.factored(self.key, self.named(outcome.fault), message, outcome.response[1])
                if found is not None:
                    yield found

    # ---- report

    def named(self, fault: Any) -> str:
        """A fault in words."""
        return str(fault)

    @property
    def counts(self) -> dict[Effect, int]:
        counted = Counter(outcome.effect for outcome in self.outcomes)
        return {effect: counted[effect] for effect in Effect}

    @property
    def rate(self) -> float:
        """Faults per second of CPU time."""
        return len(self.outcomes) / self.seconds if self.seconds else 0.0

    def most_wrong(self) -> float:
        """The upper bound of the share of all faults that release a wrong result (Wilson, 95 %)."""
        total, wrong = len(self.outcomes), self.counts[Effect.WRONG]
        if self.exhaustive or not total:
            return wrong / total if total else 0.0
        z, share = CONFIDENCE, wrong / total
        spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
        return min(1.0, (share + z * z / (2 * total) + spread) / (1 + z * z / total))

    def by_register(self) -> list[dict[str, Any]]:
        """Counts of effects by register, those with the most wrong results first."""
        bits: Counter[str] = Counter()
        for site in self.model.registers:
            bits[_register(site.path)] += site.nbits
        rows = self._rows(bits, lambda fault: _register(fault.site.path))
        return [
            {"register": name, "module": name.rpartition(".")[0], "nbits": bits[name], **row}
            for name, row in rows
        ]

    def _rows(self, names: Iterable[str], where: Callable[[Any], str]) -> list[tuple[str, dict[str, int]]]:
        """Counts of effects by place."""
        counted: dict[str, Counter[Effect]] = {name: Counter() for name in names}
        for outcome in self.outcomes:
            counted[where(outcome.fault)][outcome.effect] += 1
        rows = [
            (name, {"injected": sum(found.values()), **{KEYS[effect]: found[effect] for effect in Effect}})
            for name, found in counted.items()
        ]
        return sorted(rows, key=lambda row: (-row[1]["wrong_result"], row[0]))

    def wrong(self) -> list[str]:
        """Some of the faults that release a wrong result."""
        wrong = (outcome.fault for outcome in self.outcomes if outcome.effect is Effect.WRONG)
        return [self.named(fault) for fault in itertools.islice(wrong, SHOWN)]

    def bellcore(self) -> dict[str, Any] | None:
        """The primes that wrong results reveal; None if the accelerator does not use CRT."""
        return bellcore.report(self.key, self.factored) if self.key else None

    def sites(self) -> dict[str, int]:
        """The number of places for faults."""
        return {"flip_flops": self.nbits}

    def places(self) -> dict[str, Any]:
        """The sources of wrong results."""
        return {"registers": self.by_register()}

    def as_json(self) -> dict[str, Any]:
        """The campaign as JSON, for scripts."""
        return {
            "backend": self.backend,
            "seed": self.seed,
            "operations": self.count,
            "operations_after_others": sum(bool(operation.before) for operation in self.operations),
            "cycles": self.cycles,
            **self.sites(),
            "possible": self.possible,
            "exhaustive": self.exhaustive,
            "injected": len(self.outcomes),
            "reused": self.reused,
            **{KEYS[effect]: count for effect, count in self.counts.items()},
            "wrong_result_at_most": round(self.most_wrong(), 6),
            **self.places(),
            "wrong": self.wrong(),
            "bellcore": self.bellcore(),
            "seconds": round(self.seconds, 2),
            "faults_per_second": round(self.rate),
        }


@dataclass(frozen=True)
class Part(Task):
    """The task of injecting some faults of a campaign together."""

    of: FaultCampaign
    faults: Sequence[Any]

    @functools.cached_property
    def key(self) -> str:  # type: ignore[override]
        """Digest of all inputs that the outcomes depend on."""
        of, machine = self.of, self.of.machine
        made_of = [
            [of.hardware, machine.shape],
            [of.operations, HANGS * of.cycles, [of.named(fault) for fault in self.faults]],
            [of.backend, sorted(keys.tools_of(of.backend).items()), *of._made_by()],
        ]
        return cache.key(json.dumps(made_of, default=str))

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.faults)

    @property
    def cost(self) -> Cost:  # type: ignore[override]
        return Cost((), len(self.faults))

    def run(self, report: Report) -> tuple[float, list[tuple[str, Value | None]]]:
        """CPU seconds, and the effect and the response of each fault."""
        begun, of = time.process_time(), self.of
        requests = [operation.request for operation in of.operations]
        golden = [operation.golden for operation in of.operations]
        judge = judged if of.machine.shape.has_status else compared
        most, told = HANGS * of.cycles, lambda done: report(done, self.size)
        before = [operation.before for operation in of.operations]
        found = of.model.campaign(requests, self.faults, golden, most, judge, told, before)
        return time.process_time() - begun, [(outcome.effect.name, outcome.response) for outcome in found]


def _register(path: str) -> str:
    """The register of a path; all words of a memory are one register."""
    return path.partition("[")[0]
