"""A chip as a folder that builds without modexlab: Verilog, program, map, test bench, makefile and README."""

import shlex
from collections.abc import Mapping

from .chip import BENCH, ROM, Chip
from .program import CPUS, Software

VERILATE = (
    "--cc --exe --build -O3 -Wno-fatal -Wno-lint -Wno-style --unroll-count 16 --expand-limit 2"
    " --top-module soc --prefix Vsoc --Mdir build -CFLAGS '-O2 -std=c++17' -MAKEFLAGS "
    "'CFG_CXXFLAGS_PCH_I=-include'"
)
MAKEFILE = """\
# make run      simulate the chip until its program stops it
# make program  compile the program again, as the contents of the ROM
# make clean    remove what make made, but not the ROM

VERILATOR ?= verilator
CROSS     ?= riscv64-unknown-elf-
VERILOG   := {verilog}

.PHONY: run program clean

run: build/Vsoc
	./build/Vsoc

build/Vsoc: $(VERILOG) bench.cpp
	$(VERILATOR) {verilate} $(VERILOG) bench.cpp

program:
	cd software && $(CROSS)gcc {command} -o program.elf
	cd software && $(CROSS)objcopy -O binary program.elf program.bin
	od -An -v -t x4 -w4 software/program.bin | tr -d ' ' > {rom}

clean:
	rm -rf build software/program.elf software/program.bin
"""
README = """\
# A system on a chip with {title}

{cpu} with ROM and SRAM, made with LiteX. The machine `{top}` is an AXI4-Lite slave on its bus at {base:#x},
behind LiteX's Wishbone converter; its interrupt is line {interrupt} of the CPU. The program in the ROM {does}

    make run      # with Verilator, g++ and make: simulate it
    make program  # with gcc-riscv64-unknown-elf: compile the program again

The simulation prints one line for each output of the chip's port: `text` that the program prints;
{puts_out};
`stop CODE CYCLE`, the end. CODE is the exit code: 0 if all results are correct, 1 if one is wrong, 2 if the
driver reports an error, 3 after a trap.

| file | content |
|---|---|
| `soc.v` | the chip, by LiteX (BSD 2-clause licence) |
| `{cpu_files}` | {licence} |
| `{accelerator}` | the machine, by modexlab; its header has registers and protocol |
| `{rom}`, `soc_sram.init` | the initial contents of the memories |
| `map.json` | registers, memories and constants, by LiteX |
| `bench.cpp` | clock, reset and port for Verilator |
| `software/` | {software} |
| `software/soc_map.h`, `software/operands.h` | addresses and operands of this chip |
"""
ROUND_TRIP = {  # the words of the README on the program of an RSA machine
    "does": """\
encrypts a message with a key of
{nbits} bits and decrypts the ciphertext, {wait}. It compares both with the expected values.""",
    "puts_out": """\
`word`: the cycles that the machine counted (two words), then the result, the least significant word first;
`mark NUMBER CYCLE`: 1 before the key is loaded, 2 before the base is written, 3 after the start, 4 after the
wait, 5 after the result was read""",
    "software": "the program `round_trip.c`, start and interrupts, the driver `modexlab.h`",
}
CALLS = {  # the words of the README on the program of any other accelerator
    "does": """\
calls the accelerator
with requests of its table. It compares the responses with those of the functional model.""",
    "puts_out": """\
`word`: for each request the status, then the results, the least significant word first;
`mark NUMBER CYCLE`: 1 before a call, 2 after it""",
    "software": "the program `call.c`, start and interrupts; `operands.h` has the call in C",
}


def folder_files(chip: Chip, program: Software, words_on: Mapping[str, str]) -> dict[str, str]:
    """The files of the folder by path. `words_on` has the words of the README on the program."""
    from .board import BASE

    board, machine, cpu = chip.board, chip.machine, CPUS[chip.cpu]
    own = f"{chip.top}.sv"
    readme = README.format(
        title=f"{machine.design.name}, {machine.nbits} bits",
        cpu=cpu.title,
        top=chip.top,
        base=BASE,
        interrupt=board.interrupt,
        **words_on,
        cpu_files="`, `".join(board.cpu_verilog),
        licence=cpu.licence,
        accelerator=own,
        rom=ROM,
    )
    makefile = MAKEFILE.format(
        # the accelerator's file comes last because it disables implicit nets
        verilog=" ".join(("soc.v", *board.cpu_verilog, own)),
        verilate=VERILATE,
        command=shlex.join(program.command),
        rom=ROM,
    )
    return {
        "README.md": readme,
        "Makefile": makefile,
        "soc.v": board.verilog,
        own: chip.accelerator,
        **board.cpu_verilog,
        **chip.memories(program),
        "map.json": board.map_json,
        "bench.cpp": BENCH.read_text(),
        **{f"software/{name}": text for name, text in program.files.items()},
    }
