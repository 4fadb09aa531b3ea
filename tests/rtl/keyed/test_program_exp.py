"""Machines that execute programs: RTL, cycle-level twin, the sum over microinstructions and the closed
formula agree in every result and every cycle.

A case is a design of the catalogue with its countermeasures. `make test` has a few that differ in domain,
units, widths that follow the modulus, forwarding, windows and countermeasures; `make regress` has all
combinations.
"""

import dataclasses
import itertools
import re
from random import Random

from modexlab.fl.status import Status
from modexlab.rtl.keyed.micro_rom import MicroRom
from modexlab.rtl.keyed.microcode import Field, Microcode
from modexlab.rtl.sim import Stall, translate
from pymtl3 import Component, Interface

from tests.harness import (
    RTL_BACKENDS,
    case,
    check_native,
    finished,
    later,
    parametrize,
    ran,
    regress,
    run_mod_exps,
    run_native,
)
from tests.paths import ROOT
from tests.programs import EVERYTHING, PROTECTIONS, SECRET, changed, machine_of, operations
from tests.rtl.sim.test_readers import icarus
from tests.tables import mod_exp

BOTH = Stall(seed=7, source=0.3, sink=0.4)


def wide(name, later=True, nbits=16, **settings):
    """A case with its width."""
    return case(name, nbits, later=later, **settings)


# ---- machines with a key

AT_ONCE = [
    wide("mont-keyed", False, fit="modulus", **EVERYTHING),
    # units of 8 bits, with a scaled modulus of more low ones than the modulus has bits
    wide("heap", False, **EVERYTHING),
    # blocks of 6 bits, which do not divide into the doublings per cycle at a width of 60
    wide("mont-keyed", nbits=60, schedule="fixed-window", crt=True, verify=True, fit="modulus"),
    wide("mont-keyed", schedule="always", crt=True, blind="exponent", verify=True, forward=False),
    wide("mont-keyed", False, crt=True, blind="message", window=1),
]
ALL = [
    wide("mont-keyed", **{"schedule": schedule, "fit": fit, **protection})
    for fit, schedule, protection in itertools.product(("machine", "modulus"), SECRET, PROTECTIONS)
]
MORE = [
    wide("mont-keyed", **{"forward": False, **EVERYTHING, **how})
    for how in ({}, {"schedule": "always"}, {"window": 1}, {"window": 5}, {"crt": False})
]
# on a scaled modulus, with units of the width of the primes
HEAP = [
    wide("heap", **{"schedule": schedule, "digit_nbits": digit, **protection})
    for schedule, digit, protection in itertools.product(SECRET, (4, 10), PROTECTIONS)
]
HEAP += [
    wide("heap", **{**EVERYTHING, **how})
    for how in (
        {"quotient_delay": 1},
        {"streams": 2, "adds": 2, "loads": 2},
        {"streams": 2, "schedule": "always"},
        {"doublings_per_cycle": 2, "halvings_per_cycle": 3},
        {"doublings_per_cycle": 3, "digit_nbits": 8, "forward": False},
        {"window": 4, "crt": False},
    )
]
MORE += [
    wide("heap", schedule="always", verify=True, streams=2),
    wide("heap", schedule="always", verify=True, blind="message", digit_nbits=4, forward=False),
    wide("mont-keyed", pipelined=True, steps_per_stage=2, nstages=2, **EVERYTHING),
    wide("mont-keyed", conversion="square", **EVERYTHING),
    wide("mont-keyed", doublings_per_cycle=1, **EVERYTHING),
]


def run(component, backend, rows, stall=None):
    """Run all operations and compare their responses."""
    made = ran(component, [row.request for row in rows], backend, stall=stall)
    found = zip((row.name for row in rows), made.responses, strict=True)
    assert [*found] == [(row.name, row.golden) for row in rows]
    return made


def check_cycles(machine, rows, made):
    """Compare the hardware's cycles with the sum over microinstructions and with the formula."""
    programmed = machine.programmed
    fixed = machine.timing.product_cycles(1) is not None
    for row, latency in zip(rows, made.latencies, strict=True):
        fields = programmed.named(row.request)
        status = programmed.inspect(fields)
        assert programmed.fl(row.request) == row.golden, row
        assert latency == programmed.timing.cycles(fields, programmed.arithmetic, status), row
        if fixed and row.key is not None:
            assert latency == programmed.formula(row.key), row


def compare(machine, count):
    """Compare native RTL and the twin: responses, and the cycle of every handshake, with and
    without stalls.
    """
    rows = operations(machine, count)
    check_cycles(machine, rows, run(machine.rtl(), "native", rows))
    assert run(machine.rtl(), "native", rows, BOTH) == run(machine.cl(), "python", rows, BOTH)


@parametrize("name, nbits, how", [*AT_ONCE, *ALL, *HEAP, *MORE])
def test_private_operations(name, nbits, how):
    """Several keys, with refused requests in between: RTL = CL = sum over microinstructions = formula =
    `pow`.
    """
    compare(machine_of(name, nbits, **how), 4)


@parametrize("nbits, asked, taken", [(2048, 4, 3), (2048, 1, 1), (512, 5, 4), (32, 16, 2)], ids=str)
def test_doublings_that_are_worth_while(nbits, asked, taken):
    """The smallest number of doublings, up to the requested one, that reaches R^2 in the fewest cycles is
    chosen; more may take longer.
    """
    machines = [machine_of("heap", nbits, doublings_per_cycle=index) for index in range(1, asked + 1)]
    assert machines[-1].plan.doublings_per_cycle == taken
    cycles = [machine.cycles(2, 3, (1 << nbits) - 1) for machine in machines]
    assert cycles == sorted(cycles, reverse=True) and cycles.index(cycles[-1]) == taken - 1


@regress
@parametrize("nbits", [18, 34, 64])
@parametrize("name", ["mont-keyed", "heap"])
def test_other_widths(name, nbits):
    """Widths that are not powers of two, and one at which random factors have their full length."""
    fit = {"fit": "modulus"} if name == "mont-keyed" and nbits == 64 else {}
    shape = {"steps_per_stage": 2} if name == "mont-keyed" and nbits != 64 else {}
    compare(machine_of(name, nbits, **fit, **shape, **EVERYTHING), 3)


@regress
@parametrize(
    "name, nbits, how",
    [
        AT_ONCE[0],
        wide("heap", **EVERYTHING),
        wide("mont-keyed", schedule="always", crt=True, verify=True),
    ],
)
def test_backends_agree(name, nbits, how):
    """Simulation in Python, co-simulation in Verilog, and native simulation agree in every stamp, with
    stalls.
    """
    machine = machine_of(name, nbits, **how)
    rows = operations(machine, 1)
    made, *others = (run(machine.rtl(), backend, rows, BOTH) for backend in RTL_BACKENDS)
    assert all(other == made for other in others)


@parametrize(
    "name, nbits, how",
    [*AT_ONCE[:2], wide("mont-keyed", **EVERYTHING)],
)
def test_wrong_keys(name, nbits, how):
    """Inconsistent numbers: the statuses and cycles of the interpreter, no result, and the next operation
    works.
    """
    machine = machine_of(name, nbits, **how)
    programmed, wanted = machine.programmed, {}
    for row in operations(machine, 2):
        if row.key is not None:
            for field in ("qinv", "p", "dp", "dq", "exp"):
                wrong = changed(
                    machine, row.request, base=2, **{field: programmed.named(row.request)[field] ^ 4}
                )
                wanted[wrong] = Status.BAD_KEY if field in ("qinv", "p") else Status.FAULT, 0
            wanted[row.request] = row.golden
    made = ran(machine.rtl(), list(wanted))
    assert made.responses == list(wanted.values()) == list(map(programmed.fl, wanted))
    for request, latency in zip(wanted, made.latencies, strict=True):
        exp = programmed.named(request)["exp"]
        assert latency == programmed.timing.replayed(programmed.trace(request), exp)


# ---- machines without a key

PROGRAMS = ("fixed-window", "sliding-window", "always")
PLAIN_AT_ONCE = [
    wide("mont-keyed", False, window=1, conversion="square", forward=False),
    wide("heap", False, schedule="always", streams=2),
]
FITS, DIGITS = (
    ({"fit": "modulus"}, {"fit": "machine"}),
    ({"digit_nbits": 4}, {"digit_nbits": 16, "streams": 2}),
)
PLAIN = [
    wide(name, **{"schedule": schedule, "forward": forward, **how})
    for name, schedules, scan, shapes in (
        ("mont-keyed", PROGRAMS, "full", FITS),
        ("heap", PROGRAMS, "full", DIGITS),
    )
    for schedule in schedules
    for forward in (True, False)
    for how in (
        *shapes,
        *([{"scan": scan}] if scan and schedule == "always" else []),
        *([{"window": window} for window in (1, 2, 4)] if "window" in schedule else []),
        *([{"conversion": "square"}] if name.startswith("mont") else []),
    )
]
PLAIN.append(wide("heap", digit_nbits=4, doublings_per_cycle=2, halvings_per_cycle=2))


@parametrize("name, nbits, how", [*PLAIN_AT_ONCE, *PLAIN])
def test_table(name, nbits, how):
    """The table of exponentiations, with its delays and with stalls: RTL = CL = formula = `pow`."""
    machine = machine_of(name, nbits, **how)
    rows = mod_exp.table(nbits)
    check_native(machine.design, rows, nbits, **how)
    twin = run_mod_exps(machine.cl(), rows, machine.design, nbits, "python", BOTH, **how)
    assert run_native(machine.design, rows, nbits, BOTH, **how) == twin


# ---- constant time

DRAWS = 100_000  # evaluations of the cycle rule, over all machines
CONSTANT = [
    case("mont-keyed", later=False, fit="modulus", **EVERYTHING),
    case("mont-keyed", schedule="always", crt=True),
    case("mont-keyed", schedule="always", blind="both", verify=True),
    case("mont-keyed", later=False, schedule="fixed-window"),
    case("mont-keyed", schedule="always", scan="full"),
    case("heap", **EVERYTHING),
    case("heap", schedule="always", scan="full", digit_nbits=4),
]


def secrets(machine, rng):
    """A request whose secret fields are random or corners, of fixed length if the cycles follow it, and whose
    public fields are fixed.
    """
    mod = (1 << machine.nbits) - 5
    public = {"mod": mod, "e": 0x103 if machine.nbits > 9 else 3}
    widths = {"base": machine.nbits, "exp": machine.nbits, **dict(machine.given_fields)}
    if "dp" in widths:
        public["exp"] = public["e"]
    drawn = {}
    for name in machine.programmed.names:
        top = 1 << widths[name] if name in widths else 1
        value = rng.choice((0, 1, top - 1, top >> 1, rng.randrange(top), rng.randrange(top)))
        drawn[name] = value | top >> 1 | 1 if name in ("p", "q") else value % mod if name == "base" else value
    return drawn | {name: value for name, value in public.items() if name in drawn}


def counts(machine, draws):
    """Return how many different cycle counts `draws` random secrets give, summed over microinstructions."""
    rng, timing = Random(1), machine.programmed.timing
    return len({timing.cycles(secrets(machine, rng), None) for _ in range(draws)})


@regress
@parametrize("name, how", CONSTANT)
def test_constant_time_by_the_rule(name, how):
    assert counts(machine_of(name, 16, **how), DRAWS // len(CONSTANT)) == 1


@parametrize("name, how", CONSTANT)
def test_constant_time(name, how):
    """The latency of the RTL is constant, too. CRT and checks need the numbers of a consistent key, because
    they end the program early on any other.
    """
    machine = machine_of(name, 16, **how)
    rng = Random(2)
    requests = []
    for _ in range(250):
        drawn = secrets(machine, rng)
        if machine.promises.key == "crt" or machine.promises.checked:
            key = machine.key
            message = rng.choice((0, 1, key.n - 1, key.p, *(rng.randrange(key.n) for _ in range(4))))
            blinds = {field: value for field, value in drawn.items() if field[0] == "k"}
            requests.append(changed(machine, machine.carried(message, key.d, key.n), **blinds))
        else:
            requests.append(tuple(drawn.values()))
    made = ran(machine.rtl(), requests)
    assert {status for status, _ in made.responses} == {Status.OK}
    assert len(set(made.latencies)) == 1


def test_a_schedule_that_shows_its_exponent_is_found_out():
    """The checks above can fail."""
    assert counts(machine_of("mont-keyed", 16, schedule="sliding-window"), 50) > 1


@parametrize("name, settings", [("mont-keyed", {}), *later(("heap", {}), ("mont-keyed", EVERYTHING))])
def test_a_rom_has_the_whole_assembly(name, settings):
    """Comments that go on below their line included."""
    machine = machine_of(name, 32, **settings)
    text = translate(machine.rtl(), assertions=True)
    text = re.sub(r"\n +// (?!\d+: )", " ", text)
    for pc, texts in enumerate(machine.programmed.program.assembly):
        told = "; ".join(filter(None, texts))
        assert re.search(rf"// {pc}: (?:exponent bit [01]; )?{re.escape(told)}\n", text), told


ROM_BENCH = """
module bench;
  logic clk, reset;
  logic [{high}:0] pc;
  logic [0:0] exponent_bit;
  wire [{nbits}-1:0] inst;
  MicroRom rom ({pins});
  initial for (int i = 0; i < {depth}; i++) begin
    pc = i;
    exponent_bit = 0;
    #1 $display("%b", inst);
    exponent_bit = 1;
    #1 $display("%b", inst);
    exponent_bit = 1'bx;
    #1 $display("%b", inst);
  end
endmodule
"""


@parametrize("name, how", [("mont-keyed", {}), ("mont-keyed", {"schedule": "always"}), ("heap", EVERYTHING)])
def test_rom_has_the_microinstructions(name, how, tmp_path):
    """Icarus reads the bits of each microinstruction, even while the bit of the exponent is unknown. A branch
    names each nonzero field that is used, and omits constant fields.
    """
    program, _, shape = machine_of(name, 16, **how).rtl()._dsl.args
    code = Microcode(program, shape)
    fields = [field for field in code.fields if field.name not in code.constants]
    last, depth, bits = len(code.words) - 1, 1 << code.pc_nbits, (0, 1)
    for constant, value in code.constants.items():
        assert {int(getattr(code.inst(pc, bit), constant)) for pc in range(last + 1) for bit in bits} == {
            value
        }

    def read(pc, bit):
        inst = code.inst(min(pc, last), bit)
        return "".join(f"{int(getattr(inst, field.name)):0{field.nbits}b}" for field in fields)

    text = translate(MicroRom(code))
    pins = ["clk", "reset", "pc", *["exponent_bit"] * code.by_bit, "inst"]
    words = {
        "high": code.pc_nbits - 1,
        "nbits": sum(field.nbits for field in fields),
        "pins": ", ".join(f".{pin}({pin})" for pin in pins),
        "depth": depth,
    }
    (tmp_path / "bench.sv").write_text(text + ROM_BENCH.format(**words))
    icarus(tmp_path / "bench.sv", "bench", tmp_path / "bench.vvp")
    lines = finished(["vvp", "-n", tmp_path / "bench.vvp"]).stdout.split()
    for pc in range(depth):
        zero, one, unknown = lines[3 * pc : 3 * pc + 3]
        assert [zero, one] == [read(pc, 0), read(pc, 1)]
        assert zero != one or unknown == zero
    branches = re.findall(
        r"^      \S+: begin\n +// (\d+): .*\n((?: +(?:inst\.|//).*\n)+)", text, re.MULTILINE
    )
    assert {int(pc) for pc, _ in branches} == set(range(last + 1))
    for pc, body in branches:
        named = set(re.findall(r"inst\.(\w+) = ", body))
        used = (field for field in fields if all(field.used[int(pc)]) and field.value(int(pc), 0))
        assert named >= {field.name for field in used if field.value(int(pc), 1)}


@parametrize("name, how", [("mont-keyed", {}), ("heap", {}), *later(("mont-keyed", EVERYTHING))])
def test_fields_that_do_not_matter(name, how, monkeypatch):
    """Changing fields that a microinstruction does not read changes neither results nor cycles."""
    machine = machine_of(name, 16, **how)
    rng = Random(5)
    requests = [tuple(secrets(machine, rng).values()) for _ in range(3)]
    expected = ran(machine.rtl(), requests, "python")
    changed_fields, value = set(), Field.value

    def other(code, pc, bit):
        split = any(value(field, pc, 0) != value(field, pc, 1) for field in code.fields)
        made = []
        for field in code.fields:
            number = value(field, pc, bit)
            if not (field.used[pc][bit] if split else any(field.used[pc])):
                changed_fields.add(field.name)
                if field.labels:
                    number = (number + 1) % len(field.labels)
                else:
                    number ^= (1 << field.nbits) - 1 if field.mask else 1
            made.append(number)
        return code.inst_type(*made)

    monkeypatch.setattr(Microcode, "inst", other)
    assert ran(machine.rtl(), requests, "python") == expected
    assert changed_fields


def test_another_name_of_a_value_makes_another_type():
    """PyMTL3 shares a bitstruct between programs with the same fields, so the names of values must be part of
    it.
    """
    program, _, shape = machine_of("mont-keyed", 16, **EVERYTHING).rtl()._dsl.args
    code, other = Microcode(program, shape), Microcode(program, shape)
    vars(other)["fields"] = [
        dataclasses.replace(field, labels=tuple(f"{label}_2" for label in field.labels))
        for field in code.fields
    ]
    assert code.inst_type.ENUMS["x0"] != other.inst_type.ENUMS["x0"]


def test_picture_of_the_machine():
    """The boxes of the picture in rtl/README.md are components or interfaces of programmed machines."""
    picture = re.search(r"```\n( ProgramExp\n.*?)```", (ROOT / "rtl/README.md").read_text(), re.DOTALL)[1]
    boxes = set(re.findall(r"\b(?:[A-Z][a-z0-9]+){2,}\b|Mux", picture))
    found = set()
    for name, how in (
        ("mont-keyed", {**EVERYTHING, "conversion": "square"}),
        ("mont-keyed", EVERYTHING),
        ("heap", {}),
    ):
        top = machine_of(name, 16, **how).rtl()
        top.elaborate()
        parts = top.get_all_object_filter(lambda part: isinstance(part, Component | Interface))
        found |= {type(part).__name__ for part in parts}
    assert len(boxes) > 18 and boxes <= found
