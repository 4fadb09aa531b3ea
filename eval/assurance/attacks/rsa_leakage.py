"""Leakage of RSA machines: the exponents or messages that are compared, and the parts of a program.

The phases of a program (fl/program/phases.py) are the parts of an operation. Some of them handle the secret
unmasked by their nature, and are not judged.
"""

import random
from collections.abc import Mapping
from functools import partial

from ....cl.timing import Dependence
from ....fl.accelerator import Message
from ....fl.errors import BadInput
from ....fl.program.phases import Part, parts
from ...designs.machine import Machine
from ...designs.programmed import Programmed
from .leakage import NOTHING, Comparison
from .operands import Operands
from .rsa_operands import KEY, KeyOperands, RSAOperands

# parts that are not judged, by secret
EXCUSED = {
    "exponent": {Part.LOAD, Part.BLIND_MESSAGE, Part.BLIND_EXPONENT, Part.CHECK, Part.WIPE},
    "message": {Part.LOAD, Part.BLIND_MESSAGE, Part.RESULT, Part.CHECK, Part.WIPE},
}


def compared(
    machine: Machine,
    secret: str = "exponent",
    message: str = "random",
    seed: int = 1,
    public: Mapping[str, int] = NOTHING,
) -> Comparison:
    """Compare the private exponents or the messages of an RSA machine."""
    by_exponent = secret == "exponent"
    if not by_exponent and message != "random":
        raise BadInput(
            "--message fixed with --fixed message: both classes would be the same; drop one of them"
        )
    draw = random.Random(f"held {machine.nbits} {seed}")
    operands: Operands
    if machine.keyed:
        operands = KeyOperands(machine, KEY if by_exponent else "base", draw)
    else:
        operands = RSAOperands(machine, "exp" if by_exponent else "base")
    operands.hold(public)
    if message == "fixed" and "base" not in operands.held:
        operands.hold({"base": operands.usual(draw, operands.held)["base"]})

    def cycles(request: Message) -> int:
        """By formula, or by the operands if the machine decides word by word."""
        if machine.keyed:
            return machine.programmed.cycles(*request)
        base, exp, mod, *_ = request
        return machine.cycles(base, exp, mod)

    programmed = machine.build.programmed
    recipe = machine.programmed.recipe if machine.keyed else None
    promises, held_for_power = machine.promises, {}
    if promises.constant_time and promises.time.modulus is Dependence.VALUE and "mod" in operands.drawn:
        # it would shift the cycles of operations against each other
        held_for_power = {"mod": operands.usual(draw, operands.held)["mod"]}
    return Comparison(
        machine,
        seed,
        secret,
        message,
        words=f"the {secret}",
        title=f"a fixed {secret} against random ones",
        promise=machine.promises.sentence,
        operands=operands,
        cycles=cycles,
        parts=[part.value for part in Part],
        excused={part.value for part in EXCUSED[secret]},
        computation=Part.COMPUTE.value,
        loading_cycles=0 if programmed is None else programmed.timing.loading_cycles,
        executed=None if programmed is None else partial(_executed, programmed),
        blinded=recipe is not None and (recipe.blind_message or recipe.blind_exponent),
        held_for_power=held_for_power,
    )


def _executed(programmed: Programmed, request: Message) -> tuple[list[str], list[str]]:
    """The part of the program and the microinstruction of each cycle."""
    program, timing = programmed.program, programmed.timing
    of_word, listing = parts(program), program.listing()
    trace = programmed.trace(request)
    found: list[str] = []
    words = []
    for executed, end in zip(trace, timing.ends(trace, request[1]), strict=True):
        # microinstructions before the request is accepted take one cycle each; the others end this many
        # cycles after it is accepted
        last = len(found) if not end and executed.word.takes else timing.loading_cycles + end
        more = max(0, last + 1 - len(found))
        found += [of_word[executed.pc].value] * more
        words += [" ".join(listing[executed.pc].split())] * more
    return found, words
