"""`modexlab run --level formula`: the closed formulas, fast at any width."""

from modexlab.eval.designs.catalogue import designs, find
from modexlab.fl.errors import BadInput

from tests.command_line import refusals
from tests.harness import parametrize


def test_json(cli):
    report = cli.reports(
        "run --level formula mont --nbits 1024 --exp 65537", design="mont", nbits=1024, exp=65537
    )
    assert isinstance(report["cycles"], int)
    assert report["mod"].startswith("0x"), "too large for a double"


def test_the_default_width_is_that_of_run(cli):
    assert cli("run --level formula mont").out.startswith("mont, 32 bits, exponent of ")
    assert cli("run --level formula mont").out == cli("run --level formula mont --nbits 32").out
    for mod in (7, 2**33 + 1):
        operands = f"--base 5 --exp 3 --mod {mod}"
        ran = cli.json(f"run mont {operands} --level fl")
        cli.reports(f"run --level formula mont {operands}", nbits=ran["nbits"])


@parametrize("design", [design.name for design in designs()])
@parametrize("nbits", [8, 32, 1024, 4096])
def test_all_designs_and_widths(cli, design, nbits):
    try:
        find(design).at(nbits)
    except BadInput as error:  # a tree has a largest width
        assert cli.fails(f"run --level formula {design} --nbits {nbits}") == str(error)
        assert nbits >= 1024
    else:
        assert cli.json(f"run --level formula {design} --nbits {nbits}")["cycles"] > 0


def test_a_fixed_modulus_is_the_default(cli):
    report = cli.json("run --level formula dm-m-000 --nbits 64")
    assert report["mod"] == report["params"]["modulus"] == hex((2**64 - 1) // 3), "too large for a double"


RUN = "run --level formula mont --nbits"
KEYED_RUN = "run --level formula mont-keyed --nbits"
KEYED = "--set schedule=fixed-window --set crt=true --set fit=modulus"


test_refusals = refusals(
    "run --level formula",
    {
        "mont --nbits 32 --mod 8": "even",
        f"mont --nbits 32 --exp {2**40}": "does not fit in 32 bits; give --nbits 64 or more",
        "mont --nbits 64 --set steps_per_stage=5": "does not divide the width of 64 bits",
        "monty --nbits 32": "did you mean 'mont'?",
        "ssmm --nbits 32 --workload product": "take as long as their operands make them",
        f"mont-keyed --nbits 64 {KEYED} --exp 3": "--exp: with crt, blind or verify",
        f"mont-keyed --nbits 64 {KEYED} --workload encrypt": "give workload decrypt",
    },
)


def test_an_exponent_that_is_drawn_is_told(cli):
    """If only other operands are given, the output reports the random exponent."""
    cli.shows("run --level formula mont --base 3 --mod 9", "bits (random; give --exp for yours): ")
    assert "random" not in cli("run --level formula mont --base 3 --exp 5 --mod 9").out


def test_a_product(cli):
    """Cycles from product to product, if all products take the same."""
    cli.reports(
        "run --level formula systolic-002 --nbits 512 --workload product",
        cycles=98,
        products=1,
        product_cycles=98,
    )


def test_products_are_counted(cli):
    """Sequential products are counted; two parallel ones count once."""
    for design, exp, products, cycles in (
        ("mont", 65537, 17, 4),
        ("mont-001", 65537, 19, 4),
        ("serial-003", 65537, 19, None),
        ("systolic-002", 65537, 36, 11),
        ("ssmm", 65537, 17, None),
    ):
        report = cli.json(f"run --level formula {design} --nbits 32 --exp {exp}")
        assert report["products"] == products, design
        if cycles or design == "ssmm":
            assert report["product_cycles"] == cycles, design


def test_a_machine_with_a_key(cli):
    """CRT with fit=modulus takes about half the cycles; the private operation is the default."""
    named = cli.json(f"{KEYED_RUN} 1024 {KEYED} --workload decrypt")
    whole = cli.json(f"{KEYED_RUN} 1024 --set schedule=fixed-window --workload decrypt")
    assert 0.5 < named["cycles"] / whole["cycles"] < 0.55
    assert named["products"] > whole["products"] and named["product_cycles"] is None
    cli.reports(f"{KEYED_RUN} 1024 {KEYED}", cycles=named["cycles"], products=named["products"])
