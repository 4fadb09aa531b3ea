"""Single-bit faults in machines that verify their results: no wrong result is released.

A fault flips one bit once, in a register, in a memory or in the response of a unit, or one bit of a ROM
permanently. Without the check the same faults let wrong results out. A machine may hang: then it releases
nothing, and it is counted. `pytest -s` prints the numbers.
"""

import re
from collections import Counter
from random import Random

from modexlab.fl.status import Status
from modexlab.rtl.sim import translate
from modexlab.rtl.sim.campaigns.faults import Effect, Fault, Faulted, faults_of, judged
from modexlab.rtl.sim.campaigns.observed import FLIP, INSTS, PUBLIC, Kind, observed
from modexlab.rtl.sim.translation.module_files import module_files
from modexlab.rtl.sim.translation.translate import tree_of
from modexlab.rtl.verilog.translate import text

from tests.harness import each_design, one_now, parametrize, ran, refused, regress
from tests.programs import EVERYTHING, changed, machine_of
from tests.tables.keyed import good

RESIDUES = ("dpath.r.value__out", "dpath.b.value__out", "dpath.s.value__out", "dpath.mod")
MOST_CYCLES = 1_000_000


class Attacked:
    """A machine with a key, a few operations, and the faults injected into them."""

    def __init__(self, name, nbits, **settings):
        self.machine = machine_of(name, nbits, **settings)
        key = self.machine.key
        self.rng = Random(1)
        messages = [self.rng.randrange(2, key.n - 1) for _ in range(7)]
        self.requests = [self.machine.carried(message, key.d, key.n) for message in messages]
        self.golden = [(0, pow(message, key.d, key.n)) for message in messages]
        self.model = Faulted(self.machine.rtl())
        answers = [self.model.run(request, MOST_CYCLES) for request in self.requests]
        assert [answer for answer, _ in answers] == self.golden
        self.cycles = max(cycle for _, cycle in answers)
        program, registers = self.machine.programmed.program, self.model.registers
        # the words of the memory that the program uses
        self.memory = [
            word for word in registers if "memory.words" in word.path and _place(word) < program.depth
        ]
        # all other registers: counters, flags, the exponent, the state of units
        self.control = [register for register in registers if "memory.words" not in register.path]
        # those of residues and of the modulus
        self.working = [register for register in self.control if register.path.startswith(RESIDUES)]
        self.residues = self.working + self.memory
        # the microinstructions of the program
        self.rom = [table for table in self.model.tables if _place(table) < len(program.words)]

    def arrivals(self, site):
        """The cycles in which a unit responds, by the cycle rule: a product unit, or the conversion unit."""
        timing, trace = self.machine.programmed.timing, self.machine.programmed.trace(self.requests[0])
        found = set()
        for at, executed in enumerate(trace):
            if executed.word.setup is not None if site.path.startswith("setup") else executed.made:
                end = timing.loading_cycles + timing.replayed(trace[: at + 1], 0)
                one = timing.unit.product_cycles(timing.unit.blocks_of(executed.modulus or 1)) or 1
                found |= {end, end - one} if len(executed.made) > 1 else {end}
        return sorted(found)

    def some(self, count):
        """A function that draws this many random cycles for each bit of a site."""
        return lambda _: [self.rng.randrange(self.cycles) for _ in range(count)]

    def attack(self, what, sites, at, step=1):
        """Run the campaign on every step-th fault; faults that release a wrong result are printed."""
        faults = faults_of(sites, at)[::step]
        outcomes = self.model.campaign(self.requests, faults, self.golden, 3 * self.cycles)
        counts = Counter(outcome.effect for outcome in outcomes)
        said = ", ".join(f"{count} {effect.value}" for effect, count in counts.items())
        print(f"{self.machine.design.name} {self.machine.nbits}, {what}: {len(faults)} faults, {said}")
        self.wrong = [item for item in outcomes if item.effect is Effect.WRONG]
        return counts

    def withstands(self, *campaign):
        """Check that no wrong result is released, and that faults had an effect."""
        counts = self.attack(*campaign)
        assert not self.wrong, "\n".join(f"{item.fault}: {item.response}" for item in self.wrong[:20])
        assert counts[Effect.CAUGHT] > 0


def _place(site):
    """The index of a word in its memory or ROM."""
    return int(site.path.split("[")[1][:-1]) if "[" in site.path else 0


FITTED = {"fit": "modulus", **EVERYTHING}
UNCHECKED = {**FITTED, "verify": False}


def test_a_sample():
    """16 bits: a sample of all kinds of bits."""
    target = Attacked("mont-keyed", 16, **FITTED)
    target.withstands("residues", target.residues, target.some(1), 2)
    target.withstands("control", target.control, target.some(2))
    target.withstands("program", target.rom, target.some(1), 19)
    target.withstands("answers", target.model.answers, target.arrivals, 9)


@regress
def test_jumps_behind_the_check():
    """The program counter, in each cycle after the check: two skipped fetches would compare equal zeros."""
    target = Attacked("heap", 16, **{**EVERYTHING, "crt": False})
    pc = [register for register in target.control if register.path.endswith("ctrl.pc")]
    target.withstands("jumps", pc, lambda _: range(target.cycles - 60, target.cycles))


@parametrize("nbits", one_now((16, 64), 16))
def test_without_the_check_wrong_results_leave(nbits):
    """The same faults release wrong results: in residues, in responses of units, in the program."""
    target = Attacked("mont-keyed", nbits, **UNCHECKED)
    for what, *campaign in (
        ("residues", target.residues, target.some(1), 4),
        ("answers", target.model.answers, target.arrivals, nbits * 2),
        ("program", target.rom, target.some(1), 37),
    ):
        counts = target.attack(f"{what} without a check", *campaign)
        assert counts[Effect.WRONG] > counts.total() // 50


@regress
def test_64_bits():
    """Every bit of every residue several times, every bit of the program, every bit of every response when it
    arrives.
    """
    target = Attacked("mont-keyed", 64, **FITTED)
    target.withstands("working registers", target.working, target.some(10))
    target.withstands("memory", target.memory, target.some(3))
    target.withstands("other registers", target.control, target.some(4))
    target.withstands("answers", target.model.answers, target.arrivals)
    target.withstands("program", target.rom, target.some(1))


# at 32 bits, because at 16 a faulty program may by chance compute with other numbers of a key and still agree
# with itself; with CRT 16 bits are enough
VARIANTS = (
    (16, {}),
    (32, {"crt": False}),
    (32, {"blind": "no", "schedule": "always"}),
    (32, {"crt": False, "blind": "no"}),
    (32, {"crt": False, "blind": "message", "schedule": "always"}),
)
DESIGNS = [
    (name, nbits, {**settings, **how})
    for name, settings in (("mont-keyed", FITTED), ("mont-keyed", EVERYTHING))
    for nbits, how in VARIANTS
]
DESIGNS += [("heap", nbits, {**EVERYTHING, **how}) for nbits, how in VARIANTS[:3]]


@regress
@parametrize("name, nbits, how", DESIGNS)
def test_every_bit(name, nbits, how):
    """Every bit of the program, and registers every few cycles, including the program counter."""
    target = Attacked(name, nbits, **how)
    target.withstands("program", target.rom, target.some(1))
    target.withstands("memory", target.residues, target.some(1))
    few = max(1, target.cycles // 50)
    target.withstands(
        "other registers", target.control, lambda _: range(target.rng.randrange(few), target.cycles, few)
    )


# ---- fault injection itself


def test_what_can_flip():
    """Registers as in the Verilog, with their bits; tables; responses of units."""
    machine = machine_of("mont-keyed", 16, **FITTED)
    model = Faulted(machine.rtl())
    program = machine.programmed.program
    found = {register.path: register.nbits for register in model.registers}
    assert found["dpath.r.value__out"] == found["dpath.memory.words[0]"] == 16
    assert found["units__0.state"] == 17 and found["ctrl.status"] == 4
    assert 1 << found["ctrl.pc"] >= len(program.words)
    assert {table.path.split(".")[0] for table in model.tables} == {"ctrl"}
    rom = {f"ctrl.rom.insts[{at}]" for at in range(len(program.words))}
    assert rom <= {table.path for table in model.tables}
    assert {answer.path for answer in model.answers} == {"units__0__ostream__msg", "setup__ostream__msg"}
    assert model.site("dpath.r.value__out").kind is Kind.REGISTER
    with refused(r"no register, table or answer 'dpath\.q'"):
        model.site("dpath.q")


def test_a_model_without_faults_is_the_machine():
    """The same responses in the same cycles as with backend native."""
    target = Attacked("mont-keyed", 16, **FITTED)
    for request in target.requests[:3]:
        made = ran(target.machine.rtl(), [request])
        assert target.model.run(request, MOST_CYCLES) == (made.responses[0], made.done[0])


@regress
@parametrize("name", ("systolic", "mont-001"))
def test_other_machines(name):
    """Any machine of the catalogue: without a check, wrong results are released, and some machines hang."""
    machine, operands, rng = machine_of(name, 16), (0x1234, 0x5A3, 0xB5C3), Random(1)
    model, cycles = Faulted(machine.rtl()), machine.cycles(*operands)
    faults = [
        Fault(site, rng.randrange(site.nbits), rng.randrange(cycles))
        for site in model.registers
        for _ in range(3)
    ]
    outcomes = model.campaign([machine.carried(*operands)], faults, [(0, pow(*operands))], 3 * cycles)
    assert len(outcomes) == len(faults)
    assert {Effect.NONE, Effect.WRONG} <= {outcome.effect for outcome in outcomes}


@parametrize("name, tells", [("mont-keyed", False), ("heap", True)])
def test_the_time_of_a_fault(name, tells):
    """heap answers as soon as one half is wrong (docs/explanation/constant-time.md); mont-keyed in the cycle
    of a result.
    """
    machine = machine_of(name, 16, crt=True, verify=True)
    right = good(machine)
    fields = machine.programmed.named(right)
    wrong = [changed(machine, right, **{half: fields[half] ^ 2}) for half in ("dp", "dq")]
    run = ran(machine.rtl(), [right, *wrong])
    assert [status for status, _ in run.responses] == [Status.OK, Status.FAULT, Status.FAULT]
    assert (len(set(run.latencies)) > 1) == tells, run.latencies


CLOCKED = re.compile(r"^  always_ff .*?^  end$", re.MULTILINE | re.DOTALL)
WRITTEN = re.compile(r"^ *(\w+)(?:\[[^\n]*?\]|\.\w+)* <= ", re.MULTILINE)
MARKED = re.compile(rf"(\w+)(?: \[\d+\])* {re.escape(PUBLIC)}")


@each_design("tiny-ct")
def test_registers_of_all_designs(design):
    """Every name that a clocked block of the text writes is public, also that of a latch."""
    component = design.at(16).rtl()
    component.elaborate()
    tree = tree_of(component)
    public, signals = observed(tree, flips=True)
    found = 0
    for module in module_files(text(public)).values():
        written = {name for block in CLOCKED.findall(module) for name in WRITTEN.findall(block)}
        marked = MARKED.findall(module)
        assert module.count(PUBLIC) == len(marked) == len({*marked})
        assert {name for name in marked if not name.endswith(FLIP) and name != INSTS} == written
        found += len(written)
    assert len(signals) >= found > 4
    assert text(tree) == translate(design.at(16).rtl())


def test_judged():
    """A status without a result is a caught fault; a status with a wrong result is not."""
    assert judged((0, 5), (0, 5)) is Effect.NONE
    assert judged((9, 0), (0, 5)) is judged((1, 5), (0, 5)) is Effect.CAUGHT
    assert judged((9, 4), (0, 5)) is judged((0, 4), (0, 5)) is judged((0, 0), (0, 5)) is Effect.WRONG
    assert judged(None, (0, 5)) is Effect.HANG
