"""Adapter between a netlist and a C++ driver: a class with the interface of Verilator's VHarness.

The drivers (rtl/sim/native.cpp, proc/sim/native.cpp) use only the harness around a design. This class has the
same ports, registers and edges, around the engine in gates.cpp. It does not depend on the netlist: the nets
of the port bits are passed as numbers at run time, so that one compiled driver serves all netlists with these
ports.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim.build import COMPILE
from ...rtl.sim.harness import Harness
from ...rtl.sim.nativemodel import testbench
from ..compiled import compiled
from ..netlist.netlist import Netlist

ENGINE = tuple(Path(__file__).with_name(name) for name in ("glitches.cpp", "gates.cpp"))


def nets(harness: Harness, netlist: Netlist, names: Mapping[str, str]) -> list[int]:
    """The net of each bit of each input, then of each output; -1 if the netlist lacks it. `names` maps ports
    to their names in the netlist.
    """
    found: dict[tuple[str, int], int] = {}
    for port, slices in harness.connections.items():
        bits = [(name, bit) for name, high, low in reversed(slices) for bit in range(low, high + 1)]
        own = names.get(port, port)
        _, there = netlist.ports.get(own, ("", []))
        if there and len(there) != len(bits):
            raise BadInput(
                f"the netlist's port {own} has {len(there)} bits and not {len(bits)}: it is of another design"
            )
        found |= zip(bits, there, strict=False)
    known = {names.get(port, port) for port in ("clk", *harness.connections)}
    if missing := [port for port in netlist.ports if port not in known]:
        raise BadInput(f"the netlist has ports that the design has not: {', '.join(missing)}")
    return [found.get((name, bit), -1) for name, nbits in harness.widths.items() for bit in range(nbits)]


_CLASS = """
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// of gates.cpp
extern "C" {
void* gates_new(const void* tables, uint32_t seed);
void gates_delete(void* gates);
void gates_defer(void* gates, int32_t net, int32_t to);
void gates_settle(void* gates);
void gates_clock(void* gates, int32_t to);
int32_t gates_get(const void* gates, int32_t net);
}

struct VerilatedContext {
    void randReset(int value) { random = value; }
    void randSeed(int value) { seed = value; }
    int random = 0, seed = 0;
};

namespace {
thread_local const void* next_tables = nullptr;
thread_local const int32_t* next_nets = nullptr;
thread_local void* last_gates = nullptr;

template <typename T> bool bit_of(const T& port, int bit) {
    if constexpr (std::is_integral_v<T>) return port >> bit & 1;
    else return port[bit / 32] >> bit % 32 & 1;
}

template <typename T> void set_bit(T& port, int bit, bool to) {
    if constexpr (std::is_integral_v<T>) port = (port & ~(T(1) << bit)) | T(T(to) << bit);
    else port[bit / 32] = (port[bit / 32] & ~(1u << bit % 32)) | uint32_t(to) << bit % 32;
}
}  // namespace

#define GATES_API extern "C" __attribute__((visibility("default")))
GATES_API void gates_use(const void* tables, const int32_t* nets) { next_tables = tables, next_nets = nets; }
GATES_API void* gates_last() { return last_gates; }

struct VHarness {
    VHarness(VerilatedContext* context, const char*)
        : gates(gates_new(next_tables, context->random ? context->seed : 0)), nets(next_nets) {
        last_gates = gates;
    }
    ~VHarness() { gates_delete(gates); }
    void final() {}

    void eval() {
@edges@
        if (clk != clk_was) gates_clock(gates, clk_was = clk);
        else gates_settle(gates);
@outputs@
    }

@ports@
    uint8_t clk = 0;
@strobes@

  private:
    template <typename T> void take(const T& port, int from, int count) {
        for (int i = 0; i < count; i++)
            if (nets[from + i] >= 0) gates_defer(gates, nets[from + i], bit_of(port, i));
    }
    template <typename T> void show(T& port, int from, int count) {
        for (int i = 0; i < count; i++)
            if (nets[from + i] >= 0) set_bit(port, i, gates_get(gates, nets[from + i]));
    }

    void* gates;
    const int32_t* nets;
    uint8_t clk_was = 0;
};
"""


def _type(nbits: int) -> str:
    for size in (8, 16, 32, 64):
        if nbits <= size:
            return f"uint{size}_t"
    return f"std::array<uint32_t, {(nbits + 31) // 32}>"


def header(harness: Harness) -> str:
    """The text of the class VHarness."""
    takes, shows, offset = {}, [], 0
    for name, nbits in harness.widths.items():
        takes[name] = f"            take({name}, {offset}, {nbits});"
        if name in harness.outputs:
            shows.append(f"        show({name}, {offset}, {nbits});")
        offset += nbits
    own = [strobe for strobe in harness.inputs if strobe != "clk"]
    edges = []
    for strobe, inputs in harness.inputs.items():
        edges.append(f"        if ({strobe} && !{strobe}_was) {{")
        edges += [*(takes[name] for name in inputs), "        }"]
    edges += [f"        {strobe}_was = {strobe};" for strobe in own]
    values = {
        "edges": edges,
        "outputs": shows,
        "ports": [f"    {_type(nbits)} {name}{{}};" for name, nbits in harness.widths.items()],
        "strobes": [f"    uint8_t {strobe} = 0, {strobe}_was = 0;" for strobe in own],
    }
    return re.sub(r"@(\w+)@", lambda match: "\n".join(values[match[1]]), _CLASS)


def library(harness: Harness | None = None, driver: str | None = None) -> Path:
    """The engine as a shared library: alone, or with a driver for this harness."""
    engine = "".join(path.read_text() for path in ENGINE)
    linked = [str(compiled("gates-*.o", {"gates.cpp": engine}, *COMPILE, "-O3", "-c", "gates.cpp"))]
    texts = {}
    if harness and driver:
        texts = {"VHarness.h": header(harness), "driver.cpp": testbench(driver)}
        linked = ["driver.cpp", *linked]
    return compiled("gates-*.so", texts, *COMPILE, "-O1", "-shared", "-I.", *linked)
