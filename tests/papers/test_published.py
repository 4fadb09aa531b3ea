"""Tables of the papers (eval/papers), checked with the papers' own arithmetic.

In a consistent table, a printed figure follows from other printed ones. In an inconsistent table there is an
erratum, and the corrected figure follows. Printed figures are rounded or truncated, so all of them are
intervals.
"""

import itertools
import re
from dataclasses import dataclass

import msgspec
import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.system_catalogue import system_names
from modexlab.eval.papers import published
from modexlab.eval.papers.expression import Expression
from modexlab.eval.papers.published import (
    METRICS,
    NUMBERS,
    PAPERS,
    SCALES,
    by_name,
    figures,
    paper,
    papers,
)
from pytest import approx

from tests.harness import parametrize, refused

TABLES = {  # table: number of rows, and of columns without the key columns
    "000": {
        "2": (4, 3),
        "3": (6, 1),
        "4": (4, 2),
        "5": (8, 3),
        **{str(number): (6, 6) for number in (7, 8, 9, 13, 14, 15)},
        **{str(number): (6, 4) for number in (10, 11, 12, 16, 17, 18)},
    },
    "001": {"1": (8, 4), "2a": (2, 2), "2b": (1, 3), "3": (8, 4)},
    "002": {"1": (4, 3), "2": (4, 3), "3": (4, 3), "4": (7, 8), "5": (4, 3)},
    "003": {"17.3": (12, 7), "17.4": (4, 5)},
    "004": {"1": (18, 6)},
}
TESTS_000 = ("16", "32", "64", "128", "256", "512")
BOTH = ("Encryption", "Decryption")  # rows of 001


def step(figure):
    """One unit in the last printed digit, in the unit of `amount`: the precision of the figure."""
    return figure.last_digit * SCALES.get(figure.unit, 1.0)


# ---- printed figures as intervals


@dataclass(frozen=True)
class Span:
    """The interval of values that a printed figure, or arithmetic on printed figures, may stand for."""

    low: float
    high: float

    def __add__(self, other):
        return Span(self.low + other.low, self.high + other.high)

    def __sub__(self, other):
        return self + other * -1

    def __mul__(self, other):
        other = other if isinstance(other, Span) else Span(other, other)
        ends = [a * b for a, b in itertools.product((self.low, self.high), (other.low, other.high))]
        return Span(min(ends), max(ends))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * Span(1 / other.high, 1 / other.low)

    def meets(self, other):
        slack = 1e-9 * max(abs(self.high), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack


def exact(value):
    return Span(value, value)


def span(figure, cut=False):
    """The interval of a rounded figure, or of one that may be truncated (cut). Whole numbers of a whole unit
    (cycles, cells) are exact.
    """
    amount = figure.amount
    assert amount is not None, figure
    if isinstance(figure.value, int) and figure.metric in (
        "cycles",
        "le",
        "slice",
        "lut",
        "ff",
        "dsp",
        "alm",
    ):
        return exact(amount)
    return Span(amount - step(figure) / 2, amount + step(figure) * (1 if cut else 0.5))


def mean(spans):
    return sum(spans, exact(0)) * (1 / len(spans))


def table_of(number, table):
    return paper(number).table(table)


def cell(number, table, row, column):
    return table_of(number, table).at(row, column)


def spanned(number, table, row, column, cut=False):
    return span(cell(number, table, row, column), cut)


def check(figure, computed, cut=False):
    """Check that the figure, corrected if it has an erratum, follows, and that a printed one with an erratum
    does not.
    """
    assert computed.meets(span(figure, cut)), (figure, computed)
    if figure.erratum:
        printed = msgspec.structs.replace(figure, corrected=None)
        assert not computed.meets(span(printed, cut)), (printed, "is right")


def check_prose(text, computed, given=()):
    """Check all figures in the text, except those that do not follow from others."""
    assert text.rows.keys() == {*computed, *given}
    for row, value in computed.items():
        check(text.at(row, "printed"), value)


# ---- contents


def test_all_tables_are_there():
    assert [item.number for item in papers()] == sorted(TABLES) == list(NUMBERS)
    assert sorted(path.stem for path in PAPERS.glob("*.toml")) == sorted(TABLES)
    for number, tables in TABLES.items():
        found = {table.number: table for table in paper(number).tables if table.kind != "Text"}
        assert sorted(found) == sorted(tables)
        for name, shape in tables.items():
            table = found[name]
            assert (len(table.rows), len(table.columns)) == shape, table.source
            assert table.caption and table.source.startswith(f"paper {number}, section ")
    assert {formula.name for formula in paper("003").formulas} >= {
        "M",
        "product_cycles",
        "products",
        "cycles",
    }


def test_every_cell_is_read():
    """A cell without a number is a known word: not given, unreadable or blank."""
    words = {"N/A", "-", "—", "?", "", "LUTs", "Tristates"}
    for figure in figures():
        if figure.value is None:
            text = figure.printed
            assert text in words or figure.table in ("3", "4"), (figure.source, figure.row, text)
            assert figure.amount is None and not figure.comparable
        else:
            assert figure.last_digit > 0
        assert figure.metric in METRICS or not figure.metric, figure
        assert figure.technology
        assert figure.readable == (figure.printed != "?")
    unreadable = {(figure.paper, figure.column) for figure in figures() if not figure.readable}
    assert unreadable == {("004", "DSPs")}


def test_every_figure_has_a_metric_and_a_unit():
    """Every compared number has a metric, and a unit that converts to the store's."""
    metricless = {
        (figure.paper, figure.table) for figure in figures() if figure.value is not None and not figure.metric
    }
    assert metricless == {("000", "text"), ("001", "text"), ("003", "text")}
    wanted = {"ns": {"ps", "ns", "us", "ms", "s"}, "um2": {"um2", "mm2", "um"}}
    for figure in figures():
        unit = METRICS.get(figure.metric, "")
        if figure.value is not None and unit in wanted:
            assert figure.unit in wanted[unit], figure
        if figure.metric in ("power_mw", "energy_nj", "fmax_mhz") and figure.value is not None:
            assert figure.unit == unit, figure


def test_units():
    assert cell("000", "2", "Yeh, 2006, UMC0.18, 1024", "Area").amount == 5.76e6  # um2
    assert cell("000", "8", "512", "MM (PM)").amount == approx(5.07e6)  # ns
    assert cell("000", "11", "512", "MM (M)").amount == approx(4.8e9)
    assert cell("000", "5", "2^4 + 5", "Delay").amount == approx(0.407)
    figure = cell("003", "17.4", "32", "T_ck [ns]")
    assert (figure.value, step(figure), figure.unit) == (8.74, approx(0.01), "ns")
    figure = cell("004", "1", "1,024, Algo 4", "Cycles")
    assert (figure.value, step(figure), figure.nbits, figure.twin) == (1_053_178, 1, 1024, "mmmul-004")
    assert cell("003", "17.3", "128, Write", "FF/LUT slices: FF").value == 1025
    assert cell("003", "17.3", "128, Write", "FF/LUT slices: LUT").value == 278
    assert cell("002", "4", "Wang, Virtex-5", "DSPs").technology == "Virtex-5"


def test_what_ours_is_called():
    """Every twin and rival is a design of the catalogue or a system, and every machine of the papers has a
    twin.
    """
    designs = {design.name: design for design in catalogue.designs()}
    names = designs.keys() | set(system_names())
    for figure in figures():
        assert {figure.twin, *figure.ours} - {""} <= names, figure
        if figure.comparable:
            assert figure.nbits and figure.subject
            if figure.twin in designs:
                assert designs[figure.twin].paper == figure.paper
    twins = {figure.twin for figure in figures()}
    assert {name for name, design in designs.items() if design.paper} - twins == {
        "mm-m-000-one",  # the thesis makes its second architecture of DM and CM alone
        "mm-pm-000-one",
        "serial-003-one",  # section 17.2 mentions it, without a figure
    }


def test_what_is_joined():
    software, *_, rival = by_name("001", "1").items()
    assert software == ("proc-naive", {"encrypt": 3523, "decrypt": 8148})
    assert rival == ("procxcel-mont", {"encrypt": 169, "decrypt": 234})
    assert by_name("001", "3", "energy_nj")["procxcel-mont-001"] == {"encrypt": 2.86, "decrypt": 4.46}
    cycles = by_name("001", "RTL")
    assert list(cycles) == ["naive-001", "mont-001", "naive", "mont", "mont-ct"]
    assert cycles["mont-ct"] == cycles["mont-001"] == {"encrypt": 162, "decrypt": 227}
    assert by_name("001", "1", "area_um2") == {}
    assert {figure.operation for figure in figures()} == {
        "",
        "encrypt",
        "decrypt",
        "mean",
        "product",
        "modexp",
    }
    assert not any(figure.comparable for figure in figures() if figure.window in ("gross", "dummy"))
    extrapolated = [figure for figure in paper("000").figures() if figure.caveat]
    assert len(extrapolated) == 6 * 5 * 2 and not any(figure.comparable for figure in extrapolated)


def test_a_wrong_name_is_told():
    with refused("unknown paper '005'"):
        paper("005")
    with refused("unknown table of paper 001 '4'"):
        table_of("001", "4")
    with refused("64, Algo 4 / ALMs"):
        cell("004", "1", "64, Algo 4", "ALM")


ERRATA = [erratum for item in papers() for erratum in item.errata]


def test_errata():
    """Each erratum states its reason, and one of a cell is at that cell; errata of design.md are included."""
    for erratum in ERRATA:
        assert erratum.where and erratum.printed and erratum.reason
        assert erratum.printed != erratum.corrected
        if erratum.row:
            (table,) = (item for item in paper(erratum.paper).tables if erratum in item.errata)
            figure = table.at(erratum.row, erratum.column)
            assert figure.printed == erratum.printed and figure.erratum == erratum.reason
    places = {(erratum.paper, erratum.where) for erratum in ERRATA}
    assert places >= {
        ("001", "Algorithm 4"),
        ("004", "Algorithm 5"),
        ("003", "Figure 17.4"),
        ("001", "Table 3, gross energies"),
        ("000", "sections 4.1 and 5.4, the moduli as keys"),
    }


@parametrize(
    "old, new, message",
    [
        ('"Algo 6" = { twin', '"Algo 7" = { twin', "there is no 'Algo 7' of which something is said"),
        ('"ALMs" = { metric', '"ALM" = { metric', "there is no 'ALM' of which"),
        ("nkeys = 2", "nkey = 2", "unknown key of [table[0]] 'nkey': did you mean 'nkeys'"),
        ('metric = "alm"', 'metrc = "alm"', "'metrc': did you mean 'metric'"),
        ('"ALMs" = { ', '"ALMs" = { corrected = 5, ', "64, Algo 2 / ALMs: unknown key 'corrected'"),
        ('"ALMs" = { ', '"ALMs" = { value = 5, ', "64, Algo 2 / ALMs: unknown key 'value'"),
        ('"Algo 6" = { ', '"Algo 6" = { parts = [], ', "64, Algo 6 / Cycles: unknown key 'parts'"),
        ('"ALMs" = { ', '"ALMs" = { window = 5, ', "window: give text, not a whole number"),
        (
            '"ALMs" = { ',
            '"ALMs" = { parts = [{ metric = "ff" }], ',
            "ALMs: parts = [{'metric': 'ff'}]; give a",
        ),
        (
            '"ALMs" = { ',
            '"ALMs" = { parts = 5, ',
            "ALMs: parts = 5; give a list of tables, each with a `name`",
        ),
        ('"ALMs" = { ', '"ALMs" = { twin = "mont", ', "64, Algo 2 / ALMs: twin is 'mmred-004' and 'mont'"),
        ("|  1,391 |", "|", "has 7 cells, the head has 8"),
        ("64    | Algo 4", "64    | Algo 2", "row 64, Algo 2 stands there twice"),
        ("|  69%", "|  68%", "68% is printed, the erratum has 69%"),
    ],
)
def test_a_slip_in_a_file_is_found(tmp_path, monkeypatch, old, new, message):
    text = (PAPERS / "004.toml").read_text()
    assert old in text
    (tmp_path / "004.toml").write_text(text.replace(old, new, 1))
    monkeypatch.setattr(published, "PAPERS", tmp_path)
    with pytest.raises(ValueError, match=re.escape(message)):
        paper("004")


# ---- 000


def test_000_table_4():
    """m2 = 2^n + k, m1 = 2^(n+2) - 1 = 3 m2, and Equation 22 as corrected; as printed it has one term too
    many.
    """
    for modulus, (k, pseudo) in table_of("000", "4").rows.items():
        value, shape = modulus.split(" = ")
        power, term = (int(part) for part in shape.removeprefix("2^").split(" + "))
        assert int(value) == 2**power + term and int(k.removeprefix("k = "), 2) == term
        value, shape = pseudo.split(" = ")
        assert int(value) == 3 * (2**power + term) == 2 ** int(shape[2:].split(" ")[0]) - 1
        assert term == sum(4**i for i in range(power // 2)) != sum(4**i for i in range(power // 2 + 1))


def test_000_table_3():
    for modulus, (k,) in table_of("000", "3").rows.items():
        term = int(modulus.partition("± ")[2] or (modulus != "2^n"))
        assert int(k.removeprefix("k = "), 2) == term


def test_000_equation_6():
    """The selection of Equations 6 and 7 (control = 0: A + B, 1: - m, 2: - 2m, 3: - 3m) from the carries B, C
    and D.
    """
    for multiples in range(4):
        b, c, d = (multiples >= value for value in (1, 2, 3))
        high = c or d
        assert 2 * high + (d or (b and not c)) == multiples
        assert (2 * high + (d or not (c and b)) == multiples) == (multiples > 0)


def test_000_table_5():
    table = table_of("000", "5")
    for row in table.rows:
        delay, area, product = (table.at(row, column) for column in ("Delay", "Area", "Area×Delay"))
        check(product, exact(delay.value * area.value), cut=True)


@parametrize("cells, delay, product", [("7", "8", "9"), ("13", "14", "15")])
def test_000_products_of_area_and_delay(cells, delay, product):
    for figure, time in paired(delay, product):
        area = spanned("000", cells, figure.row, figure.column)
        check(figure, area * span(time, cut=True) * 1e-9, cut=True)


def iterations(table, nbits, column):
    """The number of iterations of Table 8 in an execution time according to the text; for one multiplier in
    halves of an iteration.
    """
    encrypts, one = table in ("10", "16"), table in ("16", "17") and column.startswith("CM")
    if one:
        count = (17 + 2) / 2 if encrypts else 1.5 * nbits / 2
        return (count, count + 0.5)
    count = 17 if encrypts else nbits
    return (count, count + 1) if column == "CM (PM)" and not encrypts else (count,)


@parametrize("table", ["10", "11", "16", "17"])
def test_000_execution_times(table):
    """Iterations times the delay of one, with and without the cycle of the final correction.

    MM in Tables 16 and 17 has the values of Tables 10 and 11 in another unit: see
    test_000_second_architecture.
    """
    for figure, delay in paired("8", table):
        if table in ("16", "17") and figure.column.startswith("MM"):
            continue
        counts = iterations(table, figure.nbits, figure.column)
        check(figure, Span(span(delay).low * counts[0], span(delay).high * counts[-1]), cut=True)


def test_000_final_correction():
    """Table 11 includes its cycle; Tables 10 and 16 do not (erratum)."""
    step = spanned("000", "8", "16", "CM (PM)")
    for table, without, counted in (("10", 17, False), ("11", 32, True)):
        printed = spanned("000", table, "16", "CM (PM)", cut=True)
        assert (step * without).meets(printed) is not counted
        assert (step * (without + 1)).meets(printed) is counted
    assert not (step * 10).meets(spanned("000", "16", "16", "CM (PM)", cut=True))


def paired(first, second):
    """The figures of a table of 000, each with that in the same place of the first one."""
    return [
        (figure, cell("000", first, figure.row, figure.column))
        for figure in table_of("000", second).figures()
    ]


def test_000_second_architecture():
    """Cells and delay are halved, and the frequency rises; MM is unchanged up to rounding."""
    for first, second in (("7", "13"), ("8", "14")):
        for figure, before in paired(first, second):
            if figure.column.startswith("MM"):
                assert figure.amount == approx(before.amount)
            else:
                half = span(before) * 0.5
                # Table 14 has few digits, and its DM figures are 3 % off
                assert half.low * 0.96 <= span(figure, cut=True).high and figure.amount <= half.high * 1.02
    for figure, before in paired("9", "15"):
        whole = span(before) * (1 if figure.column.startswith("MM") else 1 / 4)
        # CM (M) at 128 is 2 % less, from a truncated delay; DM (M) is 1 % more
        assert Span(whole.low * 0.96, whole.high * 1.01).meets(span(figure, cut=True)), figure
    for first, second, factor in (("10", "16", 0.6), ("11", "17", 0.8), ("12", "18", 2.1)):
        for figure, before in paired(first, second):
            if figure.column.startswith("MM"):
                assert span(figure, cut=True).meets(span(before, cut=True)), figure
            elif factor < 1:
                assert figure.amount < factor * before.amount
            else:
                assert 1.5 * before.amount < figure.amount < factor * before.amount


def test_000_prose():
    def spans(table, column):
        return [spanned("000", table, row, column, cut=table in ("16", "17")) for row in TESTS_000]

    def saved(now, before):
        return mean([100 * (exact(1) - a / b) for a, b in zip(now, before, strict=True)])

    pseudo, modulus = spans("8", "CM (PM)"), spans("8", "CM (M)")
    text = table_of("000", "text")
    computed = {
        "Table 8: CM (PM) faster than CM (M), mean (%)": saved(pseudo, modulus),
        "Table 8: CM (PM) faster than DM, mean (%)": saved(pseudo, spans("8", "DM (M)")),
    }
    for kind in ("M", "PM"):
        slow, fast = (spans("11", f"{name} ({kind})")[-1] for name in ("MM", "CM"))
        computed[f"Table 11: MM ({kind}) / CM ({kind}) at 512"] = slow / fast
    for table, before in (("16", "10"), ("17", "11")):
        shorter = saved(spans(table, "CM (M)"), spans(before, "CM (M)"))
        computed[f"Table {table}: shorter than in Table {before}, CM, mean (%)"] = shorter
    check_prose(text, computed)
    ratios = [slow / fast for slow, fast in zip(spans("8", "MM (PM)"), pseudo, strict=True)]
    assert max(ratio.high for ratio in ratios) == ratios[-1].high < 4.8e4, "not 10^7"


def test_000_times_of_cm_are_not_at_the_clock_of_the_system():
    """The erratum: an iteration of CM is one cycle, but shorter than that of Table 12; the time of MM matches
    the clock.
    """
    clocks = {
        column: [
            cell("000", "8", row, column).amount * cell("000", "12", row, column).amount * 1e-3
            for row in TESTS_000
        ]
        for column in ("CM (M)", "CM (PM)", "MM (M)", "MM (PM)")
    }
    for column in ("CM (M)", "CM (PM)"):
        assert all(clock < 1 for clock in clocks[column]) and clocks[column][-1] < 1 / 20
    for column in ("MM (M)", "MM (PM)"):
        for row, clock in zip(TESTS_000, clocks[column], strict=True):
            assert 0.99 < clock / (2 * int(row)) < 1.09  # cycles of an iteration per bit
    time = 1025 / cell("000", "12", "512", "CM (PM)").amount  # us
    assert time == approx(2406, abs=1)
    assert 2000 < cell("000", "11", "512", "MM (PM)").amount / (time * 1e3) < 2200
    gains = [
        cell("000", "12", row, "CM (PM)").amount
        / max(cell("000", "12", row, column).amount for column in clocks if column != "CM (PM)")
        for row in TESTS_000
    ]
    assert 1.66 < min(gains) < 2 and 2.4 < max(gains) < 2.5 and sum(gain < 2 for gain in gains) == 3


# ---- 001


def test_001_table_1():
    table = table_of("001", "1")
    for name in BOTH:
        for column in table.columns:
            normalised = span(table.at(f"{name} - Normalized (cycles)", column))
            gross = span(table.at(f"{name} (cycles)", column))
            check(cell("001", "text", "cycles of the dummy", "printed"), gross - normalised)
            for against in ("Naive", "Montgomery"):
                speedup, reference = (
                    table.at(f"{name} - Speedup from Proc{against}", column),
                    f"Proc ({against})",
                )
                assert speedup.against == reference
                if column == reference:
                    assert speedup.printed == "N/A"
                else:
                    check(speedup, span(table.at(f"{name} - Normalized (cycles)", reference)) / normalised)


def test_001_table_3():
    """Normalised = gross - dummy; gross = power x (cycles of Table 1 + 344) x 3 ns in all eight columns."""
    table = table_of("001", "3")
    for name in BOTH:
        for column in table.columns:
            power, gross, dummy = (
                span(table.at(f"{name} - {what}", column))
                for what in ("Power (mW)", "Energy (nJ)", "Energy (Dummy) (nJ)")
            )
            check(table.at(f"{name} - Energy (Normalized) (nJ)", column), gross - dummy)
            cycles = cell("001", "1", f"{name} (cycles)", column).amount
            window = gross / power * (1e3 / 3)  # nJ / mW = us
            assert Span(cycles + 336, cycles + 352).meets(window)
            assert not exact(cycles).meets(window)
    assert window.meets(exact(587)), "a decryption of ProcXcel (Montgomery), the last column"


def test_001_prose():
    text = table_of("001", "text")

    def area(table, column, row="Area"):
        return exact(cell("001", table, row, column).amount or 0)

    naive, mont = area("2a", "RSAXcel"), area("2a", "RSAMontXcel")
    unit = "Average Area of a MulRem/MontMulRem module"
    mul, mont_mul = area("2a", "RSAXcel", unit), area("2a", "RSAMontXcel", unit)
    naive_software, software, by_naive, by_mont = table_of("001", "1").columns

    def share(name, column, what="Energy (Normalized) (nJ)"):
        own, whole = (spanned("001", "3", f"{name} - {what}", at) for at in (column, naive_software))
        return own / whole

    def speed(column, reference):
        return mean([spanned("001", "1", f"{name} - Speedup from {reference}", column) for name in BOTH])

    computed = {
        "area of RSAMontXcel / RSAXcel": mont / naive,
        "extra area of two MontMulRem instead of two MulRem (um2)": 2 * (mont_mul - mul),
        "area of three MontMulRem (um2)": 3 * mont_mul,
        "extra area of the modules, total (um2)": 2 * (mont_mul - mul) + 3 * mont_mul,
        "extra area of RSAMontXcel over RSAXcel (um2)": mont - naive,
    }
    null = area("2b", "ProcXcelNull")
    for system, column in (("ProcXcelNaive", by_naive), ("ProcXcelMont", by_mont)):
        whole = area("2b", system)
        computed |= {
            f"extra area of {system} over ProcXcelNull (um2)": whole - null,
            f"area of {system} / ProcXcelNull": whole / null,
            f"mean speed of {system} / naive software": speed(column, "ProcNaive"),
            f"mean speed of {system} / Montgomery software": speed(column, "ProcMontgomery"),
            f"mean energy of {system} / naive software (%)": 100
            * mean([share(name, column) for name in BOTH]),
        }
    for name in BOTH:
        by_software, by_accelerator = (share(name, column, "Power (mW)") for column in (software, by_naive))
        computed |= {
            f"power, {name.lower()}, Montgomery / naive software": by_software,
            f"power, {name.lower()}, naive accelerator / naive software": by_accelerator,
            f"product of these, {name.lower()}": by_software * by_accelerator,
            f"energy, {name.lower()}, naive software / ProcXcelMont": exact(1) / share(name, by_mont),
        }
    given = {"clock period (ns)", "cycles of the dummy", "cycles of a product in a MontMulRem unit"}
    check_prose(text, computed, given)


# ---- 002


@parametrize("table", ["1", "2", "3", "5"])
def test_002_shares(table):
    for row in table_of("002", table).rows:
        used, of, share = (
            spanned("002", table, row, column) for column in ("Utilization", "Available", "Utilization %")
        )
        assert (100 * (used / of)).meets(share), row


def test_002_elements():
    """n = m / 16 elements, including the first and the last; n + 2 DSP blocks; 3 n + 2 cycles."""
    resources = {512: "1", 1024: "2", 2048: "3"}
    for row in table_of("002", "text").rows:
        cycles, elements, dsps = (
            cell("002", "text", row, column) for column in ("cycles of a product", "GPEs", "DSPs")
        )
        n = cycles.nbits // 16
        if cycles.nbits == 4096:
            assert dsps.value == n + 2
            continue
        assert (cycles.value, elements.value) == (3 * n + 2, n - 2)
        assert cell("002", resources[cycles.nbits], "DSPs", "Utilization").value == n + 2
    for row in ("Perin, Virtex-4", "Proposed architecture, Artix-7"):
        assert cell("002", "4", row, "Clock Cycles").nbits == 1024
    for row in table_of("002", "4").rows.values():
        assert row[:2] == ("1024", "16")
    own = table_of("002", "4").rows["Proposed architecture, Artix-7"]
    assert own[3] == "194"
    assert own[4:] == tuple(row[0] for row in table_of("002", "2").rows.values())


def test_002_exponentiation():
    (formula,) = paper("002").formulas
    products = Expression(formula.expression).value({"t": 1023})
    printed = [figure.value for figure in table_of("002", "modexp").figures()]
    others, own = (
        cell("002", "4", row, "Clock Cycles").value
        for row in ("Wang, Virtex-5", "Proposed architecture, Artix-7")
    )
    assert printed == [products, products * others, products * own, products * (others - own)]


def test_002_needs_4m_below_r():
    """Algorithms 2 and 3: with 2m < R < 4m a result may be too large for an operand; with 4m < R never."""

    def product(x, y, m, n):
        a = 0
        for i in range(n):
            a += (x >> i & 1) * y
            a = (a + (a & 1) * m) >> 1
        return a

    def largest(m, n):
        return max(product(x, y, m, n) for x in range(2 * m) for y in range(2 * m))

    assert product(12, 13, 7, 4) == 15 >= 2 * 7
    assert largest(7, 4) >= 2 * 7 and 2 * 7 < 1 << 4 < 4 * 7
    for m in (3, 5, 7, 9, 13, 15):
        assert largest(m, (4 * m).bit_length()) < 2 * m


# ---- 003


def cycles_003(s, k=1024, h=17):
    values = {"S": s, "K": k, "H": h, "U": 4}
    for formula in paper("003").formulas:
        values[formula.name] = Expression(formula.expression).value(values)
    return values


def test_003_figure_17_4():
    """Cycles by the formula, time = cycles x clock, the sum of the areas of the stages, and area x time; with
    the exchanged pair corrected.
    """
    table, stages = table_of("003", "17.4"), table_of("003", "17.3")
    for row in table.rows:
        clock, area, cycles, time, product = (table.at(row, column) for column in table.columns)
        computed = cycles_003(int(row))["cycles"]
        check(cycles, exact(computed))
        check(time, exact(computed) * span(clock) * 1.0)
        # the printed product uses the printed time, or the corrected one if there is an erratum
        check(product, span(area) * span(time) * 1e-6)
        slices, clocks = (
            [stages.at(f"{row}, {stage}", column).amount for stage in ("Memory", "Adder", "Write")]
            for column in ("Total Slices", "T_ck [ns]")
        )
        assert area.value == sum(slices) and max(clocks) == approx(clock.amount, abs=0.05)
    assert table.at("64", "N_CK").value == table.at("128", "N_CK").amount == 176016
    assert stages.at("32, Memory", "T_ck [ns]").amount > stages.at("32, Adder", "T_ck [ns]").amount


def test_003_figure_17_3():
    """A slice of Virtex-E has two LUTs and two registers: adders use all LUTs of their slices, and other
    stages fit.
    """
    table = table_of("003", "17.3")
    for row in table.rows:
        of = {figure.column: figure.value for figure in table.figures() if figure.row == row}
        ram = "Lut for Dual-port RAM/Single-port RAM"
        tables, registers = of["FF/LUT slices: LUT"], of["FF/LUT slices: FF"]
        dual, single, shift = of[f"{ram}: dual"], of[f"{ram}: single"], of["Lut for Shift Reg"]
        others, slices, buffers = dual + single + shift, of["Total Slices"], of["Tristate buffers"]
        digits, stage = row.split(", ")
        if stage == "Adder":
            assert tables == 2 * slices and registers == 2
            assert others == buffers == 0
        elif stage == "Memory":
            assert (registers, dual, single, shift) == (44, 512, 256, 0)
            assert (table.at(row, "Mux implementation").printed == "LUTs") == (buffers == 0)
        else:
            used = 8 * int(digits)
            assert (dual, single, shift) == (used, 0, max(128, used // 4))
            assert registers > used and buffers % 64 == 0
        assert max(tables + others, registers) <= 2 * slices or tables == 2 * slices
        assert slices < 19200 and buffers < 19520


def test_003_prose():
    text = {figure.row: figure for figure in table_of("003", "text").figures()}
    fastest, smallest = (table_of("003", "17.4").at(row, "Area [Slices]") for row in ("256", "32"))
    time = table_of("003", "17.4").at("256", "Total Time [ms]")
    other = span(text["time of [8], fastest (ms)"])
    check(text["slower than [8] (times)"], span(time) * 1e-6 / other)
    check(
        text["area saved to [8] (%)"],
        100 * (exact(1) - span(fastest) / exact(text["area of [8], fastest (slices)"].value)),
    )
    assert smallest.value < text["area of [8], smallest (slices)"].value
    values = cycles_003(32)
    assert values["saved"] == 33 * (1027 / 4 - 1)
    assert values["blum_paar"] == 2 * 19 * 1028 + 256


# ---- 004


def test_004_time_is_cycles_by_frequency():
    table = table_of("004", "1")
    for row in table.rows:
        cycles, frequency, time = (table.at(row, column) for column in ("Cycles", "F (MHz)", "T (ms)"))
        assert (time.value is None) == (frequency.value is None)
        if time.value is not None:
            check(time, span(cycles) / span(frequency) * 1e3)


def test_004_prose():
    """The least and the largest quotient of Algo 6 and Algo 4 are those in the text."""
    table, text = table_of("004", "1"), table_of("004", "text")
    widths = [row.removesuffix(", Algo 6") for row in table.rows if row.endswith("Algo 6")]
    for column in ("ALMs", "Regs"):
        quotients = [
            100 * (span(table.at(f"{width}, Algo 6", column)) / span(table.at(f"{width}, Algo 4", column)))
            for width in widths
        ]
        for row, extreme in (("least", min), ("most", max)):
            check(text.at(row, column), extreme(quotients, key=lambda quotient: quotient.low))


def test_004_doubling_quadruples():
    """An operation has n products of n cycles each; Algo 2 and Algo 4 have the same cycles."""
    table = table_of("004", "1")
    for row in table.rows:
        cycles = table.at(row, "Cycles")
        extra = cycles.amount / cycles.nbits - cycles.nbits  # cycles per product in addition to n
        assert (-1 if row.endswith("Algo 6") else 4) < extra < 8
        if row.endswith("Algo 2"):
            assert cycles.value == table.at(row.replace("Algo 2", "Algo 4"), "Cycles").value
