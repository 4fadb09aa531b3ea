"""Workloads of sweeps by name: which exponentiations, and how many of each.

    encrypt        a message to the power of e, which is 65537 (17 on machines of up to 17 bits)
    decrypt        its ciphertext to the power of d, which is as long as the modulus
    crt            a decryption by the Chinese remainder theorem with a key of *twice* the machine's width:
                   two exponentiations with exponents and moduli of half the key's length. The host does the
                   rest (two reductions before, one product and some additions after), which is not counted
    sign+9verify   one signature, which is a decryption, and any number of verifications, each of which is an
                   encryption
    exponents      the base and the modulus of decrypt with random exponents as long as the modulus, from few
                   ones to all, to show whether cycles depend on the exponent
    product        one modular product in a sequence: the cycles from product to product, by formula only

Keys and messages are the same in every call: at 32 bits the operands of paper 001, section 5.1, otherwise a
key of the machine's width with a message. There are no RSA keys of odd widths or below 16 bits, and some
machines do not accept moduli of their full width; these get pseudo-random operands with the longest modulus
that they accept. A machine with a private key, for CRT, blinding or a check, only runs decrypt, with the key
that it holds.
"""

import functools
import random
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ...fl.accelerator import Accelerator, Message
from ...fl.errors import BadInput, shown, unknown
from ...fl.rsa_keys import SMALLEST_NBITS, RSAKey
from ...fl.status import Status
from ...proc.software.seeded_keys import seeded_key

if TYPE_CHECKING:  # not at run time: operands depend on no source of a machine (lab/keys.py)
    from .machine import Machine

ENCRYPT, DECRYPT, CRT = "encrypt", "decrypt", "crt"
MIX = re.compile(r"sign\+([1-9]\d{0,5})verify")
OPERATIONS = (ENCRYPT, DECRYPT)  # measured ones
EXPONENTS, PRODUCT = "exponents", "product"
EXPONENT_COUNT = 48
# the number of verifications is arbitrary
NAMES = (ENCRYPT, DECRYPT, CRT, "sign+9verify", EXPONENTS, PRODUCT)
MOST_CRT_KEY_NBITS = 4096  # longer ones take minutes to generate


@dataclass(frozen=True)
class Workload:
    """A named exponentiation; papers have cycles under the same names."""

    name: str
    base: int
    exp: int
    mod: int
    seed: str  # from which its operands are drawn, or their source

    def on(self, modulus: int) -> "Workload":
        """The same base and exponent for a machine that accepts only this modulus; 0: any."""
        return replace(self, base=self.base % modulus, mod=modulus) if modulus else self

    @property
    def operands(self) -> tuple[int, int, int]:
        return self.base, self.exp, self.mod

    @property
    def requests(self) -> tuple[Message]:
        """Its only request."""
        return (self.operands,)

    @property
    def golden(self) -> int:
        return pow(*self.operands)

    @property
    def responses(self) -> tuple[Message]:
        """The only response."""
        return ((Status.OK, self.golden),)

    def as_json(self) -> dict[str, str]:
        """The operands in hexadecimal, as JSON's integers are too short."""
        return dict(zip(("base", "exp", "mod"), map(hex, self.operands), strict=True))


NBITS_001 = 32
MODULUS_001 = 2603398711
PRINTED = "paper 001"
KEY_SEED = 1  # of seeded_key by default, so that keyed machines hold such keys too
WORKLOADS = (
    Workload("encrypt", 1119317562, 65537, MODULUS_001, PRINTED),
    Workload("decrypt", 1460365373, 977851481, MODULUS_001, PRINTED),
)


@dataclass(frozen=True)
class OwnWork:
    """An operation of an accelerator that is not an RSA machine: its requests and the expected responses."""

    name: str
    requests: tuple[Message, ...]
    responses: tuple[Message, ...]
    seed = ""  # the accelerator chooses its requests

    def as_json(self) -> dict[str, str]:
        """The requests in hexadecimal."""
        return {
            f"request {index}": " ".join(map(hex, request)) for index, request in enumerate(self.requests)
        }


class Part(NamedTuple):
    """An operation of a workload, and the number of times that it is done."""

    work: Any
    times: int = 1


def compared_as(accelerator: Accelerator) -> str:
    """The function by which accelerators are compared: by default a name is one."""
    return accelerator.function or accelerator.name


def own_operation(accelerator: Accelerator, workload: str) -> str:
    """The name of an operation; only figures of the same name are compared."""
    return f"{compared_as(accelerator)} {workload}"


def own_part(accelerator: Accelerator, workload: str) -> Part:
    """The operation of this workload of an accelerator that is not an RSA machine."""
    requests = tuple(accelerator.workloads()[workload])
    return Part(OwnWork(own_operation(accelerator, workload), requests, tuple(accelerator.answers(requests))))


@functools.cache
def workloads(nbits: int) -> tuple[Workload, Workload]:
    """Encryption of a message and decryption of its ciphertext.

    At 32 bits they have the numbers of the paper, whose d belongs to another key: decryption does not return
    the message, but d has the right length, and the result is checked all the same. Other widths have a key
    and a message that are the same in every call.
    """
    if nbits == NBITS_001:
        return _there_and_back(5745, 65537, 0x3A48D459, MODULUS_001, PRINTED)
    return key_operations(nbits, seeded_key(nbits, KEY_SEED))


def key_operations(nbits: int, key: RSAKey) -> tuple[Workload, Workload]:
    """Encryption of a message and decryption of its ciphertext with a key."""
    message = random.Random(nbits).randrange(key.n)
    return _there_and_back(message, key.e, key.d or 0, key.n, f"key {KEY_SEED}, message {nbits}")


def private_operation(nbits: int, key: RSAKey) -> Workload:
    """The decryption of a message's ciphertext with a key."""
    return key_operations(nbits, key)[1]


def _there_and_back(message: int, e: int, d: int, n: int, seed: str) -> tuple[Workload, Workload]:
    return Workload("encrypt", message, e, n, seed), Workload("decrypt", pow(message, e, n), d, n, seed)


def seed_of_spread(operation: str, nbits: int) -> str:
    """The seed of the random operands over which the energy of an operation is spread."""
    return f"{operation}, {nbits} bits"


def check_name(name: str) -> str:
    """Return `name`; BadInput if there is no such workload."""
    if name in NAMES or MIX.fullmatch(name):
        return name
    raise unknown("workload", name, NAMES)


def has_key(nbits: int) -> bool:
    """Whether there are RSA keys of this width."""
    return nbits % 2 == 0 and nbits >= SMALLEST_NBITS


def operations(machine: "Machine | None") -> tuple[str, ...]:
    """The measured operations that a machine supports; None: software."""
    return (DECRYPT,) if machine is not None and machine.keyed else OPERATIONS


def check_workload(name: str, nbits: int, modulus: int = 0, *, keyed: bool = False) -> None:
    """BadInput if the workload does not exist, or if a machine of this width cannot run it.

    modulus: the only one that it accepts (0: any). keyed: it holds a private key.
    """
    check_name(name)
    if keyed and name != DECRYPT:
        raise BadInput(
            f"workload {name}: a machine with crt, blind or verify does the private operation of its key "
            "and no other; "
            f"give workload {DECRYPT}, or leave these three out"
        )
    if name != CRT:
        return
    if modulus:
        raise BadInput(
            f"workload crt has two moduli, and this machine only takes {shown(modulus)}: give decrypt"
        )
    if not has_key(2 * nbits) or 2 * nbits > MOST_CRT_KEY_NBITS:
        raise BadInput(
            f"workload crt on {nbits} bits is by a key of {2 * nbits}: give a machine of "
            f"{SMALLEST_NBITS // 2} to "
            f"{MOST_CRT_KEY_NBITS // 2} bits"
        )


def parts_of(name: str, machine: "Machine | None", nbits: int, *, system: bool = False) -> tuple[Part, ...]:
    """The workload of this name for a machine; without one, for software on the processor.

    system: with the message of paper 001's Figure 1, for the whole system, not that of its accelerator tests.
    """
    if machine is not None and machine.keyed:
        check_workload(name, nbits, keyed=True)
        return (Part(private_operation(machine.nbits, machine.key)),)
    modulus = machine.modulus if machine is not None else 0
    check_workload(name, nbits, modulus)
    if name == CRT:
        return tuple(map(Part, _halves(nbits)))
    encrypt, decrypt = _pair(machine, nbits, system)
    if name == EXPONENTS:
        return tuple(map(Part, _of_one_length(decrypt, nbits)))
    if match := MIX.fullmatch(name):
        return Part(decrypt), Part(encrypt, int(match[1]))
    return (Part(decrypt if name == DECRYPT else encrypt),)  # a product is one of the encryption's


def cycles_of(name: str, machine: Any, work: Any) -> int:
    """Cycles of a part of a workload; for PRODUCT, those of one product, BadInput if they depend on the
    operands.
    """
    if name != PRODUCT:
        return machine.total_counted(work.requests)
    if machine.product_cycles is None:
        raise BadInput(
            f"the products of {machine.design.name} take as long as their operands make them: give workload "
            f"{ENCRYPT}"
        )
    return machine.product_cycles


def _pair(machine: "Machine | None", nbits: int, system: bool) -> tuple[Workload, Workload]:
    """Encryption and decryption."""
    if machine is None or (has_key(nbits) and machine.modulus_nbits == nbits):
        modulus = machine.modulus if machine is not None else 0
        encrypt, decrypt = WORKLOADS if nbits == NBITS_001 and not system else workloads(nbits)
        return encrypt.on(modulus), decrypt.on(modulus)
    base, exp, mod = machine.some_operands()
    public, seed = 65537 if nbits > 17 else 17, str(nbits)
    return Workload(ENCRYPT, base, public, mod, seed), Workload(DECRYPT, base, exp, mod, seed)


def _of_one_length(work: Workload, nbits: int) -> list[Workload]:
    """The same exponentiation with random full-length exponents; every number of ones is equally likely."""
    generator, seed = random.Random(nbits), f"{work.seed}, exponents {nbits}"
    works = []
    for index in range(EXPONENT_COUNT):
        places = generator.sample(range(nbits - 1), generator.randint(0, nbits - 1))
        exp = sum(1 << place for place in (nbits - 1, *places))
        works.append(replace(work, name=f"exponent {index}", exp=exp, seed=seed))
    return works


def _halves(nbits: int) -> tuple[Workload, Workload]:
    """The two exponentiations of a decryption by a key of twice this width."""
    key = seeded_key(2 * nbits, KEY_SEED)
    cipher = random.Random(nbits).randrange(key.n)
    p, q, dp, dq, _ = key.crt()
    seed = f"key {KEY_SEED}, message {nbits}"
    return Workload("crt, p", cipher % p, dp, p, seed), Workload("crt, q", cipher % q, dq, q, seed)
