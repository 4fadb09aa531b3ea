"""Reader for RSA Laboratories' PKCS#1 vectors (pkcs1v15sign-vectors.txt, pss-vect.txt, oaep-vect.txt, ...).

Comment lines are labels (`# Modulus:`, `# Message:`, `# Signature:`), the hexadecimal lines below belong to
the label above them. Each example uses the private key in force:

    Message, Signature [, Salt]     the encoded message ^ d mod n equals Signature
    Message, Encryption             Encryption^d mod n, decoded, gives Message back

The hash is SHA-1, unless the title of an example names others (`OAEP Example 1 alg=sha224 mgf1=sha1`).
"""

from __future__ import annotations

import re

from ....fl.errors import BadInput
from ....fl.pkcs1 import Kind
from . import encoding
from .items import Frame, Item, ModExp, NotApplicable, Verdict
from .numbers import Key, hex_bytes, shorten

FORMAT = "PKCS#1 vectors of RSA Laboratories"
DESCRIPTION = "RSA Laboratories' PKCS#1 text (# Modulus:, # Message:, # Signature: or # Encryption:)"

_LABEL = re.compile(r"#\s*([A-Za-z][A-Za-z0-9 ]*?)\s*:\s*$")
_TITLE = re.compile(r"#\s*(.*\bExample\b.*)$", re.IGNORECASE)
_ROW = re.compile(r"(?:[0-9a-fA-F]{1,2}\s+)*[0-9a-fA-F]+\s*$")


def recognise(text: str) -> bool:
    labels = {match[1].lower() for match in map(_LABEL.match, text.splitlines()) if match}
    return "modulus" in labels and bool(labels & {"signature", "encryption"})


def read(text: str, source: str) -> list[Item]:
    """Every example as one item."""
    reader = _Reader(text, source)
    label, rows, start, private = "", "", 0, False
    for number, line in enumerate([*text.splitlines(), "# end"], 1):
        stripped = line.strip()
        if not stripped.startswith("#"):
            if label and stripped:
                if not _ROW.match(stripped):
                    if rows:
                        raise BadInput(
                            f"{source}: line {number}, under {label!r}, is not hexadecimal: "
                            f"{shorten(stripped)!r}"
                        )
                    label = ""  # prose
                    continue
                rows += re.sub(r"\s", "", stripped)
            continue
        if rows:
            reader.value(label, rows, private, start)
        label, rows = "", ""
        lowered = stripped.lower()
        if match := _LABEL.match(stripped):
            label, start = match[1].lower(), number
        elif "private key" in lowered:
            private = True
        elif "public key" in lowered:
            private = False
        elif match := _TITLE.match(stripped):
            reader.title(match[1].strip(), number)
    reader.end()
    return reader.items


def _scheme(text: str) -> str | None:
    """The scheme that the text names first (the PKCS#1 v1.5 files also say what they were derived from)."""
    lowered = text.lower()
    places = {
        lowered.find(word): scheme
        for word, scheme in (("v1.5", "PKCS#1 v1.5"), ("oaep", "OAEP"), ("pss", "PSS"))
        if word in lowered
    }
    return places[min(places)] if places else None


class _Reader:
    """Keeps the key and the example in force."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.scheme = _scheme(text) or "PKCS#1 v1.5"
        self.items: list[Item] = []
        self.key: dict[str, int] = {}
        self.example: dict[str, bytes] = {}
        self.name, self.sha, self.mgf = "example", "sha1", "sha1"

    def title(self, text: str, line: int) -> None:
        self.end()
        self.name = f"{text} (line {line})"
        self.scheme = _scheme(text) or self.scheme
        named: dict[str, str] = dict(re.findall(r"\b(alg|mgf1)=(\w+)", text))
        self.sha = encoding.hash_name(named.get("alg", "sha1")) or ""
        self.mgf = encoding.hash_name(named.get("mgf1", named.get("alg", "sha1"))) or ""

    def value(self, label: str, digits: str, private: bool, line: int) -> None:
        where = f"{self.source}: {label!r} at line {line}"
        if label in ("modulus", "public exponent", "exponent", "prime 1", "prime 2"):
            digits = digits if len(digits) % 2 == 0 else "0" + digits
            number = int.from_bytes(hex_bytes(digits, where), "big")
            if label == "modulus":
                if not private:
                    self.key = {}
                self.key["n"] = number
            elif label in ("prime 1", "prime 2"):
                self.key["p" if label == "prime 1" else "q"] = number
            else:
                self.key["d" if label == "exponent" and private else "e"] = number
            return
        role = {"message to be signed": "message"}.get(label, label)
        if role in ("message", "salt", "seed", "signature", "encryption"):
            if role in self.example:
                self.end()
            self.example[role] = hex_bytes(digits, where)

    def end(self) -> None:
        """The example is complete: append its item."""
        example, self.example = self.example, {}
        if not example:
            return
        where = f"{self.source}: {self.name}"
        if not {"n", "d"} <= self.key.keys():
            raise BadInput(f"{where} has no modulus and private exponent in force; is the file cut off?")
        if not self.sha or not self.mgf:
            self.items.append(NotApplicable(self.name, "its hash is not available in this Python"))
        elif "signature" in example and "message" in example:
            self.items.append(self._sign(example))
        elif "encryption" in example and "message" in example:
            self.items.append(self._decrypt(example))
        else:
            raise BadInput(f"{where} has {' and '.join(example)} only; is the file cut off?")

    def _whole_key(self) -> Key:
        return Key(*(self.key.get(name) for name in ("n", "e", "d", "p", "q")))  # type: ignore[arg-type]

    def _sign(self, example: dict[str, bytes]) -> Item:
        nbits = self.key["n"].bit_length()
        if self.scheme == "PSS":
            em = encoding.pss_encode(self.sha, example["message"], nbits, example.get("salt", b""))
        else:
            if not encoding.has_pkcs1_prefix(self.sha):
                return NotApplicable(self.name, f"PKCS#1 v1.5 with {self.sha} is not defined")
            em = encoding.pkcs1_encode(self.sha, example["message"], encoding.octets(nbits))
        if em is None:
            return NotApplicable(self.name, "the modulus is too short for the hash")
        signature = int.from_bytes(example["signature"], "big")
        return ModExp(
            self.name,
            int.from_bytes(em, "big"),
            self.key["d"],
            self.key["n"],
            signature,
            key=self._whole_key(),
        )

    def _decrypt(self, example: dict[str, bytes]) -> Item:
        size, message, scheme = encoding.octets(self.key["n"].bit_length()), example["message"], self.scheme
        sha, mgf = self.sha, self.mgf

        def holds(result: int) -> bool:
            if scheme == "OAEP":
                return encoding.oaep_decode(sha, mgf, result, size) == message
            return encoding.pkcs1_decode(result, size) == message

        base = int.from_bytes(example["encryption"], "big")
        frame = None if scheme == "OAEP" else Frame(Kind.ENCRYPT, size)
        verdict = Verdict(holds, True, f"{scheme} decryption gives the message back", frame)
        return ModExp(self.name, base, self.key["d"], self.key["n"], None, verdict, self._whole_key())
