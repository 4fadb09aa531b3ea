"""Checks of a machine's protections: refusals, wiped memories, and zeroise behind AXI4-Lite.

refusal   a machine answers invalid operands with their status and 0, and computes all others
wipe      the memory of a program holds the same words after every computation
zeroise   no operand or result stays in the slave, no earlier answer is delivered, and an operation on
          constants overwrites the machine before the slave is free again
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ....fl.axi4lite import WIPING_EXPONENT, register_map
from ....fl.status import Status
from ....flow.prove.assertions import Decision, countdown, decide
from ....flow.prove.report import REFUTED, UNDECIDED
from ....rtl.sim import simulate
from ....rtl.sim.campaigns.faults import Faulted
from ....rtl.sim.translation.translate import top_name, translate
from ....rtl.units.memory.residue_memory import ResidueMemory
from ....rtl.units.memory.shielded_memory import ShieldedMemory
from ...designs.claims import Claims, Corner, Guards
from ...designs.interfaces import AXI4LITE
from ...designs.runnable import Runnable
from . import benches
from .benches import Stream
from .check import REFUSAL, WIPE, ZEROISE, Check
from .machine_checks import measured
from .ports import inside, ports
from .stream_checks import ONLY_IF_HELD

MOST_CYCLES = 1_000_000  # of an operation
UNROLLED = (16, 32, 64, 128)  # cycles before an answer in which a memory is overwritten
MEMORIES = (ResidueMemory, ShieldedMemory)
# the machine behind the bus may be any that answers requests
MACHINE = ("istream__rdy", "ostream__val", "ostream__msg")


def guard_checks(claims: Claims, guards: Guards) -> Iterator[Check]:
    """The checks of the protections of an accelerator."""
    accelerator = claims.accelerator

    def design() -> Stream:
        return Stream.of(accelerator.rtl())

    says = "invalid operands are answered with an error status and result 0"
    yield Check(REFUSAL, REFUSAL, says, lambda seconds: refusal(claims, guards, design(), seconds))
    if guards.requests is not None:
        says = "its memory holds the same words after every computation, whatever was computed"
        yield Check(WIPE, WIPE, says, lambda seconds: wipe(claims, guards, design(), seconds))
    says = "behind AXI4-Lite zeroise leaves no operand, result or later answer"
    identity = f"{ZEROISE} {accelerator.shape} {accelerator.traits}"
    yield Check(ZEROISE, ZEROISE, says, lambda seconds: zeroise(accelerator, seconds), identity=identity)


# ---- refusals


def refusal(claims: Claims, guards: Guards, design: Stream, seconds: float) -> Decision:
    """Decide whether an accelerator rejects invalid operands; `design` may hold the Verilog of a mutant."""
    left = countdown(seconds)
    if (wrong := wrong_corner(claims, guards.corners())) is not None:
        return Decision(REFUTED, "simulated natively", [wrong])
    _, room = measured(claims)
    codes = [(benches.ANY if status is None else int(status), holds) for status, holds in guards.refused]
    status = "".join(f"{holds} ? {code} : " for code, holds in codes) + "0"
    found = decide(benches.refusals(design, status, room, exactly=guards.exactly), left())
    return replace(found, how=found.how + ONLY_IF_HELD)


def wrong_corner(claims: Claims, corners: Iterable[Corner]) -> dict[str, int] | None:
    """The first of these requests that the hardware answers with a wrong status or result."""
    with simulate(claims.accelerator.rtl(), "native") as simulation:
        for fields, status, result in corners:
            answer = simulation.run([tuple(fields.values())]).responses[0]
            assert isinstance(answer, tuple)
            expected = (answer[0] or Status.FAULT) if status is None else status
            if answer != (expected, result):
                return {**fields, "status": answer[0], "result": answer[1]}
    return None


# ---- wiping


def wipe(claims: Claims, guards: Guards, design: Stream, seconds: float) -> Decision:
    """Compare memories after some operations natively, then prove that the words are the same after every
    operation.
    """
    left = countdown(seconds)
    memories = [
        repr(unit).removeprefix("s.") for unit in inside(design.hardware) if isinstance(unit, MEMORIES)
    ]
    words: dict[str, tuple[int, int]] = {}  # by path: what it holds, and its bits
    model, before = Faulted(claims.accelerator.rtl()), None
    # without a key, a rejected request writes nothing to the memory: only answers with status 0 are checked
    judged = "1" if guards.refusals_wipe else f"{design.answered('status')} == 0"
    for request in guards.requests() if guards.requests is not None else ():
        answer, state = model.state(request, MOST_CYCLES)
        if answer is None:
            return Decision(REFUTED, f"no answer in {MOST_CYCLES:,} cycles")
        for site in model.registers:
            if site.path.rpartition(".words")[0] in memories:
                held, _ = words.setdefault(site.path, (state[site.path], site.nbits))
                if held != state[site.path]:
                    how = f"{site.path} holds {held:#x} or {state[site.path]:#x} after an answer"
                    pair = [claims.named(fields) for fields in (before or request, request)]
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


# ---- zeroise


def zeroise(accelerator: Runnable, seconds: float, verilog: str = "") -> Decision:
    """Decide on the slave, or on a mutant of it, around a machine whose answers are arbitrary."""
    slave = accelerator.exported(AXI4LITE)
    slave.elaborate()
    text = verilog or translate(slave, whole=True)
    fields = [nbits for _, nbits in accelerator.shape.request]
    values = (0, WIPING_EXPONENT, accelerator.traits.modulus)
    constants = [f"{nbits}'d{value}" for nbits, value in itertools.zip_longest(fields, values, fillvalue=0)]
    control = register_map(accelerator.shape)["CONTROL"]
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
