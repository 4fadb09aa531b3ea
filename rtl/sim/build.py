"""From Verilog text to a shared library: Verilator, then one call of the compiler.

All C++ of a design, Verilator's and the driver's, is one translation unit: that is the fastest way to compile
it, and lets the driver be inlined around the model. Verilator's own run-time library, which takes longer to
compile than most designs, is compiled once for all of them. Both are entries of the cache.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...fl.errors import BadInput
from . import cache, toolchain

VERILATE = ("--cc", "-O3", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--unroll-count", "16")
COMPILE = ("-fvisibility=hidden", "-fno-gnu-unique")


@dataclass(frozen=True)
class Waves:
    """A waveform format: what it takes to compile a model that writes it."""

    option: str
    macro: str
    source: str
    headers: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


WAVES = {
    ".vcd": Waves("--trace-vcd", "WAVES_VCD", "verilated_vcd_c.cpp"),
    ".fst": Waves("--trace-fst", "WAVES_FST", "verilated_fst_c.cpp", ("lz4.h", "zlib.h"), ("-llz4", "-lz")),
}


def library(
    kind: str, verilog: str, files: Mapping[str, str], *, prefix: str, model: str, opt: str, waves: str | None
) -> Path:
    """The library for this Verilog and these driver files (name -> text; the .cpp ones are compiled).

    `prefix` is the name of the model's C++ class, `model` the directory of its headers as the driver includes
    them, `opt` the compiler's level (-O1 ...), `waves` the suffix of the waveform format to be written, if any.
    """
    format_ = WAVES[waves] if waves else None
    verilate = [*VERILATE, "--prefix", prefix, "--Mdir", model, *([format_.option] if format_ else [])]
    compile_ = [*COMPILE, opt, *([f"-D{format_.macro}"] if format_ else [])]
    inputs = [verilog, *(text for pair in files.items() for text in pair)]
    key = cache.key(*inputs, *verilate, *compile_, toolchain.fingerprint())

    def make(directory: Path) -> Path:
        (directory / "design.sv").write_text(verilog)
        for name, text in files.items():
            (directory / name).write_text(text)
        toolchain.verilator([*verilate, "design.sv"], cwd=directory)
        sources = [*sorted((directory / model).glob("*.cpp")), *(directory / name for name in files if name.endswith(".cpp"))]
        (directory / "all.cpp").write_text("".join(f'#include "{source.relative_to(directory)}"\n' for source in sources))
        product = directory / "design.so"
        objects = ["all.cpp", str(_runtime(format_)), *(format_.libraries if format_ else ())]
        toolchain.cxx([*compile_, "-shared", "-I.", f"-I{model}", *objects, "-o", product.name], cwd=directory)
        return product

    return cache.cached(f"{kind}-{key}.so", make)


def _runtime(waves: Waves | None) -> Path:
    """Verilator's run-time library as one object file."""
    sources = ["verilated.cpp", "verilated_threads.cpp"]
    if waves:
        sources.append(waves.source)
        if waves.headers and not toolchain.has_headers(*waves.headers):
            raise BadInput("FST waveforms need two more libraries: run `apt-get install liblz4-dev zlib1g-dev`, or write a .vcd")
    compile_ = [*COMPILE, "-O2"]
    key = cache.key(*sources, *compile_, toolchain.fingerprint())

    def make(directory: Path) -> Path:
        (directory / "runtime.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
        toolchain.cxx([*compile_, "-c", "runtime.cpp", "-o", "runtime.o"], cwd=directory)
        return directory / "runtime.o"

    return cache.cached(f"runtime-{key}.o", make)
