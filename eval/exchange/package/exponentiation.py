"""RSA machines as the subject of a package: their operands, keys and driver, and their paragraphs of the data
sheet.
"""

import functools

from ....fl.axi4lite_000 import is_padded
from ....fl.moduli import known_factors
from ....fl.status import Status
from ....fl.xcel import words_of
from ....proc.software.compiler import DRIVER_FILES
from ....proc.software.register_header import HEADER, register_header
from ...designs.catalogue import find
from ...designs.interfaces import AXI4LITE, AXI4LITE_000
from ...designs.machine import Machine
from ...designs.machine_chip import Chip
from ...designs.verilog.machine import computes
from .subject import SPARE_CYCLES, Reuse, Subject, table

RANDOM = ("x", "k", "kp", "kq")  # the numbers given with a private key that are new in each operation
NO_PROTECTIONS = "no CRT, no blinding, no result check"
HANDOVER = "it also counts the cycle in which the machine accepts the request"
SMALL, SMALL_NBITS = "naive", 8  # of the timing diagrams: the handshakes are the same for all machines


class Exponentiation(Subject):
    """A machine of the catalogue behind an interface."""

    machine: Machine
    golden = "expected answers are by a model whose results are those of Python's `pow`"
    operands = "all operands"

    @property
    def title(self):
        nbits, name = self.machine.nbits, self.machine.design.name
        return f"Modular exponentiation of {nbits} bits{self.place} (modexlab {name})"

    @property
    def about(self):
        design = self.machine.design
        paper = f", after paper {design.paper}" if design.paper else ""
        where = f"{self.machine.nbits} bits {self.interface.title}"
        return f"Modular exponentiation of {where}: design `{design.name}`{paper}"

    # ---- the testbench

    @functools.cached_property
    def _chip(self) -> Chip:
        return Chip(self.machine.design, self.machine.nbits, self.machine.parameters)

    @functools.cached_property
    def requests(self):
        """Corner cases of the mathematics, refused requests, and pseudo-random requests."""
        return self._chip.requests()

    def compute(self):
        """Return the functional model, which checks each result against `pow`."""
        machine = self.machine

        def computed(base, exp, mod, *given):
            status, result = machine.fl(base, exp, mod, *given)
            private = machine.keyed and not (machine.takes_public and given[-1])
            assert status != Status.OK or result == pow(base, machine.key.d if private else exp, mod)
            return status, result

        return computed

    @property
    def longest(self):
        machine = self.machine
        rows = [row for _, row in self._chip.rows()]
        accepted = [row for row in rows if machine.keyed or machine.check(*row) == Status.OK]
        return 2 * max(machine.cycles(*row) for row in accepted) + SPARE_CYCLES

    @property
    def reuse(self):
        """Another base with the key that is loaded."""
        machine = self.machine
        _, (base, exp, mod) = self._chip.rows()[-1]
        return Reuse(
            machine.carried(base, exp, mod),
            machine.carried(base // 2, exp, mod),
            ("base", *RANDOM),
            ("a key", "another base with the same key", "no key: an operation started now has modulus 0"),
        )

    @property
    def shown(self):
        return find(SMALL).at(SMALL_NBITS), (5, 3, 251)

    # ---- the program

    @property
    def software(self):
        machine = self.machine
        own = {HEADER.name: register_header(machine.shape, machine.traits)}
        return {path.name: path.read_text() for path in DRIVER_FILES} | own

    # ---- the data sheet

    @property
    def properties(self):
        machine = self.machine
        _, _, interface, constant_time = super().properties
        return [
            ("computes", computes(machine)),
            ("width", f"{machine.nbits} bits, {words_of(machine.nbits)} x 32 bits"),
            interface,
            ("multiplier", machine.design.family),
            ("domain", machine.design.domain),
            ("schedule", machine.plan.schedule),
            constant_time,
        ]

    @property
    def promise(self):
        return self.machine.promises.sentence

    def fields(self):
        """No rows: the protocol in the data sheet describes base, exponent and modulus."""
        return []

    def given(self):
        """The numbers of a key, or those made from the modulus."""
        machine, place_of = self.machine, self.interface.place_of_given
        if machine.keyed:
            yield (
                "Given with an operation are numbers of the private key. Random ones must be new for each "
                "operation, uniform, and secret; x is 2 or more and below the modulus. "
                f"The exponent is {'the public one' if machine.parameters['crt'] else 'the private one'}."
            )
            rows = [
                (f"`{name}`", str(nbits), meaning, place_of(place))
                for place, (name, nbits, meaning) in enumerate(machine.programmed.fields)
            ]
            yield table(("number", "bits", "what it is", "place"), rows)
        for index, number in enumerate(machine.given):
            said = f"`{number.name}` = {number.meaning} ({place_of(index)})"
            yield f"Given with an operation, and not checked: {said}."

    def cycles(self):
        """Paragraphs and a table of the cycles, by the closed formula."""
        machine, nbits = self.machine, self.machine.nbits
        on_bus = self.interface is AXI4LITE
        if machine.keyed:
            key = machine.key
            operands = 0, key.d or 0, key.n
            taken, waits = machine.cycles(*operands), machine.programmed.timing.loading_cycles
            register = f" Register CYCLES then reads {taken + waits + 1:,}: {HANDOVER}." if on_bus else ""
            yield (
                f"A private operation with a key of {key.n.bit_length()} bits takes the machine "
                f"{taken:,} cycles from request to answer; before that, the machine "
                f"examines the request for {waits} cycles.{register}"
            )
            yield from self.transfers(machine.carried(*operands))
            return
        base, exp, mod = machine.some_operands()
        exponents = {
            "65537": 65537,
            f"{nbits} bits, pseudo-random": exp,
            f"2^{nbits} - 1, all ones": (1 << nbits) - 1,
        }
        rows = [
            (name, f"{machine.cycles(base, exponent, mod):,}")
            for name, exponent in exponents.items()
            if exponent.bit_length() <= nbits
        ]
        yield (
            "Of the machine, from request to answer, by its closed formula, which tests compare with the "
            "hardware cycle by cycle:"
        )
        yield table(("exponent", "cycles"), rows)
        if on_bus:
            yield f"Register CYCLES reads one more: {HANDOVER}."
        yield from self.transfers(machine.carried(base, exp, mod))

    @property
    def kinds(self):
        machine, interface = self.machine, self.interface
        keyed, promises = machine.keyed, machine.promises
        streams, odd = not interface.on_bus, machine.design.odd_only
        holds = {
            "rsa-keyed": keyed and streams,
            "rsa-keyed-pushed": keyed and streams and interface.counts_accesses,
            "rsa-unkeyed": not keyed and streams,
            "verify": promises.checked,
            "unchecked": bool(promises.caveat),
            "blinds": self._hidden,
            "blinds-axi4lite": self._hidden and interface is AXI4LITE,
            "odd-montgomery": promises.odd_only and odd,
            "odd-primes": promises.odd_only and not odd,
            "reduced": promises.reduced_only,
            "fixed": machine.modulus and not keyed,
            "padded": interface is AXI4LITE_000 and is_padded(machine.nbits),
            "narrow": machine.modulus_nbits < machine.nbits,
        }
        return {"rsa", f"rsa-{interface.name}", *(kind for kind, true in holds.items() if true)}

    @property
    def _hidden(self) -> str:
        """The operands that a program with a private key blinds."""
        promises = self.machine.promises
        return " and the ".join(
            ["message"] * promises.message_blinded + ["exponent"] * promises.exponent_blinded
        )

    @property
    def words(self):
        machine = self.machine
        known = known_factors(machine.modulus, machine.nbits)
        return super().words | {
            "also": ", and the numbers of the key," if machine.keyed else "",
            "hidden": self._hidden,
            "protections": ", ".join(machine.promises.protections) or NO_PROTECTIONS,
            "factor": ", which gives a factor of the modulus" if machine.promises.key == "crt" else "",
            "factors": ", whose factors are known: arithmetic, and no key for RSA" if known else "",
            "modulus_nbits": str(machine.modulus_nbits),
        }

    def refusals(self):
        return []
