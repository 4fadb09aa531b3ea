"""Parsers of numbers in vector files: hexadecimal text, and DER, PEM and JWK keys.

Keys are parsed by a few lines of DER here and not by `cryptography`: test vectors contain keys that a library
rightly refuses (short, with tiny or huge exponents, three primes), and only their numbers are needed.
"""

import base64
import re
from dataclasses import dataclass

from ....fl.errors import BadInput


def hex_bytes(text: str, where: str) -> bytes:
    """Bytes from hexadecimal text, with or without 0x; an odd digit count is an error."""
    digits = re.sub("^0[xX]", "", text.strip())
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise BadInput(f"{where} is not hexadecimal bytes: {shorten(text)!r}") from None


def hex_int(text: str, where: str) -> int:
    """A number from hexadecimal text, with or without 0x and a minus sign."""
    if not re.fullmatch("-?(0[xX])?[0-9a-fA-F]+", digits := text.strip()):
        raise BadInput(f"{where} is not a hexadecimal number: {shorten(text)!r}")
    return int(digits, 16)


def shorten(text: str, length: int = 60) -> str:
    """`text`, or its beginning if it is long, because an error message is one line."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


@dataclass(frozen=True)
class Key:
    """The numbers of an RSA key; None for those that a file does not give."""

    n: int
    e: int | None = None
    d: int | None = None
    p: int | None = None
    q: int | None = None


def _der(data: bytes, where: str) -> list[tuple[int, bytes]]:
    """The (tag, content) pairs at one level of DER."""
    items = []
    while data:
        if len(data) < 2:
            raise BadInput(f"{where} is not DER: it ends within a header")
        (tag, size), data = data[:2], data[2:]
        if size & 0x80:
            count = size & 0x7F
            size, data = int.from_bytes(data[:count], "big"), data[count:]
        if size > len(data):
            raise BadInput(f"{where} is not DER: it ends before the {size} bytes that it announces")
        items.append((tag, data[:size]))
        data = data[size:]
    return items


def key_from_der(data: bytes, where: str) -> Key:
    """An RSA key from PKCS#1, SubjectPublicKeyInfo or PKCS#8 bytes."""
    top = _der(data, where)
    if len(top) != 1 or top[0][0] != 0x30:
        raise BadInput(f"{where} is not the DER of a key: it is not one SEQUENCE")
    fields = _der(top[0][1], where)
    tags = [tag for tag, _ in fields]
    if tags[:2] == [0x30, 0x03]:  # SubjectPublicKeyInfo: algorithm, BIT STRING (first byte: unused bits)
        return key_from_der(fields[1][1][1:], where)
    if tags[:3] == [0x02, 0x30, 0x04]:  # PKCS#8: version, algorithm, OCTET STRING
        return key_from_der(fields[2][1], where)
    if any(tag != 0x02 for tag in tags[:4]) or len(fields) < 2:
        raise BadInput(f"{where} is not the DER of an RSA key")
    values = [int.from_bytes(content, "big", signed=True) for _, content in fields[:6]]
    return Key(*values) if len(values) == 2 else Key(*values[1:])


def key_from_pem(text: str, where: str) -> Key:
    """An RSA key from PEM text."""
    body = "".join(line for line in text.split("\n") if line and not line.startswith("-----"))
    try:
        data = base64.b64decode(body, validate=True)
    except ValueError:  # includes binascii.Error, and is raised for letters beyond ASCII
        raise BadInput(f"{where} is not PEM: its body is not base64") from None
    return key_from_der(data, where)


def key_from_jwk(jwk: dict[str, str], where: str) -> Key:
    """An RSA key from a JSON Web Key (base64url without padding)."""

    def number(name):
        if name not in jwk:
            return None
        text = str(jwk[name])
        try:
            return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")
        except ValueError:
            raise BadInput(f"{where}.{name} is not base64url: {shorten(text)!r}") from None

    n = number("n")
    if n is None:
        raise BadInput(f"{where} is not an RSA JSON Web Key: it has no n")
    return Key(n, number("e"), number("d"), number("p"), number("q"))
