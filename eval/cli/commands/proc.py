"""Run a program on the processor.

An ELF file for RV32IM, or C or assembly, which is compiled first. Without --level and --backend the pipeline
runs as compiled RTL (rtl, native).

The exit code is 0 if the program's is, 1 if the program failed, and 2 for bad input: also for a program that
traps without a handler, or that does not end.

examples:
  modexlab proc program.c
  modexlab proc program.c --level fl
  modexlab proc program.c --trace
  modexlab proc program.c --latency 3 --stall 0.2 --seed 7 --json
  modexlab proc power.c --xcel mont --nbits 32 --stats
  modexlab proc gcd/gcd.c --accelerator gcd
"""

import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ....fl.errors import BadInput, shown
from ....fl.xcel import words_of
from ....proc.core.pipeline_trace import header
from ....proc.isa import causes
from ....proc.isa.isa import REGISTERS, decode, disassemble
from ....proc.iss.outcome import TRAP_LOOP, Commit, Execution, Trap, Window, explained
from ....proc.sim import MemoryTiming
from ....proc.software.compiler import SUFFIXES, compile_program
from ....proc.software.elf import Program, load_elf
from ....proc.software.memory import map_text, on_bus
from ...designs.session import backend_at
from ...designs.soc_system import LEVELS, System, Xcel
from ...designs.widths import check_width
from ...folders import write_file
from ...json_values import attributes, json_value
from ...progress import Progress
from ..arguments import refuse, xcel_of
from ..operations import backend_of, tracer
from ..options import (
    COUPLING,
    SETTINGS,
    UNITS,
    WIDTH,
    Group,
    choice,
    flag,
    number,
    option,
    positive,
    real,
    shared,
    short,
    writable,
)
from ..render import Json, Table, answer, labelled, warn

# about a minute: cycles by backend, or instructions without a clock
LIMITS = {"native": 100_000_000, "verilog": 5_000_000, "python": 200_000, None: 50_000_000}
WORD, MOST_CYCLES = 2**32, 2**63
MOST_WORDS_SHOWN = 16
# csrw or csrwi to a register of an accelerator that the null accelerator does not have
WRITES_XCEL = re.compile(rb"(?=s[\x10\x50\x90\xd0](?:[\x10-\xff]~|.\x7f))", re.DOTALL)
NAMES = {  # of CAUSES_OF_CYCLES, for the table
    "issue": "issue",
    "load_use": "load-use",
    "branch": "branch",
    "multiplier": "multiplier",
    "divider": "divider",
    "accelerator": "accelerator wait",
    "fetch": "instruction memory wait",
    "data_memory": "data memory wait",
    "manager": "manager wait",
    "flush": "flush (traps, fence.i)",
    "sleep": "interrupt wait (wfi)",
    "start": "start",
}


def _words(text: str) -> list[int]:
    """Parse words of 32 bits, separated by commas."""
    words = [number(part) for part in text.split(",")]
    for word in words:
        if word >= WORD:
            raise ArgumentTypeError(f"{short(str(word))} is not a word; give numbers below 2^32")
    return words


OPTIONS = (
    option("program", "PROGRAM", "an ELF file, or C (.c) or assembly (.S, .s)"),
    choice("-O", ("0", "1", "2", "3", "s"), "how C is optimised (default: 2)", dest="opt"),
    shared("--level", "default: rtl", choices=LEVELS),
    "--backend (default: native; with --trace: python)",
    option(
        "--max-cycles",
        "N",
        "stop after N cycles, at level fl N instructions (default: about a minute's)",
        type=positive,
    ),
    option("--input", "WORDS", "words for mngr2proc, as in --input 5,0x10", type=_words, default=[]),
    Group(
        "the accelerator, which C calls by NAME_call() of NAME.h",
        ("--xcel (default: the null accelerator)", "--accelerator", WIDTH, *SETTINGS, COUPLING),
    ),
    Group(
        "the hardware around the pipeline (level rtl)",
        (
            option("--latency", "L", "minimum latency of the memories in cycles (default: 1)", type=number),
            option("--extra", "N", "maximum of random extra cycles (default: 0)", type=number),
            option(
                "--stall",
                "P",
                "probability that a port is not ready, below 1 (default: 0)",
                type=real(float, "0.2"),
            ),
            "--seed (default: 1)",
            *UNITS,
        ),
    ),
    Group(
        "output",
        (
            flag("--stats", "show the stats window (CSR 0x7C1) next to the whole run"),
            "--trace",
            "--vcd",
            option(
                "--commits",
                "FILE",
                "write the retired instructions, one per line",
                convert=writable("--commits"),
            ),
            "--json",
        ),
    ),
)


def execute(args: Namespace) -> int:
    if args.max_cycles is not None and args.max_cycles >= MOST_CYCLES:
        raise BadInput(f"--max-cycles {shown(args.max_cycles)} is out of range; give less than 2^63")
    names = [*filter(None, [args.xcel]), *args.manifests]
    if len(names) > 1:
        raise BadInput(f"{names[0]} and {names[1]}: there is one accelerator; name one")
    args.xcel = next(iter(names), None)
    xcel = xcel_of(args, args.xcel, args.interface)
    of_memory = _of_clock(args, ("latency", "stall", "extra", "seed"))
    timing = MemoryTiming(**of_memory) if of_memory else None
    units = _of_clock(args, ("mul_latency", "div_bits"))
    program = _program(args, xcel.header())
    if program.note:
        warn(f"{program.name}: {program.note}")
    if xcel.design is None and _calls_accelerator(program):
        raise BadInput(f"{program.name} calls an accelerator; name one, as in --xcel mont")
    backend = backend_of(args)
    label = ", ".join(filter(None, (program.name, args.level, backend_at(args.level, backend))))
    unit = "instructions" if args.level == "fl" else "cycles"
    with (
        Progress(label, quiet=args.json) as progress,
        System(
            xcel,
            level=args.level,
            backend=backend,
            **units,
            vcd=Path(args.vcd) if args.vcd else None,
            trace=tracer(args),
        ) as system,
    ):
        if args.trace and system.backend == "python":  # the stages of the pipeline, above their columns
            print(f"{'cycle':>6}  {header()}", file=sys.stderr if args.json else sys.stdout)
        limit = args.max_cycles or LIMITS[system.backend]
        outcome = system.run(
            program,
            manager=args.input,
            timing=timing,
            limit=limit,
            record=args.commits is not None,
            progress=lambda done, _: progress.describe(f"{label}, {done:,} {unit}"),
        )
    if args.commits is not None:
        write_file(args.commits, "".join(map(_commit, outcome.commits or ())))
    if outcome.reason in ("trap", "limit"):
        raise BadInput(_refusal(program, outcome, limit, args.max_cycles is None))
    runs: list[Execution | Window] = [outcome, outcome.window] if args.stats else [outcome]
    return answer(
        args,
        _as_json(program, outcome, xcel),
        _ending(program, outcome, xcel),
        _figures(runs),
        "This level has no clock." if outcome.cycles is None else _causes(runs),
        ok=outcome.exit_code == 0,
    )


# ---- options


def _of_clock(args: Namespace, names: tuple[str, ...]) -> Json:
    """The values of these options, if given; BadInput at the functional level."""
    if args.level == "fl":
        refuse(args, names, ": the functional level has no clock; use --level rtl")
    return {name: value for name, value in attributes(args, *names).items() if value is not None}


def _program(args: Namespace, headers: Mapping[str, str]) -> Program:
    """The program in a file, compiled with these headers if it is source; its name is that of the file."""
    if not args.program:
        raise BadInput("PROGRAM '': this is not the name of a file; give an ELF file, or C or assembly")
    path = Path(args.program)
    source = path.suffix in SUFFIXES
    if not source:
        if args.opt is not None:
            raise BadInput(f"-O{args.opt}: {path.name} is compiled already; drop it, or give C")
        if args.nbits is not None and args.xcel is None:
            raise BadInput(
                f"--nbits: {path.name} is compiled already; drop it, or give an accelerator by --xcel"
            )
        return load_elf(path)
    # kernels of proc/software that the program calls are compiled for operands of this width
    nbits = args.nbits if args.nbits is None or headers else check_width(args.nbits)
    defines = {} if nbits is None else {"WORDS": words_of(nbits)}
    elf = compile_program(
        [path],
        defines=defines,
        opt=f"-O{args.opt or 2}",
        headers=headers,
        warned=lambda text: print(text, file=sys.stderr),
    )
    return replace(load_elf(elf), name=path.name)


def _calls_accelerator(program: Program) -> bool:
    """Whether an instruction of the program writes to a register of an accelerator."""
    return any(
        (address + found.start()) % 4 == 0
        for address, content in program.segments
        for found in WRITES_XCEL.finditer(content)
    )


def _commit(commit: Commit) -> str:
    """The line of a retired instruction."""
    pc, inst, rd, data, addr = commit
    effect = f"{REGISTERS[rd]}=0x{data:08x}" if rd else ""
    if addr:
        effect += f" [0x{addr:08x}]" if rd else f"[0x{addr:08x}]=0x{data:08x}"
    return f"{pc:08x} {inst:08x}  {disassemble(inst, pc):<28}  {effect}".rstrip() + "\n"


# ---- how it ended


def _refusal(program: Program, outcome: Execution, limit: int, default_limit: bool) -> str:
    """The reason that a run has no result, and the remedy."""
    trap, stuck = outcome.trap, outcome.stuck
    if trap is not None:
        remedy = _remedy(trap)
        if trap.cause == causes.FETCH_FAULT and outcome.last_pcs:
            remedy = f"the instruction before it was at {program.place(outcome.last_pcs[-1])}; {remedy}"
    elif stuck is not None and stuck.why == TRAP_LOOP:
        remedy = "set mtvec to the first instruction of a handler that can run"
    elif stuck is not None and (outcome.cycles or 0) < limit:
        remedy = "it will not go on with more cycles; --trace shows the last ones"
    else:
        remedy = f"if it only takes long, give {'' if default_limit else 'a larger '}--max-cycles"
    return f"{program.name}: {outcome.explain(program)}; {remedy}"


def _remedy(trap: Trap) -> str:
    """The remedy for a trap."""
    halts = trap.cause in causes.ALWAYS_HALT
    if halts and on_bus(trap.tval):
        return (
            "with --interface axi4lite this is on the bus, and was rejected (the registers are in "
            "fl/axi4lite.py); without it there is no bus"
        )
    if halts or trap.cause == causes.FETCH_FAULT:
        return f"stay in memory, which is {map_text()}"
    if trap.cause == causes.ILLEGAL:
        if decode(trap.inst) is None:
            return "this is not an instruction of RV32IM: compile with -march=rv32im"
        return "see the table of CSRs in docs/reference/processor.md"
    remedy = "correct it, or set mtvec to a trap handler"
    if trap.cause == causes.BREAKPOINT:
        return (
            "in compiled C, gcc puts an ebreak where the C has no meaning, such as a division by a "
            f"constant 0 or an access by a null pointer: {remedy}"
        )
    return remedy


def _as_json(program: Program, outcome: Execution, xcel: Xcel) -> Json:
    trap = outcome.last_trap  # the last one that a handler of the program took
    return {
        "program": program.name,
        **attributes(outcome, "exit_code", "reason", "level", "backend", "output"),
        **_run_as_json(outcome),
        "xcel": xcel.name,
        "nbits": xcel.nbits if xcel.design is not None else None,
        "interface": xcel.interface,
        "params": {name: json_value(value) for name, value in xcel.parameters.items()},
        "window": _run_as_json(outcome.window),
        "last_trap": trap and {"mcause": trap.cause, "mtval": trap.tval, **attributes(trap, "pc", "inst")},
    }


def _run_as_json(run: Execution | Window) -> Json:
    cpi = None if run.cpi is None else round(run.cpi, 4)
    return {**attributes(run, "instructions", "cycles"), "cpi": cpi, "where": dict(run.where)}


def _ending(program: Program, outcome: Execution, xcel: Xcel) -> str:
    """Text about a run: its level and backend, its end, and its output."""
    where = ", ".join(filter(None, (outcome.level, outcome.backend)))
    behind = f"{xcel.name}, {xcel.nbits} bits" if xcel.design is not None else xcel.name
    code, output = outcome.exit_code, outcome.output
    failed = f": test {code} failed" if outcome.reason == "tohost" and code else ""
    # the negative exit code of `main`
    signed = f" ({code - WORD})" if outcome.reason == "exit" and code and code >= WORD // 2 else ""
    pairs = [("exit code", f"{code}{signed}{failed}")]
    if failed and outcome.last_trap is not None:
        pairs.append(("last trap", explained(outcome.last_trap, program)))
    more = len(output) - MOST_WORDS_SHOWN
    words = " ".join(map(str, output[:MOST_WORDS_SHOWN]))
    pairs.append(("output", words + (f" and {more} more (all with --json)" if more > 0 else "")))
    bus = " on the bus" if xcel.on_bus else ""
    return labelled(pairs, f"{program.name} ({where}; accelerator: {behind}{bus})")


def _figures(runs: list[Execution | Window]) -> Table:
    """Instructions, cycles and CPI of the whole run and, if it is there, of the stats window."""
    rows: list[list[Any]] = [
        ["instructions", *(run.instructions for run in runs)],
        ["cycles", *(run.cycles for run in runs)],
        ["CPI", *(None if run.cpi is None else f"{run.cpi:.2f}" for run in runs)],
    ]
    note = ""
    if len(runs) > 1 and not runs[1].instructions:
        note = "The stats window was never open: the program does not write 1 to CSR 0x7C1."
    return Table(["", "whole run", "stats window"][: len(runs) + 1], rows, note=note)


def _causes(runs: list[Execution | Window]) -> Table:
    """Cycles by cause, and their share, for each run; sleep only if it occurred."""
    rows = []
    for cause, name in NAMES.items():
        row: list[Any] = [name]
        for run in runs:
            count = run.where.get(cause, 0)
            row += [count, f"{100 * count / run.cycles:.1f}" if run.cycles else None]
        if cause != "sleep" or runs[0].where[cause]:
            rows.append(row)
    head = ["where the cycles went", "cycles", "share (%)", "in window", "share (%)"]
    return Table(head[: 1 + 2 * len(runs)], rows)
