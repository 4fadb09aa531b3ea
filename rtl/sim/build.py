"""Shared libraries from Verilog: Verilator, then one call of the compiler.

All C++ of a design, Verilator's and the driver's, is one translation unit, which is the fastest way to
compile it. Verilator's run-time library takes longer to compile than most designs, and the headers as long as
a small design; both are compiled once for all designs. All three results are cache entries.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

from ...fl.errors import BadInput
from . import cache, toolchain

# Loops of more than 16 iterations stay loops, and so do operations on more than 64 bits. Unrolled, a
# 4096-bit machine with 16 carry-save steps takes 45 s to compile instead of 5 s and is no faster, as the
# compiler vectorises the loops. With that limit, Verilator 5.48 ends with an internal error at some wide
# concatenations that a variable indexes, unless it leaves out V3Gate, which costs no speed. Delays, which
# foreign Verilog may contain, are ignored.
VERILATE = [
    "--cc",
    "--no-timing",
    "-O3",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "--unroll-count",
    "16",
    "--expand-limit",
    "2",
    "-fno-gate",
]
COMPILE = [
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    "-ftree-vectorize",
    "-DVL_TIME_CONTEXT",
]
# The common headers of all sources, in one file. Verilator marks code that runs only at the start as cold:
# half of a design's text, whose optimisation would take a third of the compile time.
HEADERS = "headers.h"
SHARED_HEADERS = """\
#include "verilated.h"
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#if defined(__GNUC__) && !defined(__clang__)
#undef VL_ATTR_COLD
#define VL_ATTR_COLD __attribute__((cold, optimize("O0")))
#endif
"""


@dataclass(frozen=True)
class Waves:
    """A waveform format, and what a model that writes it needs to compile."""

    option: str
    macro: str
    source: str
    headers: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


WAVES = {
    ".vcd": Waves("--trace-vcd", "WAVES_VCD", "verilated_vcd_c.cpp"),
    ".fst": Waves("--trace-fst", "WAVES_FST", "verilated_fst_c.cpp", ("lz4.h", "zlib.h"), ("-llz4", "-lz")),
}


def library(verilog: str, top: str, driver: str, opt: str, vcd: Path | None = None) -> Path:
    """The library of module `top` in this Verilog, together with a C++ driver.

    The driver includes the class of the model, V<top>, from obj_dir_<top>. `opt` is the optimisation level
    (-O1 ...). The suffix of `vcd` determines whether the model can write waveforms, and in which format.
    """
    waves = WAVES[vcd.suffix] if vcd else None
    return _build(verilog, top, driver, opt, ["-shared"], waves, ".so")


def program(verilog: str, top: str, driver: str, opt: str) -> Path:
    """The same as an executable; the driver contains `main`."""
    return _build(verilog, top, driver, opt, [])


def _build(
    verilog: str,
    top: str,
    driver: str,
    opt: str,
    flags: list[str],
    waves: Waves | None = None,
    suffix: str = "",
) -> Path:
    model = f"obj_dir_{top}"
    verilate = [*VERILATE, "--top-module", top, "--prefix", f"V{top}", "--Mdir", model]
    compile_ = [*COMPILE, opt, *flags]
    libraries: list[str] = []
    if waves:
        verilate.append(waves.option)
        compile_.append(f"-D{waves.macro}")
        libraries.extend(waves.libraries)
    key = cache.key(verilog, driver, SHARED_HEADERS, *verilate, *compile_, toolchain.fingerprint())

    def make(directory: Path) -> Path:
        (directory / "design.sv").write_text(verilog)
        toolchain.verilator([*verilate, "design.sv"], cwd=directory)
        (directory / "driver.cpp").write_text(driver)
        sources = sorted(source.relative_to(directory) for source in (directory / model).glob("*.cpp"))
        (directory / HEADERS).write_text(SHARED_HEADERS)
        (directory / f"{HEADERS}.gch").symlink_to(
            _compiled_headers(cache.root(), toolchain.fingerprint(), opt)
        )
        _include(directory / "all.cpp", HEADERS, *sources, "driver.cpp")
        inputs = ["-I.", f"-I{model}", "all.cpp", *map(str, _runtime(waves)), *libraries]
        toolchain.cxx([*compile_, *inputs, "-o", "product"], cwd=directory)
        return directory / "product"

    return cache.cached(f"{top}-{key}{suffix}", make)


def _runtime(waves: Waves | None) -> list[Path]:
    """Verilator's run-time library as object files: the common part, and the writer of waveforms if
    needed.
    """
    objects = [_compiled("verilated.cpp", "verilated_threads.cpp")]
    if waves:
        if waves.headers and not toolchain.has_headers(*waves.headers):
            raise BadInput(
                "FST waveforms need two more libraries: run `apt-get install liblz4-dev zlib1g-dev`, or "
                "write a .vcd"
            )
        objects.append(_compiled(waves.source))
    return objects


def _compiled(*sources: str) -> Path:
    """Some of Verilator's own sources as one object file."""
    compile_ = [*COMPILE, "-O2"]
    key = cache.key(*sources, *compile_, toolchain.fingerprint())

    def make(directory: Path) -> Path:
        _include(directory / "runtime.cpp", *sources)
        toolchain.cxx([*compile_, "-c", "runtime.cpp", "-o", "runtime.o"], cwd=directory)
        return directory / "runtime.o"

    return cache.cached(f"runtime-{key}.o", make)


@functools.cache
def _compiled_headers(root: Path, tools: str, opt: str) -> Path:
    """The headers that all designs share, precompiled for one optimisation level.

    g++ finds the file next to the header, as <header>.gch; without it, it reads the header itself, as other
    compilers do. So it is safe to check the cache, which is at `root`, only once per process: checking 70 MB
    takes a while.
    """
    compile_ = [*COMPILE, opt]
    key = cache.key(SHARED_HEADERS, *compile_, tools)

    def make(directory: Path) -> Path:
        (directory / HEADERS).write_text(SHARED_HEADERS)
        toolchain.cxx([*compile_, "-x", "c++-header", HEADERS, "-o", "product"], cwd=directory)
        return directory / "product"

    return cache.cached(f"headers-{key}.gch", make)


def _include(path: Path, *sources: str | Path) -> None:
    """Write a translation unit that includes the sources."""
    path.write_text("".join(f'#include "{source}"\n' for source in sources))
