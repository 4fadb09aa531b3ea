"""Mistakes that an author plants in the accelerator of `modexlab new accelerator`, with the words of their
answers.
"""

from dataclasses import dataclass

from modexlab.eval.designs.own_template import files

RUN = "run --accelerator . --field a=1 --field b=2"
COMMANDS = {
    "fl": f"{RUN} --level fl",
    "cl": f"{RUN} --level cl",
    "run": f"{RUN} --backend python",
    "check": "check --accelerator . --backend python",
    "show": "show .",
    "verilog": "verilog --accelerator .",
    "package": "verilog --package --accelerator . -o package",
    "asic": "asic --accelerator . --to synthesis",
    "prove": "prove --accelerator . --check time",
    "leakage": "attack leakage --accelerator . --traces 40",
    "faults": "attack faults --accelerator . --samples 2",
    "proc": "proc gcd.c --accelerator .",
    "sweep": "sweep space.toml --accelerator . --store store.jsonl",
}
SPACE = """\
title = "one point"
objectives = {cycles = "min"}

[[part]]
designs = ["gcd"]
nbits = [16]
stages = ["python"]
workloads = ["typical"]
"""


@dataclass(frozen=True)
class Mistake:
    """An edit of one file; `commands` answer it with `words`, the others do not meet it."""

    name: str
    file: str
    old: str
    new: str
    words: tuple[str, ...]
    commands: str
    line: str = ""  # text of the line that the answer names


ENTRY, HARDWARE = "accelerator.py", "rtl.py"
ALL = " ".join(COMMANDS)
MADE = " ".join(command for command in COMMANDS if command != "show")  # commands that need an instance
SUM = "                s.total <<= s.a + s.b"
LEVEL = "        @update_ff\n        def datapath():"
FL, CYCLES = "        total = a + b", "        return 2"
CLASS = "    usual_nbits = 16"
SIMULATED = "run check verilog package asic prove leakage faults proc sweep"


def block(*lines):
    """An update block with these lines in front of the datapath."""
    body = "".join(f"            {line}\n" for line in lines)
    return f"        @update\n        def more():\n{body}\n{LEVEL}"


def wires(text, *lines):
    return f"        {text}\n\n{block(*lines)}"


MISTAKES = [
    # ---- imports and the class
    Mistake(
        "syntax", ENTRY, "def fl(self, a, b):", "def fl(self, a, b)", ("SyntaxError",), ALL, "def fl(self"
    ),
    Mistake(
        "import", ENTRY, "from .rtl import", "from .hardware import", ("hardware",), ALL, "from .hardware"
    ),
    Mistake(
        "module",
        ENTRY,
        "from .rtl",
        "import nosuchmodule\nfrom .rtl",
        ("nosuchmodule",),
        ALL,
        "import nosuch",
    ),
    Mistake(
        "exit", ENTRY, "from .rtl", "import sys\nsys.exit(7)\nfrom .rtl", ("sys.exit(7)",), ALL, "sys.exit(7)"
    ),
    Mistake(
        "name at import",
        ENTRY,
        "class Gcd",
        "x = undefined\n\nclass Gcd",
        ("NameError", "undefined"),
        ALL,
        "x = undefined",
    ),
    Mistake(
        "exit in fl",
        ENTRY,
        FL,
        "        import sys; sys.exit(7)",
        ("sys.exit(7)",),
        "fl check",
        "sys.exit(7)",
    ),
    Mistake("default", ENTRY, CLASS, f'{CLASS}\n    params = (Param("k", 9, (1, 2), "k"),)', ("9", "k"), ALL),
    Mistake("rows", ENTRY, CLASS, f'{CLASS}\n    params = (Param("rows", 1, (1, 2), "k"),)', ("rows",), ALL),
    Mistake(
        "nbits", ENTRY, CLASS, f'{CLASS}\n    params = (Param("nbits", 1, (1, 2), "k"),)', ("nbits",), ALL
    ),
    Mistake(
        "own attribute",
        ENTRY,
        CLASS,
        f'{CLASS}\n    k = 3\n    params = (Param("k", 1, (1, 2), "k"),)',
        ("k",),
        ALL,
    ),
    Mistake("one param", ENTRY, CLASS, f'{CLASS}\n    params = Param("k", 1, (1, 2), "k")', ("params",), ALL),
    Mistake(
        "twice",
        ENTRY,
        CLASS,
        f'{CLASS}\n    params = (Param("k", 1, (1, 2), "k"), Param("k", 1, (1, 2), "k"))',
        ("k",),
        ALL,
    ),
    Mistake("width", ENTRY, CLASS, "    usual_nbits = 16.5", ("usual_nbits",), ALL),
    Mistake("secret", ENTRY, CLASS, f'{CLASS}\n    secret = "a"', ("secret",), ALL),
    Mistake(
        "prepare",
        ENTRY,
        CLASS,
        f"{CLASS}\n\n    def prepare(self):\n        assert self.nbits > 20",
        ("AssertionError", "self.nbits > 20"),
        MADE,
        "assert self.nbits",
    ),
    Mistake("shape", ENTRY, '("g", self.nbits)', '("g", self.width)', ("width",), MADE, "self.width"),
    Mistake("shape without a tuple", ENTRY, '(("g", self.nbits),)', '("g", self.nbits)', ("shape",), MADE),
    Mistake("zero bits", ENTRY, '("g", self.nbits)', '("g", 0)', ("g",), MADE),
    # ---- the functional level
    Mistake(
        "fl raises",
        ENTRY,
        FL,
        "        total = a // 0",
        ("ZeroDivisionError",),
        "fl cl run check asic sweep",
        "a // 0",
    ),
    Mistake(
        "fl none",
        ENTRY,
        "        return total % (1 << self.nbits)",
        "        total % (1 << self.nbits)",
        ("None",),
        "fl cl run check asic sweep",
    ),
    Mistake("fl float", ENTRY, "return total % (1 << self.nbits)", "return total / 2", ("1.5",), "fl run"),
    Mistake("fl text", ENTRY, "return total % (1 << self.nbits)", 'return "3"', ("'3'",), "fl run check"),
    Mistake("fl arguments", ENTRY, "def fl(self, a, b):", "def fl(self, a):", ("fl",), "fl run check"),
    Mistake(
        "cycles raises",
        ENTRY,
        CYCLES,
        "        return {}[a]",
        ("KeyError",),
        "cl check run asic",
        "return {}[a]",
    ),
    Mistake("cycles none", ENTRY, CYCLES, "        a + 2", ("None",), "cl check"),
    Mistake("cycles float", ENTRY, CYCLES, "        return a / 2 + 2", ("2.5",), "cl run check"),
    Mistake(
        "rows raise",
        ENTRY,
        '("small numbers", (1, 1,))',
        '("small numbers", (1, 1, x))',
        ("NameError",),
        "check asic",
        "(1, 1, x)",
    ),
    Mistake(
        "rows short",
        ENTRY,
        '("small numbers", (1, 1,))',
        '("small numbers", (1,))',
        ("small numbers",),
        "check asic",
    ),
    Mistake(
        "rows text",
        ENTRY,
        '("small numbers", (1, 1,))',
        '("small numbers", (1, "1"))',
        ("small numbers",),
        "check asic",
    ),
    Mistake(
        "rows tuple",
        ENTRY,
        'Row("small numbers", (1, 1,))',
        '("small numbers", (1, 1,))',
        ("rows",),
        "check asic",
    ),
    Mistake("workloads", ENTRY, '{"typical": [(1, 1,)]}', "[(1, 1,)]", ("workloads",), "asic sweep"),
    Mistake(
        "workload raises",
        ENTRY,
        '{"typical": [(1, 1,)]}',
        '{"typical": [(1, self.c)]}',
        ("has no attribute 'c'",),
        "asic sweep",
        "self.c",
    ),
    Mistake(
        "workload wide",
        ENTRY,
        '{"typical": [(1, 1,)]}',
        '{"typical": [(1 << 16, 1)]}',
        ("65536",),
        "asic sweep",
    ),
    # ---- the hardware
    Mistake(
        "rtl raises",
        ENTRY,
        "return GcdRTL(self.nbits)",
        "return GcdRTL(self.nbits, 3)",
        ("TypeError",),
        SIMULATED,
    ),
    Mistake("rtl none", ENTRY, "return GcdRTL(self.nbits)", "GcdRTL(self.nbits)", ("rtl()",), SIMULATED),
    Mistake(
        "construct raises",
        HARDWARE,
        "s.state = Wire(2)",
        "s.state = Wire(2) + 1",
        ("TypeError",),
        SIMULATED,
        "Wire(2) + 1",
    ),
    Mistake("widths", HARDWARE, "s.total = Wire(nbits)", "s.total = Wire(nbits + 1)", ("total",), SIMULATED),
    Mistake("typo", HARDWARE, SUM, SUM.replace("s.b", "s.c"), ('"c"',), SIMULATED, "s.c"),
    Mistake(
        "wide integer", HARDWARE, SUM, f"{SUM} + 0x1FFFF", ("make the widths equal",), SIMULATED, "0x1FFFF"
    ),
    Mistake("wide state", HARDWARE, "s.state <<= DONE", "s.state <<= 5", ("5",), SIMULATED, "s.state <<= 5"),
    Mistake(
        "mismatch",
        HARDWARE,
        SUM,
        SUM.replace("s.a", "s.state"),
        ("make the widths equal",),
        SIMULATED,
        "s.state + s.b",
    ),
    Mistake(
        "division", HARDWARE, SUM, SUM.replace("+", "//"), ("FloorDiv",), "verilog package asic", "s.a // s.b"
    ),
    Mistake(
        "latch",
        HARDWARE,
        LEVEL,
        wires("s.held = Wire(nbits)", "if s.istream.val:", "    s.held @= s.a"),
        ("latch", "s.held"),
        SIMULATED,
        "s.held @=",
    ),
    Mistake(
        "loop",
        HARDWARE,
        LEVEL,
        wires("s.x, s.y = Wire(nbits), Wire(nbits)", "s.x @= s.y + 1").replace(
            LEVEL, block("s.y @= s.x + s.a").replace("more", "other")
        ),
        ("loop", "s.x", "s.y"),
        SIMULATED,
    ),
    Mistake(
        "self loop", HARDWARE, LEVEL, wires("s.x = Wire(nbits)", "s.x @= s.x + 1"), ("loop", "s.x"), SIMULATED
    ),
    Mistake(
        "undriven",
        HARDWARE,
        LEVEL,
        wires("s.x, s.y = Wire(nbits), Wire(nbits)\n        s.x //= s.y", "s.x2 = 1").replace(
            "            s.x2 = 1\n", "            pass\n"
        ),
        ("s.y", "driv"),
        SIMULATED,
    ),
    Mistake(
        "never written",
        HARDWARE,
        LEVEL,
        wires("s.x, s.lost = Wire(nbits), Wire(nbits)", "s.x @= s.lost"),
        ("s.lost", "driven"),
        SIMULATED,
        "s.x @= s.lost",
    ),
    Mistake("two drivers", HARDWARE, LEVEL, block("s.state @= 0"), ("state",), SIMULATED),
    Mistake("ff in comb", HARDWARE, "s.istream.rdy @=", "s.istream.rdy <<=", ("<<=",), SIMULATED),
    Mistake("comb in ff", HARDWARE, "s.state <<= DONE", "s.state @= DONE", ("@=",), SIMULATED),
    Mistake("reserved", HARDWARE, "s.total", "s.output", ("output",), "verilog package asic"),
]


def planted(folder, mistake=None):
    """A folder of `modexlab new accelerator gcd` with the mistake."""
    folder.mkdir()
    written = files("gcd", (("a", 16), ("b", 16)), (("g", 16),)) | {"space.toml": SPACE}
    entry = written[ENTRY].replace("Accelerator, Row, Shape", "Accelerator, Param, Row, Shape")
    if mistake is None or "secret" not in mistake.new:
        entry = entry.replace(CLASS, f'{CLASS}\n    secret = ("a",)')
    written[ENTRY] = entry
    if mistake is not None:
        assert mistake.old in written[mistake.file], mistake.name
        written[mistake.file] = written[mistake.file].replace(mistake.old, mistake.new)
    for file, text in written.items():
        (folder / file).write_text(text)
    return folder
