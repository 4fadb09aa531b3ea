"""Storage bits of a compiled model, which faults.py flips and leak.py observes.

    register    a flip-flop or a word of a memory
    table       a constant of a ROM
    answer      the response of an internal unit (`ostream.msg`)

observed.py makes registers and tables public and, on request, inserts an XOR after each unit's response.
"""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from pymtl3 import Component

from ....fl.errors import BadInput
from ...verilog.translate import text
from ..build import library
from ..harness import HARNESS, harness
from ..nativemodel import buffer_of, declare_functions, from_words, load, testbench, to_words
from ..ports import Ports, Value
from ..text import VerilogText
from ..translation.translate import top_name, tree_of
from ..translation.translated import computed
from .observed import Kind, Observed, observed

SITES = Path(__file__).with_name("sites.cpp")
DIMENSIONS = 8  # of an array, at most; as in sites.cpp
POWER_UP_SEED = 1
TEXT, POINTER = ctypes.c_char_p, ctypes.c_void_p  # types of arguments


@dataclass(frozen=True)
class Site:
    """Bits that can flip. `path` is the name in the component below the top, with the place in a list of
    components behind underscores: "dpath.memory.words[3]", "units__0.valid".
    """

    path: str
    nbits: int
    kind: Kind


class SiteModel:
    """A machine's compiled model with a C++ driver. Its component must not have been elaborated for a
    simulation yet.
    """

    def __init__(self, component: Component, driver: Path, *, flips: bool) -> None:
        """flips: responses of units are sites, too. BadInput for Verilog from elsewhere."""
        if isinstance(component, VerilogText):
            raise BadInput(
                f"{type(component).__name__}: registers at RTL are found only in the Verilog that modexlab "
                "writes; `attack faults --netlist` finds those of a core"
            )
        self.verilog, public, signals, self.ports = computed(component, partial(_texts, flips=flips))
        top = top_name(component)
        verilog = public + harness(self.ports).verilog(top)
        bench = testbench(SITES.read_text(), driver.read_text())
        self._lib = load(library(verilog, HARNESS, bench, "-O1"))
        declare_functions(self._lib, sim_site=(ctypes.c_int32, TEXT, TEXT, POINTER))
        self._scope = f"TOP.{HARNESS}.{top}_under_test"
        self._places: dict[str, tuple[bytes, bytes, int]] = {}  # path -> scope, name, element
        self._found = list(self._sites(signals))

    @property
    def registers(self) -> list[Site]:
        """Flip-flops and words of memories."""
        return self._of(Kind.REGISTER)

    @property
    def tables(self) -> list[Site]:
        """Words of ROMs."""
        return self._of(Kind.TABLE)

    @property
    def answers(self) -> list[Site]:
        """Responses of units."""
        return self._of(Kind.ANSWER)

    def site(self, path: str) -> Site:
        """The site with this path; BadInput if there is none."""
        for site in self._found:
            if site.path == path:
                return site
        raise BadInput(f"no register, table or answer {path!r}; `registers`, `tables` and `answers` have all")

    def _of(self, kind: Kind) -> list[Site]:
        return [site for site in self._found if site.kind is kind]

    def _sites(self, signals: Sequence[Observed]) -> Iterator[Site]:
        sizes = (ctypes.c_int32 * DIMENSIONS)()
        with self._running() as sim:
            for signal in signals:
                scope = f"{self._scope}.{signal.scope}".rstrip(".").encode()
                name = signal.name.encode()
                nbits = self._lib.sim_site(sim, scope, name, sizes)
                if not nbits:
                    raise RuntimeError(f"Verilator keeps no {signal.name} of {scope.decode()}")
                for element, indices in enumerate(product(*map(range, filter(None, sizes)))):
                    full = signal.path + "".join(f"[{index}]" for index in indices)
                    self._places[full] = (scope, name, element)
                    yield Site(full, nbits, signal.kind)

    def _new(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._lib.sim_new(None, POWER_UP_SEED))

    @contextmanager
    def _running(self) -> Iterator[ctypes.c_void_p]:
        """A model after power-up, which is freed at the end."""
        sim = self._new()
        try:
            yield sim
        finally:
            self._lib.sim_delete(sim)

    def _packed(self, requests: Sequence[Value]) -> bytes:
        """Requests as the library takes them."""
        return to_words(self.ports.request.pack_all(requests), self.ports.request.nbits)

    def _responses(self, count: int) -> ctypes.Array[ctypes.c_char]:
        """Space for as many responses."""
        return buffer_of(count, self.ports.response.nbits)

    def _unpacked(self, responses: ctypes.Array[ctypes.c_char]) -> Sequence[Value]:
        return self.ports.response.unpack_all(from_words(responses.raw, self.ports.response.nbits))


def _texts(component: Component, flips: bool) -> tuple[str, str, list[Observed], Ports]:
    """The Verilog of an elaborated component, the same with public signals, these signals, and the ports."""
    tree = tree_of(component)
    public, signals = observed(tree, flips=flips)
    return text(tree), text(public), signals, Ports.of(component)
