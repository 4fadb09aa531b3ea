"""`modexlab run`: one operation on one design, checked against Python's own power."""

from __future__ import annotations

import argparse
import random
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, shown
from ....fl.status import MEANING, Status
from ...designs.param import PAPER_NBITS
from ...designs.session import LEVELS
from ...designs.widths import check_fit, check_width
from ...progress import Progress
from ..arguments import (
    Commands,
    add_command,
    add_design,
    add_interface,
    add_json,
    add_operands,
    add_private,
    add_settings,
    add_width,
    add_workload,
    answer,
    check_directory,
    designs_of,
    json_number,
    json_value,
    number,
    refuse_with_workload,
    settings_of,
    short,
)

if TYPE_CHECKING:
    from ....fl.rsa_keys import RSAKey
    from ...designs.design import Design
    from ...designs.interfaces import Interface
    from ...designs.machine import Machine
    from ...designs.session import Session

Result = int | list[int]  # of one exponentiation, or of each of a workload

TEXT = """\
The result is compared with Python's own pow(base, exp, mod);
the exit code is 1 if they differ."""
EXAMPLES = """\
  modexlab run mont --base 1119317562 --exp 65537 --mod 2603398711
  modexlab run mont-001 --base 7 --exp 0x10001 --mod 0xf1f1f1f1f1f1f1f1 --set nstages=8 --level cl
  modexlab run mont --base 3 --exp 5 --mod 7 --stage python --trace --vcd mont.vcd
  modexlab run mont --base 3 --exp 5 --mod 7 --interface xcel
  modexlab run mont --nbits 64 --workload sign+9verify
  modexlab run mont --key key.pem --encrypt 42 --json
  modexlab run mont --key key.pem --decrypt 0x1234 --crt --blind
  modexlab run mont-ct --key key.json --decrypt 0x1234 --verify --set schedule=ladder --level cl
  modexlab run --design cores/mine/design.toml --base 7 --exp 65537 --mod 2603398711"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "run", "compute base^exp mod N on a design", text=TEXT, examples=EXAMPLES, execute=execute
    )
    add_design(parser)
    add_operands(parser, required=True)
    key = parser.add_argument_group("an RSA key instead of operands")
    key.add_argument("--key", metavar="FILE", help="PEM, DER or JSON file with an RSA key")
    key.add_argument("--encrypt", type=number, metavar="M", help="M^e mod n")
    key.add_argument("--decrypt", type=number, metavar="C", help="C^d mod n")
    add_private(key)
    key.add_argument(
        "--unchecked",
        action="store_true",
        help="take a key whose numbers do not belong together: the machine is to find out",
    )
    key.add_argument(
        "--seed", type=number, metavar="N", help="draw blinding numbers from this seed, to repeat a run"
    )
    add_workload(parser)
    add_width(parser, "default: length of the modulus, rounded up to a multiple of 32")
    add_settings(parser)
    add_interface(parser)
    parser.add_argument("--level", choices=LEVELS, default="rtl", help="level of the model (default: rtl)")
    parser.add_argument(
        "--stage",
        help="how RTL is simulated: python, verilog or native (default: native; with --trace: python)",
    )
    parser.add_argument("--trace", action="store_true", help="print the line trace of every cycle")
    parser.add_argument("--vcd", metavar="FILE", help="write waveforms")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    """The operation on each of the designs."""
    designs = designs_of(args)
    if len(designs) > 1 and args.vcd is not None:
        raise BadInput(f"--vcd with {len(designs)} designs: they would write one file; name one design")
    told = [_on(args, design) for design in designs]
    reports = [report for report, _ in told]
    answer(
        args,
        lambda: reports if len(reports) > 1 else reports[0],
        lambda: [line for _, lines in told for line in lines],
    )
    return 0 if all(report["ok"] for report in reports) else 1


def _on(args: argparse.Namespace, design: Design) -> tuple[dict[str, Any], list[str]]:
    """The operation on one design, for scripts and in words."""
    settings = settings_of(design, args.settings)
    if _private(args, design, settings):
        return _by_program(args, design, settings)
    if args.vcd is not None:
        check_directory("--vcd", args.vcd)
    if args.nbits is not None:
        check_width(args.nbits)
    if args.workload is not None:
        operation = _named(args, design, settings)
    else:
        operation = _operation_with_key(args) if args.key is not None else _operation(args)
    nbits = args.nbits or design.width_for(operation.mod)
    machine = design.at(nbits, **settings)
    check_fit(nbits, operation.parts)
    for base, exp, mod in operation.parts:
        machine.require(base, exp, mod)

    with Progress(f"{design.name}, {nbits} bits, {args.level}", quiet=args.json):
        session = _session(args, machine)
        with session:
            result = operation.compute(session.mod_exp)
    ok = result == operation.golden
    counted = [times * cycles for times, cycles in zip(operation.times, session.cycles, strict=False)]
    cycles = sum(counted) if counted else None
    report = {
        "design": design.name,
        "nbits": nbits,
        "level": session.level,
        "stage": session.stage,
        "interface": session.interface.name,
        "params": {name: json_value(value) for name, value in machine.parameters.items()},
        "operation": operation.name,
        "result": _numbers(result),
        "golden": _numbers(operation.golden),
        "ok": ok,
        "status": 0,
        "cycles": cycles,
    }
    if machine.design.programmed:
        report["program"] = machine.programmed.program.listing()
    if session.interface.counts_accesses:
        report["accesses"] = session.accesses
    if len(session.cycles) > 1:
        report["cycles_of_parts"] = session.cycles
        if max(operation.times) > 1:
            report["times"] = operation.times
    if any(session.works):
        report["core_cycles"] = sum(
            times * work for times, work in zip(operation.times, session.works, strict=False)
        )
    return report, list(_lines(report, operation, counted, session.interface))


def _private(args: argparse.Namespace, design: Design, settings: dict[str, Any]) -> bool:
    """A private operation that the design does by a program of its own, with CRT, blinding or the check."""
    by_option = args.crt or args.verify or args.blind != "no"
    by_setting = settings.get("crt") or settings.get("verify") or settings.get("blind", "no") != "no"
    if not (by_option or by_setting):
        return False
    if by_option and args.encrypt is not None and args.decrypt is not None:
        raise BadInput("a key needs one of --encrypt M and --decrypt C")
    if args.decrypt is None or args.key is None:
        raise BadInput("--crt, --blind and --verify are for a private key; add --key FILE and --decrypt C")
    if design.programmed:
        return True
    if args.blind != "no" or args.verify:
        raise BadInput(
            f"{design.name} has a control of its own and no program: it can neither blind nor check; take a design such as mont"
        )
    return False


def _by_program(
    args: argparse.Namespace, design: Design, settings: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """A decryption by a program with CRT, blinding and the check."""
    from ....fl.rsa_keys import RSAKey  # not at the top: it brings `cryptography`
    from ...designs.protection import private_settings

    for name in ("base", "exp", "mod", "workload"):
        if getattr(args, name) is not None:
            raise BadInput(f"--{name} beside --key; give the operands or a key, not both")
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
    golden = pow(cipher, key.d, key.n)
    with (
        Progress(f"{design.name}, {nbits} bits, {args.level}", quiet=args.json),
        _session(args, machine) as session,
    ):
        (answer_,) = session.run([(cipher, key.d, key.n)])
    status = answer_.status
    ok = status is Status.OK and answer_.result == golden
    program = machine.programmed.program
    report = {
        "design": design.name,
        "nbits": nbits,
        "level": session.level,
        "stage": session.stage,
        "interface": session.interface.name,
        "params": {name: json_value(value) for name, value in machine.parameters.items()},
        "operation": "decrypt",
        "result": json_number(answer_.result) if status is Status.OK else None,
        "golden": json_number(golden),
        "ok": ok,
        "status": int(status),
        "status_name": status.name,
        "meaning": MEANING[status],
        "cycles": answer_.cycles,
        "formula": None
        if answer_.cycles is None
        or session.interface.counts_accesses
        or machine.timing.product_cycles(1) is None  # the operands decide
        else machine.cycles(cipher, key.d, key.n),
        "program": program.listing(),
    }
    if session.interface.counts_accesses:
        report["accesses"] = answer_.accesses
    return report, list(_private_lines(report, session.interface))


def _private_lines(report: dict[str, Any], interface: Interface) -> Iterator[str]:
    where = ", ".join(filter(None, (report["level"], report["stage"]))) + interface.behind
    params = report["params"]
    said = ["CRT"] if params["crt"] else []
    said += {"no": [], "both": ["message and exponent blinded"]}.get(
        params["blind"], [f"{params['blind']} blinded"]
    )
    said += ["result checked"] if params["verify"] else []
    yield f"{report['design']}, {report['nbits']} bits ({where}): {params['schedule']}, {', '.join(said) or 'unprotected'}"
    if report["status"]:
        yield f"{'status':<14}  {report['status']} {report['status_name']}: {report['meaning']}"
    else:
        yield f"{'result':<14}  {_value(report['result'])}"
    yield f"{'golden':<14}  {_value(report['golden'])}  {'ok' if report['ok'] else 'DIFFERS'}"
    formula = f" (formula {report['formula']})" if report["formula"] is not None else ""
    yield f"{'cycles':<14}  {'none: this level has no clock' if report['cycles'] is None else str(report['cycles']) + formula}"
    words = [f"modexlab program {report['design']} --nbits {report['nbits']}"]
    words += ["--crt"] if params["crt"] else []
    words += [f"--blind {params['blind']}"] if params["blind"] != "no" else []
    words += ["--verify"] if params["verify"] else []
    yield f"{'program':<14}  {len(report['program'])} words; `{' '.join(words)}` prints them"


def _session(args: argparse.Namespace, machine: Machine) -> Session:
    """The machine in simulation, as the options have it."""
    out = sys.stderr if args.json else sys.stdout
    trace = (lambda cycle, line: print(f"{cycle:6}: {line}", file=out)) if args.trace else None
    return machine.session(
        level=args.level,
        stage="python" if args.trace and args.level == "rtl" and not args.stage else args.stage,
        interface=args.interface,
        vcd=Path(args.vcd) if args.vcd else None,
        trace=trace,
    )


class _Operation:
    """What is to be computed, the golden value, and the exponentiations that it needs on the machine."""

    def __init__(
        self,
        name: str,
        mod: int,
        golden: Result,
        parts: list[tuple[int, int, int]],
        compute: Callable[[Callable[[int, int, int], int]], Result],
        times: list[int] | None = None,
    ) -> None:
        """times: how often the cycles of each part count."""
        self.name, self.mod, self.golden, self.parts, self.compute = name, mod, golden, parts, compute
        self.times = times or [1] * len(parts)


def _named(args: argparse.Namespace, design: Design, settings: dict[str, Any]) -> _Operation:
    """A workload by its name: all of its parts on the machine, one after the other."""
    from ...designs.mixes import parts_of  # not at the top: it brings the keys, and --help must be quick

    refuse_with_workload(args, ("base", "exp", "mod", "key", "encrypt", "decrypt", "crt"))
    nbits = PAPER_NBITS if args.nbits is None else args.nbits
    parts = parts_of(args.workload, design.at(nbits, **settings), nbits)
    return _Operation(
        args.workload,
        (1 << nbits) - 1,
        [part.work.golden for part in parts],
        [part.work.operands for part in parts],
        lambda mod_exp: [mod_exp(*part.work.operands) for part in parts],
        [part.times for part in parts],
    )


def _operation(args: argparse.Namespace) -> _Operation:
    if args.encrypt is not None or args.decrypt is not None or args.crt:
        raise BadInput("--encrypt, --decrypt and --crt need a key; add --key FILE.pem")
    missing = [f"--{name}" for name in ("base", "exp", "mod") if getattr(args, name) is None]
    if missing:
        raise BadInput(f"no {', '.join(missing)}; give --base, --exp and --mod, or --key FILE.pem")
    operands = (args.base, args.exp, args.mod)
    if args.mod == 0:
        raise BadInput("the modulus is 0; give one from 1 up")
    return _Operation("modexp", args.mod, pow(*operands), [operands], lambda mod_exp: mod_exp(*operands))


def _operation_with_key(args: argparse.Namespace) -> _Operation:
    given = [f"--{name}" for name in ("base", "exp", "mod") if getattr(args, name) is not None]
    if given:
        raise BadInput(f"{', '.join(given)} beside --key; give the operands or a key, not both")
    if (args.encrypt is None) == (args.decrypt is None):
        raise BadInput("a key needs one of --encrypt M and --decrypt C")
    from ....fl.rsa_keys import RSAKey  # not at the top: it brings `cryptography`

    key = RSAKey.load(args.key)
    if args.encrypt is not None:
        if args.crt:
            raise BadInput("--crt is for --decrypt; encryption needs no primes")
        message = args.encrypt
        return _Operation(
            "encrypt",
            key.n,
            key.encrypt(message),
            [(message, key.e, key.n)],
            lambda m: key.encrypt(message, m),
        )
    return _decryption(key, args.decrypt, args.crt)


def _decryption(key: RSAKey, cipher: int, crt: bool) -> _Operation:
    golden = key.decrypt(cipher)
    if not crt:
        assert key.d is not None  # decrypt refuses a public key
        return _Operation(
            "decrypt", key.n, golden, [(cipher, key.d, key.n)], lambda m: key.decrypt(cipher, m)
        )
    golden = key.decrypt_crt(cipher)
    p, q, dp, dq, _ = key.crt()
    widest = max(p, q)
    parts = [(cipher % p, dp, p), (cipher % q, dq, q)]

    def compute(mod_exp: Callable[[int, int, int], int]) -> int:
        def on_machine_or_host(base: int, exp: int, mod: int) -> int:
            # the check at the end is as wide as n: the host's, not of a machine of half the width
            return mod_exp(base, exp, mod) if mod <= widest else pow(base, exp, mod)

        return key.decrypt_crt(cipher, on_machine_or_host)

    return _Operation("decrypt by CRT", widest, golden, parts, compute)


def _numbers(result: Result) -> Any:
    """One number or several for JSON."""
    return list(map(json_number, result)) if isinstance(result, list) else json_number(result)


def _lines(
    report: dict[str, Any], operation: _Operation, parts: list[int], interface: Interface
) -> Iterator[str]:
    where = ", ".join(filter(None, (report["level"], report["stage"])))
    where += interface.behind
    settings = " ".join(f"{name}={short(str(value))}" for name, value in report["params"].items())
    yield f"{report['design']}, {report['nbits']} bits ({where}){': ' if settings else ''}{settings}"
    for base, exp, mod in operation.parts:
        yield f"{operation.name:<14}  {shown(base)} ^ {shown(exp)} mod {shown(mod)}"
    yield f"{'result':<14}  {_value(report['result'])}"
    yield f"{'golden':<14}  {_value(report['golden'])}  {'ok' if report['ok'] else 'DIFFERS'}"
    cycles = report["cycles"]
    split = f" ({' + '.join(map(str, parts))})" if len(parts) > 1 else ""
    if "accesses" in report:
        yield (
            f"{'accesses':<14}  {report['accesses']}: of registers, for operands, start, status and result; each takes a cycle or more"
        )
    core = f", {report['core_cycles']} of them from start to done" if "core_cycles" in report else ""
    yield f"{'cycles':<14}  {'none: this level has no clock' if cycles is None else f'{cycles}{split}{core}'}"


def _value(number: int | str | list[int | str]) -> str:
    if isinstance(number, list):
        return ", ".join(map(_value, number))
    return f"{number} (0x{number:x})" if isinstance(number, int) else number
