"""Tests of the judge: which items run, which are skipped and why, and that both of its checks can fail a
vector.
"""

import functools

from modexlab.eval.designs import catalogue
from modexlab.eval.designs.session import Answer, Session
from modexlab.eval.exchange.vectors import judge
from modexlab.eval.exchange.vectors.items import Frame, ModExp, ModMul, NotApplicable, Verdict
from modexlab.eval.exchange.vectors.judge import Judge
from modexlab.fl.errors import BadInput
from modexlab.fl.pkcs1 import Kind, Opened
from modexlab.fl.status import Status

from tests.command_line import picked
from tests.harness import each_design, parametrize, refused

M = 2**31 - 1
power = functools.partial(ModExp, "x")


def outcomes_of(items, design="mont", **options):
    (outcomes,) = Judge(catalogue.find(design), **options).run([items])
    return outcomes


def judged(item, design="mont", **options):
    (outcome,) = outcomes_of([item], design, **options)
    return outcome


def kinds(outcomes):
    return [outcome.kind for outcome in outcomes]


@each_design("mont-001", "dm-m-000")
def test_powers_and_products_on_native_rtl(design):
    modulus = design.at(32).modulus or M
    items = [
        ModExp("a power", 3, 65537, modulus, pow(3, 65537, modulus)),
        ModMul("a product", 12345, 67890, M, 12345 * 67890 % M),
        ModMul("a product that is 0 mod M", 65519, 65521, 65519 * 65521, 0),
        NotApplicable("a sum", "it is a sum"),
    ]
    outcomes = outcomes_of(items, design.name)
    why = "" if design.plain_unit else f"the multiplier of {design.name} alone does not take any modulus"
    try:
        design.at(32).multiplier()
    except BadInput as error:
        why = why or str(error)
    if not why:
        assert kinds(outcomes) == ["passed"] * 3 + ["skipped"]
        assert [outcome.nbits for outcome in outcomes] == [32, 32, 32, None]
        assert outcomes[1].result == 12345 * 67890 % M
    else:
        assert kinds(outcomes) == ["passed"] + ["skipped"] * 3
        assert all(why in outcome.reason for outcome in outcomes[1:3])


def test_a_width_that_the_user_asked_for_must_exist():
    """Above its largest width a design is inapplicable, unless the user asked for that width: an error."""
    wide = power(3, 5, 2**2047 + 1)
    assert "does not exist at 2048 bits" in judged(wide, "cm-m-000").reason
    with refused("too large"):
        judged(wide, "cm-m-000", nbits=2048)


def test_order_over_files_is_kept():
    files = [[ModExp("a", 2, 2, 7, 4), ModExp("b", 2, 3, 2**40 + 1, 8)], [], [ModExp("c", 2, 1, 7, 2)]]
    outcomes = list(Judge(catalogue.find("mont")).run(files))
    assert [[outcome.item.name for outcome in per_file] for per_file in outcomes] == [["a", "b"], [], ["c"]]


@parametrize(
    "item, reason, options",
    [
        (NotApplicable("x", "it is a sum"), "it is a sum", {}),
        (power(3, 5, 0), "the modulus is 0", {}),
        (power(3, 5, -7), "the modulus is negative", {}),
        (power(-3, 5, 7), "an operand is negative", {}),
        (power(3, -5, 7), "an operand is negative", {}),
        (power(3, 5, 8), "the modulus is even, and a Montgomery machine needs an odd one", {}),
        (power(7, 5, 7), "the base is not below the modulus", {}),
        (ModMul("x", 3, 9, 7, 6), "a factor is not below the modulus", {}),
        (ModMul("x", -3, 2, 7, 1), "an operand is negative", {}),
        (power(3, 5, 2**4096 + 1), "wider than 4096 bits", {}),
        (power(3, 2**4096, 7), "wider than 4096 bits", {}),
        (power(3, 5, 2**60 + 1), "wider than the 48 bits of --nbits", {"nbits": 48}),
        (power(3, 5, 7, 5), "the machine is made for another modulus", {"design": "dm-m-000"}),
    ],
)
def test_skipped_with_a_reason(item, reason, options):
    assert picked(judged(item, **options), "kind reason") == ("skipped", reason)


WIDE_BASE = power(2**40 + 9, 5, 7, pow(2**40 + 9, 5, 7))


@parametrize(
    "item, options, kind, nbits",
    [
        (WIDE_BASE, {}, "skipped", None),
        (WIDE_BASE, {"design": "naive"}, "passed", 64),  # 64 bits for the base
        (power(-3, 5, 7, -(3**5) % 7), {"reduce": True}, "passed", 32),
        (power(3, 5, 7, 5), {"nbits": 48}, "passed", 48),
        (power(3, 2**40 + 1, 7, pow(3, 2**40 + 1, 7)), {}, "passed", 64),  # 64 bits for the exponent
        (power(3, 5, 7, 5), {"design": "dm-m-000", "settings": {"modulus": 7}}, "passed", 32),
    ],
)
def test_widths(item, options, kind, nbits):
    assert picked(judged(item, **options), "kind nbits") == (kind, nbits)


def test_reduce():
    outcome = judged(ModMul("x", -3, 2**70, 7, -3 * 2**70 % 7), reduce=True)
    assert picked(outcome, "kind nbits operands") == ("passed", 32, {"a": 4, "b": 2, "mod": 7})


def test_limit_counts_usable_items_only():
    items = [NotApplicable("x", "sum"), *(power(3, exp, 7, pow(3, exp, 7)) for exp in range(4))]
    assert kinds(outcomes_of(items, limit=2)) == ["skipped", "passed", "passed", "beyond", "beyond"]


@parametrize(
    "options, message",
    [
        ({"design": "mont-001", "settings": {"nstages": 3}}, "nstages = 3 does not divide"),
        ({"backend": "spice"}, "unknown backend 'spice'"),
    ],
)
def test_a_design_that_cannot_be_run(options, message):
    with refused(message):
        judged(power(3, 5, 7, 5), **options)


# ---- both checks can fail a vector


def test_the_result_of_the_file_is_wrong():
    said = "the result equals the golden value, but the file has 6"
    assert picked(judged(power(3, 5, 7, 6)), "kind reason") == ("failed", said)


@parametrize(
    "says, expect, kind",
    [
        (True, False, "failed"),
        (False, True, "failed"),
        (True, None, "passed"),  # the file allows either verdict
        (False, None, "passed"),
    ],
)
def test_the_verdict_of_the_file(says, expect, kind):
    outcome = judged(power(3, 5, 7, None, Verdict(lambda _: says, expect, "a signature: so and so")))
    assert (outcome.kind, outcome.either) == (kind, expect is None)
    if kind == "failed":
        assert f"the encoding is {'valid' if says else 'invalid'} (a signature: so and so)" in outcome.reason


def test_a_wrong_machine_fails(monkeypatch):
    def off_by_one(_, operands, *__):
        return [Answer(Status.OK, pow(*operand) + 1, 9) for operand in operands]

    monkeypatch.setattr(Session, "run", off_by_one)
    verdict = Verdict(lambda _: True, None, "anything goes")
    outcome = judged(power(3, 5, 7, None, verdict))
    said = "the result is not the golden value"
    assert picked(outcome, "kind result golden reason") == ("failed", 6, 5, said)


def test_a_refusing_machine_fails(monkeypatch):
    monkeypatch.setattr(
        Session, "run", lambda _, operands, *__: [Answer(Status.NO_RESULT, 5, 9)] * len(operands)
    )
    assert "the machine answered status 6" in judged(power(3, 5, 7, 5)).reason


@parametrize("level", ["fl", "rtl"])
def test_encodings_are_opened_by_the_unit_too(level, monkeypatch):
    """The unit agrees on good and wrong encodings of both types; a faulty unit fails the vector."""
    modulus = (1 << 128) - 159
    good, short = b"\0\2" + b"\7" * 9 + b"\0mess", b"\0\2" + b"\7" * 5 + b"\0message!"
    signed = b"\0\1" + b"\xff" * 9 + b"\0info"
    encrypted, signature = (Frame(kind, 16) for kind in (Kind.ENCRYPT, Kind.SIGN))
    framed = (good, encrypted), (short, encrypted), (signed, signature), (good, None)
    items = [
        power(int.from_bytes(em, "big"), 1, modulus, None, Verdict(lambda _: True, True, "any", frame))
        for em, frame in framed
    ]
    outcomes = outcomes_of(items, level=level)
    assert kinds(outcomes) == ["passed"] * 4
    assert [outcome.opened for outcome in outcomes] == [True] * 3 + [False]
    if level == "fl":
        monkeypatch.setattr(judge, "unpad", lambda kind, em, nbytes: Opened(True, 4, 0))
        outcomes = outcomes_of(items, level=level)
        assert kinds(outcomes) == ["failed"] * 3 + ["passed"]
        assert outcomes[1].reason.startswith(
            "the encoding is wrong, of 0 bytes; the unit for unpadding says good"
        )
