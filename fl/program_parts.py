"""What the words of a program are at, by what they do: where its secrets come in as they are, and where they are hidden.

A part begins where a number is fetched or stored that marks it, and ends with the word that stores what it has made. What is in none
is the exponentiation itself, with its conversions and what puts its parts together.
"""

from __future__ import annotations

from enum import Enum

from .program import Check, Fetch, Keep, Program, SetExponent, SetModulus, Word
from .status import Status


class Part(Enum):
    """The parts, in the order in which they come."""

    LOAD = "the operands are taken"
    BLIND_MESSAGE = "the message is blinded, by the public exponent"
    COMPUTE = "the exponentiation"
    BLIND_EXPONENT = "the exponent is blinded"
    RESULT = "the result is there, without its blinding"
    CHECK = "the result is checked, by the public exponent"
    WIPE = "the registers and the memory are cleared"


def parts(program: Program) -> list[Part]:
    """Of each word."""
    checked = any(each.status is Status.FAULT for word in program.words for each in word.find(Check))
    found: list[Part] = []
    now = Part.COMPUTE
    for word in program.words:
        if word.takes:
            found.append(Part.LOAD)
            continue
        fetched = {each.slot for each in word.find(Fetch)}
        kept = {each.slot for each in word.find(Keep)}
        changed = next(iter(word.find(SetModulus)), None)
        if changed is not None and changed.src == "0" and word.find(SetExponent):
            now = Part.WIPE
        elif checked and "s1" in kept and now is not Part.WIPE:
            now = Part.CHECK
        elif now is Part.RESULT and changed is not None and changed.slot:
            now = Part.COMPUTE  # the other prime, where each is unblinded by itself
        elif now is Part.COMPUTE and fetched & {"k", "kp", "kq"}:
            now = Part.BLIND_EXPONENT
        elif now is Part.COMPUTE and "x" in fetched:
            now = Part.BLIND_MESSAGE
        found.append(now)
        now = _after(word, now, fetched, kept)
    return found


def _after(word: Word, now: Part, fetched: set[str], kept: set[str]) -> Part:
    """The part of the word behind one of this part."""
    if now is Part.BLIND_EXPONENT and any(each.add for each in word.find(SetExponent)):
        return Part.COMPUTE
    if now is Part.BLIND_MESSAGE and ("m" in kept or ("u" in kept and "c" in fetched)):
        return Part.COMPUTE
    return Part.RESULT if now is Part.COMPUTE and "u" in fetched else now
