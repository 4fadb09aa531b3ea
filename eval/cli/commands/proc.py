"""`modexlab proc`: run a program on the processor and report where its cycles went."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, shown
from ...designs.session import stage_at
from ...designs.soc_system import LEVELS, System, Xcel
from ...progress import Progress
from ...table import table
from ..arguments import (
    add_coupling,
    add_json,
    add_settings,
    add_units,
    add_width,
    answer,
    check_directory,
    json_value,
    number,
    positive,
    short,
    warn,
    writing,
    xcel_of,
)

if TYPE_CHECKING:
    from ....proc.iss.outcome import Outcome, Trap, Window
    from ....proc.sim import MemoryTiming
    from ....proc.software.elf import Program

SUMMARY = "run a program on the processor"
TEXT = """\
An ELF file for RV32IM, or C or assembly, which is
compiled first. Without --level and --stage the pipeline runs as compiled RTL (rtl, native).

The exit code is 0 if the program's is, 1 if the program failed, and 2 for bad input: also for a program that
traps without a handler, or that does not end."""
EXAMPLES = """\
  modexlab proc program.c
  modexlab proc program.c --level fl
  modexlab proc program.c --trace
  modexlab proc program.c --latency 3 --stall 0.2 --seed 7 --json
  modexlab proc power.c --xcel mont --nbits 32 --stats
  modexlab proc gcd/gcd.c --accelerator gcd"""

# what takes about a minute: cycles by stage, or instructions where there is no clock
LIMITS = {"native": 100_000_000, "verilog": 5_000_000, "python": 200_000, None: 50_000_000}
WORD, MOST_CYCLES = 2**32, 2**63
MOST_WORDS_SHOWN = 16
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


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help="an ELF file, or C (.c) or assembly (.S, .s)")
    parser.add_argument(
        "-O", dest="opt", choices=("0", "1", "2", "3", "s"), help="how C is optimized (default: 2)"
    )
    parser.add_argument("--level", choices=LEVELS, default="rtl", help="level of the model (default: rtl)")
    parser.add_argument(
        "--stage",
        help="how RTL is simulated: python, verilog or native (default: native; with --trace: python)",
    )
    parser.add_argument(
        "--max-cycles",
        type=positive,
        metavar="N",
        help="give up after so many cycles; at level fl, instructions (default: about a minute's)",
    )
    parser.add_argument(
        "--input", type=_words, default=[], metavar="WORDS", help="words for mngr2proc, as in --input 5,0x10"
    )
    xcel = parser.add_argument_group("the accelerator")
    xcel.add_argument(
        "--xcel",
        "--accelerator",
        metavar="DESIGN",
        help="a design of the catalogue, or the path of your own; C calls it by NAME_call() of NAME.h "
        "(default: the null accelerator)",
    )
    add_width(xcel, "default: 32")
    add_settings(xcel)
    add_coupling(xcel)
    timing = parser.add_argument_group("the hardware around the pipeline (level rtl)")
    timing.add_argument(
        "--latency", type=number, metavar="L", help="cycles until the memories answer, at least (default: 1)"
    )
    timing.add_argument(
        "--extra", type=number, metavar="N", help="up to so many cycles more, at random (default: 0)"
    )
    timing.add_argument(
        "--stall", type=_probability, metavar="P", help="how often a port is not ready, 0 to 1 (default: 0)"
    )
    timing.add_argument("--seed", type=number, metavar="S", help="of these random numbers (default: 1)")
    add_units(timing)
    output = parser.add_argument_group("what is shown")
    output.add_argument(
        "--stats", action="store_true", help="the stats window (CSR 0x7C1) beside the whole run"
    )
    output.add_argument("--trace", action="store_true", help="print the pipeline in every cycle")
    output.add_argument("--vcd", metavar="FILE", help="write waveforms")
    output.add_argument("--commits", metavar="FILE", help="write the instructions that retired, one a line")
    add_json(output)


def _words(text: str) -> list[int]:
    """Words of 32 bits, separated by commas."""
    words = [number(part) for part in text.split(",")]
    for word in words:
        if word >= WORD:
            raise argparse.ArgumentTypeError(f"{short(str(word))} is no word; give numbers below 2^32")
    return words


def _probability(text: str) -> float:
    """A probability below 1; its range is checked where it is used."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{short(text)!r} is not a probability; give one from 0 up and below 1, as 0.2"
        ) from None


def execute(args: argparse.Namespace) -> int:
    for option in ("vcd", "commits"):
        if getattr(args, option) is not None:
            check_directory(f"--{option}", getattr(args, option))
    if args.max_cycles is not None and args.max_cycles >= MOST_CYCLES:
        raise BadInput(f"--max-cycles {shown(args.max_cycles)} is out of range; give less than 2^63")
    xcel = xcel_of(args.xcel, args.nbits, args.settings, args.interface)
    timing, units = _timing(args), _units(args)
    stage = "python" if args.trace and args.level == "rtl" and not args.stage else args.stage
    program = _program(args, xcel.header())
    if program.note:
        warn(f"{program.name}: {program.note}")
    label = ", ".join(filter(None, (program.name, args.level, stage_at(args.level, stage))))
    with Progress(label, quiet=args.json) as progress:

        def advance(done: int, _: int) -> None:
            what = "instructions" if args.level == "fl" else "cycles"
            progress.describe(f"{label}, {done:,} {what}")

        with System(
            xcel,
            level=args.level,
            stage=stage,
            **units,
            vcd=Path(args.vcd) if args.vcd else None,
            trace=_tracer(args.json) if args.trace else None,
        ) as system:
            if args.trace:
                _print_header(system.stage, args.json)
            limit = args.max_cycles or LIMITS[system.stage]
            outcome = system.run(
                program,
                manager=args.input,
                timing=timing,
                limit=limit,
                record=args.commits is not None,
                progress=advance,
            )
    if args.commits is not None:
        with writing(args.commits) as write:
            write(_commits(outcome))
    if outcome.reason in ("trap", "limit"):
        raise BadInput(_refusal(program, outcome, limit, args.max_cycles is None))
    answer(
        args,
        lambda: _as_json(program, outcome, xcel),
        lambda: _lines(program, outcome, xcel, args.stats),
    )
    return 0 if outcome.exit_code == 0 else 1


# ---- what is asked for


def _timing(args: argparse.Namespace) -> MemoryTiming | None:
    """Return the timing of the memory, if an option sets it."""
    given = {
        name: getattr(args, name)
        for name in ("latency", "stall", "extra", "seed")
        if getattr(args, name) is not None
    }
    if not given:
        return None
    if args.level == "fl":
        raise BadInput(f"--{next(iter(given))}: the functional level has no clock; use --level rtl")
    from ....proc.sim import MemoryTiming

    return MemoryTiming(**given)


def _units(args: argparse.Namespace) -> dict[str, int]:
    """Parameters of the pipeline's units, where given."""
    given = {
        name: getattr(args, name) for name in ("mul_latency", "div_bits") if getattr(args, name) is not None
    }
    if given and args.level == "fl":
        option = next(iter(given)).replace("_", "-")
        raise BadInput(f"--{option}: the functional level has no clock; use --level rtl")
    return given


def _program(args: argparse.Namespace, headers: Mapping[str, str]) -> Program:
    """The program in a file, compiled with these headers if it is source; it goes by the name of the file."""
    from ....proc.software.compiler import SUFFIXES, compile_program
    from ....proc.software.elf import load_elf

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
    from ....fl.xcel import words_of
    from ...designs.widths import check_width

    # the kernels of proc/software, which the program may call, are compiled for operands of the width
    nbits = args.nbits if args.nbits is None or headers else check_width(args.nbits)
    defines = {} if nbits is None else {"WORDS": words_of(nbits)}
    elf = compile_program(
        [path], defines=defines, opt=f"-O{args.opt or 2}", headers=headers, warned=_show_warnings
    )
    return replace(load_elf(elf), name=path.name)


def _show_warnings(text: str) -> None:
    """The compiler's, in its own words."""
    print(text, file=sys.stderr)


# ---- the trace


def _tracer(to_stderr: bool) -> Callable[[int, str], None]:
    out = sys.stderr if to_stderr else sys.stdout
    return lambda cycle, line: print(f"{cycle:6}: {line}", file=out)


def _print_header(stage: str | None, to_stderr: bool) -> None:
    """The names of the stages of the pipeline, above their columns."""
    if stage == "python":
        from ....proc.core.pipeline_trace import header

        print(f"{'cycle':>6}  {header()}", file=sys.stderr if to_stderr else sys.stdout)


def _commits(outcome: Outcome) -> str:
    from ....proc.isa.isa import REGISTERS, disassemble

    lines = []
    for pc, inst, rd, data, addr in outcome.commits or ():
        effect = f"{REGISTERS[rd]}=0x{data:08x}" if rd else ""
        if addr:
            effect += f" [0x{addr:08x}]" if rd else f"[0x{addr:08x}]=0x{data:08x}"
        lines.append(f"{pc:08x} {inst:08x}  {disassemble(inst, pc):<28}  {effect}".rstrip())
    return "".join(f"{line}\n" for line in lines)


# ---- how it ended


def _refusal(program: Program, outcome: Outcome, limit: int, default_limit: bool) -> str:
    """Why a run has no result, and the remedy."""
    from ....proc.isa.causes import FETCH_FAULT
    from ....proc.iss.outcome import TRAP_LOOP

    if outcome.trap is not None:
        remedy = _remedy(outcome.trap)
        if outcome.trap.cause == FETCH_FAULT and outcome.last_pcs:
            remedy = f"the instruction before it was at {program.place(outcome.last_pcs[-1])}; {remedy}"
    elif outcome.stuck is not None and outcome.stuck.why == TRAP_LOOP:
        remedy = "set mtvec to the first instruction of a handler that can run"
    elif outcome.stuck is not None and (outcome.cycles or 0) < limit:
        remedy = "it will not go on with more cycles; --trace shows the last ones"
    else:
        remedy = f"if it only takes long, give {'' if default_limit else 'a larger '}--max-cycles"
    return f"{program.name}: {outcome.explain(program)}; {remedy}"


def _remedy(trap: Trap) -> str:
    """Return the remedy for a trap."""
    from ....proc.isa import causes
    from ....proc.isa.isa import decode
    from ....proc.software.memory import map_text, on_bus

    if trap.cause in causes.ALWAYS_HALT and on_bus(trap.tval):
        return (
            "with --interface axi4lite this is on the bus, and has been refused (the registers are in "
            "fl/axi4lite.py); "
            "without it there is no bus"
        )
    if trap.cause in causes.ALWAYS_HALT or trap.cause == causes.FETCH_FAULT:
        return f"stay in memory, which is {map_text()}"
    if trap.cause == causes.ILLEGAL:
        if decode(trap.inst) is None:
            return "this is no instruction of RV32IM: compile with -march=rv32im"
        return "see the table of CSRs in proc/README.md"
    if trap.cause == causes.BREAKPOINT:
        return (
            "in compiled C, gcc puts an ebreak where the C has no meaning, such as a division by a constant "
            "0 or an "
            "access by a null pointer: correct it, or set mtvec to a trap handler"
        )
    return "correct it, or set mtvec to a trap handler"


def _as_json(program: Program, outcome: Outcome, xcel: Xcel) -> dict[str, Any]:
    window = outcome.window
    return {
        "program": program.name,
        "exit_code": outcome.exit_code,
        "reason": outcome.reason,
        "instructions": outcome.instructions,
        "cycles": outcome.cycles,
        "cpi": _cpi(outcome.cpi),
        "level": outcome.level,
        "stage": outcome.stage,
        "xcel": xcel.name,
        "nbits": xcel.nbits if xcel.design is not None else None,
        "interface": xcel.interface,
        "params": {name: json_value(value) for name, value in xcel.parameters.items()},
        "where": dict(outcome.where),
        "window": {
            "instructions": window.instructions,
            "cycles": window.cycles,
            "cpi": _cpi(window.cpi),
            "where": dict(window.where),
        },
        "output": outcome.output,
        "last_trap": _trap_as_json(outcome.last_trap),
    }


def _trap_as_json(trap: Trap | None) -> dict[str, int] | None:
    """The last trap that a handler of the program's own took."""
    if trap is None:
        return None
    return {"mcause": trap.cause, "mtval": trap.tval, "pc": trap.pc, "inst": trap.inst}


def _cpi(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _lines(program: Program, outcome: Outcome, xcel: Xcel, stats: bool) -> Iterator[str]:
    where = ", ".join(filter(None, (outcome.level, outcome.stage)))
    behind = f"{xcel.name}, {xcel.nbits} bits" if xcel.design is not None else xcel.name
    behind += " on the bus" if xcel.on_bus else ""
    yield f"{program.name} ({where}; accelerator: {behind})"
    failed = f": test {outcome.exit_code} failed" if outcome.reason == "tohost" and outcome.exit_code else ""
    yield f"{'exit code':<14}  {outcome.exit_code}{_signed(outcome)}{failed}"
    if failed and outcome.last_trap is not None:
        from ....proc.iss.outcome import explained

        yield f"{'last trap':<14}  {explained(outcome.last_trap, program)}"
    if outcome.output:
        words = " ".join(str(word) for word in outcome.output[:MOST_WORDS_SHOWN])
        more = len(outcome.output) - MOST_WORDS_SHOWN
        yield f"{'output':<14}  {words}{f' and {more} more (all with --json)' if more > 0 else ''}"
    runs: list[Outcome | Window] = [outcome, outcome.window] if stats else [outcome]
    head = ["", "whole run", *(["stats window"] if stats else [])]
    yield ""
    yield table(head, [[name, *map(cell, runs)] for name, cell in _FIGURES.items()])
    if stats and not outcome.window.instructions:
        yield "The stats window was never open: the program does not write 1 to CSR 0x7C1."
    if outcome.cycles is None:
        yield "This level has no clock."
        return
    yield ""
    head = ["where the cycles went", "cycles", "share (%)"] + (["in window", "share (%)"] if stats else [])
    # without a bus nothing sleeps
    names = {cause: name for cause, name in NAMES.items() if cause != "sleep" or outcome.where[cause]}
    yield table(head, [[name, *_spent(cause, runs)] for cause, name in names.items()])


def _signed(outcome: Outcome) -> str:
    """Return the negative exit code of `main` in words."""
    code = outcome.exit_code
    return f" ({code - WORD})" if outcome.reason == "exit" and code and code >= WORD // 2 else ""


_FIGURES: Mapping[str, Callable[[Any], str]] = {
    "instructions": lambda run: str(run.instructions),
    "cycles": lambda run: "-" if run.cycles is None else str(run.cycles),
    "CPI": lambda run: "-" if run.cpi is None else f"{run.cpi:.2f}",
}


def _spent(cause: str, runs: list[Any]) -> Iterator[str]:
    """Cycles and their share, for each run."""
    for run in runs:
        cycles = run.where.get(cause, 0)
        yield str(cycles)
        yield f"{100 * cycles / run.cycles:.1f}" if run.cycles else "-"
