"""RSA keys, and RSA on plain integers without padding: encryption, and decryption with and without CRT.

A key comes from numbers, from the `rsa` package, or from PEM or DER through `cryptography`: private PKCS#1
and PKCS#8, public PKCS#1 and SubjectPublicKeyInfo, distinguished by content. Keys of any size that the
libraries read are accepted; smaller keys can be given by their numbers, as in a JSON file {"n": .., "e": ..,
"d": .., "p": .., "q": ..}. Inconsistent numbers are rejected, because a machine would silently compute a
wrong result with them. (Paper 001 has such a pair: its Figure 1, n = 2603398711, e = 65537 and C =
1460365373, belongs to d = 254738681 and M = 5745; the d = 977851481 of section 5.1 is of another key.)

Every operation accepts the exponentiation as an argument, mod_exp(base, exp, mod), so any machine can perform
it.
"""

import json
import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import rsa.prime
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

from .errors import BadInput, shown, unknown
from .input_file import read_bytes

ModExp = Callable[[int, int, int], int]

RESIDUES = 100  # tried to find a factor; each succeeds with probability 1/2 or more
SMALLEST_NBITS = 16  # shorter keys have too few primes to choose from


class FaultDetected(ArithmeticError):
    """Error for a wrong CRT decryption by a machine. The value is withheld, because it would reveal
    a factor.
    """


class CrtNumbers(NamedTuple):
    """The primes of a private key, and the numbers derived from them."""

    p: int
    q: int
    dp: int
    dq: int
    qinv: int


def secret() -> Any:
    """A dataclass field that repr does not show."""
    return field(default=None, repr=False)


@dataclass(frozen=True)
class RSAKey:
    """A public key (n, e). A private key also has d, and for CRT p and q, from which the other numbers are
    derived.
    """

    n: int
    e: int
    d: int | None = secret()
    p: int | None = secret()
    q: int | None = secret()
    dp: int | None = secret()  # d mod p-1
    dq: int | None = secret()  # d mod q-1
    qinv: int | None = secret()  # q^-1 mod p

    def __post_init__(self) -> None:
        if self.n < 15 or self.n % 2 == 0:
            raise BadInput(f"RSA modulus {shown(self.n)}: give a product of two different odd primes")
        if self.e < 3 or self.e % 2 == 0:
            raise BadInput(f"RSA public exponent {shown(self.e)}: give an odd number of 3 or more")
        if self.p is not None or self.q is not None:
            self._derive_crt()
        if self.d is not None and (self.d < 1 or self._undo(pow(2, self.e, self.n)) != 2):
            raise BadInput(
                f"n = {shown(self.n)} and e = {shown(self.e)} do not go with this d: "
                "decrypting what was encrypted gives another message; give the numbers of one key"
            )

    def _derive_crt(self) -> None:
        d, p, q = self.d, self.p, self.q
        if d is None or p is None or q is None:
            raise BadInput(f"RSA key with n = {shown(self.n)}: give d, p and q together, or neither p nor q")
        if p * q != self.n or p == q or min(p, q) < 3:
            raise BadInput(f"p * q is not n = {shown(self.n)}: give the two different prime factors of n")
        for name, value in {"dp": d % (p - 1), "dq": d % (q - 1), "qinv": pow(q, -1, p)}.items():
            if getattr(self, name) not in (None, value):
                raise BadInput(
                    f"{name} of the key with n = {shown(self.n)} does not go with d, p and q: leave it out"
                )
            object.__setattr__(self, name, value)

    @classmethod
    def unchecked(cls, **numbers: int | None) -> "RSAKey":
        """A key of possibly inconsistent numbers, to test a machine that must detect that."""
        for name, value in numbers.items():
            least = 3 if name == "n" else 0
            if value is not None and value < least:
                raise BadInput(f"{name} = {value} of an RSA key: give {least} or more")
        key = object.__new__(cls)
        for number in fields(cls):
            object.__setattr__(key, number.name, numbers.get(number.name))
        return key

    @property
    def nbits(self) -> int:
        """The bit length of the modulus."""
        return self.n.bit_length()

    @property
    def is_private(self) -> bool:
        """Whether it can decrypt."""
        return self.d is not None

    @property
    def public(self) -> "RSAKey":
        """The public half."""
        return RSAKey(self.n, self.e)

    @classmethod
    def _of(cls, numbers: Mapping[str, int], name: str, unchecked: bool) -> "RSAKey":
        """The key with the numbers read from a file."""
        try:
            return cls.unchecked(**numbers) if unchecked else cls(**numbers)
        except BadInput as error:
            raise BadInput(f"{name} holds a wrong key: {error}") from error

    @classmethod
    def from_json(cls, data: bytes, name: str, *, unchecked: bool = False) -> "RSAKey":
        """The key with the numbers in a JSON object: n, e, and for a private key d, p, q, dp, dq, qinv,
        decimal or as "0x...".
        """
        names = [field.name for field in fields(cls)]
        try:
            numbers = {key: _whole(key, value) for key, value in json.loads(data).items()}
        except (ValueError, AttributeError, TypeError) as error:
            raise BadInput(
                f'{name} is no JSON object of numbers ({error}); give {{"n": .., "e": .., "d": ..}}'
            ) from error
        for key in numbers:
            if key not in names:
                raise unknown(f"number of {name}", key, names)
        if missing := [key for key in ("n", "e") if key not in numbers]:
            raise BadInput(f"{name} has no {missing[0]}: give n and e, and d, p and q of a private key")
        return cls._of(numbers, name, unchecked)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the RSA key", *, unchecked: bool = False) -> "RSAKey":
        """The key in PEM, DER or JSON data; messages call it `name`. unchecked: its numbers may be
        inconsistent.
        """
        if data.lstrip().startswith(b"{"):
            return cls.from_json(data, name, unchecked=unchecked)
        form = _pem_form(data, name) if b"-----BEGIN " in data else ""
        try:
            key = _load(data, form, unchecked)
        except TypeError as error:  # how cryptography reports a missing password
            raise BadInput(
                f"{name} is encrypted: decrypt it first, as with `openssl pkey -in FILE -out PLAIN.pem`"
            ) from error
        except UnsupportedAlgorithm as error:
            raise BadInput(f"{name} is not of RSA ({error}): give an RSA key") from error
        except ValueError as error:
            reason = str(error).split(". ")[0].rstrip(".")
            raise BadInput(f"{name} cannot be read ({reason}): give an RSA key in PEM or DER") from error
        if not isinstance(key, RSAPublicKey | RSAPrivateKey):
            kind = type(key).__name__.removesuffix("PublicKey").removesuffix("PrivateKey")
            raise BadInput(f"{name} is not of RSA ({kind}): give an RSA key")
        return cls._of(numbers_of(key), name, unchecked)

    @classmethod
    def load(cls, path: str | Path, *, unchecked: bool = False) -> "RSAKey":
        """The key in a PEM, DER or JSON file."""
        data = read_bytes(path, "give a file with an RSA key")
        return cls.from_bytes(data, f"key file {path}", unchecked=unchecked)

    def with_primes(self) -> "RSAKey":
        """The same key with its primes, found from d and e if it has none; BadInput if n is not a product of
        two primes.

        d e - 1 is a multiple of the order of every residue. Consider the last power of a random residue, in
        repeated squaring, that is not 1: for at least half of all residues it is a square root of 1 other
        than -1, which reveals a factor (Miller 1976; SP 800-56B, C.1).
        """
        if self.p is not None:
            return self
        if self.d is None:
            raise BadInput(
                f"the key with n = {shown(self.n)} is public: give the private key to find its primes"
            )
        n = self.n
        order = self.d * self.e - 1
        twos = (order & -order).bit_length() - 1
        draw = random.Random(n)  # deterministic
        for _ in range(RESIDUES):
            root = pow(draw.randrange(2, n - 1), order >> twos, n)
            for _ in range(twos):
                square = root * root % n
                if square == 1 and root not in (1, n - 1):
                    p, q = sorted((math.gcd(root - 1, n), math.gcd(root + 1, n)), reverse=True)
                    if p * q == n and rsa.prime.is_prime(p) and rsa.prime.is_prime(q):
                        return RSAKey(n, self.e, self.d, p, q)
                root = square
        raise BadInput(f"RSA modulus {shown(n)}: d and e do not lead to two prime factors; give p and q")

    def crt(self) -> CrtNumbers:
        """The numbers for decryption by CRT; BadInput if the key has no primes."""
        p, q, dp, dq, qinv = self.p, self.q, self.dp, self.dq, self.qinv
        if p is None or q is None or dp is None or dq is None or qinv is None:
            lacks = ", ".join(name for name in CrtNumbers._fields if getattr(self, name) is None)
            why = "has no primes: give p and q" if None in (p, q) else f"lacks {lacks}: give all"
            raise BadInput(f"the key with n = {shown(self.n)} {why}, or decrypt without CRT")
        return CrtNumbers(p, q, dp, dq, qinv)

    def encrypt(self, message: int, mod_exp: ModExp = pow) -> int:
        """message^e mod n."""
        return mod_exp(self._in_range("message", message), self.e, self.n)

    def decrypt(self, cipher: int, mod_exp: ModExp = pow) -> int:
        """cipher^d mod n."""
        if self.d is None:
            raise BadInput(f"the key with n = {shown(self.n)} is public: give the private key to decrypt")
        return mod_exp(self._in_range("ciphertext", cipher), self.d, self.n)

    def decrypt_crt(self, cipher: int, mod_exp: ModExp = pow) -> int:
        """cipher^d mod n from two exponentiations of half the width, mod p and mod q.

        The result is encrypted again and compared before it is returned: from one faulty half, gcd(n,
        result^e - cipher) is a prime factor (Boneh, DeMillo and Lipton, EUROCRYPT 1997: "Bellcore").
        """
        self.crt()  # BadInput without the primes
        message = self._undo(self._in_range("ciphertext", cipher), mod_exp)
        if mod_exp(message, self.e, self.n) != cipher:
            raise FaultDetected(
                f"CRT decryption of {shown(cipher)}: the result does not encrypt to it again, "
                "and is withheld; repeat, or check the machine"
            )
        return message

    def _undo(self, cipher: int, mod_exp: ModExp = pow) -> int:
        """cipher^d mod n, by CRT if the primes are known (Garner's recombination of the halves)."""
        if self.p is None:
            return self.decrypt(cipher, mod_exp)
        p, q, dp, dq, qinv = self.crt()
        mod_p = mod_exp(cipher % p, dp, p)
        mod_q = mod_exp(cipher % q, dq, q)
        return mod_q + q * (qinv * (mod_p - mod_q) % p)

    def _in_range(self, what: str, value: int) -> int:
        if not 0 <= value < self.n:
            raise BadInput(
                f"{what} {shown(value)} is not in 0..n-1 for n = {shown(self.n)}: cut it into smaller numbers"
            )
        return value


def _whole(name: str, value: object) -> int:
    """A number of a JSON key, given as an integer or as digits in a string."""
    if isinstance(value, str):
        return int(value, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} = {json.dumps(value)} is not an integer")
    return value


def numbers_of(key: RSAPublicKey | RSAPrivateKey) -> dict[str, int]:
    """The numbers of a `cryptography` key, under the names of RSAKey."""
    if isinstance(key, RSAPublicKey):
        public = key.public_numbers()
        return {"n": public.n, "e": public.e}
    own = key.private_numbers()
    crt = {"p": own.p, "q": own.q, "dp": own.dmp1, "dq": own.dmq1, "qinv": own.iqmp}
    return {"n": own.public_numbers.n, "e": own.public_numbers.e, "d": own.d, **crt}


def _pem_form(data: bytes, name: str) -> str:
    """The kind of a key in PEM: "private" or "public"."""
    labels = [label.decode() for label in re.findall(rb"-----BEGIN ([A-Z0-9 ]+)-----", data)]
    if "OPENSSH PRIVATE KEY" in labels:
        raise BadInput(f"{name} is in OpenSSH's own format: convert it by `ssh-keygen -p -m PEM -f FILE`")
    for form in ("private", "public"):
        if any(label.endswith(f"{form.upper()} KEY") for label in labels):
            return form
    raise BadInput(f"{name} holds {' and '.join(labels) or 'no PEM block'}: give an RSA key in PEM or DER")


def _load(data: bytes, form: str, unchecked: bool) -> object:
    """The key in PEM of this form, or in DER if the form is empty."""
    if form == "public":
        return serialization.load_pem_public_key(data)
    load = serialization.load_pem_private_key if form else serialization.load_der_private_key
    try:
        return load(data, password=None, unsafe_skip_rsa_key_validation=unchecked)
    except ValueError:
        if form:
            raise
        return serialization.load_der_public_key(data)
