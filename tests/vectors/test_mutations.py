"""Corrupt vector files, made by hand and at random: a reader either reads a file or raises BadInput with a
one-line message.
"""

import functools
import json
import operator
import random

from modexlab.eval.exchange.vectors import load
from modexlab.eval.exchange.vectors.items import ModExp, NotApplicable
from modexlab.fl.errors import BadInput

from tests.harness import parametrize, refused
from tests.paths import DATA

OTHERS = (".pem", ".c", ".S", ".sql")  # keys, programs for the processor, a store
FILES = sorted(path.name for path in DATA.iterdir() if path.suffix not in OTHERS)
MUTATIONS = 200
WIDEST = 4096  # wider numbers are skipped before any computation


def read(path):
    """Load a file and compute everything that `check` would, with pow as the machine; return the message if
    the file is refused.
    """
    try:
        items = load(str(path)).items
    except BadInput as error:
        return str(error)
    for item in items:
        if isinstance(item, NotApplicable):
            assert item.reason
            continue
        numbers = (item.base, item.exp, item.mod) if isinstance(item, ModExp) else (item.a, item.b, item.mod)
        if min(numbers) < 0 or item.mod == 0 or max(numbers).bit_length() > WIDEST:
            continue
        golden = item.golden()
        if isinstance(item, ModExp) and item.verdict is not None:
            assert item.verdict.holds(golden) in (True, False)
    return ""


# ---- by hand


def corrupted(tmp_path, name, change):
    path = tmp_path / name
    path.write_text(change((DATA / name).read_text()))
    return path


def updated(*path, **fields):
    """A function that updates the object at this path of a JSON document."""

    def changed(text):
        document = json.loads(text)
        functools.reduce(operator.getitem, path, document).update(fields)
        return json.dumps(document)

    return changed


GROUP = ("testGroups", 0)
SIGNATURES = "wycheproof_signature_512.json"


@parametrize(
    "name, change, message",
    [
        (SIGNATURES, updated(*GROUP, "tests", 0, result=["valid"]), r"result is \['valid'\]; it must be"),
        (SIGNATURES, updated(*GROUP, n=True), "n is not a hexadecimal number: True"),
        (SIGNATURES, updated(*GROUP, sLen="all"), ""),
        (SIGNATURES, lambda _: "[" * 100_000, "nested too deeply"),
        (
            SIGNATURES,
            lambda _: '{"testGroups": ' + "7" * 5000 + "}",
            "this JSON has an integer of 5000 digits; write it as",
        ),
    ],
)
def test_by_hand(tmp_path, name, change, message):
    said = read(corrupted(tmp_path, name, change))
    assert "\n" not in said
    assert len(said) < 1000
    if message:
        with refused(message):
            load(str(tmp_path / name))


def test_a_hash_without_identifier_is_not_applicable(tmp_path):
    """PKCS#1 v1.5 padding contains an identifier of its hash; SHAKE128 has none."""
    path = corrupted(
        tmp_path,
        SIGNATURES,
        updated(*GROUP, sha="SHAKE128"),
    )
    assert read(path) == ""


def test_a_salt_length_that_is_no_number(tmp_path):
    pss, salted = updated(algorithm="RSASSA-PSS"), updated(*GROUP, type="RsassaPssVerify", sLen=["20"])
    path = corrupted(tmp_path, SIGNATURES, lambda text: salted(pss(text)))
    assert "sLen is ['20']; it must be a number" in read(path)


# ---- at random


def mutated(text, rng):
    """The text after one to four random mutations: bytes deleted, doubled or replaced, lines dropped,
    repeated or swapped.
    """
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.choice((1, 1, 2, 8, 60)))
        piece = text[start:end]
        lines = text.split(b"\n")
        one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.choice(("delete", "double", "replace", "letters", "swap", "drop", "repeat")):
            case "delete":
                text = text[:start] + text[end:] or b" "
            case "double":
                text = text[:end] + piece + text[end:]
            case "replace":
                text = text[:start] + rng.randbytes(len(piece)) + text[end:]
            case "letters":
                letters = bytes(rng.choices(b'0019afAF -=:#[]{}",\n', k=len(piece)))
                text = text[:start] + letters + text[end:]
            case "swap":
                lines[one], lines[two] = lines[two], lines[one]
                text = b"\n".join(lines)
            case "drop":
                text = b"\n".join(lines[:one] + lines[one + 1 :]) or b" "
            case "repeat":
                text = b"\n".join(lines[: one + 1] + lines[one:])
    return text


VALUES = (
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    "",
    "00",
    "-7",
    "zz",
    "é",
    "0x",
    [],
    ["valid"],
    {},
    {"a": 1},
    "\ud800",
)


def retyped(document, rng):
    """The document with one random value replaced by one of another type."""
    if not isinstance(document, (dict, list)) or not document or rng.random() < 0.1:
        return rng.choice(VALUES)
    keys = list(document) if isinstance(document, dict) else range(len(document))
    key = rng.choice(list(keys))
    changed = document.copy()
    changed[key] = retyped(document[key], rng)
    return changed


def check(path, mutant):
    path.write_bytes(mutant)
    said = read(path)
    assert "\n" not in said and len(said) < 1000, said
    return bool(said)


@parametrize("name", FILES)
def test_accidents(tmp_path, name):
    rng = random.Random(name)
    original = (DATA / name).read_bytes()
    refused = sum(check(tmp_path / name, mutated(original, rng)) for _ in range(MUTATIONS))
    assert 0 < refused < MUTATIONS, "both outcomes occur, or the mutations are too wild or too tame"


@parametrize("name", [name for name in FILES if name.endswith(".json")])
def test_other_types(tmp_path, name):
    rng = random.Random(f"types of {name}")
    original = json.loads((DATA / name).read_text())
    for _ in range(MUTATIONS):
        document = original
        for _ in range(rng.randint(1, 3)):
            document = retyped(document, rng)
        check(tmp_path / name, json.dumps(document).encode())
