"""Reader for NIST CAVP RSA files (.rsp, .fax and the .txt with more values), FIPS 186-2 and 186-4 layouts.

Lines `name = value` under `[mod = ...]` sections. Key values (n, e, d, p, q) stay in force until they are
given again, in whatever block they stand: alone before the tests (186-2), or in every test (186-4 SigVer).
What a test asks follows from its values and from the scheme named in the header comment:

    Msg, S with d in force          the encoded message ^ d mod n equals S (PSS only where the salt is given)
    Msg, S                          S^e mod n, then PKCS#1 v1.5, PSS or X9.31 says pass or fail
    c, k        (RSADP)             k = c^d mod n; without d, k^e mod n = c
    EM, S       (RSASP1)            S = EM^d mod n; without d, S^e mod n = EM
    n, e, d     (KeyGen)            m^e ^ d mod n gives m back, for a fixed m
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace

from ....fl.errors import BadInput, shown
from ...designs.widths import MAX_NBITS
from . import encoding
from .encoding import PKCS1, PSS, X931, Inapplicable, Signed
from .items import Item, ModExp, item, private_power, verification
from .numbers import Key, hex_bytes, hex_int, shorten

FORMAT = "NIST CAVP response file"
DESCRIPTION = "NIST CAVP .rsp for RSA ([mod = ...] sections with n, e, d, Msg, S, c, k, EM)"

_LEAST = {"n": 2, "e": 1, "d": 1, "p": 2, "q": 2}
_LINE = re.compile(r"([A-Za-z][^=]*?)\s*=\s*(.*)")


def _name(written: str) -> str:
    return written.strip().lower().replace(" ", "")


def recognise(text: str) -> bool:
    """Whether the text has a modulus size section, or names of CAVP beside a modulus n."""
    if re.search(r"^\s*\[\s*mod(?:ulus)?\s*(?:size)?\s*=", text, re.MULTILINE | re.IGNORECASE):
        return True
    names = {_name(match[1]) for match in map(_LINE.match, text.splitlines()) if match}
    return "n" in names and bool(names & {"msg", "s", "c", "k", "em", "d", "shaalg"})


def _scheme_of(text: str) -> str | None:
    """The signature scheme that the header comments name."""
    header = " ".join(line for line in text.splitlines() if line.lstrip().startswith("#")).lower()
    words = {"pss": PSS, "x9.31": X931, "ver 1.5": PKCS1, "v1.5": PKCS1}
    return next((scheme for word, scheme in words.items() if word in header), None)


class _Record:
    """The values of one test, with the line where it starts."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[str, str] = {}

    def is_test(self) -> bool:
        return not self.values.keys().isdisjoint(("s", "c", "k", "em"))

    def is_complete(self) -> bool:
        have = self.values.keys()
        if "c" in have:
            return "k" in have or "result" in have
        return "s" in have and ("msg" in have or "em" in have)


def read(text: str, source: str) -> list[Item]:
    """Every test as one item; in a key generation file, every key."""
    reader = _Reader(text, source)
    record = _Record(1)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#", 1)[0].strip() if not line.lstrip().startswith("#") else ""
        if not any(map(str.isalnum, line)):  # one NIST file has a line of exclamation marks
            # a blank line inside a test (n alone, then e, then the test) does not end it
            if record.is_complete():
                record = reader.close(record, number + 1)
            continue
        if line.startswith("["):
            record = reader.close(record, number + 1)
            continue
        match = _LINE.match(line)
        if match is None:
            raise BadInput(
                f"{source}: line {number} is neither `name = value`, [section], # comment nor blank: "
                f"{shorten(line)!r}; restore the file from its origin"
            )
        name = _name(match[1])
        if name in record.values or (record.is_complete() and name in ("n", "count", "shaalg")):
            record = reader.close(record, number)
        record.values[name] = match[2].strip()
    reader.close(record, 0)
    return reader.items()


class _Reader:
    """Collects the records with the key in force at each, and turns them into items at the end."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.scheme = _scheme_of(text)
        salt = re.search(r"^#\s*salt\s*len\s*:\s*(\d{1,6})\b", text, re.MULTILINE | re.IGNORECASE)
        self.salt_len = int(salt[1]) if salt else None
        self.key: dict[str, int] = {}
        self.tests: list[tuple[_Record, dict[str, int]]] = []

    def close(self, record: _Record, next_line: int) -> _Record:
        """Take the key values of a record into force and, if it is a test or a key pair, keep it."""
        values = record.values
        if "n" in values:
            self.key = {}
        for name in filter(values.__contains__, _LEAST):
            where = f"{self.source}: {name} in the test at line {record.line}"
            self.key[name] = hex_int(values[name], where)
            if self.key[name] < _LEAST[name]:
                raise BadInput(
                    f"{where} is {shown(self.key[name])}, which is in no key; "
                    "restore the file from its origin"
                )
        if record.is_test() or {"n", "d", "e"} <= values.keys():
            self.tests.append((record, dict(self.key)))
        elif "msg" in values or "shaalg" in values:
            raise BadInput(f"{self.source}: the test at line {record.line} has no S; is the file cut off?")
        return _Record(next_line)

    def items(self) -> list[Item]:
        if self.scheme is None:
            self.scheme = self._guess()
        found = []
        for record, key in self.tests:
            test = _Test(self, record, key)
            found.append(item(test.name, test.item if record.is_test() else test.key_pair))
        return found

    def _guess(self) -> str | None:
        """The scheme that most encoded messages look like, in a file that lost its header."""
        looks: Counter[str] = Counter()
        for record, key in self.tests:
            if {"msg", "s"} <= record.values.keys() and {"n", "e"} <= key.keys():
                signature = hex_int(record.values["s"], f"{self.source}: S of the test at line {record.line}")
                if max(signature, *key.values()).bit_length() > MAX_NBITS:
                    continue  # no machine is that wide: it will be skipped
                em, nbytes = pow(signature, key["e"], key["n"]), encoding.octets(key["n"].bit_length())
                if nbytes > 2 and em >> (8 * (nbytes - 2)) == 1:
                    looks[PKCS1] += 1
                elif em & 0xFF == 0xBC:
                    looks[PSS] += 1
                elif 0xCC in (em & 0xFF, key["n"] - em & 0xFF):
                    looks[X931] += 1
        return looks.most_common(1)[0][0] if looks else None


class _Test:
    """A test with the key in force, or a key pair."""

    def __init__(self, reader: _Reader, record: _Record, key: dict[str, int]) -> None:
        self.reader, self.values, self.numbers = reader, record.values, key
        self.name = f"{'test' if record.is_test() else 'key'} at line {record.line}"
        self.where = f"{reader.source}: {self.name}"

    def _key(self, *needed: str) -> Key:
        """The key in force; BadInput unless it has these numbers."""
        for name in needed:
            if name not in self.numbers:
                raise BadInput(
                    f"{self.reader.source}: the {self.name} has no {name} in force; is the file cut off?"
                )
        return Key(**self.numbers)

    def _private(self) -> int | None:
        """The private exponent: given, or from p, q and e."""
        numbers = self.numbers
        if "d" in numbers or not {"p", "q", "e"} <= numbers.keys():
            return numbers.get("d")
        order = math.lcm(numbers["p"] - 1, numbers["q"] - 1)
        return pow(numbers["e"], -1, order) if math.gcd(numbers["e"], order) == 1 else None

    def key_pair(self) -> Item:
        key = self._key("n")
        message = 2**64 + 0x6D6F6465786C6162  # any number works; this one is "modexlab" above a 1
        if key.n <= message:
            raise Inapplicable("the modulus is too short for a message")
        if max(self.numbers.values()).bit_length() > MAX_NBITS:
            raise Inapplicable(f"wider than {MAX_NBITS} bits")
        return private_power(self.name, pow(message, self.numbers["e"], key.n), key, message)

    def item(self) -> Item:
        values = self.values
        key = self._key("n")
        refused = values.get("result", "").lower().startswith("f")
        if "msg" not in values:
            for base, result in (("c", "k"), ("em", "s")):
                if base in values:
                    return self._primitive(key, values[base], values.get(result), refused)
        if not {"msg", "s"} <= values.keys():
            raise Inapplicable("the test has no message, or no number to start from")
        return self._signature(key, refused)

    def _primitive(self, key: Key, base: str, result: str | None, refused: bool) -> Item:
        """RSADP or RSASP1: result = base^d mod n, or where d is not given, result^e mod n = base."""
        if result is None or refused or "fail" in result.lower():
            raise Inapplicable("the vector expects the operation to be refused, not a number")
        numbers = hex_int(base, self.where), hex_int(result, self.where)
        d = self._private()
        if d is not None:
            return private_power(self.name, numbers[0], replace(key, d=d), numbers[1])
        e = self._key("e").e
        assert e is not None
        return ModExp(self.name, numbers[1], e, key.n, numbers[0])

    def _signature(self, key: Key, refused: bool) -> Item:
        values, reader, where = self.values, self.reader, self.where
        written = values.get("shaalg", "")
        if reader.scheme is None:
            encoding.hash_of(written)
            raise Inapplicable("the file does not name its signature scheme")
        message = hex_bytes(values["msg"], f"{where}: Msg")
        signed = Signed(reader.scheme, written, message, reader.salt_len)
        signature = hex_int(values["s"], f"{where}: S")
        if "result" not in values and "d" in self.numbers:
            salt = b"" if reader.salt_len == 0 else None
            if salt is None and "saltval" in values and reader.scheme == PSS:
                salt = hex_bytes(values["saltval"], f"{where}: SaltVal")
            em = signed.encoded(key.n, salt)
            if em is not None:
                return private_power(self.name, em, key, signature)
        return verification(
            self.name,
            signed,
            signature,
            self._key("e"),
            not refused,
            values.get("result", "P"),
            valid=signature < key.n,
        )
