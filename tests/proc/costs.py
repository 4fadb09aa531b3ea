"""Cycles of instructions, measured on the RTL: the tables of docs/reference/processor.md.

The cost of a code fragment is the number of cycles that each further repetition adds.
"""

from collections.abc import Mapping
from typing import NamedTuple

from modexlab.eval.designs.system_catalogue import Measurement, find_system, loosely_coupled, with_work
from modexlab.proc.isa.isa import INSTRUCTIONS
from modexlab.proc.sim import MemoryTiming

from tests.proc.assembler import DATA, Assembler
from tests.proc.examples import simulation

FEW, MANY = 8, 24  # repetitions
MAX_CYCLES = 100_000
COUPLED_WIDTHS = (32, 64, 128, 256, 512, 1024, 2048)
MUL_LATENCIES, DIV_BITS, LATENCIES = (1, 2, 3, 4), (1, 2, 4, 8), (1, 2, 3, 5)


class Case(NamedTuple):
    """A code fragment, where {i} is the number of the repetition; its cost is the difference to `without`."""

    text: str
    without: str = ""


class Cost(NamedTuple):
    cycles: float
    causes: Mapping[str, float]  # cycles in which no instruction left the pipeline, by cause


PRODUCT, QUOTIENT = "with mul_latency = 1", "with div_bits = 2, whatever the operands"
TARGET = "la t0, after{i}\n"
CASES = {
    ("alu", ""): Case("add t1, t2, t1"),
    ("load", ""): Case("lw t1, 0(gp)"),
    ("load", "the next instruction takes the value"): Case("lw t1, 0(gp)\naddi t2, t1, 1", "addi t2, t1, 1"),
    ("load", "the one after the next takes it"): Case(
        "lw t1, 0(gp)\nnop\naddi t2, t1, 1", "nop\naddi t2, t1, 1"
    ),
    ("store", ""): Case("sw t1, 0(gp)"),
    ("branch", "not taken"): Case("bne zero, zero, after{i}\nnop\nafter{i}:", "nop"),
    ("branch", "taken"): Case("beq zero, zero, after{i}\nnop\nafter{i}:"),
    ("jal", ""): Case("jal ra, after{i}\nnop\nafter{i}:"),
    ("jalr", ""): Case(f"{TARGET}jalr ra, 0(t0)\nnop\nafter{{i}}:", f"{TARGET}after{{i}}:"),
    ("mul", PRODUCT): Case("mul t1, t2, t3"),
    ("mul", "the next instruction takes the product"): Case(
        "mul t1, t2, t3\nadd t1, t1, t1", "add t1, t1, t1"
    ),
    ("div", QUOTIENT): Case("divu t1, t2, t3"),
    ("csr", "CSRs of the processor"): Case("csrrw t1, mscratch, t2"),
    ("csr", "write to an accelerator that answers in the next cycle"): Case("csrrw zero, xr0, t2"),
    ("csr", "read of one"): Case("csrrs t1, xr0, zero"),
    ("csr", "read of one, and the next instruction takes the value"): Case(
        "csrrs t1, xr0, zero\naddi t2, t1, 1", "addi t2, t1, 1"
    ),
    ("fence", ""): Case("fence"),
    ("wfi", ""): Case("wfi"),
    ("fence.i", ""): Case("fence.i"),
    ("mret", ""): Case(
        f"{TARGET}csrrw zero, mepc, t0\nmret\nnop\nafter{{i}}:", f"{TARGET}csrrw zero, mepc, t0\nafter{{i}}:"
    ),
    ("ecall", "and every trap that a handler takes (it does not retire)"): Case(
        f"{TARGET}csrrw zero, mtvec, t0\necall\nnop\nafter{{i}}:",
        f"{TARGET}csrrw zero, mtvec, t0\nafter{{i}}:",
    ),
}
# names of whole groups of isa.py, and of single instructions
GROUPS = ("alu", "load", "store", "branch", "mul", "div", "csr")


def cost(sim, case, timing=None):
    """The cycles of each repetition of the case."""
    whole, baseline = added(sim, case.text, timing), added(sim, case.without, timing)
    causes = {name: whole[name] - baseline[name] for name in whole}
    cycles = sum(causes.values())
    return Cost(cycles, {name: count for name, count in causes.items() if name != "issue" and count})


def added(sim, text, timing):
    """The cycles that a repetition of the text adds, by cause."""
    few, many = (run(sim, text, count, timing) for count in (FEW, MANY))
    return {name: (many[name] - few[name]) / (MANY - FEW) for name in few}


def run(sim, text, count, timing):
    asm = Assembler()
    asm.text(f"li gp, {DATA}; li a1, 3; sw gp, 4(gp)")
    for i in range(count):
        asm.text(text.format(i=i))
    asm.end()
    outcome = sim.run(asm.program(), manager=range(count), timing=timing, max_cycles=MAX_CYCLES)
    assert outcome.exit_code == 0, outcome
    return outcome.where


def cost_table():
    """The table with the cycles of every instruction."""
    rows, seen = [], set()
    for (name, when), case in CASES.items():
        found = cost(simulation(), case)
        causes = ", ".join(f"{cause} {count:g}" for cause, count in found.causes.items())
        rows.append((members(name) if name not in seen else "", when, found.cycles, causes))
        seen.add(name)
    return markdown(("instruction", "when", "cycles", "bubbles"), rows)


def members(name):
    """The instructions of a group, or a single instruction."""
    names = (
        [instruction.name for instruction in INSTRUCTIONS if instruction.group == name]
        if name in GROUPS
        else [name]
    )
    return " ".join(f"`{item}`" for item in names)


def parameter_table():
    """The table of Proc's parameters."""
    rows = []
    for mul_latency, div_bits in zip(MUL_LATENCIES, DIV_BITS, strict=True):
        sim = simulation(mul_latency, div_bits, backend="python")
        product, quotient = cost(sim, CASES["mul", PRODUCT]), cost(sim, CASES["div", QUOTIENT])
        rows.append((mul_latency, product.cycles, div_bits, quotient.cycles))
    return markdown(("`mul_latency`", "cycles of a product", "`div_bits`", "cycles of a quotient"), rows)


def memory_table():
    """The table of slower memories."""
    cases = {
        "ALU instruction": CASES["alu", ""],
        "load and an instruction that takes its value": Case("lw t1, 0(gp)\naddi t2, t1, 1"),
        "taken branch": CASES["branch", "taken"],
    }
    rows = [
        (latency, *(cost(simulation(), case, MemoryTiming(latency)).cycles for case in cases.values()))
        for latency in LATENCIES
    ]
    return markdown(("latency of the memories", *cases), rows)


def coupling_table():
    """The table of a machine at the accelerator port and on the bus, by width: cycles, and the ratio of the
    two.
    """
    kinds = loosely_coupled([find_system("procxcel-mont")])
    found = {}
    for row in with_work(list(Measurement().rows(kinds, COUPLED_WIDTHS))):
        assert row.ok
        found.setdefault((row.nbits, row.operation), []).append(row)
    lines = []
    for (nbits, operation), (tight, *others) in found.items():
        assert tight.normalised
        slower = [f"{100 * ((other.normalised or 0) / tight.normalised - 1):.1f} %" for other in others]
        lines.append((nbits, operation, tight.work, tight.cycles, others[0].cycles, *slower))
    head = ("bits", "operation", "work", "at the port", "on the bus", "polling", "interrupt", "key there")
    return markdown(head, lines)


def markdown(head, rows):
    """A table in Markdown, with the mark of its end."""
    lines = [head, tuple("---" for _ in head), *rows]
    cells = [[f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in line] for line in lines]
    return "".join([*(f"| {' | '.join(line)} |\n" for line in cells), "<!-- end -->"])
