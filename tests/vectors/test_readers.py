"""Readers of third-party vectors: the items of good files, and the messages for corrupt ones.

The good files are tests/data (numbers by Python's pow, signatures by the `rsa` package) and NIST's signature
tests, converted. pow replaces the hardware.
"""

import base64
import json
from collections import Counter

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from modexlab.eval.exchange.vectors import load
from modexlab.eval.exchange.vectors.items import ModExp, ModMul, NotApplicable

from tests.command_line import picked
from tests.harness import module_fixture, parametrize, refused
from tests.keys import openssl_key
from tests.paths import DATA

from . import nist


@pytest.fixture(name="read")
def read_written(tmp_path):
    """A function that writes a file and loads it; content other than text and bytes is written as JSON."""

    def read(content, name="vectors"):
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        path = tmp_path / name
        path.write_bytes(content)
        return load(str(path))

    return read


def judge(file):
    """Counts of items by kind; asserts that golden values agree with the file."""
    counts = Counter()
    for item in file.items:
        if isinstance(item, NotApplicable):
            counts["not applicable"] += 1
        elif item.mod == 0 or (isinstance(item, ModExp) and item.base >= item.mod):
            counts["out of range"] += 1
        else:
            golden = item.golden()
            assert item.expected in (None, golden), item.name
            if isinstance(item, ModExp) and item.verdict is not None and item.verdict.expect is not None:
                assert item.verdict.holds(golden) == item.verdict.expect, f"{item.name}: {item.verdict.claim}"
            counts[type(item).__name__] += 1
    return counts


@parametrize(
    "name, form, counts",
    [
        ("bn_small.txt", "bn text", {"ModMul": 10, "ModExp": 9, "not applicable": 4, "out of range": 1}),
        ("wycheproof_signature_512.json", "Wycheproof", {"ModExp": 5, "out of range": 1}),
        ("wycheproof_decrypt_512.json", "Wycheproof", {"ModExp": 3}),
    ],
)
def test_small_files(name, form, counts):
    file = load(str(DATA / name))
    assert form in file.format
    assert judge(file) == counts


@parametrize("name", nist.FILES)
def test_signatures_of_nist(read, name):
    counts = judge(read(nist.document(name)))
    tests = nist.FILES[name][-1]
    above = 2 if "PSS" in name else 0  # signatures above the modulus
    assert counts == {"ModExp": tests - above} | ({"out of range": above} if above else {})


# ---- Wycheproof: all forms of keys, all kinds of tests


@module_fixture
def key():
    return openssl_key(1024, e=3)


def _bytes(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _jwk(number):
    return base64.urlsafe_b64encode(_bytes(number)).rstrip(b"=").decode()


def _numbers(key):
    return key.public_key().public_numbers()


def _spki(key, encoding):
    return key.public_key().public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo)


def _pkcs8(key, encoding, pkcs1=False):
    form = serialization.PrivateFormat.TraditionalOpenSSL if pkcs1 else serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption())


INVALID = {"result": "invalid"}
PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER
PUBLIC_KEYS = {
    "publicKeyDer": lambda key: _spki(key, DER).hex(),
    "keyDer": lambda key: _spki(key, DER).hex(),
    "keyPem": lambda key: _spki(key, PEM).decode(),
    "publicKeyPem": lambda key: _spki(key, PEM).decode(),
    "publicKeyAsn": lambda key: key.public_key().public_bytes(DER, serialization.PublicFormat.PKCS1).hex(),
    "keyJwk": lambda key: {"kty": "RSA", "n": _jwk(_numbers(key).n), "e": _jwk(_numbers(key).e)},
}
PRIVATE_KEYS = {
    "privateKeyPkcs8": lambda key: _pkcs8(key, DER).hex(),
    "privateKeyPem": lambda key: _pkcs8(key, PEM, pkcs1=True).decode(),
    "privateKey": lambda key: {
        "modulus": "00" + _bytes(_numbers(key).n).hex(),
        "privateExponent": _bytes(key.private_numbers().d).hex(),
    },
}


@pytest.fixture
def wycheproof(read):
    """A function that loads a file with one group; tests have an empty message and are valid by default."""

    def written(algorithm, group, *tests):
        numbered = [{"tcId": i, "msg": "", "result": "valid", **test} for i, test in enumerate(tests, 1)]
        groups = [{**group, "tests": numbered}]
        return read({"algorithm": algorithm, "numberOfTests": len(tests), "testGroups": groups})

    return written


@parametrize("field", PUBLIC_KEYS)
def test_wycheproof_public_keys(wycheproof, key, field):
    signature = key.sign(b"", padding.PKCS1v15(), hashes.SHA256()).hex()
    group = {"type": "RsassaPkcs1Verify", "sha": "SHA-256", field: PUBLIC_KEYS[field](key)}
    file = wycheproof("RSASSA-PKCS1-v1_5", group, {"sig": signature})
    assert judge(file) == {"ModExp": 1}
    assert picked(file.items[0], "mod exp") == picked(_numbers(key), "n e")


@parametrize("field", PRIVATE_KEYS)
def test_wycheproof_private_keys(wycheproof, key, field):
    scheme = padding.OAEP(mgf=padding.MGF1(hashes.SHA1()), algorithm=hashes.SHA256(), label=b"\1")
    secret = key.public_key().encrypt(b"\2", scheme).hex()
    group = {"type": "RsaesOaepDecrypt", "sha": "SHA-256", "mgf": "MGF1", "mgfSha": "SHA-1"}
    group[field] = PRIVATE_KEYS[field](key)
    valid = {"msg": "02", "ct": secret, "label": "01"}
    wrong = {"label": ""}, {"msg": "03"}, {"ct": "00" + secret}
    file = wycheproof("RSAES-OAEP", group, valid, *(valid | change | INVALID for change in wrong))
    assert judge(file) == {"ModExp": 4}
    private = key.private_numbers()
    (read, *_) = file.items
    assert read.exp == private.d
    if field == "privateKey":
        assert picked(read.key, "p q") == (None, None)  # the object has no e here
    else:
        assert picked(read.key, "n e") == picked(private.public_numbers, "n e")
        assert picked(read.key, "d p q") == picked(private, "d p q")


def test_wycheproof_pss(wycheproof, key):
    scheme = padding.PSS(mgf=padding.MGF1(hashes.SHA1()), salt_length=11)
    signature = key.sign(b"", scheme, hashes.SHA256()).hex()
    group = {"type": "RsassaPssVerify", "sha": "SHA-256", "mgfSha": "SHA-1", "sLen": 11}
    group["publicKeyPem"] = PUBLIC_KEYS["publicKeyPem"](key)
    tests = [
        {"sig": signature},
        {"msg": "00", "sig": signature, **INVALID},
        {"sig": "00" + signature, **INVALID},
    ]
    assert judge(wycheproof("RSASSA-PSS", group, *tests)) == {"ModExp": 3}
    longer = wycheproof("RSASSA-PSS", group | {"sLen": 12}, {"sig": signature, **INVALID})
    assert judge(longer) == {"ModExp": 1}


def test_wycheproof_generate(wycheproof, key):
    signature = key.sign(b"", padding.PKCS1v15(), hashes.SHA224()).hex()
    group = {"type": "RsassaPkcs1Generate", "sha": "SHA-224", "privateKeyPkcs8": _pkcs8(key, DER).hex()}
    file = wycheproof("RSASSA-PKCS1-v1_5", group, {"sig": signature})
    assert judge(file) == {"ModExp": 1}
    assert file.items[0].exp == key.private_numbers().d


def test_wycheproof_without_rsa(wycheproof):
    file = wycheproof("ECDSA", {"type": "EcdsaVerify"}, {"sig": "00"}, {"sig": "00"})
    assert judge(file) == {"not applicable": 2}
    assert "ECDSA has no RSA key" in file.items[0].reason


@parametrize(
    "algorithm, group, field, reason",
    [
        ("RSASSA-PSS", {"e": "03", "mgfSha": "X"}, "sig", "the hash X is not"),
        (
            "RSASSA-PSS",
            {"e": "03", "sha": "WHIRL-7"},
            "sig",
            "the hash WHIRL-7 is not available in this Python",
        ),
        ("RSASSA-PKCS1-v1_5", {"d": "03"}, "sig", "no public exponent"),
        ("RSASSA-PKCS1-v1_5", {"e": "03", "sha": "WHIRL-7"}, "sig", "the hash WHIRL-7 is not"),
        ("RSASSA-PKCS1-v1_5", {"e": "03", "sha": "SHAKE128"}, "sig", "is not defined"),
        ("RSASSA-PKCS1-v1_5", {"e": "03", "type": "Generate"}, "sig", "no private"),
        ("RSASSA-PKCS1-v1_5", {"d": "3", "type": "Generate"}, "sig", "too short"),
        ("RSAES-PKCS1-v1_5", {"e": "03"}, "ct", "no private exponent"),
        ("RSAES-OAEP", {"d": "03", "mgfSha": "X"}, "ct", "the hash X is not"),
        ("RSA", {"d": "03", "type": "RsaKeyTest"}, "key", "neither msg and sig nor msg and ct"),
    ],
)
def test_wycheproof_not_applicable(wycheproof, algorithm, group, field, reason):
    file = wycheproof(algorithm, {"n": "7f", "sha": "SHA-1", **group}, {field: "00"})
    assert isinstance(file.items[0], NotApplicable)
    assert reason in file.items[0].reason


@parametrize(
    "group, message",
    [
        ({"n": ["7f"], "e": "03"}, r"\.n is not a hexadecimal number: \['7f'\]"),
        ({"publicKeyDer": "3003"}, r"publicKeyDer is not DER: it ends before the 3 bytes"),
        ({"publicKeyDer": "30"}, r"publicKeyDer is not DER: it ends within a header"),
        ({"publicKeyDer": "0203010001"}, r"publicKeyDer is not the DER of a key: it is not one SEQUENCE"),
        ({"publicKeyDer": "30050403010001"}, r"publicKeyDer is not the DER of an RSA key"),
        ({"keyPem": "-----BEGIN X-----\n*\n-----END X-----"}, r"keyPem is not PEM: its body is not base64"),
        ({"keyJwk": {"e": "AQAB"}}, r"keyJwk is not an RSA JSON Web Key: it has no n"),
        ({"keyJwk": {"n": "A"}}, r"keyJwk\.n is not base64url: 'A'"),
    ],
)
def test_wycheproof_corrupt_keys(wycheproof, group, message):
    with refused(message):
        wycheproof("RSASSA-PSS", group, {"sig": ""})


@parametrize(
    "document, message",
    [
        ({"testGroups": 5}, "testGroups is not a list"),
        ({"testGroups": [5]}, r"testGroups\[0\] is not an object with a list of tests"),
        ({"testGroups": [{"tests": [5]}]}, r"testGroups\[0\]\.tests\[0\] is not an object"),
        ([{"base": "01", "exponent": "02", "modulus": "03"}], "this JSON is of no known format"),
    ],
)
def test_json_of_another_shape(read, document, message):
    with refused(message):
        read(document)


# ---- other layouts


def test_bn_text_without_blank_lines_and_with_colons(read):
    powers = "ModExp: 1\nA: 2\nE: 2\nM: 3\nModExp: 1\nA: 4\nE: 2\nM: 5 # comment\n"
    file = read(f"{powers}ModMul = 1\nA = 2\nB = 2\nM = 3")
    assert judge(file) == {"ModExp": 2, "ModMul": 1}


@parametrize(
    "content, items",
    [
        # as in BoringSSL's mod_mul_tests.txt: an empty line ends a stanza, a comment line does not
        (
            "ModMul = 1\n# A is even.\nA = 2\n  # and so is B\nB = 2\nM = 3\n\n"
            "# next\nModMul = 3\nA = 1\nB = 3\nM = 7\n",
            [ModMul("line 1 ModMul", 2, 2, 3, 1), ModMul("line 9 ModMul", 1, 3, 7, 3)],
        ),
        # a byte of Latin-1 in a comment
        (b"# by Koc and G\xf6del\nModMul = 1\nA = 2\nB = 2\nM = 3\n", [ModMul("line 2 ModMul", 2, 2, 3, 1)]),
        ("ModSquare = 1\nA = 4\nM = 5\n", [ModMul("line 1 ModSquare", 4, 4, 5, 1)]),
    ],
)
def test_layouts(read, content, items):
    assert read(content).items == items


def test_detection_is_by_content(read):
    marked = b"\xef\xbb\xbf" + (DATA / "wycheproof_decrypt_512.json").read_bytes()  # with a byte order mark
    assert "Wycheproof" in read(marked, "misleading.txt").format


# ---- corrupt files: original file, damage, pattern of the message


def replaced(old, new, *count):
    return lambda text: text.replace(old, new, *count)


def cut(last):
    return lambda text: text[: text.rindex(last)]


CORRUPT = {
    "bn_small.txt": {
        "a field is gone": (cut("\nM : "), r"ModExp .* has no M; is the file cut off"),
        "not hexadecimal": (replaced("\nB = ", "\nB = 12z"), r"B of the .* stanza at line \d+ is not a hexa"),
        "a stray line": (replaced("Sum = 3", "Sum 3"), r"line 5 is neither"),
    },
    "wycheproof_signature_512.json": {
        "cut in the middle": (lambda text: text[:700], r"line \d+, column \d+: not valid JSON"),
        "not hexadecimal": (
            replaced('"sig": "', '"sig": "0', 1),
            r"testGroups\[0\].tests\[0\] \(tcId 1\): sig is not hex",
        ),
        "unknown verdict": (
            replaced('"valid"', '"perhaps"'),
            "result is 'perhaps'; it must be one of valid, invalid",
        ),
        "bad modulus": (
            replaced('"n": "00', '"n": "0x0g', 1),
            r"testGroups\[0\].n is not a hexadecimal number",
        ),
    },
    "rsa512.pem": {
        "unknown JSON": (
            lambda text: '{"a": [1]}',
            "this JSON is of no known format; known formats: Project Wycheproof",
        ),
        "unknown text": (
            lambda text: text,
            "this text is of no known format; known formats: Project Wycheproof",
        ),
        "empty": (lambda text: " \n", "the file is empty"),
        "no vectors": (lambda text: '{"testGroups": []}', "holds no vector"),
    },
}


@parametrize("name, case", [(name, case) for name, cases in CORRUPT.items() for case in cases])
def test_corrupt_files(read, tmp_path, name, case):
    damage, message = CORRUPT[name][case]
    text = (DATA / name).read_text()
    damaged = damage(text)
    assert damaged != text or case == "unknown text", "the damage changes the file"
    with refused(message) as error:
        read(damaged, name)
    assert str(error.value).startswith(str(tmp_path / name)), "the message names the file"
    assert "\n" not in str(error.value)


def test_binary_file(read):
    with refused("byte 6 is not text"):
        read(b"ModExp\xff\xfe")


def test_missing_file(tmp_path):
    with refused("No such file"):
        load(str(tmp_path / "nothing.json"))
