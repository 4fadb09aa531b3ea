"""`modexlab run`: one operation on one design, checked against Python's `pow`."""

import operator
import random
import secrets
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ....fl.errors import BadInput, shown
from ....fl.param import PAPER_NBITS
from ....fl.rsa_keys import RSAKey
from ....fl.status import MEANING, Status
from ...designs.interfaces import INTERFACES, Operands
from ...designs.machine import Design
from ...designs.own import OwnDesign
from ...designs.protection import private_settings
from ...designs.session import LEVELS, NoResult, Operated
from ...designs.widths import check_fit, check_width
from ...designs.workload_names import parts_of
from ...folders import check_file
from ...json_values import json_number
from .. import own
from ..arguments import Settings, entries_of, given, private, refuse, settings_of
from ..operations import Operation
from ..options import PRIVATE, RSA_OPERANDS, Group, flag, interfaces, number, option, shared
from ..render import Json, answer_all

ONE_OF = "a key needs one of --encrypt M and --decrypt C"
BESIDE_KEY = " beside --key; give the operands or a key, not both"
Result = int | list[int]  # of one exponentiation, or of each of a workload

SUMMARY = "simulate an operation at any level and check its result"
TEXT = """\
A machine of the catalogue computes base^exp
mod N or a private operation of a key, and Python's own pow judges it. An accelerator of your own answers
the requests of --field or --workload, and its functional model judges them. Exit code 1: they differ.

--trace prints one line per cycle, in hex: the request (base:exp:mod), the machine and the response
(status:result). A message is blank if only the receiver is ready, # if only the sender is, and . if neither
is. At level cl the machine is shown as the number of cycles left, such as (5). In the RTL of a design that
executes a program, it is the microinstruction number and one mark per multiplier, * if it offers a product
and . if not, such as 2|* *|. --vcd FILE writes waveforms for GTKWave or Surfer: `gtkwave mont.vcd`."""
EXAMPLES = """\
  modexlab run mont --base 1119317562 --exp 65537 --mod 2603398711
  modexlab run mont --nbits 8 --base 5 --exp 5 --mod 13 --trace
  modexlab run mont-001 --base 7 --exp 0x10001 --mod 0xf1f1f1f1f1f1f1f1 --set nstages=8 --level cl
  modexlab run mont --base 3 --exp 5 --mod 7 --stage python --trace --vcd mont.vcd
  modexlab run mont --base 3 --exp 5 --mod 7 --interface xcel
  modexlab run mont --nbits 64 --workload sign+9verify
  modexlab run mont --key key.pem --encrypt 42 --json
  modexlab run mont --key key.pem --decrypt 0x1234 --crt --blind
  modexlab run mont-ct --key key.json --decrypt 0x1234 --verify --set schedule=ladder --level cl
  modexlab run --accelerator gcd --field a=12 --field b=18
  modexlab run --accelerator cores/mine/design.toml --base 7 --exp 65537 --mod 2603398711"""


OPTIONS = (
    *("design", "--accelerator", *RSA_OPERANDS, "--field"),
    Group(
        "an RSA key instead of operands",
        (
            "--key",
            option("--encrypt", "M", "M^e mod n", type=number),
            option("--decrypt", "C", "C^d mod n", type=number),
            *PRIVATE,
            flag("--unchecked", "accept a key whose numbers do not belong together, for the machine to find"),
            shared("--seed", "of blinding, to repeat a run"),
        ),
    ),
    "--workload",
    shared("--nbits", "default: length of the modulus, rounded up to a multiple of 32"),
    "--set",
    interfaces(INTERFACES),
    shared("--level", "default: rtl; for formula see `modexlab run --level formula --help`", choices=LEVELS),
    shared("--stage", "default: native; with --trace: python"),
    *("--trace", "--vcd", "--json"),
)


def execute(args: Namespace) -> int:
    """The operation on each of the designs."""
    designs = entries_of(args)
    if args.vcd is not None:
        if len(designs) > 1:
            raise BadInput(f"--vcd with {len(designs)} designs: they would write one file; name one design")
        check_file("--vcd", args.vcd)
    ran = [_operation(args, design).run(args) for design in designs]
    answer_all(args, ran)
    return 0 if all(report["ok"] for report, _ in ran) else 1


def _operation(args: Namespace, design: Design | OwnDesign) -> Operation:
    """The operation of the options."""
    if isinstance(design, OwnDesign):
        return own.operation(args, design)
    own.refuse_fields(args)
    settings = settings_of(design, args.settings)
    if _by_program(args, design, settings):
        return _private_operation(args, design, settings)
    if args.nbits is not None:
        check_width(args.nbits)
    if args.workload is not None:
        return _named(args, design, settings)
    by_options = _with_key if args.key is not None else _of_operands
    return by_options(args, design, settings)


@dataclass(frozen=True, kw_only=True)
class Exponentiations(Operation):
    """Exponentiations on a machine, each from reset, combined into one result."""

    golden: Result
    combine: Callable[[Sequence[int]], Result] = operator.itemgetter(0)

    def outcome(self, operated: Sequence[Operated]) -> Json:
        """NoResult if the machine answered a status."""
        result = self.combine([_power(*part.responses[0]) for part in operated])
        report = {
            "result": _numbers(result),
            "golden": _numbers(self.golden),
            "ok": result == self.golden,
            "status": 0,
        }
        if self.accelerator.design.programmed:
            report["program"] = self.accelerator.programmed.program.listing()
        return report

    def lines(self, report: Json) -> Iterator[tuple[str, str]]:
        for ((base, exp, mod),) in self.parts:
            yield self.name, f"{shown(base)} ^ {shown(exp)} mod {shown(mod)}"
        yield "result", _value(report["result"])
        yield "golden", _golden(report)


def _power(status: int, result: int) -> int:
    if status:
        raise NoResult(f"the machine answered status {int(status)}: {MEANING[Status(status)]}")
    return result


def _golden(report: Json) -> str:
    return f"{_value(report['golden'])}  {'ok' if report['ok'] else 'DIFFERS'}"


def _exponentiations(
    design: Design, settings: Settings, nbits: int, name: str, parts: Sequence[Operands], **more: Any
) -> Exponentiations:
    """Exponentiations on the machine of this width; BadInput for operands that it refuses."""
    machine = design.at(nbits, **settings)
    check_fit(nbits, parts)
    for operands in parts:
        machine.require(*operands)
    return Exponentiations(accelerator=machine, name=name, parts=[[operands] for operands in parts], **more)


@dataclass(frozen=True, kw_only=True)
class PrivateOperation(Operation):
    """A decryption by a program with CRT, blinding or the check, which may end with a status."""

    golden: int

    def outcome(self, operated: Sequence[Operated]) -> Json:
        machine, (part,) = self.accelerator, operated
        code, result = part.responses[0]
        status = Status(code)
        by_formula = part.cycles is not None and not part.accesses and machine.timing.product_cycles(1)
        return {
            "result": json_number(result) if status is Status.OK else None,
            "golden": json_number(self.golden),
            "ok": status is Status.OK and result == self.golden,
            "status": int(status),
            "status_name": status.name,
            "meaning": MEANING[status],
            "formula": machine.cycles(*self.parts[0][0]) if by_formula else None,
            "program": machine.programmed.program.listing(),
        }

    def title(self, report: Json) -> str:
        params = report["params"]
        protections = ["CRT"] if params["crt"] else []
        protections += {"no": [], "both": ["message and exponent blinded"]}.get(
            params["blind"], [f"{params['blind']} blinded"]
        )
        protections += ["result checked"] if params["verify"] else []
        return f"{params['schedule']}, {', '.join(protections) or 'unprotected'}"

    def lines(self, report: Json) -> Iterator[tuple[str, str]]:
        if report["status"]:
            yield "status", f"{report['status']} {report['status_name']}: {report['meaning']}"
        else:
            yield "result", _value(report["result"])
        yield "golden", _golden(report)
        params = report["params"]
        words = [f"modexlab show {report['design']} --program --nbits {report['nbits']}"]
        words += ["--crt"] if params["crt"] else []
        words += [f"--blind {params['blind']}"] if params["blind"] != "no" else []
        words += ["--verify"] if params["verify"] else []
        yield "program", f"{len(report['program'])} words; `{' '.join(words)}` prints them"


def _by_program(args: Namespace, design: Design, settings: Settings) -> bool:
    """Whether the design computes a private operation by a program of its own."""
    by_setting = settings.get("crt") or settings.get("verify") or settings.get("blind", "no") != "no"
    if not (private(args) or by_setting):
        return False
    if private(args) and args.encrypt is not None and args.decrypt is not None:
        raise BadInput(ONE_OF)
    if args.decrypt is None or args.key is None:
        raise BadInput("--crt, --blind and --verify are for a private key; add --key FILE and --decrypt C")
    if not design.programmed and (args.blind != "no" or args.verify):
        raise BadInput(
            f"{design.name} has a control of its own and no program: it can neither blind nor check; take a "
            "design such as mont"
        )
    return design.programmed


def _private_operation(args: Namespace, design: Design, settings: Settings) -> PrivateOperation:
    """A decryption by a program with CRT, blinding and the check."""
    refuse(args, ("base", "exp", "mod", "workload"), BESIDE_KEY)
    key = RSAKey.load(args.key, unchecked=args.unchecked)
    if key.d is None:
        raise BadInput(f"the key in {args.key} is public: give the private key to decrypt")
    cipher = args.decrypt
    if not 0 <= cipher < key.n:
        raise BadInput(
            f"ciphertext {shown(cipher)} is not in 0..n-1 for n = {shown(key.n)}: cut it into smaller numbers"
        )
    # a prime has a field of half the width, and with CRT nobody needs d
    crt = settings.get("crt", args.crt)
    if key.p is None and not args.unchecked:
        key = key.with_primes()
    primes = (1 << 2 * max(key.p or 0, key.q or 0).bit_length()) - 1 if crt else 0
    nbits = check_width(args.nbits) if args.nbits is not None else design.width_for(key.n, primes)
    assert key.d is not None
    check_fit(nbits, [(cipher, 0 if crt else key.d, key.n)])
    chosen = private_settings(design, nbits, settings, crt=args.crt, blind=args.blind)
    draw = random.Random(args.seed).randrange if args.seed is not None else secrets.randbelow
    machine = design.at(nbits, **chosen).with_key(key, draw)
    operands = (cipher, key.d, key.n)
    return PrivateOperation(accelerator=machine, name="decrypt", parts=[[operands]], golden=pow(*operands))


def _named(args: Namespace, design: Design, settings: Settings) -> Exponentiations:
    """A workload by its name: all of its parts on the machine, one after the other."""
    refuse(
        args,
        ("base", "exp", "mod", "key", "encrypt", "decrypt", "crt"),
        " beside --workload, which has its own operands; drop one of them",
    )
    nbits = PAPER_NBITS if args.nbits is None else args.nbits
    parts = parts_of(args.workload, design.at(nbits, **settings), nbits)
    return _exponentiations(
        design,
        settings,
        nbits,
        args.workload,
        [part.work.operands for part in parts],
        times=[part.times for part in parts],
        golden=[part.work.golden for part in parts],
        combine=list,
    )


def _of_operands(args: Namespace, design: Design, settings: Settings) -> Exponentiations:
    """The power of --base, --exp and --mod."""
    if args.encrypt is not None or args.decrypt is not None or args.crt:
        raise BadInput("--encrypt, --decrypt and --crt need a key; add --key FILE.pem")
    missing = [f"--{name}" for name in ("base", "exp", "mod") if getattr(args, name) is None]
    if missing:
        raise BadInput(f"no {', '.join(missing)}; give --base, --exp and --mod, or --key FILE.pem")
    operands = (args.base, args.exp, args.mod)
    if args.mod == 0:
        raise BadInput("the modulus is 0; give one from 1 up")
    nbits = args.nbits or design.width_for(args.mod)
    return _exponentiations(design, settings, nbits, "modexp", [operands], golden=pow(*operands))


def _with_key(args: Namespace, design: Design, settings: Settings) -> Exponentiations:
    """An encryption or a decryption, by the key's own exponents."""
    if names := [f"--{name}" for name in ("base", "exp", "mod") if given(args, name)]:
        raise BadInput(f"{', '.join(names)}{BESIDE_KEY}")
    if (args.encrypt is None) == (args.decrypt is None):
        raise BadInput(ONE_OF)
    key = RSAKey.load(args.key)
    if args.crt:
        return _by_primes(args, design, settings, key)
    encrypts = args.encrypt is not None
    golden = key.encrypt(args.encrypt) if encrypts else key.decrypt(args.decrypt)
    operands = (args.encrypt, key.e, key.n) if encrypts else (args.decrypt, key.d or 0, key.n)
    nbits = args.nbits or design.width_for(key.n)
    name = "encrypt" if encrypts else "decrypt"
    return _exponentiations(design, settings, nbits, name, [operands], golden=golden)


def _by_primes(args: Namespace, design: Design, settings: Settings, key: RSAKey) -> Exponentiations:
    """A decryption on a machine of half the key's width; the host combines both powers."""
    golden = key.decrypt_crt(args.decrypt)
    p, q, dp, dq, _ = key.crt()
    parts = [(args.decrypt % p, dp, p), (args.decrypt % q, dq, q)]

    def combine(powers: Sequence[int]) -> int:
        known = dict(zip(parts, powers, strict=True))

        def mod_exp(*operands: int) -> int:
            return known[operands] if operands in known else pow(*operands)

        return key.decrypt_crt(args.decrypt, mod_exp)

    nbits = args.nbits or design.width_for(max(p, q))
    return _exponentiations(design, settings, nbits, "decrypt by CRT", parts, golden=golden, combine=combine)


def _numbers(result: Result) -> Any:
    """One number or several for JSON."""
    return list(map(json_number, result)) if isinstance(result, list) else json_number(result)


def _value(number: int | str | list[int | str]) -> str:
    if isinstance(number, list):
        return ", ".join(map(_value, number))
    return f"{number} (0x{number:x})" if isinstance(number, int) else number
