"""Simulate an operation at any level and check its result.

A machine of the catalogue computes base^exp mod N or a private operation of a key, and Python's own pow
judges it. An accelerator of your own answers the requests of --field or --workload, and its functional
model judges them. Exit code 1: they differ.

--trace prints one line per cycle, in hex: the request (base:exp:mod), the machine and the response
(status:result). A message is blank if only the receiver is ready, # if only the sender is, and . if neither
is. A machine is shown as its state, or with a program as the number of its microinstruction, and one mark per
multiplier, * if its product is valid and . if not, such as step|* *|. At level cl the number of the step
takes the place of the state; models without steps show the cycles left, such as (5). --vcd FILE writes
waveforms for GTKWave or Surfer: `gtkwave mont.vcd`.

examples:
  modexlab run mont --nbits 8 --base 5 --exp 5 --mod 13 --trace
  modexlab run mont --base 1119317562 --exp 65537 --mod 2603398711
  modexlab run mont-keyed --key key.pem --decrypt 0x1234 --crt --blind
  modexlab run mont-001 --base 7 --exp 0x10001 --mod 0xf1f1f1f1f1f1f1f1 --set nstages=8 --level cl
  modexlab run mont --base 3 --exp 5 --mod 7 --backend python --trace --vcd mont.vcd
  modexlab run mont --base 3 --exp 5 --mod 7 --interface xcel
  modexlab run mont --nbits 64 --workload sign+9verify
  modexlab run mont --key key.pem --encrypt 42 --json
  modexlab run mont-keyed --key key.json --decrypt 0x1234 --verify --set schedule=always --level cl
  modexlab run --accelerator gcd --field a=12 --field b=18
  modexlab run --accelerator cores/mine/design.toml --base 7 --exp 65537 --mod 2603398711
"""

import operator
import random
import secrets
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from ....fl.errors import BadInput, shown
from ....fl.rsa_keys import RSAKey
from ....fl.status import MEANING, Status
from ...designs.interfaces import Operands
from ...designs.machine import Design, Machine, PublicMachine
from ...designs.own import OwnDesign
from ...designs.session import LEVELS, NoResult, Operated
from ...designs.widths import check_fit, check_width
from ...designs.workload_names import PRODUCT, parts_of
from ...json_values import json_number
from .. import own
from ..arguments import (
    Settings,
    accelerator_of,
    entries_of,
    given,
    private,
    program_settings,
    refuse,
    settings_of,
    warn_of,
)
from ..operations import Labelled, Operation
from ..options import PRIVATE, RSA_OPERANDS, Group, Interfaces, flag, number, option, shared
from ..render import Json, answer_all, warn

ONE_OF = "a key needs one of --encrypt M and --decrypt C"
BESIDE_KEY = " with --key; give the operands or a key, not both"
Result = int | list[int]  # of one exponentiation, or of all of a workload


OPTIONS = (
    "design",
    "--accelerator",
    *RSA_OPERANDS,
    "--field",
    Group(
        "an RSA key instead of operands",
        (
            "--key",
            option("--encrypt", "M", "M^e mod n", type=number),
            option("--decrypt", "C", "C^d mod n", type=number),
            *PRIVATE,
            flag("--unchecked", "accept a key with inconsistent numbers, for the machine to detect"),
            "--seed (of blinding, to repeat a run)",
        ),
    ),
    "--workload",
    "--nbits (default: length of the modulus, rounded up to a multiple of 32)",
    "--set",
    Interfaces(),
    shared("--level", "default: rtl; for formula see `modexlab run --level formula --help`", choices=LEVELS),
    "--backend (default: native; with --trace: python)",
    "--trace",
    "--vcd",
    "--json",
)


def execute(args: Namespace) -> int:
    """Run the operation on each of the designs."""
    designs = entries_of(args)
    if args.vcd is not None and len(designs) > 1:
        raise BadInput(f"--vcd with {len(designs)} designs: they would write one file; name one design")
    ran = [_operation(args, design).run(args) for design in designs]
    return answer_all(args, ran, ok=all(report["ok"] for report, _ in ran))


def _operation(args: Namespace, design: Design | OwnDesign) -> Operation:
    """The operation that the options describe."""
    if isinstance(design, OwnDesign):
        return own.operation(args, design)
    own.refuse_fields(args)
    settings = settings_of(design, args.settings)
    if _by_program(args, design, settings):
        return _private_operation(args, design, settings)
    refuse(args, ("seed", "unchecked"), ": no program with --verify, --crt or --blind runs; drop it")
    kind = _named if args.workload is not None else _of_operands if args.key is None else _with_key
    return kind(args, design)


def _exponentiations(
    machine: Machine,
    name: str,
    parts: Sequence[Operands],
    golden: Result,
    combine: Callable[[Sequence[int]], Result] = operator.itemgetter(0),
    times: Sequence[int] = (),
) -> Operation:
    """Exponentiations from reset, combined into one result; BadInput if the machine rejects operands."""
    check_fit(machine.nbits, parts)
    for operands in parts:
        machine.require(*operands)

    def judge(operated: Sequence[Operated]) -> tuple[Json, Labelled]:
        powers = []
        for part in operated:
            status, power = part.responses[0]
            if status:
                raise NoResult(f"the machine answered status {int(status)}: {MEANING[Status(status)]}")
            powers.append(power)
        result = combine(powers)
        report = {"result": _numbers(result), "golden": _numbers(golden), "ok": result == golden, "status": 0}
        if machine.design.programmed:
            report["program"] = machine.programmed.program.listing()
        lines = [
            (name, f"{shown(base)} ^ {shown(exp)} mod {shown(mod)}{f', {count} times' if count > 1 else ''}")
            for (base, exp, mod), count in zip(parts, times or [1] * len(parts), strict=True)
        ]
        return report, [*lines, ("result", _value(report["result"])), _golden(report)]

    return Operation(machine, name, [[operands] for operands in parts], judge, times)


def _golden(report: Json) -> tuple[str, str]:
    return "golden", f"{_value(report['golden'])}  {'ok' if report['ok'] else 'DIFFERS'}"


def _by_program(args: Namespace, design: Design, settings: Settings) -> bool:
    """Whether the design computes a private operation with its program."""
    by_setting = settings.get("crt") or settings.get("verify") or settings.get("blind", "no") != "no"
    if not (private(args) or by_setting):
        return False
    if private(args) and args.encrypt is not None and args.decrypt is not None:
        raise BadInput(ONE_OF)
    if args.decrypt is None or args.key is None:
        raise BadInput("--crt, --blind and --verify are for a private key; add --key FILE and --decrypt C")
    if args.blind != "no" or args.verify:
        design.needs_program("--blind or --verify")
    return design.programmed


def _private_operation(args: Namespace, design: Design, settings: Settings) -> Operation:
    """A decryption by a program with CRT, blinding and the check."""
    refuse(args, (*RSA_OPERANDS, "workload"), BESIDE_KEY)
    key = RSAKey.load(args.key, unchecked=args.unchecked)
    if key.d is None:
        raise BadInput(f"the key in {args.key} is public: give the private key to decrypt")
    cipher = args.decrypt
    if not 0 <= cipher < key.n:
        raise BadInput(
            f"ciphertext {shown(cipher)} is not in 0..n-1 for n = {shown(key.n)}: cut it into smaller numbers"
        )
    # fields for primes have half the width, and CRT does not use d
    crt = settings.get("crt", args.crt)
    if key.p is None and not args.unchecked:
        key = key.with_primes()
    primes = (1 << 2 * max(key.p or 0, key.q or 0).bit_length()) - 1 if crt else 0
    nbits = check_width(args.nbits) if args.nbits is not None else design.width_for(key.n, primes)
    if args.nbits is None and nbits > design.width_for(key.n):
        warn(f"{nbits} bits, because CRT needs twice the length of the longer prime")
    operands = (cipher, key.d or 0, key.n)
    check_fit(nbits, [(cipher, 0, key.n) if crt else operands])
    machine = design.at(nbits, **program_settings(args, design, nbits))
    warn_of(machine)
    draw = random.Random(args.seed).randrange if args.seed is not None else secrets.randbelow
    return _decryption(machine.with_key(key, draw), operands)


def _decryption(machine: Machine, operands: Operands) -> Operation:
    """A decryption by a program, which may end with a status."""
    golden, listing = pow(*operands), machine.programmed.program.listing()
    crt, blind, verify = (machine.parameters[name] for name in ("crt", "blind", "verify"))
    show = f"modexlab show {machine.name} --program --nbits {machine.nbits}"
    show += " --crt" * crt + f" --blind {blind}" * (blind != "no")
    show += " --verify" if verify else " --set verify=false"

    def judge(operated: Sequence[Operated]) -> tuple[Json, Labelled]:
        (part,) = operated
        code, result = part.responses[0]
        status = Status(code)
        by_formula = part.cycles is not None and not part.accesses and machine.timing.product_cycles(1)
        report: Json = {
            "result": json_number(result) if status is Status.OK else None,
            "golden": json_number(golden),
            "ok": status is Status.OK and result == golden,
            "status": int(status),
            "status_name": status.name,
            "meaning": MEANING[status],
            "formula": machine.cycles(*operands) if by_formula else None,
            "program": listing,
        }
        outcome = ("result", _value(report["result"]))
        if status:
            outcome = ("status", f"{int(status)} {status.name}: {MEANING[status]}")
        return report, [outcome, _golden(report), ("program", f"{len(listing)} words; `{show}` prints them")]

    title = f"{machine.parameters['schedule']}, {', '.join(machine.promises.protections) or 'unprotected'}"
    return Operation(machine, "decrypt", [[operands]], judge, title=title)


def _named(args: Namespace, design: Design) -> Operation:
    """A workload by its name: all of its parts on the machine, one after the other."""
    refuse(
        args,
        (*RSA_OPERANDS, "key", "encrypt", "decrypt", "crt"),
        " with --workload, which has its own operands; drop one of them",
    )
    if args.workload == PRODUCT:
        raise BadInput(f"--workload {PRODUCT}: products are only counted by formula; add --level formula")
    machine = accelerator_of(args, design)
    parts = parts_of(args.workload, machine, machine.nbits)
    operands, golden = [part.work.operands for part in parts], [part.work.golden for part in parts]
    times = [part.times for part in parts]
    return _exponentiations(machine, args.workload, operands, golden, list, times)


def _of_operands(args: Namespace, design: Design) -> Operation:
    """The power of --base, --exp and --mod."""
    if args.encrypt is not None or args.decrypt is not None or args.crt:
        raise BadInput("--encrypt, --decrypt and --crt need a key; add --key FILE.pem")
    operands = (args.base, args.exp, args.mod)
    if missing := [option for option, value in zip(RSA_OPERANDS, operands, strict=True) if value is None]:
        raise BadInput(f"no {', '.join(missing)}; give --base, --exp and --mod, or --key FILE.pem")
    if args.mod == 0:
        raise BadInput("the modulus is 0; give one from 1 up")
    machine = accelerator_of(args, design, args.mod)
    return _exponentiations(machine, "modexp", [operands], pow(*operands))


def _with_key(args: Namespace, design: Design) -> Operation:
    """An encryption or a decryption with the key's exponents."""
    if names := [option for option in RSA_OPERANDS if given(args, option)]:
        raise BadInput(f"{', '.join(names)}{BESIDE_KEY}")
    encrypts = args.encrypt is not None
    if encrypts == (args.decrypt is not None):
        raise BadInput(ONE_OF)
    key = RSAKey.load(args.key)
    if args.crt:
        return _by_primes(args, design, key)
    golden = key.encrypt(args.encrypt) if encrypts else key.decrypt(args.decrypt)
    operands = (args.encrypt, key.e, key.n) if encrypts else (args.decrypt, key.d or 0, key.n)
    machine = accelerator_of(args, design, key.n)
    if encrypts and isinstance(machine, PublicMachine):
        machine = machine.with_public(key.e)
    return _exponentiations(machine, "encrypt" if encrypts else "decrypt", [operands], golden)


def _by_primes(args: Namespace, design: Design, key: RSAKey) -> Operation:
    """A decryption on a machine of half the key's width; the host combines both powers."""
    golden = key.decrypt_crt(args.decrypt)
    p, q, dp, dq, _ = key.crt()
    parts = [(args.decrypt % p, dp, p), (args.decrypt % q, dq, q)]

    def combine(powers: Sequence[int]) -> int:
        known = dict(zip(parts, powers, strict=True))
        return key.decrypt_crt(
            args.decrypt, lambda *operands: known[operands] if operands in known else pow(*operands)
        )

    nbits = design.width_for(p, q) if args.nbits is None else args.nbits
    machine = design.at(nbits, **settings_of(design, args.settings))
    return _exponentiations(machine, "decrypt by CRT", parts, golden, combine)


def _numbers(result: Result) -> Any:
    """One number or several for JSON."""
    return list(map(json_number, result)) if isinstance(result, list) else json_number(result)


def _value(number: int | str | list[int | str]) -> str:
    if isinstance(number, list):
        return ", ".join(map(_value, number))
    return f"{number} (0x{number:x})" if isinstance(number, int) else number
