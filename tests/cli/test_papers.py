"""`modexlab show papers`: the tables as printed, their errata, and every cell as JSON."""

from modexlab.eval.papers.published import NUMBERS, figures, paper, papers

from tests.command_line import picked, refusals
from tests.harness import parametrize


def test_list(cli):
    lines = cli("show papers").out.splitlines()
    assert [line.split()[0] for line in lines[2:7]] == list(NUMBERS)
    assert lines[5].split()[1:5] == ["-", "3", "134", "6"]
    assert all(paper.title in line for paper, line in zip(papers(), lines[2:], strict=False))


@parametrize("number", NUMBERS)
def test_every_table_is_printed(cli, number):
    """All cells of a row are printed in order, with a star at wrong ones only."""
    for table in paper(number).tables:
        out = cli(f"show papers {number} --table {table.number}").out
        lines = out.splitlines()
        assert table.caption in lines[0] and table.source in lines[1]
        for name, cells in table.rows.items():
            wrong = {erratum.column for erratum in table.errata if erratum.row == name}
            shown = [
                f"{cell}*" if column in wrong else cell
                for column, cell in zip(table.columns, cells, strict=True)
            ]
            wanted = " ".join([*table.names[name], *shown]).split()
            assert any(line.split() == wanted for line in lines), (table.source, name)
        assert ("* wrong:" in out) == bool(table.errata)
        for erratum in table.errata:
            assert erratum.reason in out


def test_detail(cli):
    out = cli.shows(
        "show papers 003", "Alessandro Cilardo", "Virtex-E", "product_cycles = (2*M + 2) + (K + 3)*M"
    )
    assert out.count("Swapped with the count") == 2
    assert "17.4      4        5  RSA encryption with 1024 bit key" in out
    assert "Formulas:" not in cli("show papers 001").out


def test_errata(cli):
    out = cli("show papers --errata").out
    errata = [erratum for paper in papers() for erratum in paper.errata]
    assert all(erratum.reason in out for erratum in errata)
    of_one = cli("show papers 004 --errata").out
    assert all(erratum.reason in of_one for erratum in paper("004").errata) and "paper 000" not in of_one
    assert len(cli.json("show papers --errata")) == len(errata)


def test_json(cli):
    assert len(cli.json("show papers")) == sum(1 for _ in figures())
    rows = cli.json("show papers 003 --table 17.4")
    (row,) = [row for row in rows if picked(row, "row column") == ("64", "N_CK")]
    expected = {"printed": "176016", "value": 176016, "corrected": 332440, "amount": 332440}
    expected |= {"metric": "cycles", "operation": "encrypt", "nbits": 1024, "comparable": True}
    assert row | expected | {"source": "paper 003, section 17.3, Figure 17.4"} == row


test_refused = refusals(
    "show papers",
    {
        "005": "unknown paper '005'",
        "001 --table 7": "unknown table of paper 001 '7'",
        "--table 1": "of which paper",
        "001 --table 1 --errata": "drop one of them",
        "--bibtex --json": "drop --json",
    },
)


def test_bibtex(cli):
    out = cli("show papers --bibtex").out
    assert out.startswith("@software{modexlab,")
    assert out.count("@misc{paper") == 5 and out.count("{") == out.count("}")
    assert cli("show papers 004 --bibtex").out == (
        "@misc{paper004,\n  author = {Yamin Li and Wanming Chu},\n"
        "  title = {{Verilog HDL Implementation for an RSA Cryptography using Shift-Sub Modular "
        "Multiplication Algorithm}},\n"
        "  note = {no year in the copy that was read},\n}\n"
    )
