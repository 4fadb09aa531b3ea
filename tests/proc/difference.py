"""The first difference of two runs of a program: at the functional level and in RTL, or at two stages."""

from modexlab.proc.isa.isa import disassemble

ARCHITECTURE = ("reason", "exit_code", "instructions", "output", "trap", "last_trap", "last_pcs")


def first_difference(expected, found):
    """Return one line on the first difference in what both have, None if there is none.

    The commits come first, as they say most; cycles and their causes are compared if both runs have them.
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
    both = min(len(expected), len(found))
    # by halves: whole lists are compared much faster than one commit after the other
    same, differ = 0, both + 1
    while differ - same > 1:
        middle = (same + differ) // 2
        if expected[same:middle] == found[same:middle]:
            same = middle
        else:
            differ = middle
    want, got = (_shown(run[same]) if same < len(run) else "the end" for run in (expected, found))
    return f"commit {same}: {want} expected, {got} found"


def _shown(commit):
    text = f"0x{commit.pc:x} {disassemble(commit.inst, commit.pc)} (0x{commit.inst:08x})"
    if commit.addr:
        text += f" at 0x{commit.addr:x}"
    return f"{text} data 0x{commit.data:x} in x{commit.rd}" if commit.rd else f"{text} data 0x{commit.data:x}"
