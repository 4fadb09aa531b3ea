"""Reader for NIST CAVP RSA files (.rsp, .fax and the .txt with more values), FIPS 186-2 and 186-4 layouts.

Lines `name = value` under `[mod = ...]` sections. Key values (n, e, d, p, q) remain valid until they are
given again, in any block: alone before the tests (186-2), or in every test (186-4 SigVer). The values of a
test and the scheme named in the header comment determine the kind of test:

    Msg, S with d in force          the encoded message ^ d mod n equals S (PSS only if the salt is given)
    Msg, S                          S^e mod n passes or fails PKCS#1 v1.5, PSS or X9.31 verification
    c, k        (RSADP)             k = c^d mod n; without d, k^e mod n = c
    EM, S       (RSASP1)            S = EM^d mod n; without d, S^e mod n = EM
    n, e, d     (KeyGen)            (m^e)^d mod n = m, for a fixed m
"""

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
    """Whether the text has a section with the size of the modulus, or a modulus n and other names of CAVP."""
    if re.search(r"^\s*\[\s*mod(?:ulus)?\s*(?:size)?\s*=", text, re.MULTILINE | re.IGNORECASE):
        return True
    names = {_name(match[1]) for match in map(_LINE.match, text.splitlines()) if match}
    return "n" in names and bool(names & {"msg", "s", "c", "k", "em", "d", "shaalg"})


def _scheme_of(text: str) -> str | None:
    """The signature scheme that the header comments name."""
    header = " ".join(line for line in text.splitlines() if line.lstrip().startswith("#")).lower()
    words = {"pss": PSS, "x9.31": X931, "ver 1.5": PKCS1, "v1.5": PKCS1}
    return next((scheme for word, scheme in words.items() if word in header), None)


class _Test:
    """The values of one test, or of a key pair, with the line where it starts and the key in force."""

    def __init__(self, file: "_File", line: int) -> None:
        self.file, self.line = file, line
        self.values: dict[str, str] = {}
        self.numbers: dict[str, int] = {}  # of the key in force

    @property
    def is_test(self) -> bool:
        return not self.values.keys().isdisjoint(("s", "c", "k", "em"))

    @property
    def is_complete(self) -> bool:
        have = self.values.keys()
        if "c" in have:
            return "k" in have or "result" in have
        return "s" in have and ("msg" in have or "em" in have)

    @property
    def name(self) -> str:
        return f"{'test' if self.is_test else 'key'} at line {self.line}"

    @property
    def where(self) -> str:
        return f"{self.file.source}: {self.name}"

    def key(self, *needed: str) -> Key:
        """The key in force; BadInput unless it has these numbers."""
        for name in needed:
            if name not in self.numbers:
                raise BadInput(
                    f"{self.file.source}: the {self.name} has no {name} in force; is the file cut off?"
                )
        return Key(**self.numbers)

    def key_pair(self) -> Item:
        key = self.key("n")
        message = 2**64 + 0x6D6F6465786C6162  # any number works; this one is "modexlab" above a 1
        if key.n <= message:
            raise Inapplicable("the modulus is too short for a message")
        if max(self.numbers.values()).bit_length() > MAX_NBITS:
            raise Inapplicable(f"wider than {MAX_NBITS} bits")
        return private_power(self.name, pow(message, self.numbers["e"], key.n), key, message)

    def item(self) -> Item:
        if not self.is_test:
            return self.key_pair()
        values, key = self.values, self.key("n")
        refused = values.get("result", "").lower().startswith("f")
        if "msg" in values and "s" in values:
            return self._signature(key, refused)
        for base, result in (("c", "k"), ("em", "s")) if "msg" not in values else ():
            if base in values:
                return self._primitive(key, values[base], values.get(result, "fail"), refused)
        raise Inapplicable("the test has no message, or no number to start from")

    def _primitive(self, key: Key, base: str, result: str, refused: bool) -> Item:
        """RSADP or RSASP1: result = base^d mod n, or without d, result^e mod n = base."""
        if refused or "fail" in result.lower():
            raise Inapplicable("the vector expects the operation to be refused, not a number")
        given, power = hex_int(base, self.where), hex_int(result, self.where)
        numbers = self.numbers
        if "d" not in numbers and {"p", "q", "e"} <= numbers.keys():
            order = math.lcm(numbers["p"] - 1, numbers["q"] - 1)
            if math.gcd(numbers["e"], order) == 1:
                key = replace(key, d=pow(numbers["e"], -1, order))
        if key.d is not None:
            return private_power(self.name, given, key, power)
        self.key("e")
        return ModExp(self.name, power, numbers["e"], key.n, given)

    def _signature(self, key: Key, refused: bool) -> Item:
        values, file, written = self.values, self.file, self.values.get("shaalg", "")
        if file.scheme is None:
            encoding.hash_of(written)
            raise Inapplicable("the file does not name its signature scheme")
        message = hex_bytes(values["msg"], f"{self.where}: Msg")
        signed = Signed(file.scheme, written, message, file.salt_len)
        signature = hex_int(values["s"], f"{self.where}: S")
        if "result" not in values and "d" in self.numbers:
            salt = b"" if file.salt_len == 0 else None
            if salt is None and "saltval" in values and file.scheme == PSS:
                salt = hex_bytes(values["saltval"], f"{self.where}: SaltVal")
            em = signed.encoded(key.n, salt)
            if em is not None:
                return private_power(self.name, em, key, signature)
        result = values.get("result", "P")
        key = self.key("e")
        return verification(self.name, signed, signature, key, not refused, result, valid=signature < key.n)


class _File:
    """Collects the tests, each with the key in force."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.scheme = _scheme_of(text)
        salt = re.search(r"^#\s*salt\s*len\s*:\s*(\d{1,6})\b", text, re.MULTILINE | re.IGNORECASE)
        self.salt_len = int(salt[1]) if salt else None
        self.key: dict[str, int] = {}
        self.tests: list[_Test] = []

    def close(self, test: _Test, next_line: int) -> _Test:
        """Put the key values of a test into force and, if it is a test or a key pair, append it."""
        values = test.values
        if "n" in values:
            self.key = {}
        for name in filter(values.__contains__, _LEAST):
            where = f"{self.source}: {name} in the test at line {test.line}"
            self.key[name] = hex_int(values[name], where)
            if self.key[name] < _LEAST[name]:
                raise BadInput(
                    f"{where} is {shown(self.key[name])}, which is in no key; "
                    "restore the file from its origin"
                )
        if test.is_test or {"n", "d", "e"} <= values.keys():
            test.numbers = dict(self.key)
            self.tests.append(test)
        elif "msg" in values or "shaalg" in values:
            raise BadInput(f"{self.source}: the test at line {test.line} has no S; is the file cut off?")
        return _Test(self, next_line)

    def guessed(self) -> str | None:
        """The scheme that most encoded messages look like, for a file without its header."""
        looks: Counter[str] = Counter()
        for test in self.tests:
            key = test.numbers
            if {"msg", "s"} <= test.values.keys() and {"n", "e"} <= key.keys():
                signature = hex_int(test.values["s"], f"{self.source}: S of the test at line {test.line}")
                if max(signature, *key.values()).bit_length() > MAX_NBITS:
                    continue  # wider than any machine: the test will be skipped
                em, nbytes = pow(signature, key["e"], key["n"]), encoding.octets(key["n"].bit_length())
                if nbytes > 2 and em >> (8 * (nbytes - 2)) == 1:
                    looks[PKCS1] += 1
                elif em & 0xFF == 0xBC:
                    looks[PSS] += 1
                elif 0xCC in (em & 0xFF, key["n"] - em & 0xFF):
                    looks[X931] += 1
        return looks.most_common(1)[0][0] if looks else None


def read(text: str, source: str) -> list[Item]:
    """Every test as one item; in a key generation file, every key."""
    file = _File(text, source)
    test = _Test(file, 1)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not any(map(str.isalnum, line)):  # one NIST file has a line of exclamation marks
            # a blank line inside a test (n alone, then e, then the test) does not end it
            if test.is_complete:
                test = file.close(test, number + 1)
            continue
        if line.startswith("["):
            test = file.close(test, number + 1)
            continue
        match = _LINE.match(line)
        if match is None:
            raise BadInput(
                f"{source}: line {number} is neither `name = value`, [section], # comment nor blank: "
                f"{shorten(line)!r}; restore the file from its origin"
            )
        name = _name(match[1])
        if name in test.values or (test.is_complete and name in ("n", "count", "shaalg")):
            test = file.close(test, number)
        test.values[name] = match[2].strip()
    file.close(test, 0)
    file.scheme = file.scheme or file.guessed()
    return [item(test.name, test.item) for test in file.tests]
