"""Checks of a machine's protections: refusals, wiped memories, and zeroise behind AXI4-Lite.

refusal   a machine answers invalid operands with their status and 0, and computes all others
wipe      the memory of a program holds the same words after every computation
zeroise   no operand or result stays in the slave, no earlier answer is delivered, and an operation on
          constants overwrites the machine before the slave is free again
"""

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

from ....fl.axi4lite import WIPING_EXPONENT, register_map
from ....fl.status import Status
from ....flow.prove.assertions import Decision, countdown, decide
from ....flow.prove.report import REFUTED, UNDECIDED
from ....proc.software.seeded_keys import seeded_key
from ....rtl.sim import simulate
from ....rtl.sim.campaigns.faults import Faulted
from ....rtl.sim.translation.translate import top_name, translate
from ....rtl.units.memory.residue_memory import ResidueMemory
from ....rtl.units.memory.shielded_memory import ShieldedMemory
from ...designs.interfaces import AXI4LITE
from ...designs.machine import Machine
from . import benches
from .benches import Stream
from .check import REFUSAL, WIPE, ZEROISE, Check
from .machine_checks import measured, named
from .ports import inside, ports
from .stream_checks import ONLY_IF_HELD

# a status (None: any but OK), and an expression that is valid in Python and in SystemVerilog
Condition = tuple[Status | None, str]
MOST_CYCLES = 1_000_000  # of an operation
UNROLLED = (16, 32, 64, 128)  # cycles before an answer in which a memory is overwritten
OPERATIONS = 6  # after which memories are compared
MEMORIES = (ResidueMemory, ShieldedMemory)
# the machine behind the bus may be any that answers requests
MACHINE = ("istream__rdy", "ostream__val", "ostream__msg")


def guard_checks(machine: Machine) -> Iterator[Check]:
    """The guard checks that apply to a machine."""
    says = "invalid operands are answered with an error status and result 0"
    yield Check(REFUSAL, REFUSAL, says, lambda seconds: refusal(machine, Stream.of(machine.rtl()), seconds))
    programmed = machine.build.programmed
    if programmed is not None and programmed.program.depth:
        says = "its memory holds the same words after every computation, whatever was computed"
        yield Check(WIPE, WIPE, says, lambda seconds: wipe(machine, Stream.of(machine.rtl()), seconds))
    says = "behind AXI4-Lite zeroise leaves no operand, result or later answer"
    identity = f"{ZEROISE} {machine.nbits} {machine.given_fields} {machine.traits}"
    yield Check(ZEROISE, ZEROISE, says, lambda seconds: zeroise(machine, seconds), identity=identity)


# ---- refusals


def conditions(machine: Machine) -> list[Condition]:
    """The statuses that the machine answers for bad operands; the first condition that holds decides."""
    design, promises, found = machine.design, machine.promises, list[Condition]()
    if machine.modulus_nbits < machine.nbits:
        found.append((Status.TOO_WIDE, f"mod >= {1 << machine.modulus_nbits}"))
    if machine.build.modulus:
        found.append((Status.WRONG_MODULUS, f"mod != {machine.build.modulus}"))
    found.append((Status.ZERO_MODULUS, "mod == 0"))
    if promises.odd_only and design.odd_only:
        found.append((Status.EVEN_MODULUS, "(mod & 1) == 0"))
    if promises.reduced_only and design.reduced_only:
        found.append((Status.BASE_TOO_LARGE, "base >= mod"))
    private = "1"
    if machine.takes_public:
        private = "(public == 0)"
        numbers = " | ".join(name for name, _ in machine.programmed.private)
        found += [(Status.BAD_KEY, f"(public == 1) & (({numbers}) != 0)")] if numbers else []
    if promises.key == "crt":  # an even modulus is not the product of odd primes
        found.append((Status.BAD_KEY, f"{private} & ((p & q & mod & 1) == 0)"))
    if promises.checked:  # the check compares base with result^e mod n, so a base >= n always fails
        found.append((None, f"{private} & (base >= mod)"))
    return found


def refusal(machine: Machine, design: Stream, seconds: float) -> Decision:
    """Decide whether the machine rejects invalid operands; `design` may hold the Verilog of a mutant."""
    left = countdown(seconds)
    if (wrong := wrong_corner(machine)) is not None:
        return Decision(REFUTED, "simulated natively", [wrong])
    _, room = measured(machine)
    codes = [(benches.ANY if status is None else int(status), holds) for status, holds in conditions(machine)]
    status = "".join(f"{holds} ? {code} : " for code, holds in codes) + "0"
    found = decide(benches.refusals(design, status, room, exactly=not machine.keyed), left())
    return replace(found, how=found.how + ONLY_IF_HELD)


def wrong_corner(machine: Machine) -> dict[str, int] | None:
    """The first of some corner requests that the hardware answers with a wrong status or result.

    With a key, a request that need not be refused is sent only with the key's own modulus.
    """
    n = machine.modulus or (1 << machine.modulus_nbits) - 1
    exp = machine.key.d if machine.keyed else 1
    assert exp is not None  # the key is private
    good = named(machine, machine.carried(1, exp, n))
    top = (1 << machine.nbits) - 1
    asked = [
        {"base": base, "mod": mod}
        for mod in dict.fromkeys((n, 0, 2, n - 1, n - 2, top))
        for base in dict.fromkeys((mod, min(mod + 1, top), max(mod - 1, 0), top))
    ]
    asked += [{name: good[name] & ~1} for name in ("p", "q") if name in good]
    refused = conditions(machine)
    with simulate(machine.rtl(), "native") as simulation:
        for changes in asked:
            fields = good | changes
            base, mod = fields["base"], fields["mod"]
            status = next((status for status, holds in refused if eval(holds, dict(fields))), Status.OK)
            if status == Status.OK:
                if machine.keyed and mod != n:
                    continue
                fields = named(machine, machine.carried(base, exp, mod))
            answer = simulation.run([tuple(fields.values())]).responses[0]
            assert isinstance(answer, tuple)
            expected = (status or answer[0] or Status.FAULT, 0)
            if answer != ((status, pow(base, exp, mod)) if status == Status.OK else expected):
                return {**fields, "status": answer[0], "result": answer[1]}
    return None


# ---- wiping


def wipe(machine: Machine, design: Stream, seconds: float) -> Decision:
    """Compare memories after some operations natively, then prove that the words are the same after every
    operation.
    """
    left = countdown(seconds)
    memories = [
        repr(unit).removeprefix("s.") for unit in inside(design.hardware) if isinstance(unit, MEMORIES)
    ]
    words: dict[str, tuple[int, int]] = {}  # by path: what it holds, and its bits
    model, before = Faulted(machine.rtl()), None
    # without a key, a rejected request writes nothing to the memory: only answers with status 0 are checked
    judged = "1" if machine.keyed else f"{design.answered('status')} == 0"
    for request in _requests(machine):
        answer, state = model.state(request, MOST_CYCLES)
        if answer is None:
            return Decision(REFUTED, f"no answer in {MOST_CYCLES:,} cycles")
        for site in model.registers:
            if site.path.rpartition(".words")[0] in memories:
                held, _ = words.setdefault(site.path, (state[site.path], site.nbits))
                if held != state[site.path]:
                    how = f"{site.path} holds {held:#x} or {state[site.path]:#x} after an answer"
                    pair = [named(machine, fields) for fields in (before or request, request)]
                    return Decision(REFUTED, how, pair)
        before = before or request
    if not words:
        return Decision(UNDECIDED, "there is no memory of a program in it")
    how = f"{len(words)} words" + ONLY_IF_HELD
    nbits = {name: nbits for name, (_, nbits) in words.items()}
    found = decide(benches.held(design, nbits), seconds / 8, 2)
    for cycles in UNROLLED if found.proved else ():
        found = decide(benches.wiped(design, words, cycles, judged), left() / 2, cycles, how=how)
        if found.proved:
            break
    # the counterexample may start from an unreachable state: decide from reset
    if not found.proved:
        found = decide(benches.wiped(design, words, 0, judged), left(), how=how)
    return found


def _requests(machine: Machine) -> Iterator[tuple[int, ...]]:
    """Operations of several keys, messages and random numbers, or of several operands; some are refused."""
    draw = random.Random(1)
    for which in range(1, OPERATIONS + 1):
        if not machine.keyed:
            top = 1 << machine.modulus_nbits - 1
            n = machine.modulus or draw.getrandbits(machine.modulus_nbits) | top | 1
            yield machine.carried(draw.randrange(n), draw.getrandbits(machine.nbits), n)
            continue
        key = seeded_key(machine.nbits, which)
        assert key.d is not None  # it is private
        good = machine.with_key(key, draw.randrange).carried(draw.randrange(2, key.n), key.d, key.n)
        yield good
        yield (*good[:2], 0, *good[3:])
        wrong = draw.randrange(3, len(good))
        yield (*good[:wrong], good[wrong] ^ 2, *good[wrong + 1 :])


# ---- zeroise


def zeroise(machine: Machine, seconds: float, verilog: str = "") -> Decision:
    """Decide on the slave, or on a mutant of it, around a machine whose answers are arbitrary."""
    slave = machine.exported(AXI4LITE)
    slave.elaborate()
    text = verilog or translate(slave)
    fields = [nbits for _, nbits in machine.shape.request]
    values = (0, WIPING_EXPONENT, machine.traits.modulus)
    constants = [f"{nbits}'d{value}" for nbits, value in itertools.zip_longest(fields, values, fillvalue=0)]
    control = register_map(machine.shape)["CONTROL"]
    bus = ports(slave.s_axi)
    bench = benches.zeroised(
        text,
        top_name(slave),
        [*ports(slave), *((f"s_axi__{name}", nbits, is_input) for name, nbits, is_input in bus)],
        (control.address >> 2, control.field("zeroise").low),
        f"{{{', '.join(constants)}}}",
    )
    free = [f"unit.machine.{name}" for name in MACHINE]
    return decide(bench, seconds, how="whatever the machine behind the bus answers", free=free)
