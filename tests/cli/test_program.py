"""`modexlab show --program` and `modexlab show --costs`: a machine's program, and its costs."""

from modexlab.fl.program.schedules import SCHEDULES

from tests.command_line import ENCRYPT, refusals
from tests.harness import parametrize

# ---- one program


def test_text(cli):
    lines = cli("show --program mont-keyed").out.splitlines()
    assert lines[0].split(maxsplit=1) == [
        "0",
        "take | mov r, 1 | mov b, in.base | modulus in.mod | exp in.exp, 11 digits",
    ]
    assert any("mul r, r, r | scan" in line for line in lines)
    assert lines[-2].startswith("mont-keyed, 32 bits: ") and "the same for all secrets" in lines[-2]
    assert lines[-1].startswith("15 words; registers r, b, s, and a memory of")
    lines = cli("show --program mont-keyed --crt --blind").out.splitlines()
    assert lines[-3].endswith(", the same for all secrets")
    assert "and a memory of" in lines[-2]
    assert lines[-1].startswith("after base, exp and mod, the request has: p (16 bits), q (16 bits), dp")


def test_json(cli):
    report = cli.reports(
        "show --program mont-keyed --nbits 64 --crt --blind",
        design="mont-keyed",
        nbits=64,
        constant_time=True,
    )
    assert len(report["program"]) == report["words"] and report["registers"] == ["r", "b", "s"]
    fields = {field["name"]: field["nbits"] for field in report["fields"]}
    assert fields == {**dict.fromkeys(("p", "q", "dp", "dq", "qinv"), 32), "x": 64, "kp": 64, "kq": 64}
    assert report["cycles"] == report["formula"]
    assert report["memory_words"] == report["table"] + len(report["slots"])
    assert report["params"]["verify"] is True


@parametrize("how", ["--crt", "--blind", "--verify", "--crt --blind"])
@parametrize("design", ["mont-keyed", "heap"])
def test_formula_and_words_agree(cli, design, how):
    report = cli.json(f"show --program {design} --nbits 128 {how}")
    assert report["cycles"] == report["formula"]


def test_a_digit_a_clock_at_rsa_widths(cli):
    """With 70-bit digits; with CRT on units of half the width."""
    most = {(1024, False): 24_000, (2048, False): 87_200, (2048, True): 47_700, (4096, True): 171_600}
    for (nbits, crt), cycles in most.items():
        how = f"--set crt={str(crt).lower()} --set verify=false --set digit_nbits=70"
        report = cli.json(f"show --program heap --nbits {nbits} {how}")
        assert report["cycles"] == report["formula"] <= cycles
        assert report["word_nbits"] == (nbits // 2 if crt else nbits) + 71


def test_it_is_what_a_run_executes(cli):
    cli.reports(
        f"run mont-keyed {ENCRYPT} --level fl", program=cli.json("show --program mont-keyed")["program"]
    )


# ---- all of them


def test_table_as_json(cli):
    rows = cli.json("show --costs --nbits 64 --nbits 128")
    assert {row["nbits"] for row in rows} == {64, 128}
    by_name = {row["program"]: row for row in rows if row["nbits"] == 128}
    assert {"always", "sliding-window", "fixed-window", "crt, check, blinded"} <= by_name.keys()
    plain = {name: item for name, item in by_name.items() if name in SCHEDULES}
    of_length = ("always",)  # they start at the highest 1 of the exponent
    assert {name: row["constant"] for name, row in plain.items()} == {
        name: "yes" if name == "fixed-window" else "of a length" if name in of_length else "no"
        for name in plain
    }
    for row in by_name.values():
        assert row["formula"] in (row["cycles"], None), row["program"]
        assert row["formula"] is not None or not row["constant_time"]
    # the cost of each protection, relative to the program without it
    assert by_name["crt"]["cycles"] < by_name["fixed-window"]["cycles"]
    checked, blinded = by_name["crt, check"], by_name["crt, check, blinded"]
    assert 0 < checked["overhead_percent"] < blinded["overhead_percent"]
    assert blinded["overhead_percent"] == round(100 * (blinded["cycles"] / by_name["crt"]["cycles"] - 1), 1)


def test_table_in_words(cli):
    out = cli("show --costs mont-keyed --nbits 64").out
    assert out.startswith("mont-keyed: a private operation\n")
    head = next(line for line in out.splitlines() if line.startswith("bits"))
    heads = [
        "bits",
        "program",
        "constant time",
        "products",
        "cycles",
        "formula",
        "overhead",
        "words",
        "memory",
    ]
    assert [part.strip() for part in head.split("  ") if part.strip()] == heads


test_refusals = refusals(
    "show",
    {
        "--program mont-001": "mont-001 has a controller of its own",
        "--program mont-001 --crt": "mont-001 has a controller of its own",
        "--program mont-keyed --crt --set schedule=sliding-window": "shows the exponent",
        "--program mont-keyed --nbits 4": "out of range",
        "--program mnt": "did you mean 'mont'?",
        "--costs mont-001": "mont-001",
        "--costs mont-keyed --set crt=true": "--set crt: the table has a row for each",
    },
)
