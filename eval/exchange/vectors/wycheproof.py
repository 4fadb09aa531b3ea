"""Reader for Project Wycheproof's RSA files (testvectors/rsa_*.json and testvectors_v1/rsa_*.json).

A file has test groups, a group has a key and tests. The key is given in up to five ways that differ by schema
version (`n`, `e`, `d` as numbers; `publicKey`/`privateKey` objects; DER; PEM; JWK): the first one is used.
What a test asks follows from its fields and the group's type:

    sig, group of a signature check     sig^e mod n, then PKCS#1 v1.5 or PSS says valid or invalid
    sig, group "...Generate"            the encoded message ^ d mod n equals sig
    ct                                  ct^d mod n, then OAEP or PKCS#1 v1.5 gives msg back, or refuses
    base, exponent, modulus, ...        that power

`result` is the file's verdict; "acceptable" allows either answer, and only the power itself is then judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....fl.errors import BadInput
from ....fl.pkcs1 import Kind
from . import eip198, encoding
from .items import Frame, Item, ModExp, NotApplicable, Verdict
from .numbers import Key, hex_bytes, hex_int, key_from_der, key_from_jwk, key_from_pem, shorten

FORMAT = "Project Wycheproof JSON"
DESCRIPTION = "Project Wycheproof JSON (testGroups with RSA keys and sig or ct)"

_EXPECT: dict[str, bool | None] = {"valid": True, "invalid": False, "acceptable": None}


def recognise(document: Any) -> bool:
    return isinstance(document, dict) and "testGroups" in document


def read(document: dict[str, Any], source: str) -> list[Item]:
    """Every test of every group as one item."""
    items: list[Item] = []
    algorithm = str(document.get("algorithm", ""))
    groups = document["testGroups"]
    if not isinstance(groups, list):
        raise BadInput(f"{source}: testGroups is not a list")
    for index, group in enumerate(groups):
        where = f"{source}: testGroups[{index}]"
        if not isinstance(group, dict) or not isinstance(group.get("tests"), list):
            raise BadInput(f"{where} is not an object with a list of tests")
        items += _Group(group, algorithm, where).items()
    return items


def _number(value: Any, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise BadInput(f"{where} is not a hexadecimal number: {shorten(repr(value))}")
    return hex_int(value, where)


def _find_key(group: dict[str, Any], where: str) -> Key | None:
    """The group's key from the first way of giving one that it has."""
    nested = {**_object(group, "publicKey"), **_object(group, "privateKey")}
    n = _number(group.get("n", nested.get("modulus", nested.get("n"))), f"{where}.n")
    if n is not None:
        e = group.get("e", nested.get("publicExponent", nested.get("e")))
        d = group.get("d", nested.get("privateExponent", nested.get("d")))
        p = group.get("p", nested.get("prime1", nested.get("p")))
        q = group.get("q", nested.get("prime2", nested.get("q")))
        return Key(
            n,
            _number(e, f"{where}.e"),
            _number(d, f"{where}.d"),
            _number(p, f"{where}.p"),
            _number(q, f"{where}.q"),
        )
    for field in ("privateKeyPkcs8", "publicKeyAsn", "keyAsn", "publicKeyDer", "keyDer"):
        if isinstance(group.get(field), str):
            return key_from_der(hex_bytes(group[field], f"{where}.{field}"), f"{where}.{field}")
    for field in ("privateKeyPem", "publicKeyPem", "keyPem"):
        if isinstance(group.get(field), str):
            return key_from_pem(group[field], f"{where}.{field}")
    for field in ("privateKeyJwk", "publicKeyJwk", "keyJwk"):
        if isinstance(group.get(field), dict):
            return key_from_jwk(group[field], f"{where}.{field}")
    return None


def _object(group: dict[str, Any], field: str) -> dict[str, Any]:
    value = group.get(field)
    return value if isinstance(value, dict) else {}


class _Group:
    """One test group: its key and hashes, and how each of its tests becomes an item."""

    def __init__(self, group: dict[str, Any], algorithm: str, where: str) -> None:
        self.group = group
        self.where = where
        self.kind = str(group.get("type", ""))
        self.algorithm = algorithm
        rsa = "rsa" in f"{algorithm} {self.kind}".lower()
        self.key = _find_key(group, where) if rsa else None
        self.scheme = f"{algorithm} {self.kind}".lower()

    def items(self) -> list[Item]:
        items = []
        for position, test in enumerate(self.group["tests"]):
            if not isinstance(test, dict):
                raise BadInput(f"{self.where}.tests[{position}] is not an object")
            label = test.get("tcId", f"{self.where}[{position}]")
            name = f"tcId {label}" + (f" ({test['comment']})" if test.get("comment") else "")
            items.append(self._item(test, name, f"{self.where}.tests[{position}] (tcId {label})"))
        return items

    def _item(self, test: dict[str, Any], name: str, where: str) -> Item:
        plain = eip198.plain_fields({**test, "expected": test.get("expected", test.get("result"))})
        result = test.get("result")
        judged = isinstance(result, str) and result in _EXPECT
        if plain is not None and not judged:
            return eip198.plain_item(name, plain, where)
        if plain is not None and "expected" in test and result == "valid":
            return eip198.plain_item(name, plain, where)
        if self.key is None:
            return NotApplicable(name, f"{self.algorithm or self.kind or 'the group'} has no RSA key")
        if not judged:
            known = ", ".join(_EXPECT)
            raise BadInput(f"{where}: result is {shorten(repr(result))}; it must be one of {known}")
        if isinstance(test.get("sig"), str) and isinstance(test.get("msg"), str):
            return self._signature(self.key, test, name, where)
        if isinstance(test.get("ct"), str) and isinstance(test.get("msg"), str):
            return self._decryption(self.key, test, name, where)
        return NotApplicable(name, f"{self.kind or self.algorithm} has neither msg and sig nor msg and ct")

    def _hash(self, field: str, default: str | None = None) -> tuple[str | None, str]:
        """(hashlib's name or None, the file's name) of the hash in a field of the group."""
        written = str(self.group.get(field) or default or "")
        return encoding.hash_name(written), written

    def _salt_len(self) -> int | None:
        """The length of PSS salts; None: the group does not say."""
        length = self.group.get("sLen")
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 0):
            raise BadInput(f"{self.where}: sLen is {shorten(repr(length))}; it must be a number of bytes")
        return length

    def _signature(self, key: Key, test: dict[str, Any], name: str, where: str) -> Item:
        sha, written = self._hash("sha")
        if sha is None:
            return NotApplicable(
                name, f"the hash {written or '(none given)'} is not available in this Python"
            )
        message, signature = hex_bytes(test["msg"], f"{where}: msg"), hex_bytes(test["sig"], f"{where}: sig")
        value, size = int.from_bytes(signature, "big"), encoding.octets(key.n.bit_length())
        in_range = len(signature) == size and value < key.n  # RFC 8017, 8.1.2 and 8.2.2: else it is invalid
        expect = _EXPECT[test["result"]]
        if "pss" not in self.scheme and not encoding.has_pkcs1_prefix(sha):
            return NotApplicable(name, f"PKCS#1 v1.5 with {written} is not defined")
        if "generate" in self.scheme:
            if key.d is None:
                return NotApplicable(name, "the group has no private exponent")
            em = encoding.pkcs1_encode(sha, message, size)
            if em is None:
                return NotApplicable(
                    name, f"a modulus of {key.n.bit_length()} bits is too short for {written}"
                )
            claim = f"PKCS#1 v1.5 signature made with {written}: {test['result']}"
            return ModExp(
                name,
                int.from_bytes(em, "big"),
                key.d,
                key.n,
                None,
                Verdict(lambda s: s == value, expect, claim),
                key,
            )
        if key.e is None:
            return NotApplicable(name, "the group has no public exponent")
        holds: Callable[[int], bool]
        if "pss" in self.scheme:
            mgf, mgf_written = self._hash("mgfSha", written)
            if mgf is None:
                return NotApplicable(name, f"the hash {mgf_written} is not available in this Python")
            salt_len = self._salt_len()
            nbits = key.n.bit_length()

            def holds(result: int) -> bool:
                return in_range and encoding.pss_holds(sha, message, nbits, result, salt_len, mgf)
        else:
            em = encoding.pkcs1_encode(sha, message, size)

            def holds(result: int) -> bool:
                return in_range and em is not None and result == int.from_bytes(em, "big")

        scheme = "PSS" if "pss" in self.scheme else "PKCS#1 v1.5"
        claim = f"{scheme} signature with {written}: {test['result']}"
        frame = None if "pss" in self.scheme else Frame(Kind.SIGN, size)
        return ModExp(name, value, key.e, key.n, None, Verdict(holds, expect, claim, frame))

    def _decryption(self, key: Key, test: dict[str, Any], name: str, where: str) -> Item:
        if key.d is None:
            return NotApplicable(name, "the group has no private exponent")
        message, ciphertext = hex_bytes(test["msg"], f"{where}: msg"), hex_bytes(test["ct"], f"{where}: ct")
        value, size = int.from_bytes(ciphertext, "big"), encoding.octets(key.n.bit_length())
        in_range = len(ciphertext) == size and value < key.n  # RFC 8017, 7.1.2 and 7.2.2: else it is invalid
        if "oaep" in self.scheme:
            sha, written = self._hash("sha")
            mgf, mgf_written = self._hash("mgfSha", written)
            if sha is None or mgf is None:
                return NotApplicable(
                    name,
                    f"the hash {written if sha is None else mgf_written} is not available in this Python",
                )
            label = hex_bytes(str(test.get("label", "")), f"{where}: label")
            scheme = f"OAEP decryption with {written}"

            def holds(result: int) -> bool:
                return in_range and encoding.oaep_decode(sha, mgf, result, size, label) == message
        else:
            scheme = "PKCS#1 v1.5 decryption"

            def holds(result: int) -> bool:
                return in_range and encoding.pkcs1_decode(result, size) == message

        frame = None if "oaep" in self.scheme else Frame(Kind.ENCRYPT, size)
        verdict = Verdict(holds, _EXPECT[test["result"]], f"{scheme}: {test['result']}", frame)
        return ModExp(name, value, key.d, key.n, None, verdict, key)
