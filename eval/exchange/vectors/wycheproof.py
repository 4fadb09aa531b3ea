"""Reader for Project Wycheproof's RSA files (testvectors/rsa_*.json and testvectors_v1/rsa_*.json).

A file has test groups, each with a key and tests. The key is given in up to five forms that depend on the
schema version (`n`, `e`, `d` as numbers; `publicKey`/`privateKey` objects; DER; PEM; JWK); the first one is
used. The fields of a test and the type of its group decide what is tested:

    sig, group of a signature check     sig^e mod n passes or fails PKCS#1 v1.5 or PSS verification
    sig, group "...Generate"            the encoded message ^ d mod n equals sig
    ct                                  ct^d mod n decodes to msg by OAEP or PKCS#1 v1.5, or is refused

`result` is the verdict of the file; "acceptable" allows either verdict, and only the power itself is then
judged.
"""

from functools import partial
from typing import Any

from ....fl.errors import BadInput
from ....fl.pkcs1 import Kind
from . import encoding
from .encoding import OAEP, PKCS1, PSS, Inapplicable, Signed, hash_of
from .items import Frame, Item, ModExp, Verdict, item, private_power
from .numbers import Key, hex_bytes, hex_int, key_from_der, key_from_jwk, key_from_pem, shorten

FORMAT = "Project Wycheproof JSON"
DESCRIPTION = "Project Wycheproof JSON (testGroups with RSA keys and sig or ct)"

_EXPECT = {"valid": True, "invalid": False, "acceptable": None}


def recognise(document: Any) -> bool:
    return isinstance(document, dict) and "testGroups" in document


def read(document: dict[str, Any], source: str) -> list[Item]:
    """Every test of every group as one item."""
    items = []
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


# names of the numbers of a key: in the group -> in its publicKey or privateKey
_NUMBERS = {"n": "modulus", "e": "publicExponent", "d": "privateExponent", "p": "prime1", "q": "prime2"}
_DER = ("privateKeyPkcs8", "publicKeyAsn", "keyAsn", "publicKeyDer", "keyDer")
_PEM = ("privateKeyPem", "publicKeyPem", "keyPem")
_JWK = ("privateKeyJwk", "publicKeyJwk", "keyJwk")


def _find_key(group: dict[str, Any], where: str) -> Key | None:
    """The group's key, in the first form that the group has."""
    nested: dict[str, Any] = {}
    for field in ("publicKey", "privateKey"):
        if isinstance(inner := group.get(field), dict):
            nested |= inner

    def number(name):
        value = group.get(name, nested.get(_NUMBERS[name], nested.get(name)))
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        if not isinstance(value, str):
            raise BadInput(f"{where}.{name} is not a hexadecimal number: {shorten(repr(value))}")
        return hex_int(value, f"{where}.{name}")

    if (n := number("n")) is not None:
        return Key(n, *map(number, "edpq"))
    for field in filter(group.__contains__, (*_DER, *_PEM, *_JWK)):
        value, place = group[field], f"{where}.{field}"
        if field in _JWK and isinstance(value, dict):
            return key_from_jwk(value, place)
        if field in _DER and isinstance(value, str):
            return key_from_der(hex_bytes(value, place), place)
        if field in _PEM and isinstance(value, str):
            return key_from_pem(value, place)
    return None


class _Group:
    """One test group: its key and hashes, and how each of its tests becomes an item."""

    def __init__(self, group: dict[str, Any], algorithm: str, where: str) -> None:
        self.group, self.where, self.algorithm = group, where, algorithm
        self.kind = str(group.get("type", ""))
        self.words = f"{algorithm} {self.kind}".lower()
        self.key = _find_key(group, where) if "rsa" in self.words else None

    def items(self) -> list[Item]:
        items = []
        for position, test in enumerate(self.group["tests"]):
            if not isinstance(test, dict):
                raise BadInput(f"{self.where}.tests[{position}] is not an object")
            label = f"tcId {test.get('tcId', f'{self.where}[{position}]')}"
            name = label + (f" ({test['comment']})" if test.get("comment") else "")
            where = f"{self.where}.tests[{position}] ({label})"
            items.append(item(name, partial(self._item, test, name, where)))
        return items

    def _item(self, test: dict[str, Any], name: str, where: str) -> Item:
        if self.key is None:
            raise Inapplicable(f"{self.algorithm or self.kind or 'the group'} has no RSA key")
        result = test.get("result")
        if not isinstance(result, str) or result not in _EXPECT:
            known = ", ".join(_EXPECT)
            raise BadInput(f"{where}: result is {shorten(repr(result))}; it must be one of {known}")
        for field, made in (("sig", self._signature), ("ct", self._decryption)):
            if isinstance(test.get(field), str) and isinstance(test.get("msg"), str):
                return made(self.key, test, name, where)
        raise Inapplicable(f"{self.kind or self.algorithm} has neither msg and sig nor msg and ct")

    def _hashes(self) -> tuple[str, str]:
        """The hash of messages as the group spells it, and the hash of the mask as hashlib names it."""
        written = str(self.group.get("sha") or "")
        return written, hash_of(str(self.group.get("mgfSha") or written))

    def _salt_len(self) -> int | None:
        """The length of PSS salts, or None if the group does not give it."""
        length = self.group.get("sLen")
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 0):
            raise BadInput(f"{self.where}: sLen is {shorten(repr(length))}; it must be a number of bytes")
        return length

    def _signature(self, key: Key, test: dict[str, Any], name: str, where: str) -> Item:
        message, signature = (hex_bytes(test[field], f"{where}: {field}") for field in ("msg", "sig"))
        value, result = int.from_bytes(signature, "big"), test["result"]
        if "pss" in self.words:
            written, mgf = self._hashes()
            signed = Signed(PSS, written, message, self._salt_len(), mgf)
        else:
            signed = Signed(PKCS1, str(self.group.get("sha") or ""), message)
        if "generate" in self.words:
            em = signed.encoded(key.n)
            claim = f"{PKCS1} signature made with {signed.written}: {result}"
            verdict = Verdict(lambda s: s == value, _EXPECT[result], claim)
            made = private_power(name, em or 0, key, verdict)
            if em is None:
                raise Inapplicable(
                    f"a modulus of {key.n.bit_length()} bits is too short for {signed.written}"
                )
            return made
        if key.e is None:
            raise Inapplicable("the group has no public exponent")
        valid = _in_range(signature, key)  # otherwise invalid, RFC 8017, 8.1.2 and 8.2.2
        claim = f"{signed.scheme} signature with {signed.written}: {result}"
        frame = Frame(Kind.SIGN, encoding.octets(key.n.bit_length())) if signed.scheme == PKCS1 else None
        verdict = Verdict(lambda number: valid and signed.holds(key.n, number), _EXPECT[result], claim, frame)
        return ModExp(name, value, key.e, key.n, None, verdict)

    def _decryption(self, key: Key, test: dict[str, Any], name: str, where: str) -> Item:
        message, ciphertext = (hex_bytes(test[field], f"{where}: {field}") for field in ("msg", "ct"))
        size = encoding.octets(key.n.bit_length())
        frame: Frame | None = Frame(Kind.ENCRYPT, size)
        decode, claim = encoding.pkcs1_decode, f"{PKCS1} decryption"
        if "oaep" in self.words:
            written, mgf = self._hashes()
            label = hex_bytes(str(test.get("label", "")), f"{where}: label")
            frame, claim = None, f"{OAEP} decryption with {written}"
            decode = partial(encoding.oaep_decode, hash_of(written), mgf, label=label)
        valid = _in_range(ciphertext, key)  # otherwise invalid, RFC 8017, 7.1.2 and 7.2.2
        result = test["result"]
        verdict = Verdict(
            lambda number: valid and decode(number, size) == message,
            _EXPECT[result],
            f"{claim}: {result}",
            frame,
        )
        return private_power(name, int.from_bytes(ciphertext, "big"), key, verdict)


def _in_range(number: bytes, key: Key) -> bool:
    """Whether the number has as many bytes as the modulus, and is below it."""
    return len(number) == encoding.octets(key.n.bit_length()) and int.from_bytes(number, "big") < key.n
