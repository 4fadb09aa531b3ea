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
from collections.abc import Callable

from ....fl.errors import BadInput, shown
from ....fl.pkcs1 import Kind
from ...designs.widths import MAX_NBITS
from . import encoding
from .items import Frame, Item, ModExp, NotApplicable, Verdict
from .numbers import Key, hex_bytes, hex_int, shorten

FORMAT = "NIST CAVP response file"
DESCRIPTION = "NIST CAVP .rsp for RSA ([mod = ...] sections with n, e, d, Msg, S, c, k, EM)"

_KEY = ("n", "e", "d", "p", "q")
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
    for word, scheme in (
        ("pss", "PSS"),
        ("x9.31", "X9.31"),
        ("ver 1.5", "PKCS#1 v1.5"),
        ("v1.5", "PKCS#1 v1.5"),
    ):
        if word in header:
            return scheme
    return None


class _Record:
    """The values of one test, with the line where it starts."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[str, str] = {}

    @property
    def name(self) -> str:
        return f"test at line {self.line}"

    def is_test(self) -> bool:
        return any(name in self.values for name in ("s", "c", "k", "em"))

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
        for name in _KEY:
            if name in values:
                where = f"{self.source}: {name} in the test at line {record.line}"
                self.key[name] = hex_int(values[name], where)
                if self.key[name] < _LEAST[name]:
                    raise BadInput(
                        f"{where} is {shown(self.key[name])}, which is in no key; restore the file from its "
                        "origin"
                    )
        if record.is_test() or {"n", "d", "e"} <= values.keys():
            self.tests.append((record, dict(self.key)))
        elif "msg" in values or "shaalg" in values:
            raise BadInput(f"{self.source}: the test at line {record.line} has no S; is the file cut off?")
        return _Record(next_line)

    def items(self) -> list[Item]:
        if self.scheme is None:
            self.scheme = self._guess()
        items = []
        for record, key in self.tests:
            self.key = key
            items.append(self._item(record) if record.is_test() else self._key_pair(record))
        return items

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
                    looks["PKCS#1 v1.5"] += 1
                elif em & 0xFF == 0xBC:
                    looks["PSS"] += 1
                elif 0xCC in (em & 0xFF, key["n"] - em & 0xFF):
                    looks["X9.31"] += 1
        return looks.most_common(1)[0][0] if looks else None

    def _need(self, name: str, record: _Record) -> int:
        if name not in self.key:
            raise BadInput(
                f"{self.source}: the test at line {record.line} has no {name} in force; is the file cut off?"
            )
        return self.key[name]

    def _private(self) -> int | None:
        """The private exponent: given, or from p, q and e."""
        if "d" in self.key or not {"p", "q", "e"} <= self.key.keys():
            return self.key.get("d")
        order = math.lcm(self.key["p"] - 1, self.key["q"] - 1)
        return pow(self.key["e"], -1, order) if math.gcd(self.key["e"], order) == 1 else None

    def _whole_key(self, d: int) -> Key:
        """The key in force, for an operation with this private exponent."""
        return Key(self.key["n"], self.key.get("e"), d, self.key.get("p"), self.key.get("q"))

    def _key_pair(self, record: _Record) -> Item:
        n, e, d = (self.key[name] for name in ("n", "e", "d"))
        message = 2**64 + 0x6D6F6465786C6162  # any number works; this one is "modexlab" above a 1
        if n <= message:
            return NotApplicable(f"key at line {record.line}", "the modulus is too short for a message")
        if max(n, e, d).bit_length() > MAX_NBITS:
            return NotApplicable(f"key at line {record.line}", f"wider than {MAX_NBITS} bits")
        return ModExp(f"key at line {record.line}", pow(message, e, n), d, n, message, key=self._whole_key(d))

    def _item(self, record: _Record) -> Item:
        values, n = record.values, self._need("n", record)
        refused = values.get("result", "").lower().startswith("f")
        if "c" in values and "msg" not in values:
            return self._primitive(record, n, values["c"], values.get("k"), refused)
        if "em" in values and "msg" not in values:
            return self._primitive(record, n, values["em"], values.get("s"), refused)
        if not {"msg", "s"} <= values.keys():
            return NotApplicable(record.name, "the test has no message, or no number to start from")
        return self._signature(record, n, refused)

    def _primitive(self, record: _Record, n: int, base: str, result: str | None, refused: bool) -> Item:
        """RSADP or RSASP1: result = base^d mod n, or where d is not given, result^e mod n = base."""
        name, where = record.name, f"{self.source}: {record.name}"
        if result is None or refused or "fail" in result.lower():
            return NotApplicable(name, "the vector expects the operation to be refused, not a number")
        numbers = hex_int(base, where), hex_int(result, where)
        d = self._private()
        if d is not None:
            return ModExp(name, numbers[0], d, n, numbers[1], key=self._whole_key(d))
        return ModExp(name, numbers[1], self._need("e", record), n, numbers[0])

    def _signature(self, record: _Record, n: int, refused: bool) -> Item:
        values, name, where = record.values, record.name, f"{self.source}: {record.name}"
        written = values.get("shaalg", "")
        sha = encoding.hash_name(written)
        if sha is None:
            return NotApplicable(
                name, f"the hash {written or '(none given)'} is not available in this Python"
            )
        if self.scheme == "PKCS#1 v1.5" and not encoding.has_pkcs1_prefix(sha):
            return NotApplicable(name, f"PKCS#1 v1.5 with {written} is not defined")
        message = hex_bytes(values["msg"], f"{where}: Msg")
        signature = hex_int(values["s"], f"{where}: S")
        nbits = n.bit_length()
        judged = "result" in values
        scheme = self.scheme
        if scheme is None:
            return NotApplicable(name, "the file does not name its signature scheme")
        em = self._encoded(scheme, sha, message, nbits, values)
        if not judged and em is not None and "d" in self.key:
            d = self.key["d"]
            return ModExp(name, int.from_bytes(em, "big"), d, n, signature, key=self._whole_key(d))
        e = self._need("e", record)
        holds: Callable[[int], bool]
        if scheme == "PKCS#1 v1.5":
            block = encoding.pkcs1_encode(sha, message, encoding.octets(nbits))

            def holds(result: int) -> bool:
                return block is not None and result == int.from_bytes(block, "big")
        elif scheme == "PSS":

            def holds(result: int) -> bool:
                return encoding.pss_holds(sha, message, nbits, result, self.salt_len)
        else:

            def holds(result: int) -> bool:
                return encoding.x931_holds(sha, message, n, result)

        claim = f"{scheme} signature with {written}: {values.get('result', 'P')}"
        frame = Frame(Kind.SIGN, encoding.octets(nbits)) if scheme == "PKCS#1 v1.5" else None
        verdict = Verdict(lambda result: signature < n and holds(result), not refused, claim, frame)
        return ModExp(name, signature, e, n, None, verdict)

    def _encoded(
        self, scheme: str, sha: str, message: bytes, nbits: int, values: dict[str, str]
    ) -> bytes | None:
        """The encoded message, where it is determined."""
        if scheme == "PKCS#1 v1.5":
            return encoding.pkcs1_encode(sha, message, encoding.octets(nbits))
        if scheme == "PSS" and (self.salt_len == 0 or "saltval" in values):
            salt = b"" if self.salt_len == 0 else hex_bytes(values["saltval"], f"{self.source}: SaltVal")
            return encoding.pss_encode(sha, message, nbits, salt)
        return None
