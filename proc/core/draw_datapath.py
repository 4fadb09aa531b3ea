"""The datapath of the processor as a figure, in the spirit of paper 001's Figure 4: `python -m modexlab.proc.core.draw_datapath` draws
datapath.svg anew.

The figure is a list of parts and a list of wires, and names what it shows as Proc and ProcDpath name it: a part is a component or an
update block, its pins and the wires are signals. So a test can compare it with the hardware, wire by wire
(tests/proc/test_datapath.py). Left out: control, that is the selects of the muxes, the enables of the registers, `decoded` and funct3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

FIGURE = Path(__file__).with_name("datapath.svg")

WIDTH, HEIGHT = 1740, 1030
NAME_SIZE, LABEL_SIZE = 15, 12.5
PITCH = 24  # between the inputs of a mux
MUX_WIDTH, SLANT = 24, 9
REGISTER_WIDTH, REGISTER_HEIGHT = 62, 26
BOTTOM = 1010  # of the stages

# the stages: letter, what it does, left and right end
STAGES = (
    ("F", "fetch", 14, 227),
    ("D", "decode, read registers", 227, 647),
    ("X", "execute", 647, 1187),
    ("M", "memory", 1187, 1491),
    ("W", "write back", 1491, 1726),
)
# kind of part -> fill, stroke, words of the legend
KINDS = {
    "unit": ("#e6eef8", "#4d77b3", "unit"),
    "register": ("#fcf2d2", "#b08a1e", "register"),
    "mux": ("#e3f3ea", "#3c8a61", "multiplexer"),
    "adder": ("#e3f3ea", "#3c8a61", "adder"),
    "port": ("#f6e6f2", "#a3508f", "port"),
}


class Pin(NamedTuple):
    """Where a wire may end (an input of a part) or begin (an output)."""

    signal: str
    x: float
    y: float

    @property
    def handshake(self) -> bool:
        """Whether val and rdy go with the signal."""
        return ".msg" in self.signal or self.signal.startswith("fetch.out_")


@dataclass(frozen=True)
class Part:
    """A box; `made_of` is the component, port or update block that it shows."""

    kind: str
    made_of: str
    label: str
    x: float
    y: float
    width: float
    height: float
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    mirrored: bool = False  # inputs at the right
    label_y: float | None = None  # of the label, if it is not in the middle

    @property
    def label_place(self) -> tuple[float, float]:
        """The middle of the label's base line."""
        middle = self.y + self.height / 2 + 5
        return self.x + self.width / 2, middle if self.label_y is None else self.label_y


@dataclass(frozen=True)
class Wire:
    """A signal from an output, or from a point of a wire of the same signal, to an input.

    path: as in SVG, of M, H and V only. named: it begins at its name (a label), not at its source. through: update blocks that only
    gate it. to_control: it ends outside the figure.
    """

    signal: str
    path: str
    named: bool = False
    through: tuple[str, ...] = ()
    to_control: bool = False
    passed_on: bool = False  # only for the commit port

    @property
    def points(self) -> list[tuple[float, float]]:
        """The corners of the path."""
        x = y = 0.0
        points = []
        for command, numbers in re.findall(r"([MHV])([^MHV]*)", self.path):
            values = [float(number) for number in numbers.split()]
            x, y = (
                (values[0], values[1])
                if command == "M"
                else (values[0], y)
                if command == "H"
                else (x, values[0])
            )
            points.append((x, y))
        return points


class Label(NamedTuple):
    """A name beside a wire."""

    x: float
    y: float
    text: str
    anchor: str = "start"


def unit(
    made_of: str,
    label: str,
    box: tuple[float, float, float, float],
    inputs: dict[str, tuple[float, float]],
    outputs: dict[str, tuple[float, float]],
    label_y: float | None = None,
) -> Part:
    """A component; pins by the names of its ports."""

    def pins(places: dict[str, tuple[float, float]]) -> tuple[Pin, ...]:
        return tuple(Pin(f"{made_of}.{name}", *place) for name, place in places.items())

    return Part("unit", made_of, label, *box, pins(inputs), pins(outputs), label_y=label_y)


def mux(
    made_of: str, x: float, y: float, inputs: tuple[str, ...], output: str, mirrored: bool = False
) -> Part:
    """An update block that selects; y is that of its first input. Signals are of the same component as the block."""
    place = made_of.rpartition(".")[0]
    left, right = x, x + MUX_WIDTH
    height = PITCH * len(inputs)
    entry, exit_ = (right, left) if mirrored else (left, right)
    pins = tuple(Pin(_of(place, name), entry, y + PITCH * i) for i, name in enumerate(inputs))
    out = Pin(_of(place, output), exit_, y + height / 2 - PITCH / 2)
    return Part("mux", made_of, "", x, y - PITCH / 2, MUX_WIDTH, height, pins, (out,), mirrored=mirrored)


def register(stage: str, name: str, y: float, source: str) -> Part:
    """A register before a stage, written by the block register_<stage>."""
    x = {"D": 196, "X": 616, "M": 1156, "W": 1460}[stage]
    signal = f"dpath.{name}_{stage}"
    return Part(
        "register",
        f"dpath.register_{stage}",
        f"{name}_{stage}",
        x,
        y - REGISTER_HEIGHT / 2,
        REGISTER_WIDTH,
        REGISTER_HEIGHT,
        (Pin(f"dpath.{source}", x, y),),
        (Pin(signal, x + REGISTER_WIDTH, y),),
    )


def port(name: str, box: tuple[float, float, float, float], **pins: tuple[float, float]) -> Part:
    """A port with val and rdy; pins by their fields of the message, `_` for the whole of it."""
    places = tuple(
        Pin(f"{name}.msg" if field == "_" else f"{name}.msg.{field}", *place) for field, place in pins.items()
    )
    sends = name.endswith("req") or name.startswith("proc2")
    return Part("port", name, name, *box, places if sends else (), () if sends else places)


def _of(place: str, name: str) -> str:
    return f"{place}.{name}" if place and name else name


PARTS = (
    # ---- F
    mux("redirect", 100, 82, ("dpath.target_D", "dpath.redirect_pc_X"), "fetch.redirect_pc", mirrored=True),
    unit(
        "fetch",
        "FetchUnit",
        (40, 158, 136, 130),
        {"entry": (112, 158), "redirect_pc": (80, 158), "imem_resp.msg": (158, 288)},
        {"out_pc": (176, 176), "out_inst": (176, 212), "imem_req.msg": (66, 288)},
    ),
    port("imem_req", (20, 380, 92, 40), _=(66, 380)),
    port("imem_resp", (120, 380, 102, 40), _=(158, 380)),
    # ---- D
    register("D", "pc", 176, "fetch_pc"),
    register("D", "inst", 212, "fetch_inst"),
    unit("decoder", "Decoder", (420, 240, 96, 40), {"inst": (468, 240)}, {"decoded": (516, 260)}),
    unit("dpath.imm_gen", "ImmGen", (300, 300, 90, 40), {"inst": (300, 320)}, {"imm": (390, 320)}),
    Part(
        "adder",
        "dpath.target",
        "+",
        450,
        378,
        30,
        44,
        (Pin("dpath.pc_D", 450, 389), Pin("dpath.imm_gen.imm", 450, 411)),
        (Pin("dpath.target_D", 480, 400),),
    ),
    unit(
        "dpath.registers",
        "RegisterFile",
        (296, 440, 108, 160),
        {"raddr[0]": (296, 462), "raddr[1]": (296, 572), "wdata": (350, 600)},
        {"rdata[0]": (404, 462), "rdata[1]": (404, 572)},
    ),
    mux(
        "dpath.bypass",
        476,
        462,
        ("registers.rdata[0]", "result_X", "value_M", "result_W"),
        "source_D[0]",
    ),
    mux(
        "dpath.bypass",
        476,
        572,
        ("registers.rdata[1]", "result_X", "value_M", "result_W"),
        "source_D[1]",
    ),
    mux("dpath.operands", 570, 498, ("source_D[0]", ""), "a_D"),
    mux("dpath.operands", 570, 584, ("imm_gen.imm", "source_D[1]"), "b_D"),
    # ---- X
    register("X", "pc", 176, "pc_D"),
    register("X", "inst", 212, "inst_D"),
    register("X", "target", 400, "target_D"),
    register("X", "a", 510, "a_D"),
    register("X", "b", 596, "b_D"),
    register("X", "store", 832, "source_D[1]"),
    unit(
        "mul",
        "MulUnit",
        (622, 664, 134, 56),
        {"istream.msg.a": (622, 680), "istream.msg.b": (622, 704)},
        {"ostream.msg": (756, 692)},
    ),
    unit(
        "div",
        "DivUnit",
        (622, 740, 134, 56),
        {"istream.msg.a": (622, 756), "istream.msg.b": (622, 780)},
        {"ostream.msg": (756, 768)},
    ),
    mux("dpath.csr_access", 734, 330, ("a_X", "b_X"), "operand_X"),
    unit(
        "dpath.csrs",
        "CsrFile",
        (812, 228, 118, 142),
        {
            "trap_pc": (812, 270),
            "number": (812, 294),
            "operand": (812, 342),
            "core_id": (906, 228),
            "trap_value": (880, 370),
        },
        {"rdata": (930, 274), "mtvec": (930, 298), "mepc": (930, 322)},
        label_y=250,
    ),
    unit(
        "dpath.branch",
        "BranchUnit",
        (742, 428, 106, 44),
        {"a": (742, 440), "b": (742, 460)},
        {"taken": (848, 450)},
    ),
    unit("dpath.alu", "Alu", (770, 490, 80, 120), {"a": (770, 510), "b": (770, 596)}, {"out": (850, 553)}),
    Part(
        "adder",
        "dpath.result",
        "+4",
        956,
        228,
        32,
        44,
        (Pin("dpath.pc_X", 956, 250),),
        (Pin("dpath.link_X", 988, 250),),
    ),
    mux("dpath.jump", 956, 400, ("target_X", "alu.out"), "jump_X"),
    mux("dpath.redirect", 1004, 298, ("csrs.mtvec", "csrs.mepc", "link_X", "jump_X"), "redirect_pc_X"),
    mux(
        "dpath.result",
        1070,
        510,
        ("target_X", "link_X", "csrs.rdata", "mngr2proc", "alu.out", "mul_resp", "div_resp"),
        "result_X",
    ),
    mux("dpath.trap_value", 844, 688, ("pc_X", "inst_X", "jump_X", "alu.out"), "trap_value_X"),
    mux("dpath.register_M", 1122, 582, ("result_X", "trap_value_X"), "result_M"),
    unit(
        "dpath.store_align",
        "StoreAlign",
        (780, 812, 96, 46),
        {"data": (780, 832), "addr": (850, 812)},
        {"word": (876, 842)},
    ),
    port("proc2mngr", (666, 56, 110, 40), _=(768, 96)),
    port("xcel_req", (784, 56, 92, 40), data=(816, 96), addr=(858, 96)),
    port("mngr2proc", (1005, 56, 110, 40), _=(1060, 96)),
    port("dmem_req", (866, 962, 100, 40), addr=(896, 962), data=(936, 962)),
    # ---- M
    register("M", "pc", 176, "pc_X"),
    register("M", "inst", 212, "inst_X"),
    register("M", "result", 594, "result_M"),
    register("M", "addr", 800, "alu.out"),
    register("M", "store", 872, "store_X"),
    unit(
        "dpath.load_align",
        "LoadAlign",
        (1254, 680, 90, 50),
        {"addr": (1254, 705), "word": (1299, 730)},
        {"out": (1344, 705)},
    ),
    mux("dpath.value", 1374, 594, ("result_M", "load_align.out", "xcel_resp"), "value_M"),
    mux("dpath.register_W", 1424, 618, ("value_M", "addr_M"), "result_W"),
    port("xcel_resp", (1302, 56, 100, 40), _=(1352, 96)),
    port("dmem_resp", (1244, 962, 110, 40), _=(1299, 962)),
    # ---- W
    register("W", "pc", 176, "pc_M"),
    register("W", "inst", 212, "inst_M"),
    register("W", "result", 630, "result_W"),
    register("W", "addr", 800, "addr_M"),
    register("W", "store", 872, "store_M"),
    mux("dpath.committed_data", 1580, 630, ("result_W", "store_W"), "data_W"),
    Part(
        "port",
        "commit",
        "commit",
        1640,
        150,
        74,
        680,
        (
            Pin("commit.pc", 1640, 176),
            Pin("commit.inst", 1640, 212),
            Pin("commit.data", 1640, 642),
            Pin("commit.addr", 1640, 800),
        ),
        (),
    ),
)

WIRES = (
    # ---- F
    Wire("entry", "M 112 146 V 158", named=True),
    Wire("fetch.redirect_pc", "M 100 94 H 80 V 158"),
    Wire("fetch.imem_req.msg", "M 66 288 V 380"),
    Wire("imem_resp.msg", "M 158 380 V 288"),
    Wire("fetch.out_pc", "M 176 176 H 196"),
    Wire("fetch.out_inst", "M 176 212 H 196"),
    # ---- D
    Wire("dpath.pc_D", "M 258 176 H 616"),
    Wire("dpath.pc_D", "M 412 176 V 389 H 450"),
    Wire("dpath.inst_D", "M 258 212 H 616"),
    Wire("dpath.inst_D", "M 468 212 V 240"),
    Wire("dpath.inst_D", "M 276 212 V 320 H 300"),
    Wire("dpath.inst_D", "M 276 320 V 462 H 296"),
    Wire("dpath.inst_D", "M 276 462 V 572 H 296"),
    Wire("decoder.decoded", "M 516 260 H 534", to_control=True),
    Wire("dpath.imm_gen.imm", "M 390 320 H 432 V 411 H 450"),
    Wire("dpath.imm_gen.imm", "M 432 320 H 552 V 584 H 570"),
    Wire("dpath.target_D", "M 480 400 H 616"),
    Wire("dpath.target_D", "M 604 400 V 144 H 156 V 82 H 124"),
    Wire("dpath.registers.rdata[0]", "M 404 462 H 476"),
    Wire("dpath.registers.rdata[1]", "M 404 572 H 476"),
    Wire("dpath.source_D[0]", "M 500 498 H 570"),
    Wire("dpath.source_D[0]", "M 518 498 V 680 H 622"),
    Wire("dpath.source_D[0]", "M 518 680 V 756 H 622"),
    Wire("dpath.source_D[1]", "M 500 608 H 570"),
    Wire("dpath.source_D[1]", "M 536 608 V 704 H 622"),
    Wire("dpath.source_D[1]", "M 536 704 V 780 H 622"),
    Wire("dpath.source_D[1]", "M 536 780 V 832 H 616"),
    Wire("dpath.a_D", "M 594 510 H 616"),
    Wire("dpath.b_D", "M 594 596 H 616"),
    # ---- X
    Wire("dpath.pc_X", "M 678 176 H 942 V 250 H 956"),
    Wire("dpath.pc_X", "M 942 176 H 1156", passed_on=True),
    Wire("dpath.inst_X", "M 678 212 H 1156"),
    Wire("dpath.pc_X", "M 784 176 V 270 H 812"),
    Wire("dpath.inst_X", "M 798 212 V 294 H 812"),
    Wire("dpath.inst_X", "M 858 212 V 96"),
    Wire("core_id", "M 906 82 V 228", named=True),
    Wire("dpath.a_X", "M 678 510 H 770"),
    Wire("dpath.a_X", "M 700 510 V 440 H 742"),
    Wire("dpath.a_X", "M 700 440 V 330 H 734"),
    Wire("dpath.b_X", "M 678 596 H 770"),
    Wire("dpath.b_X", "M 718 596 V 460 H 742"),
    Wire("dpath.b_X", "M 718 460 V 354 H 734"),
    Wire("dpath.branch.taken", "M 848 450 H 866", to_control=True),
    Wire("dpath.operand_X", "M 758 342 H 812"),
    Wire("dpath.operand_X", "M 768 342 V 96"),
    Wire("dpath.operand_X", "M 768 110 H 816 V 96"),
    Wire("dpath.csrs.mtvec", "M 930 298 H 1004"),
    Wire("dpath.csrs.mepc", "M 930 322 H 1004"),
    Wire("dpath.csrs.rdata", "M 930 274 H 944 V 558 H 1070"),
    Wire("dpath.link_X", "M 988 250 H 1048 V 534 H 1070"),
    Wire("dpath.link_X", "M 994 250 V 346 H 1004"),
    Wire("dpath.target_X", "M 678 400 H 956"),
    Wire("dpath.target_X", "M 928 400 V 510 H 1070"),
    Wire("dpath.jump_X", "M 980 412 H 992 V 370 H 1004"),
    Wire("dpath.redirect_pc_X", "M 1028 334 H 1036 V 124 H 140 V 106 H 124"),
    Wire("mngr2proc.msg", "M 1060 96 V 582 H 1070"),
    Wire("dpath.alu.out", "M 850 553 H 896 V 606 H 1070"),
    Wire("dpath.alu.out", "M 896 553 V 424 H 956"),
    Wire("dpath.alu.out", "M 896 606 V 800 H 1156"),
    Wire("dpath.alu.out", "M 896 800 V 962", through=("dpath.memory_request",)),
    Wire("dpath.alu.out", "M 896 800 H 850 V 812"),
    Wire("mul.ostream.msg", "M 756 692 H 764 V 630 H 1070"),
    Wire("div.ostream.msg", "M 756 768 H 774 V 654 H 1070"),
    Wire("dpath.pc_X", "M 832 688 H 844", named=True),
    Wire("dpath.inst_X", "M 832 712 H 844", named=True),
    Wire("dpath.jump_X", "M 832 736 H 844", named=True),
    Wire("dpath.alu.out", "M 832 760 H 844", named=True),
    Wire("dpath.trap_value_X", "M 868 724 H 1112 V 606 H 1122"),
    Wire("dpath.trap_value_X", "M 880 724 V 370"),
    Wire("dpath.store_X", "M 678 832 H 780"),
    Wire("dpath.store_align.word", "M 876 842 H 936 V 962", through=("dpath.memory_request",)),
    Wire("dpath.result_X", "M 1094 582 H 1122"),
    Wire("dpath.result_X", "M 1102 582 V 908 H 424 V 486 H 476"),
    Wire("dpath.result_X", "M 424 596 H 476"),
    Wire("dpath.result_M", "M 1146 594 H 1156"),
    Wire("dpath.store_X", "M 764 832 V 872 H 1156", passed_on=True),
    # ---- M
    Wire("dpath.pc_M", "M 1218 176 H 1460", passed_on=True),
    Wire("dpath.inst_M", "M 1218 212 H 1460", passed_on=True),
    Wire("dpath.result_M", "M 1218 594 H 1374"),
    Wire("dpath.addr_M", "M 1218 800 H 1236 V 705 H 1254"),
    Wire("dpath.addr_M", "M 1236 800 H 1414 V 642 H 1424"),
    Wire("dpath.addr_M", "M 1414 800 H 1460", passed_on=True),
    Wire("dpath.store_M", "M 1218 872 H 1460", passed_on=True),
    Wire("dmem_resp.msg", "M 1299 962 V 730"),
    Wire("dpath.load_align.out", "M 1344 705 H 1360 V 618 H 1374"),
    Wire("xcel_resp.msg", "M 1352 96 V 642 H 1374"),
    Wire("dpath.value_M", "M 1398 618 H 1424"),
    Wire("dpath.value_M", "M 1406 618 V 924 H 440 V 510 H 476"),
    Wire("dpath.value_M", "M 440 620 H 476"),
    Wire("dpath.result_W", "M 1448 630 H 1460"),
    # ---- W
    Wire("dpath.pc_W", "M 1522 176 H 1640", passed_on=True),
    Wire("dpath.inst_W", "M 1522 212 H 1640", passed_on=True),
    Wire("dpath.addr_W", "M 1522 800 H 1640", passed_on=True),
    Wire("dpath.store_W", "M 1522 872 H 1562 V 654 H 1580", passed_on=True),
    Wire("dpath.result_W", "M 1522 630 H 1580"),
    Wire("dpath.result_W", "M 1540 630 V 940 H 456 V 534 H 476"),
    Wire("dpath.result_W", "M 456 644 H 476"),
    Wire("dpath.result_W", "M 456 940 H 350 V 600"),
    Wire("dpath.data_W", "M 1604 642 H 1640"),
)

OUTPUTS = {(pin.x, pin.y) for part in PARTS for pin in part.outputs}

LABELS = (
    Label(112, 142, "entry", "middle"),
    Label(236, 118, "redirect_pc_X"),
    Label(236, 139, "target_D"),
    Label(440, 314, "imm"),
    Label(484, 394, "target_D"),
    Label(466, 442, "bypass"),
    Label(464, 674, "bypass"),
    Label(541, 674, "source_D[0]"),
    Label(541, 698, "source_D[1]"),
    Label(556, 527, "0"),
    Label(774, 150, "operand_X"),
    Label(816, 274, "trap_pc"),
    Label(816, 298, "number"),
    Label(816, 346, "operand"),
    Label(880, 366, "trap_value", "middle"),
    Label(906, 78, "core_id", "middle"),
    Label(830, 692, "pc_X", "end"),
    Label(830, 716, "inst_X", "end"),
    Label(830, 740, "jump_X", "end"),
    Label(830, 764, "alu.out", "end"),
    Label(926, 278, "rdata", "end"),
    Label(926, 302, "mtvec", "end"),
    Label(926, 326, "mepc", "end"),
    Label(984, 430, "jump_X"),
    Label(902, 600, "alu.out"),
    Label(902, 718, "trap_value_X"),
    Label(1036, 902, "result_X"),
    Label(1302, 918, "value_M"),
    Label(1472, 934, "result_W"),
)

STYLE = "".join(
    [
        "text{font-family:Helvetica,Arial,sans-serif;fill:#222}",
        f".label{{font-size:{LABEL_SIZE}px}}.name{{font-size:{NAME_SIZE}px;font-weight:bold;text-anchor:middle}}",
        ".stage{font-size:22px;font-weight:bold}.note{font-size:14px;fill:#555}",
        ".end{text-anchor:end}.middle{text-anchor:middle}",
        ".wire{fill:none;stroke:#333;stroke-width:1.5}.passed{stroke:#9a9a9a}",
        ".arrow,.dot{fill:#333}.control{fill:#fff;stroke:#333}.arrow.passed{fill:#9a9a9a;stroke:none}",
        ".handshake{fill:#a3508f}",
        *(
            f".{kind}{{fill:{fill};stroke:{stroke};stroke-width:1.5}}"
            for kind, (fill, stroke, _) in KINDS.items()
        ),
    ]
)


def draw() -> str:
    """The figure, a whole SVG file."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        "<title>The datapath of the processor</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for i, (letter, what, left, right) in enumerate(STAGES):
        fill = "#f7f7f5" if i % 2 == 0 else "#efefec"
        lines.append(f'<rect x="{left}" y="10" width="{right - left}" height="{BOTTOM}" fill="{fill}"/>')
        lines.append(_text(left + 12, 36, letter, "stage") + _text(left + 40, 35, what, "note"))
    for wire in sorted(WIRES, key=lambda wire: not wire.passed_on):
        lines += _wire(wire)
    for part in PARTS:
        lines += _part(part)
    lines += [_text(label.x, label.y, label.text, f"label {label.anchor}") for label in LABELS]
    lines += _legend()
    return "\n".join([*lines, "</svg>", ""])


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def _wire(wire: Wire) -> list[str]:
    passed = " passed" if wire.passed_on else ""
    lines = [f'<path class="wire{passed}" d="{wire.path}"/>']
    start_x, start_y = wire.points[0]
    if not wire.named and (start_x, start_y) not in OUTPUTS:
        lines.append(f'<circle class="dot" cx="{start_x:g}" cy="{start_y:g}" r="3"/>')
    (before_x, before_y), (x, y) = wire.points[-2:]
    style = "arrow control" if wire.to_control else f"arrow{passed}"
    across, down = (x > before_x) - (x < before_x), (y > before_y) - (y < before_y)
    back_x, back_y = x - 8 * across, y - 8 * down
    wing_x, wing_y = 3.5 * down, 3.5 * across
    lines.append(
        f'<path class="{style}" d="M{x:g} {y:g}L{back_x + wing_x:g} {back_y + wing_y:g}'
        f'L{back_x - wing_x:g} {back_y - wing_y:g}Z"/>'
    )
    return lines


def _part(part: Part) -> list[str]:
    x, y, width, height = part.x, part.y, part.width, part.height
    if part.kind in ("mux", "adder"):
        left, right = (SLANT, 0) if part.mirrored else (0, SLANT)
        corners = (
            (x, y + left),
            (x + width, y + right),
            (x + width, y + height - right),
            (x, y + height - left),
        )
        points = " ".join(f"{px:g},{py:g}" for px, py in corners)
        shape = f'<polygon class="{part.kind}" points="{points}"/>'
    else:
        rounded = {"unit": 3, "register": 0, "port": 12}[part.kind]
        shape = f'<rect class="{part.kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{rounded}"/>'
    lines = [
        shape,
        _text(*part.label_place, part.label, "label middle" if part.kind == "register" else "name"),
    ]
    for pin in (*part.inputs, *part.outputs):
        if pin.handshake:
            lines.append(f'<circle class="handshake" cx="{pin.x:g}" cy="{pin.y:g}" r="4"/>')
    return lines


def _legend() -> list[str]:
    x, y = 30, 620
    lines = []
    for kind, (_, _, words) in KINDS.items():
        lines.append(f'<rect class="{kind}" x="{x}" y="{y - 12}" width="22" height="15"/>')
        lines.append(_text(x + 32, y, words, "note"))
        y += 26
    lines.append(f'<circle class="handshake" cx="{x + 11}" cy="{y - 5}" r="4"/>')
    lines.append(_text(x + 32, y, "val and rdy go with it", "note"))
    for wire, words in (
        (Wire("", f"M {x} {y + 21} H {x + 22}", named=True, to_control=True), "to control (ProcCtrl)"),
        (Wire("", f"M {x} {y + 47} H {x + 22}", named=True, passed_on=True), "for the commit port"),
    ):
        lines += [*_wire(wire), _text(x + 32, wire.points[0][1] + 5, words, "note")]
    return lines


if __name__ == "__main__":
    FIGURE.write_text(draw())
