"""OpenSTA as a timing engine of flow/timing/timing.py: its script, and a strict parser of its report.

Debian 12 packages version 2.0.17, of 2019. It continues after errors and exits with 0, so its messages are
parsed; it applies the library's default wire-load model unless another one is set, so the script sets one
without wires; it has no `report_units`; it doubles backslashes in names; it prints the load of a net with an
output port without its wire, which flow/timing/timing.py adds; and behind wires a pin has the lower end of
its capacitance range, 30 % too little in asap7, so that it reads the library without ranges.

A line that does not parse, a section that is missing or a version that is not in VERSIONS raises ToolError:
a row that is skipped could be the violated one. `Result.require` compares the endpoints with those that the
flow's own engine finds in the netlist.

The same run searches the shortest period if it is asked for or if the clock is missed: period minus slack
first, then bisection, as slack is not linear in the period where paths take half a cycle.
"""

import functools
import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import STDOUT

from ...fl.errors import BadInput, some
from ...rtl.sim import toolchain
from ...rtl.sim.toolchain import ToolError
from ..files import scratch
from ..kit.constraints import Constraints
from .report import DIGITS, HighestClock, PathPoint, TimedPath
from .subject import NO_WIRES, Subject
from .wire_table import stars

INSTALL = "run `apt-get install opensta`"
VERSIONS = ("2.0.17",)  # whose report the parser below was tested with
TOLERANCE_NS = 1e-5  # of the highest clock
MARGIN_NS = 1e-6  # for the last digit of single precision: a highest clock is one that is met
SINGLE = 2.0**-20  # of a time: OpenSTA adds delays in single precision, for a report in another order
MOST_ENDPOINTS = 10_000_000
CONDITIONS = (
    "default_operating_condition"  # their factors are not used, and a library may name them too early
)
SHOWN, MOST_QUOTED = 3, 80  # names and characters in a message

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
set_cmd_units -time ns -capacitance fF -resistance kOhm
if {{![read_verilog {{{netlist}}}]}} {{ puts "@failed read_verilog"; exit }}
if {{![link_design {{{top}}}]}} {{ puts "@failed link_design"; exit }}
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
{loaded}
puts "@ends inside"
set_false_path -hold -from [all_inputs]
report_checks -path_delay min -format end -digits {digits} -group_count {most} -no_line_splits
puts "@fmax"
if {{{fmax} || [worst_slack] < 0}} {{
{search}
}}
puts "@end"
"""

# the setup slacks once more, with the other wire-load model
LOADED = """\
puts "@ends loaded"
set_wire_load_model -name {other} -library {other_library}
report_checks -path_delay max -format end -digits {digits} -group_count {most} -no_line_splits
set_wire_load_model -name {model} -library {library}
"""

# slack is a rising function of the period: where the first guess does not hit, an interval around the zero is
# halved
FMAX = """\
proc slack_at {{period}} {{
{clock}
  return [worst_slack]
}}
set period [expr {{{clock_ns} - [slack_at {clock_ns}] + {margin}}}]
set slack [slack_at $period]
if {{$slack < 0 || $slack > {tolerance}}} {{
  set low {tolerance}
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

CAPACITANCE_RANGE = re.compile(r"\b(?:rise|fall)_capacitance_range\s*\([^)]*\)\s*;")
NUMBER = r"-?\d+\.\d+(?:e[-+]\d+)?"
ROW = re.compile(
    rf"\s*(?P<numbers>{NUMBER}(?:\s+{NUMBER})*)\s+(?P<edge>[\^v]) (?P<pin>.+) \((?P<kind>[^()]+)\)"
)
NET = re.compile(rf"\s*\d+\s+(?P<cap>{NUMBER})\s+(?P<net>.+) \(net\)")
DATA = re.compile(rf"\s*(?P<time>{NUMBER})\s+data (?P<what>arrival|required) time")
END = re.compile(
    rf"(?P<name>\S.*?) \((?P<kind>[^()]+)\)\s+{NUMBER}\s+{NUMBER}\s+"
    rf"(?P<slack>{NUMBER}) \((?P<verdict>MET|VIOLATED)\)"
)
HEADING = re.compile(
    r"(?:max_delay/setup|min_delay/hold) group \S.*|"
    r"\s+Required\s+Actual|Endpoint\s+Delay\s+Delay\s+Slack|-+|No paths found\.|"
)
CHECKS = {
    "setup": "setup",
    "hold": "hold",
    "inside": "hold behind registers",
    "loaded": "setup with the wire load",
}
SECTIONS = (
    "read",
    "spef",
    "check",
    "paths max",
    "ends max",
    "paths min",
    "ends min",
    "ends inside",
    "fmax",
    "end",
)
SLACK = re.compile(rf"\s*(?P<slack>{NUMBER})\s+slack \((?:MET|VIOLATED)\)")
MESSAGE = re.compile(r"(?:Error|Warning): .*")
UNIT_EDGE = {"^": "rise", "v": "fall"}


@dataclass(frozen=True)
class Result:
    """The slacks, paths and highest clock that an engine found."""

    slacks: dict[str, dict[str, float]]  # by check, see CHECKS, and endpoint
    paths: list[TimedPath]
    hold_paths: list[TimedPath]
    fmax: HighestClock | None  # also known if the clock is missed
    caveats: list[str]
    unchecked: int = 0  # registers whose paths the engine does not judge

    def worst(self, check: str) -> float | None:
        """The least slack of a check; None without an endpoint."""
        return min(self.slacks.get(check, {}).values(), default=None)

    def require(self, expected: Mapping[str, set[str]]) -> None:
        """ToolError if the report lacks an endpoint of the netlist."""
        for check, known in expected.items():
            if lost := sorted(known - self.slacks.get(check, {}).keys()):
                raise ToolError(
                    f"OpenSTA's report is incomplete: {len(known)} endpoints of {CHECKS[check]} expected, "
                    f"{len(known) - len(lost)} of them found; it lacks {some(lost, SHOWN)}"
                )


@functools.cache
def installed() -> Path:
    """Return the path of OpenSTA; BadInput says how to install it."""
    found = shutil.which("sta")
    if found is None:
        raise BadInput(f"OpenSTA is missing: {INSTALL}, or take the engine nldm")
    return Path(found)


@functools.cache
def version() -> str:
    """Return OpenSTA's version as it prints it."""
    done = toolchain.run([installed(), "-version"], toolchain.QUESTION)
    return " ".join(done.stdout.split()) or "unknown"


def tool() -> str:
    """OpenSTA with its version."""
    return f"OpenSTA {version()}"


def program() -> Path:
    """Return the path of an OpenSTA whose report can be parsed; ToolError for any other version."""
    path = installed()
    if version() not in VERSIONS:
        raise ToolError(
            f"{path} has the version {_quoted(version())}, whose report is not known: "
            f"expected OpenSTA {' or '.join(VERSIONS)}; {INSTALL} and put it first in PATH, "
            "or take this one out of PATH for the flow's own estimate"
        )
    return path


@contextmanager
def prepared(script: str, asked: Constraints, **files: Path) -> Iterator[tuple[Path, list[str | Path]]]:
    """A directory with this script, its constraints and links to `files`, and the command that runs it.

    OpenSTA cannot read a path with a blank.
    """
    with scratch() as work:
        for name, path in files.items():
            (work / name).symlink_to(path.absolute())
        (work / "no_wires.lib").write_text(NO_WIRES_LIBRARY)
        (work / "constraints.sdc").write_text(asked.sdc)
        (work / "run.tcl").write_text(script)
        yield work, [program(), "-no_init", "-no_splash", "-exit", "run.tcl"]


def run(subject: Subject, paths: int = 1, fmax: bool = False, other: str | None = None) -> Result:
    """Analyse a netlist: endpoints, worst paths of setup and of hold, and the highest clock on request.

    `other` is a second wire-load model, or NO_WIRES, for which only the setup slacks are reported.
    """
    asked = subject.asked
    name = subject.library.name
    model = subject.wire_load or NO_WIRES
    libraries = {model: name, other or NO_WIRES: name, NO_WIRES: NO_WIRES}
    spef: Path | str = ""
    if subject.spef:
        spef = subject.spef.absolute()
    elif subject.table is not None:
        spef = "wires_star.spef"
    values = {
        "lib": "cells.lib" if spef else "lib",
        "netlist": "netlist",
        "top": _word(subject.top),
        "model": model,
        "library": libraries[model],
        "other": other,
        "other_library": libraries[other or NO_WIRES],
        "spef": f"read_spef {{{_word(spef)}}}" if spef else "",
        "paths": max(paths, 1),
        "most": MOST_ENDPOINTS,
        "digits": DIGITS,
        "fmax": int(fmax),
        "clock": replace(asked, clock_ns=1.0).clock_sdc.replace("-period 1.0", "-period $period"),
        "clock_ns": repr(asked.clock_ns),
        "tolerance": TOLERANCE_NS,
        "margin": MARGIN_NS,
    }
    loaded = LOADED.format(**values) if other else ""
    script = SCRIPT.format(**values, loaded=loaded, search=FMAX.format(**values))
    files = {"lib": subject.kit.lib, "netlist": subject.netlist_v}
    with prepared(script, asked, **files) as (work, command), (work / "log").open("w+") as log:
        if spef:
            (work / "cells.lib").write_text(CAPACITANCE_RANGE.sub("", subject.kit.lib.read_text()))
        if subject.table is not None and not subject.spef:
            (work / spef).write_text(stars(subject.netlist, subject.table))
        done = toolchain.run(command, name="OpenSTA", cwd=work, stdout=log, stderr=STDOUT)
        log.seek(0)
        sections = _sections(log)
    _complain(sections, done.returncode, subject, spef)
    names = {"setup": "max", "hold": "min", "inside": "inside"} | ({"loaded": "loaded"} if other else {})
    slacks = {check: _ends(sections[f"ends {side}"]) for check, side in names.items()}
    setup = slacks["setup"]
    highest = None
    if setup and (fmax or min(setup.values()) < 0):
        try:
            highest = HighestClock(*map(float, sections["fmax"][-1].split()))
        except (IndexError, TypeError, ValueError):
            raise _unparsed(" ".join(sections["fmax"]), "a period and its slack") from None
    return Result(
        slacks,
        paths=_paths(sections["paths max"], setup)[:paths],
        hold_paths=_paths(sections["paths min"], slacks["hold"])[:paths],
        fmax=highest,
        caveats=[line.removeprefix("Warning: ") for line in sections["check"] if MESSAGE.match(line)],
    )


def _word(text: str | Path) -> str:
    """Quote a text for braces in Tcl."""
    if set(str(text)) & set("{}\\\n"):
        raise BadInput(
            f"OpenSTA cannot be given the name {str(text)!r}, with a brace or a backslash in it: rename it"
        )
    return str(text)


def _sections(log: Iterable[str]) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {"": []}
    lines = sections[""]
    for line in log:
        if line.startswith("@"):
            lines = sections[line[1:].rstrip()] = []
        else:
            lines.append(line.rstrip())
    return sections


def _quoted(text: str) -> str:
    """Return the beginning of a text as a message shows it."""
    return repr(text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}...")


def _unparsed(line: str, expected: str) -> ToolError:
    return ToolError(
        f"OpenSTA's report does not parse: expected {expected}, found {_quoted(line.strip())}; "
        f"supported: OpenSTA {', '.join(VERSIONS)}"
    )


def _complain(sections: Mapping[str, list[str]], status: int, subject: Subject, spef: Path | str) -> None:
    """Raise what OpenSTA only prints: its result would be that of another netlist, or incomplete."""
    netlist_v = subject.netlist_v
    if "failed read_verilog" in sections or "failed link_design" in sections:
        raise BadInput(
            f"{netlist_v}: OpenSTA cannot link the module {subject.top}: {_messages(sections['read'])}"
        )
    for line in sections.get("read", []):
        if "Creating black box" in line or ("not found" in line and CONDITIONS not in line):
            raise BadInput(f"{netlist_v} is not mapped to the library: {line.removeprefix('Warning: ')}")
    if lost := [name for name in SECTIONS if name not in sections]:
        raise ToolError(
            f"OpenSTA stopped ({status}) before it printed the section {lost[0]}: "
            f"{_messages(line for part in sections.values() for line in part)}"
        )
    if misfits := [line for line in sections["spef"] if MESSAGE.match(line)]:
        raise BadInput(
            f"{spef} does not fit {netlist_v}: {_messages(misfits)}: extract the wires of this netlist"
        )
    for name, lines in sections.items():
        if name != "check" and (errors := [line for line in lines if line.startswith("Error:")]):
            raise ToolError(f"OpenSTA: {_messages(errors)}")


def _messages(lines: Iterable[str]) -> str:
    return some(list(filter(MESSAGE.match, lines)), 2, " ") or "without a message"


def _ends(lines: list[str]) -> dict[str, float]:
    """Return the least slack of each endpoint over the path groups; ToolError for a line that is no row."""
    least: dict[str, float] = {}
    for line in lines:
        if match := END.fullmatch(line.rstrip()):
            name = _plain(match["name"])
            slack = float(match["slack"])
            if slack and (slack > 0) != (match["verdict"] == "MET"):
                raise _unparsed(line, "a slack that agrees with its verdict")
            least[name] = min(slack, least.get(name, math.inf))
        elif not HEADING.fullmatch(line.rstrip()) and not line.startswith("Warning: "):
            raise _unparsed(line, "a row such as 'reg/D (CELL) 2.97 2.68 0.29 (MET)'")
    return least


def _paths(lines: list[str], slacks: Mapping[str, float]) -> list[TimedPath]:
    """Return the paths of a report, worst first; ToolError unless the first has the worst of these slacks.

    OpenSTA subtracts single-precision times for each report, so that the last digit may differ.
    """
    paths = []
    for line in lines:
        if line.startswith("Startpoint:"):
            paths.append(TimedPath(slack_ns=math.nan))
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
        elif path.points and (match := NET.match(line)):
            path.points[-1].net = _plain(match["net"])
            path.points[-1].load_ff = float(match["cap"])
        elif match := ROW.match(line):
            path.points.append(_point(match, path.points))
    for path in paths:
        if not path.points or None in (path.arrival_ns, path.required_ns) or math.isnan(path.slack_ns):
            raise _unparsed(_joined(path), "a path with its pins, arrival, required time and slack")
        path.start, path.end = path.points[0].name, path.points[-1].name
    paths.sort(key=lambda path: path.slack_ns)
    worst = min(slacks.values(), default=math.inf)
    first = paths[0].slack_ns if paths else math.inf
    longest = max((abs(path.required_ns or 0.0) for path in paths[:1]), default=0.0)
    if not math.isclose(first, worst, rel_tol=0, abs_tol=1.5 * 10**-DIGITS + SINGLE * longest):
        found = _joined(paths[0]) if paths else "no path"
        raise _unparsed(found, f"a path with the worst slack of all endpoints, {worst} ns")
    return paths


def _joined(path: TimedPath) -> str:
    return f"{path.start} to {path.end}, slack {path.slack_ns} ns"


def _point(match: re.Match[str], before: list[PathPoint]) -> PathPoint:
    *_, slew, delay, arrival = [0.0, *map(float, match["numbers"].split())]
    name = _plain(match["pin"])
    kind = match["kind"]
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
