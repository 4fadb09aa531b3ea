"""`modexlab show --tree`, `--multiples` and `--diagram`: drawings of plans and of hardware, tables of
multiples, and errors.
"""

import itertools
import re
import shutil
import xml.etree.ElementTree as ElementTree
from collections import Counter

from modexlab.eval.report.drawing import BOXES, draw
from modexlab.fl.compression.compression import make_plan
from modexlab.fl.compression.compression_plan import CELLS
from modexlab.fl.moduli import parse

from tests.command_line import key_file, refusals
from tests.harness import parametrize
from tests.keys import openssl_key
from tests.paths import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def marks(text):
    """The number of marks of each class in a drawing, and its texts."""
    root = ElementTree.fromstring(text)
    found = Counter(
        element.get("class", "") for element in root.iter() if element.tag in (f"{SVG}circle", f"{SVG}rect")
    )
    return found, [element.text or "" for element in root.iter(f"{SVG}text")]


@parametrize(
    "spec, operation, strategy",
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
def test_every_bit_and_every_cell_is_drawn(spec, operation, strategy):
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


def dots(found):
    return sum(count for mark, count in found.items() if mark and mark not in CELLS)


def expected_dots(plan):
    """Every bit of every level, including the products before folding, and one dot per line of the legend."""
    nbits = plan.operand_nbits
    products = {"multiply": nbits * nbits, "square": nbits * (nbits + 1) // 2, "reduce": nbits}
    return bits(plan) + products[plan.operation] + len(legend(plan))


def bits(plan):
    """The number of bits in all levels."""
    return sum(sum(plan.heights(level)) for level in range(len(plan.levels) + 1))


def legend(plan):
    """The kinds of bits in the legend, with their counts."""
    _, texts = marks(draw(plan))
    kinds = "product|bit of x|correction|passed|sum|carry|weight-4"
    return re.findall(rf"^({kinds}).*: ([\d,]+)$", "\n".join(texts), re.MULTILINE)


def test_legend_counts_add_up():
    plan = make_plan("multiply", parse("2^8+1"))
    counted = [int(count.replace(",", "")) for kind, count in legend(plan) if kind != "bit of x"]
    assert sum(counted) == bits(plan)


def test_file(cli, tmp_path):
    target = tmp_path / "tree.svg"
    result = cli.passes(f"show --tree --modulus 2^8-1 -o {target}")
    assert result.out == f"{target}: multiply mod 2^8-1, 4 levels, cells: 48 full\n"
    assert target.read_text() == draw(make_plan("multiply", parse("255")))


def test_stdout(cli):
    found, _ = marks(
        cli("show --tree --modulus 2^6+21 --strategy full --adder sklansky --function square").out
    )
    assert found["full"] == make_plan("square", parse("85"), None, "full").count("full")


def test_follow(cli):
    assert cli("show --tree --modulus 2^8+85 --follow 7 3").out.startswith(
        "a_7 * b_3 has weight 2^10: it goes to column 0 place 7\nlevel 0: from place 7"
    )


# ---- multiples of a modulus


def value(number):
    return int(number, 16) if isinstance(number, str) else number


def test_multiples_worked_example(cli):
    result = cli.passes("show --multiples 0xb5c3 --w 4")
    lines = result.out.splitlines()
    assert lines[0] == "N = 46531, 16 bits, digits of 4 bits"
    assert any(line.split() == ["low", "end", "5", "2", "7", "60"] for line in lines)
    assert "Its factors were not searched" in result.out


def test_multiples_family(cli):
    """(2^32 - 1) / 3: the table has c = 3 and t = 32, the warning names family and factors."""
    out = " ".join(cli(f"show --multiples {(2**32 - 1) // 3}").out.split())
    assert "t = 32" in out
    assert "the family of paper 000" in out
    assert f"{(2**16 - 1) // 3} * {2**16 + 1}. Do not use N as a key" in out


def test_multiples_json(cli):
    n = (2**128 - 1) // 3
    report = cli.json(f"show --multiples {hex(n)} --w 8")
    assert (value(report["n"]), report["nbits"], report["w"]) == (n, 127, 8)
    shapes = {row["shape"]: row for row in report["shapes"]}
    assert list(shapes) == ["2^t - 1", "2^t + 1", "low end", "high end", "both ends"]
    for row in shapes.values():
        if row["found"]:
            assert value(row["c"]) * n == value(row["pseudo_modulus"])
            assert row["nbits"] == value(row["pseudo_modulus"]).bit_length() == 127 + row["extra_nbits"]
            assert row["saves"]
            assert row["costs"]
        else:
            assert row["why"]
    assert value(shapes["2^t - 1"]["c"]) == 3
    assert "the family of paper 000" in report["warning"]


def test_multiples_key(cli, tmp_path):
    """A real key gets no warning, and nothing is claimed for it."""
    key = openssl_key(1024)
    file = key_file(tmp_path, key)
    result = cli.passes(f"show --multiples --key {file}")
    assert "Warning" not in result.out
    assert "does not prove" in result.out
    assert "hopeless" in result.out
    report = cli.json(f"show --multiples --key {file}")
    assert value(report["n"]) == key.public_key().public_numbers().n
    assert report["warning"] == ""


def test_schedule_has_a_bar_for_each_product(cli):
    """5 is 101 in binary: three squares, two products, the conversion and four steps."""
    shown = cli.passes("show mont --schedule --nbits 8 --base 5 --exp 5 --mod 13")
    root = ElementTree.fromstring(shown.out)
    fills = Counter(rect.get("fill") for rect in root.iter(f"{SVG}rect"))
    assert (fills["#e8f5e9"], fills["#fff3e0"], fills["#e8eaf6"]) == (5, 1, 4)
    ends = [title.text.split(":")[0] for title in root.iter(f"{SVG}title")]
    assert ends[0].startswith("mont, 8 bits") and max(int(end.split(" to ")[1]) for end in ends[1:]) == 5


# ---- block diagrams


def blocks(svg):
    """The rectangles of the blocks of a diagram by name; those of the same name in their order."""
    root = ElementTree.fromstring(svg)
    found = {}
    for rect, text in itertools.pairwise(root.iter()):
        if rect.tag == f"{SVG}rect" and rect.get("rx") and text.tag == f"{SVG}text":
            found.setdefault(text.text, []).append(
                [int(rect.get(name)) for name in ("x", "y", "width", "height")]
            )
    return found


def contains(outer, inner):
    return all(
        outer[axis] < inner[axis] and inner[axis] + inner[axis + 2] < outer[axis] + outer[axis + 2]
        for axis in (0, 1)
    )


def test_a_diagram_has_the_boxes_of_the_readme_with_their_files(cli):
    """Controller and datapath with the components inside, as in rtl/README.md."""
    svg = cli.passes("show mont --diagram --nbits 8").out
    found = blocks(svg)
    dpath, ctrl, units, setup = (found[name][0] for name in ("dpath", "ctrl", "units", "setup"))
    for name in ("one_residue", "r_mux", "b_mux", "modulus", "exponent"):
        assert contains(dpath, found[name][0]), name
    assert contains(ctrl, found["issue"][0]) and contains(units, found["reduction"][0])
    for outer, registers in zip((ctrl, dpath), found["registers"], strict=False):
        assert contains(outer, registers)
    assert contains(setup, found["ctrl"][1]) and "operand_check" in found
    texts = [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts[0] == "mont, 8 bits: ModExp, rtl/mod_exp/mod_exp.py"
    place = texts.index("one_residue")
    assert texts[place : place + 3] == ["one_residue", "OneResidue", "rtl/mod_exp/one_residue.py"]
    assert ["registers", "r, b"] in map(list, itertools.pairwise(texts))
    assert all((ROOT / text).is_file() for text in texts if text.endswith(".py") and " " not in text)


def test_blocks_do_not_overlap(cli):
    drawn = blocks(cli.passes("show mont-keyed --diagram").out).values()
    for pair in itertools.combinations(itertools.chain(*drawn), 2):
        (x, y, width, height), (left, top, wide, high) = pair
        apart = x + width < left or left + wide < x or y + height < top or top + high < y
        assert apart or contains(*pair) or contains(*pair[::-1])


def test_depth_of_a_diagram(cli):
    one, two, three = (
        sum(map(len, blocks(cli.passes(f"show heap --diagram --depth {depth}").out).values()))
        for depth in (1, 2, 3)
    )
    assert 5 < one < two < three


def test_a_diagram_names_the_files_of_a_user(cli, tmp_path):
    folder = shutil.copytree(ROOT / "eval" / "examples" / "gcd", tmp_path / "gcd")
    assert "gcd, 16 bits: GCDRTL, rtl.py" in cli.passes(f"show --diagram --accelerator {folder}").out


test_mistakes = refusals(
    "show",
    {
        "--tree": "--tree needs a DESIGN or --modulus SPEC",
        "--tree mont --modulus 2^8-1": "one of them",
        "--tree mont": "the multiplier of mont is not a compression tree",
        "--tree no-such": "no-such",
        "--tree --modulus 2^8-4": "makes the modulus 252 even",
        "--tree --modulus 2^400-1": "too large to look at",
        "--tree --modulus 2^8-1 --set a=1": "--set belongs to a DESIGN",
        "--tree --modulus 2^8-1 -o /no/such/place/x.svg": "no such directory",
        "--tree --modulus 2^8-1 --follow 8 8": "give bits 0 to 7",
        "--tree --modulus 2^8-1 --strategy none": "invalid choice",
        "--multiples": "give a modulus",
        "--multiples 15 --key key.pem": "one of N and --key FILE",
        "--multiples 24": "is even",
        "--multiples 0": "modulus 0",
        "--multiples 1": "all numbers are 0 modulo 1",
        "--multiples 15 --w 209": "give 4 to 208",
        "--multiples fifteen": "is not a whole number",
        f"--multiples {(1 << 5000) + 1}": "no machine takes more",
        f"--multiples {(1 << 5000) + 1:#x}": "is longer than any machine",
        "--multiples --key /nowhere/none.pem": "/nowhere/none.pem cannot be read",
        "mont --diagram --depth 0": "0 is too few; give a number from 1 up",
        "--wave": "no design; give one of the catalogue",
        "--schedule": "no design; give one of the catalogue",
        "mont --schedule --nbits 1024": "a chart has at most 400",
    },
)
