"""Chip of a catalogue design, a source for the ASIC flow: design.sv, design.json and workload.json
(flow/workload.py).

The rows are mathematical corner cases and pseudo-random operands, including rejected ones, with results from
`pow` and the design's own checks. Energy is measured for an encryption and a decryption (workload_names.py),
at 32 bits those of paper 001. A machine with a private key (protection.py) runs the private operation of its
key; its rows include keys with inconsistent numbers.
"""

import functools
import itertools
import random
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...fl.accelerator import DELAYS, Row
from ...fl.errors import BadInput
from ...fl.mod_exp import operand_status
from ...fl.status import Status
from ...flow import workload
from ...flow.description import Published
from ...flow.workload import program_json
from ...proc.core.proc import Proc
from ...proc.core.proc_xcel import ProcXcel
from ...proc.software import kernels
from ..papers.published import by_name, paper
from .chip import AcceleratorChip, Exchange
from .interfaces import SYSTEM, UNIT, Carried, Operands
from .interfaces import find as find_interface
from .machine import Design, usual_exponent
from .protection import costs
from .soc_system import Xcel
from .system_catalogue import BY_XCEL, DUMMY, HARDWARE, NBITS_001, SOFTWARE, check_key_width, scanned_nbits
from .widths import check_width
from .workload_names import Workload, has_key, operations, parts_of

# longest exponent of the rows, so that wide machines take seconds
ROW_EXP_NBITS = 64
MOST_ROW_CYCLES = 40_000  # of one row: exponents are even shorter if a product takes long
MOST_ENERGY_CYCLES = 50_000  # at gate level, longer operations are cut to a window of their first products
FULL_NBITS = 256  # wider machines have more gates and are simulated for fewer cycles
# of all rows together, if every operation takes equally long, by digits or with a key
MOST_WHOLE_CYCLES = 100_000
LONGEST_WHOLE_CYCLES = 3_000_000  # of such an operation, simulated whole and measured in a window
RANDOM_ROWS = 16
LONG_PRODUCT, LEAST_RANDOM_ROWS = 10_000, 2  # cycles of a product from which on there are fewer random rows
MOST_LONG_CYCLES = 70_000_000  # of all rows with such products; measured operations come on top
IN_KEYS = ("exp", "p", "dp", "dq", "qinv", "e", "phi")
DRAWN = 10  # operations on random operands, for the spread of the energy
WARM_UPS = 16  # attempts to find a warm-up with another result
MOST_DRAWN_CYCLES = 10_000  # of all of them: fewer if one takes long, none if two would take too long


@dataclass(frozen=True)
class Chip(AcceleratorChip):
    """A machine at one width as a source of the flow: bare, behind an interface, or with the processor.

    Without a design it is the processor alone, which runs the software `kernel`.
    """

    design: Design | None
    system: bool = False
    kernel: str = BY_XCEL

    def check(self):
        """BadInput if it cannot be built."""
        check_width(self.nbits)
        find_interface(self.interface)
        if self.design is not None:
            if self.machine.keyed:
                _ = self.machine.key  # not every width has one
            return
        check_key_width(self.nbits)
        if self.settings:
            raise BadInput(
                f"{self.name} has no parameter {next(iter(self.settings))}: it has none; drop --set"
            )

    @property
    def machine(self):
        """The machine of the design; BadInput if its parameters are impossible."""
        assert self.design is not None
        return self.design.at(self.nbits, **self.settings)

    @property
    def parameters(self):
        """All parameters of the machine; none for software."""
        return {} if self.design is None else self.machine.parameters

    @property
    def name(self):
        """The name of the design, or of the software system as in `modexlab proc systems`."""
        return f"{SOFTWARE}{self.kernel}" if self.design is None else self.design.name

    @property
    def top(self):
        """The name of the top module."""
        if self.design is None:
            return "processor"
        if self.system:
            return re.sub(r"\W", "_", f"{self.design.name}_{self.nbits}_{SYSTEM}")
        return self.machine.top(self.carrier)

    @property
    def place(self):
        """The phrase for its interface or the processor in a sentence."""
        return ", behind the processor" if self.system else self.carrier.behind

    @property
    def described_interface(self):
        return SYSTEM if self.system else self.interface

    @property
    def published(self):  # type: ignore[override]
        """Paper 001's energies by operation for this system or its system of the same kind, with their
        source.

        These are its normalised figures: its gross energies, and those of its dummy, include about 344 cycles
        more than its program's cycle count (eval/papers/001.toml). It has none for bare accelerators.
        """
        name = self.name if self.design is None else f"{HARDWARE}{self.name}" if self.system else ""
        found = by_name("001", "3", "energy_nj").get(name) if self.nbits == NBITS_001 else None
        return Published(paper("001").table("3").source, "paper 001", found) if found else None

    def _component(self):
        if self.system:
            return ProcXcel(partial(Proc, 1, 2), Xcel(self.design, self.nbits, self.settings).rtl)
        return super()._component()

    def _workload(self, component):
        return self._programs() if self.system else super()._workload(component)

    # ---- rows and operations

    def energy(self):
        """Operations whose energy is measured."""
        machine = None if self.design is None else self.machine
        if self._too_long:
            return []
        works = [
            part.work
            for name in operations(machine)
            for part in parts_of(name, machine, self.nbits, system=self.system)
        ]
        for work in works:
            if machine is not None:
                machine.require(*work.operands)
        return works

    @property
    def note(self) -> str:  # type: ignore[override]
        """Caveats on its protections and on the operations whose energy is measured."""
        unchecked = "" if self.design is None else self.machine.promises.caveat
        return "; ".join(filter(None, (unchecked, self._energy_note)))

    @property
    def _energy_note(self) -> str:
        """Caveats on the operations whose energy is measured."""
        if self.design is not None and self.machine.modulus_nbits < self.nbits:
            why = f"the machine takes moduli of up to {self.machine.modulus_nbits} bits"
            length = " with one of that length"
        elif has_key(self.nbits):
            return ""
        else:
            why, length = f"there is no RSA key of {self.nbits} bits", ""
        return (
            f"{why}: encrypt and decrypt are exponentiations of pseudo-random operands{length}, by a short "
            "exponent and by one of full length"
        )

    @property
    def limits(self) -> str:  # type: ignore[override]
        """Limits of the verification of its netlist."""
        if not self._too_long:
            return ""
        exponent = "any exponent" if self._fixed_length else "exponent 1"
        return (
            f"an operation with {exponent} takes {self._least_cycles:,} cycles, and gate-level simulation of "
            f"{self.nbits} bits is limited to {self._longest:,}: there is no energy, and only requests that "
            "take fewer run on RTL and netlist; `modexlab run` simulates whole operations at RTL"
        )

    def rows(self) -> list[tuple[str, Operands]]:
        """Names and operands of the rows."""
        rows = self._all_rows()
        if not self._has_budget:
            return rows
        taken = [row for row in rows if self.machine.check(*row[1]) == Status.OK]
        kept = self._affordable_rows(taken)
        return [row for row in rows if row in kept or row not in taken]

    def _affordable_rows(self, rows: list[Any]) -> list[Any]:
        """The rows that fit into the cycle budget: `random 0` first, then exponent 1 if operations differ in
        length, then in order.
        """
        fixed, kept = self._fixed_length, []
        left = self._affordable(MOST_WHOLE_CYCLES) if fixed else self._most_long
        for row in sorted(rows, key=lambda row: (row[0] != "random 0", not fixed and row[0] != "exponent 1")):
            cycles = self._least_cycles if fixed else self.machine.counted(*row[1])
            if cycles <= left:
                left -= cycles
                kept.append(row)
        return kept

    @property
    def _fixed_length(self) -> bool:
        """A small exponent does not shorten an operation: the machine scans exponents in full or by digits,
        or holds a key.
        """
        if self.design is None:
            return False
        programmed = self.machine.build.programmed
        by_digits = programmed is not None and programmed.recipe.shape.digit
        return self.machine.keyed or by_digits or self.machine.plan.full_scan

    @property
    def _has_budget(self) -> bool:
        """Its rows have a cycle budget: operations cannot be shortened, or a single product is long."""
        return self._fixed_length or (
            self.design is not None and (self.machine.product_cycles or 0) >= LONG_PRODUCT
        )

    @functools.cached_property
    def _least_cycles(self) -> int:
        """Cycles of an operation with exponent 1; of any operation, if all take the same."""
        machine = self.machine
        if machine.keyed:
            return costs(machine).cycles
        base, exp, mod = machine.some_operands()
        return machine.counted(base, exp if self._fixed_length else 1, mod)

    @property
    def _longest(self) -> int:
        """The most cycles of such an operation for which it is simulated at gate level."""
        return self._affordable(LONGEST_WHOLE_CYCLES) if self._fixed_length else self._most_long

    @property
    def _most_long(self) -> int:
        """MOST_LONG_CYCLES at this width: a machine with long products has gates in proportion to its
        width.
        """
        return MOST_LONG_CYCLES * FULL_NBITS // max(self.nbits, FULL_NBITS)

    @property
    def _too_long(self) -> bool:
        """Not even an operation with exponent 1 is short enough to be simulated at gate level."""
        return (
            not self.system
            and self.interface != UNIT
            and self._has_budget
            and self._least_cycles > self._longest
        )

    def _private_rows(self) -> list[tuple[str, Operands]]:
        """Operations with the key that the machine holds."""
        key, generator = self.machine.key, random.Random(self.nbits)
        bases = {"base 0": 0, "base 1": 1, "base 2": 2, "base n - 1": key.n - 1}
        bases["base not below the modulus"] = key.n
        bases |= {f"random {index}": generator.randrange(key.n) for index in range(RANDOM_ROWS)}
        return [(name, (base, key.d or 0, key.n)) for name, base in bases.items()]

    def _bad_keys(self) -> list[tuple[str, Carried]]:
        """Requests with inconsistent key numbers that the machine detects."""
        machine = self.machine
        if not machine.keyed:
            return []
        key, made = machine.key, machine.programmed
        good = made.named(machine.carried(3, key.d or 0, key.n))
        changes = [("even p", "p", 1), *((f"wrong {name}", name, 2) for name in good if name in IN_KEYS)]
        changed = [(words, good | {name: good[name] ^ bit}) for words, name, bit in changes if name in good]
        at_once: list[Any] = []  # rejected before the program runs
        others: list[Any] = []
        for words, fields in changed:
            request = tuple(fields.values())
            if made.fl(request).status != Status.OK:
                (at_once if made.inspect(fields) else others).append((words, request))
        return [*at_once, *self._affordable_rows(others)]

    def _public(self) -> list[tuple[str, Carried]]:
        """Requests that mark their exponent as public."""
        if self.design is None or not self.machine.takes_public:
            return []
        top = (1 << self.nbits) - 1
        n, usual = top - 2, usual_exponent(self.nbits)
        rows = {f"exponent {exp}": (5, exp, n) for exp in (0, 1, 3, usual)}
        rows |= {"base n - 1": (n - 1, 6, n), "base not below the modulus": (n, 3, n)}
        rows |= {"modulus 1": (0, 5, 1), "even modulus": (3, 5, top - 1)}
        public = self.machine.programmed.public
        return [(f"public, {name}", public(*operands)) for name, operands in rows.items()]

    def requests(self) -> list[tuple[str, Carried]]:
        """Complete requests: rows, inconsistent keys and public operations."""
        carried = [(name, self.machine.carried(*row)) for name, row in self.rows()]
        return carried + self._bad_keys() + self._public()

    def _all_rows(self) -> list[tuple[str, Operands]]:
        """All rows, before they are cut to a cycle budget."""
        if self.design is not None and self.machine.keyed:
            return self._private_rows()
        nbits, generator = self.nbits, random.Random(self.nbits)
        longest, only, product_cycles = nbits, 0, 0
        if self.design is not None:
            machine = self.machine
            longest, only, product_cycles = (
                machine.modulus_nbits,
                machine.modulus,
                machine.product_cycles or 0,
            )
        exp_nbits = min(nbits, ROW_EXP_NBITS)
        if product_cycles:
            exp_nbits = min(exp_nbits, max(2, self._affordable(MOST_ROW_CYCLES) // (2 * product_cycles)))
        top, ones = (1 << longest) - 1, (1 << exp_nbits) - 1
        mod = only or top - 2
        rows = [
            ("exponent 0", (5, 0, mod)),
            ("exponent 1", (5, 1, mod)),
            ("base 0", (0, 5, mod)),
            ("base 1", (1, ones, mod)),
            ("base n - 1, odd exponent", (mod - 1, 7, mod)),
            ("base n - 1, even exponent", (mod - 1, 6, mod)),
            ("all ones in the exponent", (mod - 2, ones, mod)),
            ("one bit in the exponent", (mod - 2, 1 << (exp_nbits - 1), mod)),
            ("alternating exponent", (3, ones // 3, mod)),
            ("base not below the modulus", (mod, 3, mod)),
        ]
        if not only:
            half = (1 << longest // 2) - 1
            rows += [
                ("modulus 0", (5, 3, 0)),
                ("modulus 1", (0, 5, 1)),
                ("modulus 3", (2, 5, 3)),
                ("even modulus", (3, 5, top - 1)),
                ("largest modulus and base", (top - 1, 9, top)),
                ("zero divisor", (half, 2, half * half)),
            ]
        if longest < nbits:
            rows.append(("modulus too long", (5, 3, 2 * top + 1)))
        for index in range(RANDOM_ROWS if product_cycles < LONG_PRODUCT else LEAST_RANDOM_ROWS):
            drawn = only or generator.getrandbits(longest) | 1 << (longest - 1) | 1
            operands = (generator.randrange(drawn), generator.getrandbits(exp_nbits), drawn)
            rows.append((f"random {index}", operands))
        return rows

    def _affordable(self, cycles: int) -> int:
        """A cycle budget, reduced for machines wider than FULL_NBITS, whose cycles take longer to
        simulate.
        """
        return cycles * FULL_NBITS**2 // max(self.nbits, FULL_NBITS) ** 2

    def _window(self, work: Workload) -> tuple[Operands, int]:
        """The operation to simulate at gate level, and the cycles of the whole if that is only a part (else
        0).
        """
        base, exp, mod = work.operands
        whole = self.machine.counted(base, exp, mod)
        most = self._affordable(MOST_ENERGY_CYCLES)
        if whole <= most or self._fixed_length:
            return work.operands, whole if whole > most else 0
        parts = (exp >> cut for cut in range(exp.bit_length() - 1))
        return (
            base,
            next((part for part in parts if self.machine.counted(base, part, mod) <= most), 1),
            mod,
        ), whole

    def _expected(self, base: int, exp: int, mod: int, *more: int) -> tuple[Status, int]:
        """Expected status and result. Software returns no status and accepts the operands that Montgomery
        form does.
        """
        if self.design is None:
            status = operand_status(base, mod, odd_only=True, reduced_only=True)
        elif self.machine.keyed:
            status, result = self.machine.programmed.fl((base, exp, mod, *more))
            public = self.machine.takes_public and more[-1]
            right = status != Status.OK or result == pow(
                base, exp if public else self.machine.key.d or 0, mod
            )
            assert right, f"{self.name}: the program is wrong"
            return status, result
        else:
            status = self.machine.check(base, exp, mod)
        return status, 0 if status else pow(base, exp, mod)

    def _table(self):
        delays = itertools.cycle(DELAYS)
        return [
            (Row(name, request, *next(delays)), self._expected(*request)) for name, request in self.requests()
        ]

    def _asked(self, exchange: Exchange, operands: Operands) -> dict[str, Any]:
        """An operation in JSON."""
        request = self.machine.carried(*operands)
        return exchange([request], [self._expected(*request)])

    def _generator(self, work: Workload) -> random.Random:
        """The source of the warm-ups of an operation."""
        return random.Random(f"{self.seed_of_spread(work.name)}, warm-up")

    def _measured(self, exchange: Exchange, operands: Operands, generator: random.Random) -> dict[str, Any]:
        """An operation in JSON with its warm-up."""
        warm_up = self._asked(exchange, self._other(operands, generator))
        return {**self._asked(exchange, operands), "warm_up": warm_up}

    def _other(self, operands: Operands, generator: random.Random) -> Operands:
        """The operation on another message, with another result if there is one, by the same key."""
        _, exp, mod = operands
        result = pow(*operands)
        for _ in range(WARM_UPS):
            drawn = generator.randrange(mod)
            accepted = self.design is None or self.machine.check(drawn, exp, mod) == Status.OK
            if accepted and pow(drawn, exp, mod) != result:
                return drawn, exp, mod
        return operands

    def _operations(self, exchange):
        energy, drawn = {}, {}
        for work in self.energy():
            operands, whole = self._window(work)
            generator = self._generator(work)
            energy[work.name] = counted = self._measured(exchange, operands, generator)
            if whole:
                counted["whole_cycles"] = whole
                if self._fixed_length:  # simulated whole, measured in a window
                    counted["window_cycles"] = self._affordable(MOST_ENERGY_CYCLES)
            if others := [self._measured(exchange, row, generator) for row in self._drawn(work)]:
                drawn[work.name] = others
        return {"energy": energy, "drawn": drawn}

    def _drawn(self, work: Workload) -> list[Operands]:
        """The same operation on random messages, as many as can be simulated with delays."""
        _, exp, mod = work.operands
        cycles = max(1, self.machine.counted(*work.operands))
        count = min(self._affordable(DRAWN), self._affordable(MOST_DRAWN_CYCLES) // cycles)
        generator = random.Random(self.seed_of_spread(work.name))
        return [(generator.randrange(mod), exp, mod) for _ in range(count)] if count > 1 else []

    def _most_cycles(self):
        energy = [self._window(work)[0] for work in self.energy()]
        if self.machine.keyed:
            return self._least_cycles * (len(self.requests()) + len(energy))
        asked = [*(operands for _, operands in self.rows()), *energy]
        # the formula covers accepted operands only
        most = self.machine.most_cycles([row for row in asked if self._expected(*row)[0] == Status.OK])
        return most + len(self._public()) * self._least_cycles if self.machine.takes_public else most

    def _programs(self) -> dict[str, Any]:
        """Each operation as a program that calls the accelerator, and the dummy program, which does
        everything except the call. A measured program calls the accelerator with another base before.
        """

        def program(kernel, operands, scanned=None, warm_up=None):
            carried = operands if self.design is None else self.machine.carried(*operands)
            base, exp, mod, *given = carried
            made = kernels.kernel_program(
                kernel,
                self.nbits,
                base,
                exp,
                mod,
                expected=pow(*operands),
                exp_nbits=scanned,
                given=given,
                warm_up=warm_up,
            )
            return {"program": program_json(made)}

        energy = self.energy()
        others = [self._other(work.operands, self._generator(work))[0] for work in energy]
        accepted = [(name, row) for name, row in self.rows() if self._expected(*row)[0] == Status.OK]
        rows = [{"name": DUMMY, **program(DUMMY, energy[0].operands, warm_up=others[0])}]
        rows += [{"name": name, **program(self.kernel, operands)} for name, operands in accepted]
        return {
            "protocol": workload.SYSTEM,
            "max_cycles": 10_000_000,
            "rows": rows,
            "energy": {
                work.name: program(self.kernel, work.operands, scanned_nbits(self.kernel, work), other)
                for work, other in zip(energy, others, strict=True)
            },
        }
