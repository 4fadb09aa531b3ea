"""Fault campaigns on a netlist of the flow: nets stuck at 0 or 1, or flipped for one cycle."""

import itertools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ....flow.gates.engine import GateTables
from ....flow.gates.faults import FaultyNetlist, NetFault, Stuck
from ....flow.gates.gates import netlist_of
from ....flow.kit import kit
from ....rtl.sim.ports import Ports
from ....rtl.sim.translation.translated import translated
from .fault_campaign import LEAST_OF_PART, FaultCampaign


@dataclass
class NetCampaign(FaultCampaign):
    """Faults in a netlist, and their effects."""

    adk: Path | None = None  # the kit; None: the default

    few: ClassVar[int] = 20_000
    samples: ClassVar[int] = 1_000
    backend: ClassVar[str] = "gates"

    def _model(self) -> Any:
        netlist, ports = netlist_of(self.machine.rtl(), self.adk)
        return FaultyNetlist(GateTables(netlist, kit.find(self.adk).library), ports)

    def _verilog(self) -> str:
        """The RTL of the netlist."""
        return translated(self.machine.rtl(), Ports.of)[0]

    def _made_by(self) -> list[str]:
        """The cell library counts, too."""
        return [*super()._made_by(), kit.find(self.adk).digest]

    @property
    def nbits(self) -> int:
        """The number of nets."""
        return len(self.model.nets)

    @property
    def possible(self) -> int:
        """The number of faults: stuck at each value, and flipped in every cycle."""
        return self.nbits * (2 + self.cycles)

    @property
    def size_of_part(self) -> int:
        """Small parts, since the engine injects only about ten faults per second."""
        return LEAST_OF_PART

    def _every(self) -> list[Any]:
        nets = self.model.nets
        stuck = [NetFault(net, kind) for net in nets for kind in (Stuck.AT_0, Stuck.AT_1)]
        return stuck + [NetFault(net, Stuck.FLIP, at) for net in nets for at in range(self.cycles)]

    def _drawn(self, count: int) -> list[Any]:
        """Equal numbers of nets stuck at 0, stuck at 1 and flipped."""
        draw, kinds = self._draw, itertools.islice(itertools.cycle(Stuck), count)
        return [NetFault(draw.choice(self.model.nets), kind, draw.randrange(self.cycles)) for kind in kinds]

    def named(self, fault: Any) -> str:
        """The net and its fault."""
        when = f" in cycle {fault.cycle}" if fault.kind.value == "flip" else ""
        return f"{self.model.name(fault.net)}, {fault.kind.value}{when}"

    def sites(self) -> dict[str, int]:
        return {"nets": self.nbits}

    def places(self) -> dict[str, Any]:
        """Counts by module and by kind of fault."""
        nets = Counter(self.model.module(net) for net in self.model.nets)
        modules = self._rows(list(nets), lambda fault: self.model.module(fault.net))
        kinds = self._rows(
            list(dict.fromkeys(outcome.fault.kind.value for outcome in self.outcomes)),
            lambda fault: fault.kind.value,
        )
        return {
            "modules": [{"module": name, "nets": nets[name], **row} for name, row in modules],
            "kinds": [{"kind": name, **row} for name, row in kinds],
        }
