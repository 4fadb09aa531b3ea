"""Kernels: ways to compute base^exp mod n on the processor (mod_exp/), and the programs around them.

A kernel for one word takes and returns values, as in the listings of paper 001. A kernel for longer operands,
or one without a version for one word, takes addresses of words. One build serves all operands of a width: the
operands and the expected result are written into the loaded image (software/kernel_main.c describes the
program).

Cycles are normalised as in paper 001, section 5.1: those of the stats window minus those of the dummy of the
same width.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...fl.errors import BadInput, shown, unknown
from ...fl.rsa_keys import RSAKey
from ...fl.xcel import to_words, words_of
from .compiler import SOFTWARE, compile_program
from .elf import Program, load_elf

MAX_NBITS = 4096
# The optimisation level of the kernels. In pipeline cycles -O3 is never worse than -O2 and up to 15 % better
# (naive, 64 to 128 bits); -Os is a third worse.
OPT = "-O3"


class Kernel(NamedTuple):
    """One kernel: its functions in software/, and its requirements."""

    one_word: str  # function of values; "": none, addresses at every width
    many_words: str  # function of addresses
    odd_only: bool = False
    accelerated: bool = False
    # the accelerator is on the bus; the program sends its cycle count after the result
    bus: bool = False
    interrupt: bool = False
    keyed: bool = False  # the key is loaded before the call
    constant_time: bool = False


KERNELS = {
    # returns the expected result: measures the overhead of the call
    "dummy": Kernel("dummy", "dummy_words"),
    # paper 001, Listing 3; many words: schoolbook product and division
    "naive": Kernel("mod_exp", "mod_exp_words"),
    # paper 001, Listing 4; many words: CIOS
    "montgomery": Kernel("mont_mod_exp", "mont_mod_exp_words", odd_only=True),
    "montgomery-ct": Kernel("mont_mod_exp_ct", "mont_mod_exp_ct_words", odd_only=True, constant_time=True),
    "xcel": Kernel("xcel_mod_exp", "xcel_mod_exp_words", accelerated=True),
    # a machine on the bus: the driver loads the key and polls
    "bus": Kernel("", "bus_mod_exp", accelerated=True, bus=True),
    # the same, but the processor sleeps until the interrupt
    "bus-irq": Kernel("", "bus_mod_exp_irq", accelerated=True, bus=True, interrupt=True),
    # the driver polls; the key is already loaded
    "bus-key": Kernel("", "bus_mod_exp_key", accelerated=True, bus=True, keyed=True),
}
# kernels for encrypt() and decrypt() of software/rsa.c
RSA_KERNELS = tuple(
    name
    for name, kernel in KERNELS.items()
    if name != "dummy" and not kernel.constant_time and not kernel.keyed
)


def find_kernel(name: str) -> Kernel:
    """The kernel with this name."""
    if name not in KERNELS:
        raise unknown("kernel", name, KERNELS)
    return KERNELS[name]


def kernel_program(
    kernel: str,
    nbits: int,
    base: int,
    exp: int,
    mod: int,
    *,
    expected: int | None = None,
    exp_nbits: int | None = None,
    given: Sequence[int] = (),
    warm_up: int | None = None,
) -> Program:
    """The program that computes base^exp mod `mod` by this kernel and exits with 0 if the result is right.

    nbits: width of the operands, rounded up to words in software. expected: the right result, by default that
    of `pow`. exp_nbits: number of exponent bits that a constant-time kernel scans, by default nbits. given:
    further numbers of the accelerator's request after base, exponent and modulus, derived from the modulus or
    those of a private key. In the latter case `exp` is the exponent of the request (machine.carried), and
    `expected` must be given. warm_up: the base of a call before the stats window, by default none.
    """
    chosen = find_kernel(kernel)
    _check_width(nbits)
    for name, value in (("base", base), ("exponent", exp), ("modulus", mod), ("warm-up", warm_up or 0)):
        if not 0 <= value < 1 << nbits:
            raise BadInput(f"{name} {shown(value)} is not a number of {nbits} bits: give 0 to 2^{nbits} - 1")
    if mod == 0:
        raise BadInput("modulus 0: there are no numbers below it, give 1 or more")
    if chosen.odd_only and mod % 2 == 0:
        raise BadInput(f"modulus {shown(mod)} is even: kernel {kernel} takes odd ones, kernel naive any")
    if exp_nbits is None:
        exp_nbits = nbits
    if not exp.bit_length() <= exp_nbits <= nbits:
        raise BadInput(
            f"{exp_nbits} bits of the exponent: give {exp.bit_length()}, its length, to {nbits}, that of "
            "the operands"
        )
    operands = {"base": base, "exp": exp, "mod": mod}
    operands["expected"] = pow(base, exp, mod) if expected is None else expected
    if warm_up is not None:
        operands["warm_up"] = warm_up
    program = _with_operands("kernel", kernel, nbits, "operand", operands, given)
    return patched(program, {"operand_exp_nbits": [exp_nbits]})


def rsa_program(
    kernel: str,
    key: RSAKey,
    message: int,
    *,
    nbits: int | None = None,
    given: Sequence[int] = (),
    private_exp: int | None = None,
) -> Program:
    """The RSA program (software/rsa.c) with this private key: encrypts the message and decrypts the
    ciphertext.

    nbits: width of the operands, by default the length of the modulus. given: as in `kernel_program`.
    private_exp: the exponent of the request for a machine that takes the numbers of a private key and can
    only decrypt with it; software then encrypts.
    """
    nbits = key.nbits if nbits is None else nbits
    _check_width(nbits)
    if kernel not in RSA_KERNELS:
        find_kernel(kernel)
        raise BadInput(f"kernel {kernel} in the RSA program: give one of {', '.join(RSA_KERNELS)}")
    if key.d is None:
        raise BadInput(f"the key with n = {shown(key.n)} is public: give the private key")
    longest = max(key.n, key.e, key.d).bit_length()
    if longest > nbits:
        raise BadInput(
            f"the key with n = {shown(key.n)} does not fit in {nbits} bits: give {longest} or more"
        )
    if not 0 <= message < key.n:
        raise BadInput(
            f"message {shown(message)} is not in 0..n-1 for n = {shown(key.n)}: give a smaller one"
        )
    numbers = {"n": key.n, "e": key.e, "message": message}
    numbers["d"] = key.d if private_exp is None else private_exp
    return _with_operands("rsa", kernel, nbits, "rsa", numbers, given, private_exp is not None)


def _with_operands(
    main: str,
    kernel: str,
    nbits: int,
    prefix: str,
    operands: dict[str, int],
    given: Sequence[int],
    decrypts_alone: bool = False,
) -> Program:
    """The program with operands at the symbols with this prefix; software kernels have no given numbers."""
    given = given if KERNELS[kernel].accelerated else ()
    patches = {f"{prefix}_{name}": to_words(value, nbits) for name, value in operands.items()}
    if given:
        patches["xcel_given"] = [word for value in given for word in to_words(value, nbits)]
    program = _build(main, kernel, words_of(nbits), len(given), decrypts_alone, "warm_up" in operands)
    name = f"{kernel}-{nbits}" if main == "kernel" else f"rsa-{kernel}-{nbits}"
    return patched(replace(program, name=name), patches)


def patched(program: Program, patches: dict[str, list[int]]) -> Program:
    """The program with its words at some symbols replaced."""
    segments = [(addr, bytearray(content)) for addr, content in program.segments]
    for symbol, words in patches.items():
        data = b"".join(word.to_bytes(4, "little") for word in words)
        start = program.symbols[symbol]
        for addr, content in segments:
            if addr <= start and start + len(data) <= addr + len(content):
                content[start - addr : start - addr + len(data)] = data
                break
        else:
            raise BadInput(
                f"{program.name}: no room for {len(data)} bytes at symbol {symbol} in what is loaded"
            )
    return replace(program, segments=tuple((addr, bytes(content)) for addr, content in segments))


def _check_width(nbits: int) -> None:
    if not 1 <= nbits <= MAX_NBITS:
        raise BadInput(f"operands of {nbits} bits: give 1 to {MAX_NBITS}")


@functools.lru_cache(maxsize=64)
def _build(main: str, kernel: str, words: int, ngiven: int, decrypts_alone: bool, warm_up: bool) -> Program:
    """The program around a kernel, with operands of 0 (kernel_main.c) or the key of rsa.c."""
    chosen = KERNELS[kernel]
    defines: dict[str, str | int] = {"WORDS": words}
    if ngiven:
        defines["XCEL_NGIVEN"] = ngiven
    if chosen.bus:
        defines |= {"BUS": 1, "BUS_IRQ": int(chosen.interrupt)}
    if warm_up:
        defines["WARM_UP"] = 1
    one_word = words == 1 and chosen.one_word
    if not one_word:
        defines["BY_ADDRESS"] = 1
    defines["KERNEL"] = one_word or chosen.many_words
    if decrypts_alone and chosen.accelerated:
        software = KERNELS["montgomery"]
        defines["ENCRYPT_KERNEL"] = software.one_word if one_word else software.many_words
    sources = ("kernel_main.c", "dummy.c") if main == "kernel" else ("rsa.c",)
    return load_elf(compile_program([SOFTWARE / name for name in sources], defines=defines, opt=OPT))
