"""What all stages have in common: `Simulation.run`."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from types import TracebackType

from .ports import Ports, Value
from .protocol import Plan, Progress, Run, Stall, Statics, make_plan


class Simulation(ABC):
    """A design, elaborated and built for one stage; `run` may be called any number of times."""

    stage: str
    ports: Ports

    def run(
        self,
        requests: Iterable[Value],
        *,
        statics: Statics | Sequence[Statics] | None = None,
        source_delays: int | Sequence[int] = 0,
        sink_delays: int | Sequence[int] = 0,
        stall: Stall | None = None,
        max_cycles: int | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Reset the design, send the requests, and wait for as many responses.

        A request is an int, or a tuple of ints for a bitstruct; `statics` is one setting of the static ports
        for all requests, or one for each. Request i is offered `source_delays[i]` cycles after the one before
        it fired; response i is refused for `sink_delays[i]` cycles. `progress(done, total)` is called now and
        then in long runs. Raises SimulationTimeout if `max_cycles` do not suffice, or, without such a limit,
        when nothing has happened for ten million cycles.
        """
        plan = make_plan(
            self.ports,
            requests,
            statics=statics,
            source_delays=source_delays,
            sink_delays=sink_delays,
            stall=stall,
            max_cycles=max_cycles,
        )
        if not len(plan):
            return Run([], [], [])
        responses, accepted, done = self._drive(plan, progress)
        return Run([self.ports.response.unpack(packed) for packed in responses], accepted, done)

    @abstractmethod
    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        """Carry out the plan: packed responses, and the cycles of the request and response handshakes."""

    def close(self) -> None:  # noqa: B027 (nothing to do at most stages)
        """Free the model and close its waveform file."""

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
