"""The driver's view of a netlist: what takes the place of Verilator's class VHarness at stage `gates`.

The drivers in C++ (rtl/sim/native.cpp, proc/sim/native.cpp) know the harness that surrounds a design, and no more. Here the
harness is read from its own Verilog, which is of a few forms only, and becomes a class with the same ports, the same registers and
the same edges around the engine in gates.cpp. Nothing in it depends on the netlist: which net each bit of a port is comes
as numbers at run time, so that one compiled driver serves all netlists with these ports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ...rtl.sim import cache, toolchain
from ...rtl.sim.build import COMPILE
from ...rtl.sim.nativemodel import MODEL
from ..netlist.netlist import Netlist

ENGINE = tuple(Path(__file__).with_name(name) for name in ("glitches.cpp", "gates.cpp"))
PORT = re.compile(r"^\s*(input|output)\s+logic\s*(?:\[(\d+):0\])?\s*(\w+),?$", re.MULTILINE)
STROBE = re.compile(r"always_ff @\(posedge (\w+)\)\s*(begin\b.*?\bend\b|[^;]*;)", re.DOTALL)
REGISTER = re.compile(r"(\w+) <= (\w+);")
ASSIGN = re.compile(r"assign (\w+) = (\w+)(?:\[(\d+):(\d+)\])?;")
CONNECTION = re.compile(r"\.(\w+)\(([^()]*)\)")
PART = re.compile(r"(\w+)(?:\[(\d+):(\d+)\])?")

Bit = tuple[str, int]  # of a port of the harness


@dataclass(frozen=True)
class Harness:
    """A harness: its ports, and which of their bits stand behind each bit of the design's ports."""

    widths: dict[str, int]
    inputs: tuple[str, ...]  # those that go to the design, through registers or as they are
    outputs: tuple[str, ...]
    strobes: dict[str, str]  # input: the signal at whose rising edge it is taken
    bits: dict[str, tuple[Bit, ...]]  # port of the design: bits of the harness, from bit 0 on

    def nets(self, netlist: Netlist) -> list[int]:
        """The net of each bit of each input, then of each output, or -1."""
        found: dict[Bit, int] = {}
        for port, bits in self.bits.items():
            if port in netlist.ports:
                found |= dict(zip(bits, netlist.ports[port][1], strict=True))
        names = (*self.inputs, *self.outputs)
        return [found.get((name, bit), -1) for name in names for bit in range(self.widths[name])]


def read(verilog: str) -> Harness:
    """The harness in this text (rtl/sim/harness.py, proc/sim/harness.py)."""
    ports = {name: (way, int(high or 0) + 1) for way, high, name in PORT.findall(verilog)}
    registers: dict[str, str] = {}
    strobes: dict[str, str] = {}
    for strobe, body in STROBE.findall(verilog):
        for register, name in REGISTER.findall(body):
            registers[register], strobes[name] = name, strobe
    parts: dict[Bit, Bit] = {}
    for part, whole, high, low in ASSIGN.findall(verilog):
        for bit in range(int(high or 0) - int(low or 0) + 1):
            parts[whole, int(low or 0) + bit] = (part, bit)
    widths = {name: width for name, (_, width) in ports.items()}
    widths |= {register: widths[name] for register, name in registers.items()}
    for whole, bit in parts:
        widths[whole] = max(widths.get(whole, 0), bit + 1)

    def resolved(name: str, bit: int) -> Bit:
        return (registers[name], bit) if name in registers else parts.get((name, bit), (name, bit))

    bits = {}
    instance = verilog[verilog.rindex("_under_test") :]
    for port, expression in CONNECTION.findall(instance):
        found: list[Bit] = []
        for name, high, low in reversed(PART.findall(expression)):
            first, last = (int(low), int(high)) if high else (0, widths[name] - 1)
            found += [resolved(name, bit) for bit in range(first, last + 1)]
        assert all(name in ports for name, _ in found), (
            f"{port} of the harness is connected in a way unknown here"
        )
        bits[port] = tuple(found)
    ways = {way: tuple(name for name, port in ports.items() if port[0] == way) for way in ("input", "output")}
    clocks = {"clk", *strobes.values()}
    inputs = tuple(name for name in ways["input"] if name not in clocks)
    return Harness({name: ports[name][1] for name in ports}, inputs, ways["output"], strobes, bits)


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
    uint8_t clk_was = 0@was@;
};
"""


def _type(nbits: int) -> str:
    for size in (8, 16, 32, 64):
        if nbits <= size:
            return f"uint{size}_t"
    return f"std::array<uint32_t, {(nbits + 31) // 32}>"


def header(harness: Harness) -> str:
    """The class VHarness."""
    offsets, offset = {}, 0
    for name in (*harness.inputs, *harness.outputs):
        offsets[name] = offset
        offset += harness.widths[name]
    edges = []
    for strobe in dict.fromkeys(harness.strobes.values()):
        takes = [
            f"            take({name}, {offsets[name]}, {harness.widths[name]});"
            for name in harness.inputs
            if harness.strobes.get(name) == strobe
        ]
        edges += [f"        if ({strobe} && !{strobe}_was) {{", *takes, "        }"]
        if strobe != "clk":
            edges.append(f"        {strobe}_was = {strobe};")
    direct = [name for name in harness.inputs if name not in harness.strobes]
    edges += [f"        take({name}, {offsets[name]}, {harness.widths[name]});" for name in direct]
    own = [strobe for strobe in dict.fromkeys(harness.strobes.values()) if strobe != "clk"]
    values = {
        "edges": "\n".join(edges),
        "outputs": "\n".join(
            f"        show({name}, {offsets[name]}, {harness.widths[name]});" for name in harness.outputs
        ),
        "ports": "\n".join(
            f"    {_type(harness.widths[name])} {name}{{}};" for name in (*harness.inputs, *harness.outputs)
        ),
        "strobes": "\n".join(f"    uint8_t {strobe} = 0;" for strobe in own),
        "was": "".join(f", {strobe}_was = 0" for strobe in own),
    }
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], _CLASS)


def library(harness: Harness | None = None, driver: str | None = None) -> Path:
    """The engine as a library: alone, or with a driver for this harness."""
    compile_ = [*COMPILE, "-O1", "-shared"]
    texts = {}
    if harness and driver:
        texts = {"VHarness.h": header(harness), "driver.cpp": MODEL.read_text() + driver}
    engine = _engine()
    key = cache.key(*texts.values(), engine.name, *compile_, toolchain.fingerprint())

    def make(directory: Path) -> Path:
        for name, text in texts.items():
            (directory / name).write_text(text)
        sources = ["driver.cpp"] if texts else []
        toolchain.cxx([*compile_, "-I.", *sources, str(engine), "-o", "product"], cwd=directory)
        return directory / "product"

    return cache.cached(f"gates-{key}.so", make)


def _engine() -> Path:
    """The engine as one object file, for all drivers."""
    compile_ = [*COMPILE, "-O3", "-c"]
    text = "".join(path.read_text() for path in ENGINE)
    key = cache.key(text, *compile_, toolchain.fingerprint())

    def make(directory: Path) -> Path:
        (directory / "gates.cpp").write_text(text)
        toolchain.cxx([*compile_, "gates.cpp", "-o", "gates.o"], cwd=directory)
        return directory / "gates.o"

    return cache.cached(f"engine-{key}.o", make)
