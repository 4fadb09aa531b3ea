"""OpenSTA as an engine of flow/timing/timing.py: the script that it is given, and what it prints as data.

Debian 12 has version 2.0.17, of 2019. What there is to know of it: it goes on after errors and ends with 0, so that its messages
are read; it takes the library's default wire-load model unasked, so that it is given another one of no wires; it knows no
`report_units`; it doubles backslashes in names; and it prints the load of a net with an output port without its wire, which
flow/timing/timing.py adds.

The highest clock is searched for in the same run: period minus slack first, and by bisection if that does not hit, as slack
is not linear in the period where paths take half a cycle.
"""

from __future__ import annotations

import functools
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim.toolchain import ToolError
from ..kit import liberty
from ..kit.constraints import Constraints
from .report import HighestClock, PathPoint, TimedPath

INSTALL = "run `apt-get install opensta`"
NO_WIRES = "no_wires"  # a wire-load model of a library of its own
DIGITS = 6  # of times in ns and loads in fF
TOLERANCE_NS = 1e-5  # of the highest clock
MARGIN_NS = 1e-6  # for the last digit of single precision: a highest clock is one that is met
MOST_ENDPOINTS = 10_000_000

NO_WIRES_LIBRARY = f"""library ({NO_WIRES}) {{
  delay_model : table_lookup;
  time_unit : "1ns"; voltage_unit : "1V"; current_unit : "1mA";
  pulling_resistance_unit : "1kohm"; leakage_power_unit : "1nW"; capacitive_load_unit (1,ff);
  input_threshold_pct_rise : 50; input_threshold_pct_fall : 50;
  output_threshold_pct_rise : 50; output_threshold_pct_fall : 50;
  slew_lower_threshold_pct_rise : 30; slew_lower_threshold_pct_fall : 30;
  slew_upper_threshold_pct_rise : 70; slew_upper_threshold_pct_fall : 70;
  wire_load ("{NO_WIRES}") {{ capacitance : 0; resistance : 0; slope : 0; fanout_length (1, 0); }}
}}
"""

SCRIPT = """\
puts "@read"
read_liberty {{{lib}}}
read_liberty {{no_wires.lib}}
if {{![read_verilog {{{netlist}}}]}} {{ puts "@failed read_verilog"; exit }}
if {{![link_design {{{top}}}]}} {{ puts "@failed link_design"; exit }}
puts "@registers [llength [all_registers]]"
puts "@clock_port [llength [get_ports -quiet {{{port}}}]]"
puts "@constraints"
source {{constraints.sdc}}
set_wire_load_mode top
set_wire_load_model -name {model} -library {library}
puts "@spef"
{spef}
puts "@check"
check_setup
foreach side {{max min}} {{
  puts "@paths $side"
  report_checks -path_delay $side -format full -fields {{slew cap input_pin net}} -digits {digits} \\
    -group_count {paths} -no_line_splits
  puts "@ends $side"
  report_checks -path_delay $side -format end -digits {digits} -group_count {most} -no_line_splits
}}
puts "@ends inside"
set_false_path -hold -from [all_inputs]
report_checks -path_delay min -format end -digits {digits} -group_count 1 -no_line_splits
puts "@fmax"
{fmax}
puts "@end"
"""

# slack is a rising function of the period: where the first guess does not hit, an interval around the zero is halved
FMAX = """\
proc slack_at {{period}} {{
{clock}
  return [worst_slack]
}}
set period [expr {{{clock_ns} - [slack_at {clock_ns}] + {margin}}}]
set slack [slack_at $period]
if {{$slack < 0 || $slack > {tolerance}}} {{
  set low {shortest}
  set high [expr {{max($period, {clock_ns})}}]
  for {{set turn 0}} {{$turn < 30 && [slack_at $high] < 0}} {{incr turn}} {{ set high [expr {{2 * $high}}] }}
  while {{$high - $low > {tolerance}}} {{
    set period [expr {{($low + $high) / 2}}]
    if {{[slack_at $period] < 0}} {{ set low $period }} else {{ set high $period }}
  }}
  set period $high
  set slack [slack_at $period]
}}
puts "$period $slack"
"""

NUMBER = r"-?\d+\.\d+(?:e[-+]\d+)?"
ROW = re.compile(
    rf"\s*(?P<numbers>{NUMBER}(?:\s+{NUMBER})*)\s+(?P<edge>[\^v]) (?P<pin>.+) \((?P<kind>[^()]+)\)"
)
NET = re.compile(rf"\s*\d+\s+(?P<cap>{NUMBER})\s+(?P<net>.+) \(net\)")
DATA = re.compile(rf"\s*(?P<time>{NUMBER})\s+data (?P<what>arrival|required) time")
END = re.compile(
    rf"(?P<name>\S.*?) \((?P<kind>[^()]+)\)\s+{NUMBER}\s+{NUMBER}\s+(?P<slack>{NUMBER}) \((?:MET|VIOLATED)\)"
)
SLACK = re.compile(rf"\s*(?P<slack>{NUMBER})\s+slack ")
MESSAGE = re.compile(r"(?:Error|Warning): .*")
UNIT_EDGE = {"^": "rise", "v": "fall"}


@dataclass(frozen=True)
class Result:
    """What either engine finds out."""

    setup: dict[str, float]  # slack by endpoint
    hold: dict[str, float]
    hold_inside: float | None  # the least on paths that start at a register
    paths: list[TimedPath]
    hold_paths: list[TimedPath]
    fmax: HighestClock | None
    caveats: list[str]


@functools.cache
def program() -> Path:
    """Where OpenSTA is; BadInput says how to get it."""
    found = shutil.which("sta")
    if found is None:
        raise BadInput(f"OpenSTA is missing: {INSTALL}, or take the engine nldm")
    return Path(found)


@functools.cache
def version() -> str:
    """OpenSTA's version."""
    done = subprocess.run([program(), "-version"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def rounded(value: float | None) -> float | None:
    """As many digits as OpenSTA is asked for."""
    return None if value is None else round(value, DIGITS)


def run(
    netlist_v: Path,
    top: str,
    lib: Path,
    asked: Constraints,
    spef: str | Path | None,
    wire_load: str | None,
    paths: int,
    fmax: bool,
) -> Result:
    """Analyse a netlist with these constraints; `paths` worst ones for setup and for hold, and the highest clock on request."""
    library = liberty.load(lib).name
    clock = replace(asked, clock_ns=1.0).clock_sdc.replace("-period 1.0", "-period $period")
    script = SCRIPT.format(
        lib=_word(lib.absolute()),
        netlist=_word(netlist_v.absolute()),
        top=_word(top),
        port=_word(asked.clock_port or ""),
        model=wire_load or NO_WIRES,
        library=library if wire_load else NO_WIRES,
        spef=f"read_spef {{{_word(Path(spef).absolute())}}}" if spef else "",
        paths=max(paths, 1),
        most=MOST_ENDPOINTS,
        digits=DIGITS,
        fmax=FMAX.format(
            clock=clock,
            clock_ns=repr(asked.clock_ns),
            tolerance=TOLERANCE_NS,
            shortest=TOLERANCE_NS,
            margin=MARGIN_NS,
        )
        if fmax
        else "",
    )
    with tempfile.TemporaryDirectory(prefix="sta-") as directory:
        work = Path(directory)
        (work / "no_wires.lib").write_text(NO_WIRES_LIBRARY)
        (work / "constraints.sdc").write_text(asked.sdc)
        (work / "run.tcl").write_text(script)
        command: list[str | Path] = [program(), "-no_init", "-no_splash", "-exit", "run.tcl"]
        with (work / "log").open("w+") as log:
            done = subprocess.run(
                command, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        sections = _sections((work / "log").read_text())
    _complain(sections, done.returncode, netlist_v, top, asked, spef)
    setup, hold = (dict(_ends(sections[f"ends {side}"])) for side in ("max", "min"))
    best = None
    if fmax and setup:
        period, slack = map(float, sections["fmax"][-1].split())
        best = HighestClock(period, slack)
    return Result(
        setup=setup,
        hold=hold,
        hold_inside=min(dict(_ends(sections["ends inside"])).values(), default=None),
        paths=_paths(sections["paths max"])[:paths],
        hold_paths=_paths(sections["paths min"])[:paths],
        fmax=best,
        caveats=[line.removeprefix("Warning: ") for line in sections["check"] if MESSAGE.match(line)],
    )


def _word(text: str | Path) -> str:
    """What can stand between braces in Tcl."""
    if set(str(text)) & set("{}\\\n"):
        raise BadInput(
            f"OpenSTA cannot be given the name {str(text)!r}, with a brace or a backslash in it: rename it"
        )
    return str(text)


def _sections(log: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {"": []}
    name = ""
    for line in log.splitlines():
        if line.startswith("@"):
            name = line[1:]
            sections[name] = []
        else:
            sections[name].append(line)
    return sections


def _complain(
    sections: Mapping[str, list[str]],
    status: int,
    netlist_v: Path,
    top: str,
    asked: Constraints,
    spef: str | Path | None,
) -> None:
    """Whatever OpenSTA only mumbles about makes its result one of something else."""
    if "failed read_verilog" in sections or "failed link_design" in sections:
        raise BadInput(f"{netlist_v}: OpenSTA cannot link the module {top}: {_messages(sections['read'])}")
    if boxes := [
        line for line in sections.get("read", []) if "Creating black box" in line or "not found" in line
    ]:
        raise BadInput(f"{netlist_v} is not mapped to the library: {boxes[0].removeprefix('Warning: ')}")
    if asked.clock_port and "clock_port 0" in sections:
        raise BadInput(f"{netlist_v} has no port {asked.clock_port}: name the clock with --clock-port")
    if "end" not in sections:
        raise ToolError(
            f"OpenSTA stopped ({status}): {_messages(line for part in sections.values() for line in part)}"
        )
    if misfits := [line for line in sections["spef"] if MESSAGE.match(line)]:
        raise BadInput(
            f"{spef} does not fit {netlist_v}: {_messages(misfits)}: extract the wires of this netlist"
        )
    for name, lines in sections.items():
        if name != "check" and (errors := [line for line in lines if line.startswith("Error:")]):
            raise ToolError(f"OpenSTA: {_messages(errors)}")


def _messages(lines: Iterable[str]) -> str:
    found = [line for line in lines if MESSAGE.match(line)]
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return " ".join(found[:2]) + more if found else "without a message"


def _ends(lines: list[str]) -> Iterator[tuple[str, float]]:
    """The least slack of each endpoint; one may be in several groups of paths."""
    least: dict[str, float] = {}
    for line in lines:
        if match := END.match(line):
            name = _plain(match["name"])
            least[name] = min(float(match["slack"]), least.get(name, math.inf))
    return iter(least.items())


def _paths(lines: list[str]) -> list[TimedPath]:
    """The paths of a report, worst first."""
    paths: list[TimedPath] = []
    for line in lines:
        if line.startswith("Startpoint:"):
            paths.append(TimedPath())
        if not paths:
            continue
        path = paths[-1]
        if match := DATA.match(line):
            key = f"{match['what']}_ns"
            if getattr(path, key) is None:
                setattr(path, key, float(match["time"]))
        elif match := SLACK.match(line):
            path.slack_ns = float(match["slack"])
        elif path.arrival_ns is not None:
            continue  # the clock's way to the endpoint
        elif match := NET.match(line):
            path.points[-1].net, path.points[-1].load_ff = _plain(match["net"]), float(match["cap"])
        elif match := ROW.match(line):
            path.points.append(_point(match, path.points))
    for path in paths:
        path.start, path.end = path.points[0].name, path.points[-1].name
    return sorted(paths, key=lambda path: path.slack_ns)


def _point(match: re.Match[str], before: list[PathPoint]) -> PathPoint:
    *_, slew, delay, arrival = [0.0, *map(float, match["numbers"].split())]
    name, kind = _plain(match["pin"]), match["kind"]
    port = kind in ("in", "out")
    cell, _, pin = ("", "", name) if port else name.rpartition("/")
    return PathPoint(
        cell=cell,
        type="" if port else kind,
        pin=pin,
        net=before[-1].net if before else None,
        edge=UNIT_EDGE[match["edge"]],
        slew_ns=slew,
        load_ff=None,
        delay_ns=delay,
        arrival_ns=arrival,
    )


def _plain(name: str) -> str:
    return name.replace("\\\\", "\\")
