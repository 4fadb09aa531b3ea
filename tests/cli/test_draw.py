"""`modexlab show --tree`: files that are SVG, that show every bit and cell of the plan, and errors that say what to
do.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest
from modexlab.eval.report.drawing import BOXES, draw
from modexlab.fl.compression.compression import make_plan
from modexlab.fl.compression.compression_plan import CELLS, Plan
from modexlab.fl.moduli import parse

from tests.command_line import Cli

SVG = "{http://www.w3.org/2000/svg}"


def marks(text: str) -> tuple[Counter, list[str]]:
    """How many marks of each class a drawing has, and its texts."""
    root = ElementTree.fromstring(text)
    found = Counter(
        element.get("class", "") for element in root.iter() if element.tag in (f"{SVG}circle", f"{SVG}rect")
    )
    return found, [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("spec", "operation", "strategy"),
    [
        ("2^8-1", "multiply", "best"),
        ("2^8+1", "multiply", "five-full"),
        ("2^8", "multiply", "best"),
        ("2^8+85", "multiply", "full-half"),
        ("2^8-5", "square", "five-full-half"),
        ("2^8+85", "reduce", "best"),
        ("2^32-1", "multiply", "best"),
    ],
)
def test_every_bit_and_every_cell_is_drawn(spec: str, operation: str, strategy: str) -> None:
    plan = make_plan(operation, parse(spec), None, strategy)
    found, texts = marks(draw(plan))
    for kind in CELLS:
        assert found[kind] == plan.count(kind)
    assert dots(found) == expected_dots(plan)
    for kind in CELLS:
        if count := plan.count(kind):
            assert any(re.fullmatch(rf"{BOXES[kind][2]}s?: {count:,}", text) for text in texts)
    assert f"level {len(plan.levels) - 1}" in texts
    assert "rows A and B" in texts


def dots(found: Counter) -> int:
    return sum(count for mark, count in found.items() if mark and mark not in CELLS)


def expected_dots(plan: Plan) -> int:
    """Every bit of every level, the products before folding, and one for each line of the legend."""
    _, texts = marks(draw(plan))
    legend = [
        text
        for text in texts
        if re.search(r"^(product|bit of x|correction|passed|sum|carry|weight-4).*: [\d,]+$", text)
    ]
    bits = sum(sum(plan.heights(level)) for level in range(len(plan.levels) + 1))
    nbits = plan.operand_nbits
    products = {"multiply": nbits * nbits, "square": nbits * (nbits + 1) // 2, "reduce": nbits}
    return bits + products[plan.operation] + len(legend)


def test_legend_counts_add_up() -> None:
    plan = make_plan("multiply", parse("2^8+1"))
    _, texts = marks(draw(plan))
    counted = [
        int(match[1].replace(",", ""))
        for text in texts
        if (match := re.search(r"^(?:product|correction|passed|sum|carry|weight-4).*: ([\d,]+)$", text))
    ]
    assert sum(counted) == sum(sum(plan.heights(level)) for level in range(len(plan.levels) + 1))


def test_file(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "tree.svg"
    result = cli("show --tree --modulus 2^8-1 -o", target)
    assert result.code == 0
    assert result.out == f"{target}: multiply mod 2^8-1, 4 levels, cells: 48 full\n"
    assert target.read_text() == draw(make_plan("multiply", parse("255")))


def test_stdout(cli: Cli) -> None:
    result = cli(
        "show --tree --modulus 2^6+21 --strategy full --adder sklansky --operation square",
    )
    assert result.code == 0
    found, _ = marks(result.out)
    assert found["full"] == make_plan("square", parse("85"), None, "full").count("full")


def test_follow(cli: Cli) -> None:
    result = cli("show --tree --modulus 2^8+85 --follow 7 3")
    assert result.code == 0
    assert result.out.startswith(
        "a_7 * b_3 has weight 2^10: it goes to column 0 place 7\nlevel 0: from place 7"
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((), "--tree needs a DESIGN or --modulus SPEC"),
        (("mont", "--modulus", "2^8-1"), "one of them"),
        (("mont",), "the multiplier of mont is no compression tree"),
        (("no-such",), "no-such"),
        (("--modulus", "2^8-4"), "makes the modulus 252 even"),
        (("--modulus", "2^400-1"), "too large to look at"),
        (("--modulus", "2^8-1", "--set", "a=1"), "--set belongs to a DESIGN"),
        (("--modulus", "2^8-1", "-o", "/no/such/place/x.svg"), "no such directory"),
        (("--modulus", "2^8-1", "--follow", "8", "8"), "give bits 0 to 7"),
        (("--modulus", "2^8-1", "--strategy", "none"), "invalid choice"),
    ],
)
def test_mistakes(cli: Cli, argv: tuple[str, ...], message: str) -> None:
    assert message in cli.fails("show --tree", *argv)
