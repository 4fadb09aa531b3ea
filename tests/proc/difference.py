"""First difference between two runs of a program: at FL and in RTL, or with two backends."""

import itertools

from modexlab.proc.isa.isa import disassemble

ARCHITECTURE = ("reason", "exit_code", "instructions", "output", "trap", "last_trap", "last_pcs")


def first_difference(expected, found):
    """One line about the first difference in the results that both runs have, or None.

    Commits are compared first, as they are the most specific; cycles and their causes are compared if both
    runs have them.
    """
    if expected.commits is not None and found.commits is not None and expected.commits != found.commits:
        return _first_commit(expected.commits, found.commits)
    for name in ARCHITECTURE:
        if (want := getattr(expected, name)) != (got := getattr(found, name)):
            return f"{name}: {want} expected, {got} found"
    if (want := expected.window.instructions) != (got := found.window.instructions):
        return f"instructions in the stats window: {want} expected, {got} found"
    if expected.cycles is not None and found.cycles is not None:
        for name in ("cycles", "where", "window"):
            if (want := getattr(expected, name)) != (got := getattr(found, name)):
                return f"{name}: {want} expected, {got} found"
    return None


def _first_commit(expected, found):
    pairs = enumerate(itertools.zip_longest(expected, found))
    at, (want, got) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    return f"commit {at}: {_shown(want)} expected, {_shown(got)} found"


def _shown(commit):
    if commit is None:
        return "the end"
    text = f"0x{commit.pc:x} {disassemble(commit.inst, commit.pc)} (0x{commit.inst:08x})"
    if commit.addr:
        text += f" at 0x{commit.addr:x}"
    return f"{text} data 0x{commit.data:x} in x{commit.rd}" if commit.rd else f"{text} data 0x{commit.data:x}"
