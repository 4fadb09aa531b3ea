"""Reader for RSA Laboratories' PKCS#1 vectors (pkcs1v15sign-vectors.txt, pss-vect.txt, oaep-vect.txt, ...).

Comment lines are labels (`# Modulus:`, `# Message:`, `# Signature:`) for the hexadecimal lines below them.
Each example uses the private key in force:

    Message, Signature [, Salt]     the encoded message ^ d mod n equals Signature
    Message, Encryption             Encryption^d mod n decodes to Message

The hash is SHA-1, unless the title of an example names others (`OAEP Example 1 alg=sha224 mgf1=sha1`).
"""

import re
from functools import partial

from ....fl.errors import BadInput
from . import encoding
from .encoding import OAEP, PKCS1, PSS, Inapplicable, Signed, hash_of
from .items import Item, decryption, item, private_power
from .numbers import Key, hex_bytes, hex_int, shorten

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
            if label and _ROW.match(stripped):
                rows += re.sub(r"\s", "", stripped)
            elif label and stripped:
                if rows:
                    raise BadInput(
                        f"{source}: line {number}, under {label!r}, is not hexadecimal: {shorten(stripped)!r}"
                    )
                label = ""  # prose
            continue
        if rows:
            reader.value(label, rows, private, start)
        label, rows = "", ""
        lowered = stripped.lower()
        if match := _LABEL.match(stripped):
            label, start = match[1].lower(), number
        elif "private key" in lowered or "public key" in lowered:
            private = "private key" in lowered
        elif match := _TITLE.match(stripped):
            reader.title(match[1].strip(), number)
    reader.end()
    return reader.items


_SCHEMES = {"v1.5": PKCS1, "oaep": OAEP, "pss": PSS}
_NUMBERS = {"modulus": "n", "public exponent": "e", "exponent": "e", "prime 1": "p", "prime 2": "q"}
_ROLES = ("message", "salt", "seed", "signature", "encryption")


def _scheme(text: str) -> str | None:
    """The scheme that the text names first (the PKCS#1 v1.5 files also say what they were derived from)."""
    places = {text.lower().find(word): scheme for word, scheme in _SCHEMES.items() if word in text.lower()}
    return places[min(places)] if places else None


class _Reader:
    """Keeps the key and the example in force while reading."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.scheme = _scheme(text) or PKCS1
        self.items: list[Item] = []
        self.key: dict[str, int] = {}
        self.example: dict[str, bytes] = {}
        self.name, self.sha, self.mgf = "example", "sha1", "sha1"

    def title(self, text: str, line: int) -> None:
        self.end()
        self.name = f"{text} (line {line})"
        self.scheme = _scheme(text) or self.scheme
        named = dict(re.findall(r"\b(alg|mgf1)=(\w+)", text))
        self.sha = named.get("alg", "sha1")
        self.mgf = named.get("mgf1", self.sha)

    def value(self, label: str, digits: str, private: bool, line: int) -> None:
        where = f"{self.source}: {label!r} at line {line}"
        if label in _NUMBERS:
            if label == "modulus" and not private:
                self.key = {}
            name = "d" if label == "exponent" and private else _NUMBERS[label]
            self.key[name] = hex_int(digits, where)
            return
        role = label.removesuffix(" to be signed")
        if role in _ROLES:
            if role in self.example:
                self.end()
            self.example[role] = hex_bytes(digits, where)

    def end(self) -> None:
        """Append the item of the complete example."""
        example, self.example = self.example, {}
        if not example:
            return
        where = f"{self.source}: {self.name}"
        if not {"n", "d"} <= self.key.keys():
            raise BadInput(f"{where} has no modulus and private exponent in force; is the file cut off?")
        self.items.append(item(self.name, partial(self._item, Key(**self.key), example, where)))

    def _item(self, key: Key, example: dict[str, bytes], where: str) -> Item:
        hashes = hash_of(self.sha), hash_of(self.mgf)
        match example:
            case {"signature": signature, "message": message}:
                scheme = PSS if self.scheme == PSS else PKCS1
                em = Signed(scheme, self.sha, message).encoded(key.n, example.get("salt", b""))
                if em is None:
                    raise Inapplicable("the modulus is too short for the hash")
                return private_power(self.name, em, key, int.from_bytes(signature, "big"))
            case {"encryption": encrypted, "message": message}:
                oaep = self.scheme == OAEP
                decode = partial(encoding.oaep_decode, *hashes) if oaep else encoding.pkcs1_decode
                claim = f"{self.scheme} decryption gives the message back"
                ciphertext = int.from_bytes(encrypted, "big")
                return decryption(self.name, self.scheme, decode, ciphertext, message, key, True, claim)
        raise BadInput(f"{where} has {' and '.join(example)} only; is the file cut off?")
