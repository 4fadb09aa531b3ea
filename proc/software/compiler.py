"""Compilation of C and assembly by the cross compiler, with a cache of programs.

A program is linked by software/link.ld with software/crt0.S and an archive of the functions in software/,
from which it gets those that it calls and does not define itself. Its own sources are compiled in every run:
that takes milliseconds and shows the compiler's warnings every time. The name of the program's cache entry is
a hash of these object files, which cover every file from which they were made, and of all files in software/.

The compiler is Debian's riscv64-unknown-elf-gcc, or the one named by RISCV_CC.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim import cache, toolchain
from .memory import BUS_BASE

SOFTWARE = Path(__file__).parent
START = SOFTWARE / "crt0.S"
LINK_SCRIPT = SOFTWARE / "link.ld"
DRIVER = SOFTWARE / "driver"  # driver of a machine behind AXI4-Lite
DRIVER_FILES = tuple(DRIVER / name for name in ("modexlab.c", "modexlab.h", "modexlab_regs.h"))
FREESTANDING = SOFTWARE / "freestanding"  # for compilers that lack a header
MOD_EXP = SOFTWARE / "mod_exp"  # the kernels
KERNELS = (  # in the order in which they are linked
    "mod_exp",
    "mont_mod_exp",
    "mont_mod_exp_ct",
    "xcel_mod_exp",
    "mod_exp_words",
    "mont_mod_exp_words",
    "mont_mod_exp_ct_words",
    "bus_mod_exp",
)
LIBRARY = (
    *(MOD_EXP / f"{name}.c" for name in KERNELS),
    *(SOFTWARE / name for name in ("division.c", "memory.c", "driver/modexlab.c")),
)

SUFFIXES = (".c", ".S", ".s")
OPT = "-O2"
OPTS = ("-O0", "-O1", "-O2", "-O3", "-Os")
FLAGS = (
    # in specification 2.2, the csr instructions and fence.i are part of "i"; with an -march that names them
    # GCC finds no libgcc in Debian's package, which has it only for rv32im
    "-march=rv32im",
    "-misa-spec=2.2",
    "-mabi=ilp32",
    "-std=gnu11",
    "-ffreestanding",
    "-fno-common",
    "-ffunction-sections",
    "-fdata-sections",
    f"-DBUS_BASE={BUS_BASE:#x}",
    "-fno-tree-loop-distribute-patterns",  # the loops are measured, so they must not become calls of memset
)
ARCHIVE = "library.a"
LINK = ("-nostdlib", "-static", "-Wl,--gc-sections")
WARNINGS = ("-Wall",)
SHOWN_ERRORS = 2


@functools.cache
def compiler() -> Path:
    """The path of the cross compiler."""
    name = os.environ.get("RISCV_CC", "riscv64-unknown-elf-gcc")
    found = shutil.which(name)
    if found is None:
        raise BadInput(
            f"the RISC-V compiler {name} is missing: run `apt-get install gcc-riscv64-unknown-elf`, or set "
            "RISCV_CC"
        )
    return Path(found)


@functools.cache
def fingerprint() -> str:
    """A text that changes whenever the compiler does."""
    stat = compiler().stat()
    return f"{compiler()}:{stat.st_size}:{stat.st_mtime_ns}"


def compile_program(
    sources: Sequence[str | Path],
    *,
    defines: Mapping[str, str | int] | None = None,
    opt: str = OPT,
    headers: Mapping[str, str] | None = None,
    warned: Callable[[str], object] | None = None,
) -> Path:
    """The ELF file of a program made from these sources, C or assembly, one of which has `main` or `_start`.

    defines: macros; opt: the optimisation level; headers: texts of additional header files by name; warned:
    called with the compiler's warnings, if there are any. Headers are searched next to the source, in
    software/ and in software/driver/.
    """
    paths = [_source(source) for source in sources]
    if opt not in OPTS:
        raise BadInput(f"level of optimisation {opt!r}: give one of {', '.join(OPTS)}")
    macros = [f"-D{name}={value}" for name, value in (defines or {}).items()]
    compile_ = [*macros, f"-I{SOFTWARE}", f"-I{DRIVER}", f"-idirafter{FREESTANDING}", opt, *FLAGS]
    names = " ".join(path.name for path in paths)
    stem = re.sub(r"\W", "_", paths[0].stem, flags=re.ASCII)
    with tempfile.TemporaryDirectory(prefix="modexlab-") as own:
        # run in the user's directory, where .incbin and .include search for files
        objects = [Path(own) / f"{i}.o" for i in range(len(paths))]
        for name, text in (headers or {}).items():
            (Path(own) / name).write_text(text)
        for path, made in zip(paths, objects, strict=True):
            warnings = _gcc(
                names, [*compile_, f"-I{own}", *WARNINGS, "-c", str(path), "-o", str(made)]
            ).stderr
            if warned is not None and warnings.strip():
                warned(warnings.strip())
        folders = (SOFTWARE, DRIVER, FREESTANDING, MOD_EXP)
        ours = [path.read_text() for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
        key = cache.key(*map(cache.file_digest, objects), *ours, *compile_, *LINK, fingerprint())

        def make(directory: Path) -> Path:
            product = directory / "program"
            inputs = [str(START), *map(str, objects), str(_library(names, compile_, ours)), "-lgcc"]
            _gcc(names, [*compile_, *LINK, "-T", str(LINK_SCRIPT), *inputs, "-o", str(product)])
            return product

        return cache.cached(f"{stem}-{key}", make)


def _library(names: str, compile_: Sequence[str], ours: Sequence[str]) -> Path:
    """The archive of the functions in software/, compiled with these options; many programs share it."""

    def make(directory: Path) -> None:
        _gcc(names, [*compile_, "-c", *map(str, LIBRARY)], cwd=directory)
        _run(names, [_archiver(), "rc", ARCHIVE, *(f"{path.stem}.o" for path in LIBRARY)], cwd=directory)

    return (
        cache.cached_tree(cache.tree_name("library", cache.key(*ours, *compile_, fingerprint())), make)
        / ARCHIVE
    )


def _source(source: str | Path) -> Path:
    path = Path(source)
    if path.suffix not in SUFFIXES:
        raise BadInput(f"source {path}: give a file of C or assembly ({', '.join(SUFFIXES)})")
    if path.is_dir():
        raise BadInput(f"source {path}: this is a directory; give a file of C or assembly in it")
    if not path.is_file():
        raise BadInput(f"source {path}: there is no such file; give the path of a file of C or assembly")
    return path


@functools.cache
def _archiver() -> str:
    """The `ar` that belongs to the compiler."""
    return _gcc("ar", ["-print-prog-name=ar"]).stdout.strip()


def _gcc(names: str, arguments: Sequence[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return _run(names, [str(compiler()), *arguments], cwd)


def _run(names: str, command: Sequence[str], cwd: Path | None) -> subprocess.CompletedProcess[str]:
    """Run a tool for these sources; raise BadInput with its first errors if it fails."""
    environment = os.environ | {"LC_ALL": "C"}
    try:
        done = toolchain.run(command, cwd=cwd, env=environment)
    except OSError as error:
        raise BadInput(f"{command[0]} cannot be run: {error.strerror}; set RISCV_CC to a compiler") from None
    if done.returncode:
        raise BadInput(f"{names} does not compile: {_first_errors(done.stderr)}")
    return done


def _first_errors(messages: str) -> str:
    """The first errors of the compiler or the linker, on one line."""
    if undefined := re.findall(r"undefined reference to `([^']*)'", messages):
        return (
            f"undefined: {', '.join(dict.fromkeys(undefined))}; there is no C library, and a program "
            "needs `main`"
        )
    if overflow := re.search(r"overflowed by (\d+) bytes", messages):
        return f"it is {overflow[1]} bytes larger than the memory; make it smaller"
    if twice := re.findall(r"multiple definition of `([^']*)'", messages):
        return f"defined twice: {', '.join(dict.fromkeys(twice))}"
    # lines of the linker begin with its path
    lines = [re.sub(r"^(\S*/)?ld: ", "", line) for line in messages.strip().splitlines()]
    lines = [line for line in lines if not line.startswith("collect2:")]
    errors = [line for line in lines if re.search(r"\b[Ee]rror: ", line)] or lines or ["no message"]
    return "; ".join(errors[:SHOWN_ERRORS])
