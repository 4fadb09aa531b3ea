"""Phases of a program: where secrets are unprotected, and where they are masked.

A phase begins where the number that marks it is fetched or stored, and ends with the microinstruction that
stores its result. Everything outside these phases is the exponentiation itself, with its conversions and
recombination.
"""

from enum import Enum

from ..status import Status
from .ir import Check, Fetch, Keep, Program, Random, SetExponent, Word


class Part(Enum):
    """The phases, in the order of their execution."""

    LOAD = "loading the operands"
    BLIND_MESSAGE = "blinding the message, by the public exponent"
    COMPUTE = "exponentiation"
    BLIND_EXPONENT = "blinding the exponent"
    RESULT = "the unblinded result"
    CHECK = "checking the result, by the public exponent"
    WIPE = "clearing registers and memory"


def parts(program: Program) -> list[Part]:
    """The phase of each microinstruction."""
    words = program.words
    checked = any(check.status is Status.FAULT for word in words for check in word.find(Check))
    # a message is unprotected until it is blinded
    now = Part.BLIND_MESSAGE if any("x" in _fetched(word) for word in words) else Part.COMPUTE
    found = []
    for word in words:
        if word.takes:
            found.append(Part.LOAD)
            continue
        kept = {keep.slot for keep in word.find(Keep)}
        if not word.find(Random) and any(set_exponent.src == "0" for set_exponent in word.find(SetExponent)):
            now = Part.WIPE
        elif checked and "s1" in kept and now is not Part.WIPE:
            now = Part.CHECK
        elif now in (Part.COMPUTE, Part.RESULT):
            if _fetched(word) & {"k", "kp", "kq"}:
                now = Part.BLIND_EXPONENT
            elif "x" in _fetched(word):
                now = Part.BLIND_MESSAGE
        found.append(now)
        now = _after(word, now, kept)
    return found


def _fetched(word: Word) -> set[str]:
    return {fetch.slot for fetch in word.find(Fetch)}


def _after(word: Word, now: Part, kept: set[str]) -> Part:
    """The phase of the microinstruction after one in phase `now`."""
    if now is Part.BLIND_EXPONENT and any(set_exponent.add for set_exponent in word.find(SetExponent)):
        return Part.COMPUTE
    if now is Part.BLIND_MESSAGE and "u" in kept:
        return Part.COMPUTE
    return Part.RESULT if now is Part.COMPUTE and "u" in _fetched(word) else now
