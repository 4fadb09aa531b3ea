"""The CPUs of chips."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cpu:
    """One of LiteX's."""

    title: str
    licence: str  # of its Verilog
    macros: tuple[str, ...] = ()  # for C and assembly, where it is not as RISC-V has it


CPUS = {
    "vexriscv": Cpu("VexRiscv", "VexRiscv, by Charles Papon and others, MIT licence"),
    "picorv32": Cpu("PicoRV32", "PicoRV32, by Claire Wolf, ISC licence (in the file)", ("PICORV32",)),
}
