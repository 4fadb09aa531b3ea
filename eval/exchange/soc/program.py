"""Programs of the chip: the C of software/, the driver and the operands, compiled to the image of the ROM."""

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile

from ....fl.accelerator import WORD_NBITS, Accelerator, Fields, Message
from ....fl.xcel import to_words, words_of
from ....proc.software.call_header import call_header, identifier, returns_result
from ....proc.software.compiler import DRIVER_FILES, FLAGS, FREESTANDING, LINK, compiler
from ....rtl.sim.toolchain import ToolError, run

SOFTWARE = Path(__file__).with_name("software")
SHARED = (
    *(SOFTWARE / name for name in ("start.S", "platform.c", "platform.h", "link.ld")),
    FREESTANDING / "stdint.h",
)
STRICT = ("-O2", "-Wall", "-Wextra", "-Werror")


class Cpu(NamedTuple):
    """One of LiteX's CPUs."""

    title: str
    licence: str  # of its Verilog
    macros: tuple[str, ...] = ()  # for C and assembly that deviate from RISC-V


CPUS = {
    "vexriscv": Cpu("VexRiscv", "VexRiscv, by Charles Papon and others, MIT licence"),
    "picorv32": Cpu("PicoRV32", "PicoRV32, by Claire Wolf, ISC licence (in the file)", ("PICORV32",)),
}


@dataclass(frozen=True)
class Software:
    """The sources of a program, by file name, and how they are compiled."""

    files: Mapping[str, str]
    macros: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """Arguments of the compiler, to be run in the directory of the files."""
        sources = sorted(name for name in self.files if name.endswith((".c", ".S")))
        macros = (f"-D{macro}" for macro in self.macros)
        return [*macros, *FLAGS, "-idirafter.", *STRICT, *LINK, "-T", "link.ld", *sources, "-lgcc"]

    def image(self) -> list[int]:
        """The words of the ROM."""
        with tempfile.TemporaryDirectory(prefix="modexlab-") as own:
            for name, text in self.files.items():
                (Path(own) / name).write_text(text)
            command = [str(compiler()), *self.command, "-o", "program.elf"]
            done = run(command, cwd=own)
            if done.returncode:
                raise ToolError(f"the program of the chip does not compile: {done.stderr.strip()}")
            with (Path(own) / "program.elf").open("rb") as file:
                image = bytearray()
                for segment in ELFFile(file).iter_segments("PT_LOAD"):
                    start, content = segment["p_paddr"], segment.data()
                    if content:
                        image = image.ljust(start, b"\0")
                        image[start : start + len(content)] = content
        image += bytes(-len(image) % 4)
        return [int.from_bytes(image[at : at + 4], "little") for at in range(0, len(image), 4)]


def software(
    main: str,
    cpu: str,
    addresses: Mapping[str, int],
    numbers: Mapping[str, str | int],
    operands: str = "",
    driver: Sequence[Path] = DRIVER_FILES,
    **more: bool,
) -> Software:
    """The program with the `main` of this file.

    addresses, numbers: of soc_map.h; operands: the text of operands.h; driver: its files; more: macros.
    """
    values = {name: f"0x{value:08X}u" for name, value in addresses.items()} | dict(numbers)
    lines = [f"#define SOC_{name.upper()} {value}" for name, value in values.items()]
    files = {path.name: path.read_text() for path in (*SHARED, *driver, SOFTWARE / main)}
    files["soc_map.h"] = "// The chip's addresses and numbers.\n\n" + "\n".join(lines) + "\n"
    files["operands.h"] = operands
    return Software(files, (*CPUS[cpu].macros, *(name.upper() for name, wanted in more.items() if wanted)))


def operands_header(nbits: int, operands: Mapping[str, int], given: Sequence[int]) -> str:
    """The text of operands.h: numbers of the machine's width as arrays of words, and the precomputed inputs
    that it takes.
    """
    numbers = {f"given_{i}": value for i, value in enumerate(given)}
    arrays = {name: _in_c(to_words(value, nbits)) for name, value in {**operands, **numbers}.items()}
    return "\n".join(
        [
            "// Numbers of the round trip, least significant words first.\n",
            "#include <stdint.h>\n",
            f"#define WORDS {words_of(nbits)}u",
            f"#define GIVEN {len(given)}u",
            f"#define GIVEN_NUMBERS {', '.join(numbers) or '0'}\n",
            *(f"static const uint32_t {name}[WORDS] = {words};" for name, words in arrays.items()),
            "",
        ]
    )


def calls_header(accelerator: Accelerator, requests: Sequence[Message], responses: Sequence[Message]) -> str:
    """The text of operands.h for call.c: the call of an accelerator, and requests with their responses as
    words.
    """
    shape, name = accelerator.shape, identifier(accelerator.name)
    arguments, returned = _arguments("request", shape.request), _arguments("results", shape.results, "&")
    if returns_result(shape):
        body = [f"results[0] = {name}_call({', '.join(arguments)});", "return 0;"]
    else:
        body = [f"return {name}_call({', '.join(arguments + returned)});"]
    statuses = [response[0] if shape.has_status else 0 for response in responses]
    results = [response[-len(shape.results) :] for response in responses]
    return "\n".join(
        [
            "// The call of the accelerator, and requests of its table with their responses.\n",
            '#include "soc_map.h"\n',
            "#undef BUS_BASE  // of our own processor",
            "#define BUS_BASE SOC_MACHINE",
            call_header(accelerator.name, accelerator.nbits, shape, on_bus=True),
            f"#define ROWS {len(requests)}u",
            f"#define RESULT_WORDS {sum(words_of(nbits) for _, nbits in shape.results)}u\n",
            "static inline uint32_t call(const uint32_t *request, uint32_t *results) {",
            *(f"  {line}" for line in body),
            "}\n",
            *_table("requests", [_words(shape.request, request) for request in requests]),
            *_table("expected", [_words(shape.results, values) for values in results]),
            f"static const uint32_t statuses[] = {{{', '.join(map(str, statuses))}}};\n",
        ]
    )


def _arguments(array: str, fields: Fields, address: str = "") -> list[str]:
    """The arguments of a call whose fields are stored one after another in an array of words."""
    places = itertools.accumulate((words_of(nbits) for _, nbits in fields), initial=0)
    return [
        f"{address}{array}[{place}]" if nbits <= WORD_NBITS else f"{array} + {place}"
        for (_, nbits), place in zip(fields, places, strict=False)
    ]


def _words(fields: Fields, values: Message) -> list[int]:
    return [word for (_, nbits), value in zip(fields, values, strict=True) for word in to_words(value, nbits)]


def _table(name: str, rows: Sequence[Sequence[int]]) -> list[str]:
    lines = (f"  {_in_c(row)}," for row in rows)
    return [f"static const uint32_t {name}[][{len(rows[0])}] = {{", *lines, "};\n"]


def _in_c(words: Sequence[int]) -> str:
    return f"{{{', '.join(f'0x{word:08X}u' for word in words)}}}"
