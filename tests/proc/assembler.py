"""Assembler of single instructions, for the programs of tests."""

from modexlab.fl.errors import BadInput
from modexlab.proc.isa.isa import BY_NAME

# format: first and last immediate, and what it must be a multiple of
_RANGES = {
    "I": (-2048, 2047, 1),
    "S": (-2048, 2047, 1),
    "H": (0, 31, 1),
    "B": (-4096, 4094, 2),
    "U": (0, 0xF_FFFF, 1),
    "J": (-(1 << 20), (1 << 20) - 2, 2),
    "C": (0, 0xFFF, 1),
    "Z": (0, 0xFFF, 1),
    "F": (0, 0xFFF, 1),
}
_FIELDS = {"R": "rd rs1 rs2", "I": "rd rs1", "H": "rd rs1", "S": "rs1 rs2", "B": "rs1 rs2"}
_FIELDS |= {"U": "rd", "J": "rd", "C": "rd rs1", "Z": "rd rs1", "F": "", "N": ""}


def encode(name, rd=0, rs1=0, rs2=0, imm=0):
    """Return the word of an instruction; of the CSR ones, imm is the CSR, rs1 the register or the uimm."""
    instruction = BY_NAME.get(name)
    if instruction is None:
        raise BadInput(f"no instruction named {name!r} in RV32IM: use one of {', '.join(BY_NAME)}")
    fields = {"rd": rd, "rs1": rs1, "rs2": rs2}
    for field, number in fields.items():
        last = 31 if field in _FIELDS[instruction.fmt] else 0
        if not 0 <= number <= last:
            remedy = "0 to 31" if last else f"no {field}, {name} has none"
            raise BadInput(f"{name}: {field} = {number}; give {remedy}")
    first, last, unit = _RANGES.get(instruction.fmt, (0, 0, 1))
    if not first <= imm <= last or imm % unit:
        remedy = (
            "no immediate"
            if first == last
            else f"{'an even number' if unit == 2 else 'one'} from {first} to {last}"
        )
        raise BadInput(f"{name}: immediate {imm}; give {remedy}")
    word = instruction.match | rd << 7 | rs1 << 15 | rs2 << 20
    if instruction.fmt == "S":
        return word | (imm >> 5 & 0x7F) << 25 | (imm & 31) << 7
    if instruction.fmt == "B":
        high = (imm >> 12 & 1) << 31 | (imm >> 11 & 1) << 7
        return word | high | (imm >> 5 & 0x3F) << 25 | (imm >> 1 & 0xF) << 8
    if instruction.fmt == "U":
        return word | imm << 12
    if instruction.fmt == "J":
        high = (imm >> 20 & 1) << 31 | (imm >> 12 & 0xFF) << 12
        return word | high | (imm >> 11 & 1) << 20 | (imm >> 1 & 0x3FF) << 21
    return word | (imm & 0xFFF) << 20 if instruction.fmt in _RANGES else word
