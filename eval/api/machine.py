"""Designs and machines of the Python interface: models, hardware, and measurements as the commands make them.

A measurement is the same point that a command measures. It is read from the store, or else from current
reference results, and otherwise made and recorded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modexlab.eval.designs import catalogue
from modexlab.eval.designs.interfaces import DEFAULT
from modexlab.eval.designs.machine import Design as Entry
from modexlab.eval.designs.own import OwnDesign
from modexlab.eval.designs.runnable import Runnable
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.eval.designs.workload_names import ENCRYPT
from modexlab.eval.lab.measure import Progress as Say
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.metrics import Measurement
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.stages import FLOW, FORMULA, LAYOUT, NATIVE
from modexlab.eval.lab.store.reference import Reference
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.sweep import read
from modexlab.eval.lab.verdicts import Subject, Verdict
from modexlab.eval.progress import Progress
from modexlab.fl.accelerator import Message
from modexlab.fl.memory import OnMemory
from modexlab.fl.param import Param

from .figures import Figures

PROOF_SECONDS = 600.0  # CPU time of a check


@dataclass(frozen=True)
class Design:
    """An entry of the catalogue; `at` makes a machine of it."""

    entry: Entry | OwnDesign

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def summary(self) -> str:
        """The design in a sentence."""
        return self.entry.summary

    @property
    def family(self) -> str:
        """The group in tables and charts."""
        return self.entry.family

    @property
    def params(self) -> tuple[Param, ...]:
        """Its parameters, with their defaults and legal values."""
        return self.entry.params

    def at(self, nbits: int | None = None, **settings: Any) -> "Machine":
        """The machine of this width (default: the usual one) with these parameters; BadInput if a parameter
        is unknown or illegal.
        """
        return Machine(self.entry.at(self.entry.usual_nbits if nbits is None else nbits, **settings))

    def __repr__(self) -> str:
        return repr(self.entry)


def design(name: str) -> Design:
    """A design of the catalogue by its name; BadInput with the nearest name if there is none."""
    return Design(catalogue.find(name))


def designs() -> list[Design]:
    """All designs of the catalogue."""
    return [*map(Design, catalogue.designs())]


@dataclass(frozen=True, repr=False)
class Machine:
    """A design at one width, with all of its parameters.

    Other attributes, such as `promises`, are those of `accelerator`.
    """

    accelerator: Runnable

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "accelerator" or name.startswith("__"):  # not there while it is unpickled
                raise AttributeError(name)
            return getattr(self.accelerator, name)

        def __dir__(self) -> Iterable[str]:
            return sorted({*super().__dir__(), *dir(self.accelerator)})

    @property
    def name(self) -> str:
        return self.accelerator.name

    @property
    def nbits(self) -> int:
        return self.accelerator.nbits

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters with their values."""
        return dict(self.accelerator.parameters)

    def __repr__(self) -> str:
        return repr(self.accelerator)

    # ---- models and hardware

    def fl(self, *request: Any) -> Any:
        """The response of the functional model; of an RSA machine, status and result. With memory ports the
        request is a modexlab.OnMemory, and the response has the memory that it left.
        """
        if self.accelerator.shape.memory:
            (response,) = self.accelerator.answers([_on_memory(request)])
            return response
        return self.accelerator.fl(*request)

    def cycles(self, *request: Any, workload: str = "") -> int:
        """Cycles of a request, or of a workload, by the closed formula. With memory ports and without a
        formula the request is a modexlab.OnMemory.
        """
        if workload:
            return int(self._measured(self.point(workload, stage=FORMULA), None).value("cycles"))
        if self.accelerator.shape.memory:
            return self.accelerator.total_counted([_on_memory(request)])
        return self.accelerator.counted(*request)

    def verilog(self, interface: str = DEFAULT.name) -> str:
        """The hardware behind an interface as one SystemVerilog file."""
        return verilog(self.accelerator, interface)

    # ---- measurements

    def point(
        self, workload: str = ENCRYPT, *, stage: str = NATIVE, interface: str = DEFAULT.name, **flow: Any
    ) -> Point:
        """The machine with a workload at a stage, as sweeps and the store use it; BadInput if it cannot be
        measured.
        """
        accelerator, given = self.accelerator, tuple(flow.items())
        settings = tuple(accelerator.parameters.items())
        reference = accelerator.design.reference
        made = Point(reference, accelerator.nbits, settings, interface, workload, stage, given)
        made.check()
        return made

    def run(
        self,
        workload: str = ENCRYPT,
        *,
        stage: str = NATIVE,
        interface: str = DEFAULT.name,
        store: Store | None = None,
    ) -> Figures:
        """Simulate a workload and check its results, as `modexlab run` does; a wrong one raises
        NoMeasurement. Stages: cl, python, verilog, native.
        """
        return self._measured(self.point(workload, stage=stage, interface=interface), store)

    def asic(
        self,
        clock: float | None = None,
        *,
        to: str = "",
        layout: bool = False,
        style: str = "",
        interface: str = DEFAULT.name,
        store: Store | None = None,
        **flow: Any,
    ) -> Figures:
        """Synthesis, timing, tests on the netlist and power, as `modexlab asic` does them.

        clock: the period in ns. layout: placement and routing, too. to: only the steps that this one needs,
        as in to="timing"; its figures are not recorded. flow: further parameters, such as kit="sky130hd" or
        fmax=True.
        """
        asked = {"clock_period": clock, "style": style or None}
        given = {name: value for name, value in asked.items() if value is not None} | flow
        wanted = self.point(stage=LAYOUT if layout else FLOW, interface=interface, **given)
        if not to:
            return self._measured(wanted, store)
        from modexlab.eval.lab.asic_run import measure_partly  # needs the extra [flow]

        with Progress(str(wanted)) as progress:
            return Figures(measure_partly(wanted, to, progress.describe))

    def prove(
        self, *checks: str, seconds: float = PROOF_SECONDS, kit: str = "", store: Store | None = None
    ) -> list[Verdict]:
        """Check properties, as `modexlab prove` does: of these kinds or names, or all of them. Verdicts of
        the same sources are read from the store.
        """
        from modexlab.eval.assurance.proof import registry  # needs the extra [flow]

        subject = Subject.of(self.accelerator)
        found = registry.checks(self.accelerator, list(checks), kit=kit)
        with Progress(str(subject), unit="check") as progress:
            done = registry.decided([(subject, found)], seconds, progress, store or Store())
            return [proven.verdict for proven in done]

    def _measured(self, wanted: Point, store: Store | None) -> Figures:
        with Progress(str(wanted)) as progress:
            return Figures(measured(wanted, Store() if store is None else store, progress.describe))


def measured(wanted: Point, store: Store, say: Say | None = None) -> Measurement:
    """The measurement of a point in a store, or else in the current reference results, or else a new one,
    which is recorded.
    """
    for known in read(store, {wanted.key: wanted}):
        return store.measurement(known.number)
    if found := Reference().verified(wanted):
        return found[1]
    return store.measurement(store.record(wanted, measure(wanted, say)))


def _on_memory(request: tuple[Any, ...]) -> Message:
    """The request that is the only argument, or whose fields are the arguments."""
    return request[0] if len(request) == 1 and isinstance(request[0], OnMemory) else request
