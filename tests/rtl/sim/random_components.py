"""Random components of the translatable subset of PyMTL3, as the text of a Python module.

A design is a list of parts of random classes, next to each other in a component `Top` whose ports are two
vectors: `in_` has the inputs of all parts, `out` their outputs. A part has combinational outputs, registers,
a list of ports in a loop, a message with fields, a state machine, or instances of other classes.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

WIDTHS = st.one_of(
    st.integers(1, 9), st.sampled_from((31, 32, 33, 63, 64, 65, 127, 128)), st.integers(1, 130)
)
HEADER = '''"""Random components."""

from pymtl3 import *

from modexlab.rtl.states import states
'''
DEPTH = 3
WIDEST_SHIFT = 16  # an amount is as wide, and Icarus does not end with one of 127 bits


@dataclass
class Source:
    """The text of a class, while it is drawn."""

    name: str
    lines: list[str] = field(default_factory=list)  # of construct
    constants: dict[str, tuple[int, int]] = field(default_factory=dict)  # name: bits, value
    signals: list[tuple[str, int]] = field(default_factory=list)  # that an expression may read
    inputs: list[tuple[str, int]] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)
    before: list[str] = field(default_factory=list)  # classes and messages that it uses

    def add(self, *lines: str) -> None:
        self.lines += lines

    def input(self, name: str, width: int) -> None:
        self.add(f"s.{name} = InPort({width})")
        self.inputs.append((name, width))
        self.signals.append((f"s.{name}", width))

    def output(self, name: str, width: int) -> None:
        self.add(f"s.{name} = OutPort({width})")
        self.outputs.append((name, width))

    def constant(self, width: int, value: int) -> str:
        name = f"C{len(self.constants)}"
        self.constants[name] = width, value
        return name

    @property
    def text(self) -> str:
        head = [f"{name} = mk_bits({width})({value})" for name, (width, value) in self.constants.items()]
        body = "\n".join(f"        {line}".rstrip() for line in [*head, *self.lines])
        return "\n\n".join([*self.before, f"class {self.name}(Component):\n    def construct(s):\n{body}\n"])


# ---- expressions


@st.composite
def expression(draw, source, width, depth=DEPTH, constant=True):
    """An expression of this width over the signals of a class. An operator has a signal in its first operand:
    PyMTL3 refuses most operations on constants alone.
    """
    same = [text for text, nbits in source.signals if nbits == width]
    wider = [(text, nbits) for text, nbits in source.signals if nbits > width]
    narrower = [(text, nbits) for text, nbits in source.signals if nbits < width]
    leaves = ["constant"] * constant + ["signal"] * 3 * bool(same) + ["slice"] * bool(wider)
    leaves = leaves or ["extended"]
    inner = ["unary", "binary", "binary", "choice", "trunc"]
    inner += ["shift"] * (width <= WIDEST_SHIFT)
    inner += ["bit"] * 3 if width == 1 else ["concat", "zext", "sext"]
    kind = draw(st.sampled_from(leaves if depth == 0 else leaves + inner * 2))

    def of(nbits, constant=True):
        return draw(expression(source, nbits, depth - 1, constant))

    def varies(nbits):
        return of(nbits, constant=False)

    match kind:
        case "signal":
            return draw(st.sampled_from(same))
        case "slice":
            text, nbits = draw(st.sampled_from(wider))
            low = draw(st.integers(0, nbits - width))
            return f"{text}[{low}]" if width == 1 and draw(st.booleans()) else f"{text}[{low}:{low + width}]"
        case "extended":
            return f"zext({draw(st.sampled_from(narrower))[0]}, {width})"
        case "constant":
            return source.constant(width, draw(st.integers(0, (1 << width) - 1)))
        case "unary":
            return f"(~{varies(width)})"
        case "binary":
            op = draw(st.sampled_from("+-&|^*"))
            small = st.integers(0, min(3, (1 << width) - 1))
            right = str(draw(small)) if op in "+-" and draw(st.booleans()) else of(width)
            return f"({varies(width)} {op} {right})"
        case "shift":
            op = draw(st.sampled_from(("<<", ">>")))
            return f"({varies(width)} {op} {of(width)})"
        case "choice":
            return f"({of(width)} if {varies(1)} else {of(width)})"
        case "trunc":
            nbits = draw(st.integers(width + 1, width + 40))
            return f"trunc({varies(nbits)}, {width})"
        case "zext" | "sext":
            nbits = draw(st.sampled_from([nbits for _, nbits in narrower] or [width - 1]))
            return f"{kind}({varies(nbits)}, {width})"
        case "concat":
            low = draw(st.integers(1, width - 1))
            return f"concat({varies(width - low)}, {of(low)})"
        case "bit":
            nbits = draw(WIDTHS)
            if draw(st.booleans()):
                return f"reduce_{draw(st.sampled_from(('and', 'or', 'xor')))}({varies(nbits)})"
            op = draw(st.sampled_from(("==", "!=", "<", "<=", ">", ">=")))
            return f"({varies(nbits)} {op} {of(nbits)})"
    raise AssertionError(kind)


# ---- parts of a class


@st.composite
def assigned(draw, source, target, width, indent=""):
    """Statements that give a target its value: at once, by slices, or in branches."""
    kind = draw(st.sampled_from(("whole", "slices", "branches")))
    if kind == "slices" and width > 1:
        low = draw(st.integers(1, width - 1))
        return [
            f"{indent}{target}[0:{low}] @= {draw(expression(source, low))}",
            f"{indent}{target}[{low}:{width}] @= {draw(expression(source, width - low))}",
        ]
    lines = [f"{indent}{target} @= {draw(expression(source, width))}"]
    if kind == "branches":
        for word in ("if", "elif")[: draw(st.integers(1, 2))]:
            lines += [
                f"{indent}{word} {draw(expression(source, 1, constant=False))}:",
                f"{indent}    {target} @= {draw(expression(source, width))}",
            ]
        if draw(st.booleans()):
            lines += [f"{indent}else:", f"{indent}    {target} @= {draw(expression(source, width))}"]
    return lines


@st.composite
def combinational(draw, source):
    """A wire that is read by what follows, and an output."""
    for name in ("w0", "w1")[: draw(st.integers(0, 2))]:
        width = draw(WIDTHS)
        source.add(f"s.{name} = Wire({width})", "", "@update", f"def make_{name}():")
        source.add(*draw(assigned(source, f"s.{name}", width, "    ")), "")
        source.signals.append((f"s.{name}", width))
    width = draw(WIDTHS)
    source.output("y", width)
    source.add("", "@update", "def make_y():", *draw(assigned(source, "s.y", width, "    ")), "")


@st.composite
def register(draw, source):
    """A register with a reset and an enable, which may count on its own value."""
    width = draw(WIDTHS)
    source.output("q", width)
    source.signals.append(("s.q", width))
    enable, value = draw(expression(source, 1, constant=False)), draw(expression(source, width))
    source.add("", "@update_ff", "def make_q():", "    if s.reset:", "        s.q <<= 0")
    source.add(f"    elif {enable}:", f"        s.q <<= {value}", "")


@st.composite
def looped(draw, source):
    """A list of ports, element by element, and one of them by an index."""
    width, log = draw(WIDTHS), draw(st.integers(1, 3))
    size = 1 << log
    source.add(f"s.xs = [InPort({width}) for _ in range({size})]")
    source.inputs += [(f"xs[{i}]", width) for i in range(size)]
    source.add(f"s.ys = [OutPort({width}) for _ in range({size})]")
    source.outputs += [(f"ys[{i}]", width) for i in range(size)]
    source.input("at", log)
    source.output("chosen", width)
    source.output("turned", size)
    op = draw(st.sampled_from("+-&|^*"))
    value = draw(expression(source, width, 1))
    source.add("", "@update", "def make_ys():", f"    for i in range({size}):")
    source.add(f"        s.ys[i] @= s.xs[i] {op} {value}", "")
    bit = draw(st.integers(0, width - 1))
    source.add("@update", "def make_turned():", f"    for i in range({size}):")
    source.add(f"        s.turned[i] @= s.xs[i][{bit}] ^ s.at[{draw(st.integers(0, log - 1))}]", "")
    source.add("@update", "def choose():", "    s.chosen @= s.xs[s.at]", "")


@st.composite
def moving(draw, source):
    """Bits from a place on, and these with copies of their sign; the place has several names."""
    log = draw(st.integers(2, 6))
    width = draw(st.integers(1, 1 << log - 1))
    source.input("word", 1 << log)
    source.input("low", log - 1)
    source.output("found", width)
    source.output("copied", width + 5)
    source.add(f"s.padded, s.place = Wire({log}), Wire({log})", "s.place //= s.padded")
    source.add(f"s.padded[0:{log - 1}] //= s.low", f"s.padded[{log - 1}:{log}] //= 0")
    selected = f"s.word[s.place : s.place + {width}]"
    source.add("", "@update", "def select():", f"    s.found @= {selected}")
    source.add(f"    s.copied @= sext({selected}, {width + 5})", "")


@st.composite
def message(draw, source):
    """A message whose fields are read and written, and one that is passed on whole."""
    fields = {name: draw(WIDTHS) for name in ("a", "b", "c")[: draw(st.integers(1, 3))]}
    kind = f"{source.name}Msg"
    listed = ", ".join(f'"{name}": mk_bits({width})' for name, width in fields.items())
    source.before.append(f'{kind} = mk_bitstruct("{kind}", {{{listed}}})\n')
    source.add(f"s.m = InPort({kind})", f"s.n = OutPort({kind})", f"s.o = OutPort({kind})")
    for name, width in fields.items():
        source.inputs.append((f"m.{name}", width))
        source.outputs += [(f"n.{name}", width), (f"o.{name}", width)]
        source.signals.append((f"s.m.{name}", width))
    source.add("", "@update", "def make_n():")
    for name, width in fields.items():
        source.add(f"    s.n.{name} @= {draw(expression(source, width))}")
    source.add(
        "",
        "@update",
        "def make_o():",
        "    s.o @= s.m",
        f"    if {draw(expression(source, 1, constant=False))}:",
    )
    source.add("        s.o @= s.n", "")


@st.composite
def machine(draw, source):
    """A state machine with declared states."""
    codes = draw(st.lists(st.integers(0, 7), min_size=2, max_size=5, unique=True))
    if 0 not in codes:
        codes[0] = 0
    names = [f"S{code}" for code in codes]
    source.add("s.st = Wire(3)")
    listed = ", ".join(f"{name}={code}" for name, code in zip(names, codes, strict=True))
    source.add(f"{', '.join(names)} = states(s.st, {listed})")
    source.output("state", 3)
    source.output("in_first", 1)
    source.add(
        "", "@update", "def show():", "    s.state @= s.st", f"    s.in_first @= s.st == {names[0]}", ""
    )
    source.add("@update_ff", "def step():", "    if s.reset:", "        s.st <<= S0")
    for name in names[: draw(st.integers(1, len(names)))]:
        source.add(
            f"    elif s.st == {name}:", f"        if {draw(expression(source, 1, 2, constant=False))}:"
        )
        source.add(f"            s.st <<= {draw(st.sampled_from(names))}")
    source.add("    else:", "        s.st <<= S0", "")


@st.composite
def instances(draw, source):
    """A list of instances of two classes with the same ports, and wires between them."""
    width = draw(WIDTHS)
    kinds = []
    for number in range(2):
        inner = Source(f"{source.name}Inner{number}")
        inner.input("x", width)
        inner.output("z", width)
        inner.add("", "@update", "def make_z():", *draw(assigned(inner, "s.z", width, "    ")))
        source.before.append(inner.text)
        kinds.append(inner.name)
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=2, max_size=4))
    source.input("first", width)
    source.output("last", width)
    source.add(f"s.units = [{', '.join(f'{kind}()' for kind in chosen)}]", "s.units[0].x //= s.first")
    for i in range(1, len(chosen)):
        source.add(f"s.units[{i}].x //= s.units[{i - 1}].z")
    source.add("s.last //= s.units[-1].z")


@st.composite
def crossed(draw, source):
    """An instance whose ports have the names of other signals outside; some of its inputs are constants."""
    width, names = draw(WIDTHS), ("p", "t", "r")  # of no other kind of part
    inner = Source(f"{source.name}Crossed")
    for name in names:
        inner.input(name, width)
    operand = st.sampled_from([f"s.{name}" for name in names])
    for name in ("u", "v"):
        inner.output(name, width)
        more = f" {draw(st.sampled_from('+-|^&'))} {draw(operand)}" if draw(st.integers(0, 3)) == 0 else ""
        inner.add("", "@update", f"def make_{name}():", f"    s.{name} @= {draw(operand)}{more}", "")
    source.before.append(inner.text)
    source.add(f"s.crossed = {inner.name}()", *(f"s.{name} = Wire({width})" for name in names))
    for name in names:
        value = draw(expression(source, width, 1, constant=False))
        source.add("", "@update", f"def make_{name}():", f"    s.{name} @= {value}", "")
        pin = draw(st.sampled_from([*(f"s.{other}" for other in names), "0", str((1 << width) - 1)]))
        source.add(f"s.crossed.{name} //= {pin}")
    for name in ("u", "v"):
        source.output(name, width)
        source.add(f"s.crossed.{name} //= s.{name}")


@st.composite
def nested(draw, source):
    """Words of a vector in a loop, with a choice in it, and values under names of the block alone."""
    width, size = draw(st.integers(1, 9)), draw(st.integers(2, 5))
    whole = width * size
    source.input("long", whole)
    source.output("words", whole)
    source.output("sum_", width)
    source.add("", "@update", "def make_words():", f"    taken = {draw(expression(source, width, 2, False))}")
    source.add(f"    for i in range({size}):")
    low = f"i * {width}"
    bit = "taken" if width == 1 else f"taken[{draw(st.integers(0, width - 1))}]"
    source.add(f"        if s.long[{draw(st.integers(0, whole - 1))}] ^ {bit}:")
    source.add(f"            s.words[{low} : {low} + {width}] @= s.long[{low} : {low} + {width}] + taken")
    source.add("        else:", f"            s.words[{low} : {low} + {width}] @= taken", "")
    source.add("@update", "def make_sum():", "    s.sum_ @= 0", f"    for i in range({size}):")
    source.add(
        f"        s.sum_ @= s.sum_ {draw(st.sampled_from('+-^|'))} s.long[{low} : {low} + {width}]", ""
    )


@st.composite
def memory(draw, source):
    """A list of registers, one of which is written, and another one read."""
    width, log = draw(WIDTHS), draw(st.integers(1, 3))
    source.input("write_at", log)
    source.input("read_at", log)
    source.output("read", width)
    source.add(f"s.cells = [Wire({width}) for _ in range({1 << log})]")
    enable, value = draw(expression(source, 1, 2, False)), draw(expression(source, width, 2))
    source.add("", "@update_ff", "def write():", f"    for i in range({1 << log}):", "        if s.reset:")
    source.add("            s.cells[i] <<= 0", f"        elif {enable} & (s.write_at == i):")
    source.add(f"            s.cells[i] <<= {value}", "")
    source.add("@update", "def read_cell():", "    s.read @= s.cells[s.read_at]", "")


@st.composite
def parameters(draw, source):
    """Instances of one class with other arguments, in a list and alone."""
    width = draw(WIDTHS)
    inner = Source(f"{source.name}Sized")
    inner.lines = [
        "s.x = InPort(nbits)",
        "wide = nbits + 1",
        "s.z = OutPort(wide)",
        "K = mk_bits(nbits)(add)",
        "",
        "@update",
        "def make_z():",
        f"    s.z @= zext(s.x, wide) {draw(st.sampled_from('+-*'))} zext(K, wide)",
    ]
    source.before.append(inner.text.replace("construct(s)", "construct(s, nbits, add)"))
    most = (1 << width) - 1
    chosen = draw(st.lists(st.integers(0, most), min_size=1, max_size=3))
    source.input("of_all", width)
    source.add(f"s.sized = [{', '.join(f'{inner.name}({width}, {add})' for add in chosen)}]")
    source.add(f"s.other = {inner.name}({width + 1}, {draw(st.integers(0, most))})")
    for i in range(len(chosen)):
        source.output(f"z{i}", width + 1)
        source.add(f"s.sized[{i}].x //= s.of_all", f"s.z{i} //= s.sized[{i}].z")
    source.output("z_other", width + 2)
    source.add("s.other.x //= s.sized[0].z", "s.z_other //= s.other.z")


PARTS = (
    combinational,
    register,
    looped,
    moving,
    message,
    machine,
    instances,
    crossed,
    nested,
    memory,
    parameters,
)


@st.composite
def parts(draw, name):
    source = Source(name)
    for place in range(draw(st.integers(1, 3))):
        source.input(f"i{place}", draw(WIDTHS))
    chosen = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3, unique=True))
    for kind in chosen:
        draw(kind(source))
    return source


@st.composite
def designs(draw, most):
    """The text of a module with a component Top of up to so many parts, and the widths of its ports."""
    found = [draw(parts(f"Part{i}")) for i in range(draw(st.integers(1, most)))]
    lines = [HEADER, *(source.text for source in found)]
    into = sum(width for source in found for _, width in source.inputs)
    out = sum(width for source in found for _, width in source.outputs)
    top = ["class Top(Component):", "    def construct(s):"]
    top += [f"        s.in_ = InPort({into})", f"        s.out = OutPort({out})"]
    places = {"in_": 0, "out": 0}
    for i, source in enumerate(found):
        top.append(f"        s.part{i} = {source.name}()")
        for port, ports in (("in_", source.inputs), ("out", source.outputs)):
            for name, width in ports:
                low = places[port]
                places[port] += width
                top.append(f"        s.part{i}.{name} //= s.{port}[{low}:{low + width}]")
    return "\n\n".join([*lines, "\n".join(top) + "\n"]), into, out
