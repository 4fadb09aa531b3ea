"""Formal equivalence of a design and its mapped netlist, part by part.

Registers correspond by the names of their nets. Assuming that each register of the design holds the same
value as its net in the netlist, combinational proofs show that the next value of each register and the value
of each output port are equal. Together they are an induction over the clock cycles. A register that mapping
removed because it equals another register or a constant corresponds to that; a register behind a clock gate
keeps its value while the gate is closed. A latch of the design corresponds to a latch of the netlist with the
same enable and the same next value. A latch and an AND of one clock are a clock gate, on both sides. A
register that became a latch (synth/latches.py) is compared as a register with an enable, which it is under
the conditions stated there.

Mapping also removes unread registers, often because their readers turned out to be constant (the conversion
into Montgomery form multiplies by 1, so its unit does not use the other factor after the first stage of its
pipeline). Such a register varies, but the netlist has a constant in its place. Here it is `free`: it may have
any value, and everything else must be equal for all of its values. Random simulation finds most free
registers, and failed proofs of constants find the others.

The design is the text after elaboration by read_slang and yosys' `opt`, which assigns values to don't-cares
('x in the source). Synthesis starts from the same point, and everything after it is proved: shared adders,
arithmetic, mapping, clock gates, buffers.

If synthesis rewrites arithmetic (sharing.py, carry_save.py), the netlist has no sums in common with the
design. The same rewritings are repeated here, word_proof.py shows by algebra that each preserves the
function, and the netlist is proved against the rewritten design. No intermediate result of
synthesis is trusted. A rewriting that is not shown is left out; in case the netlist was made without
rewritings, undecided parts are also proved against the original design.

Cells that the design names (synth/named_cells.py: the adders of a bit heap) have the same names in the
netlist. Both sides are cut there: an output of such a cell is the same free value on both sides, and each of
its inputs is proved to be the same function of these values, registers and ports. As no loop passes through
these cells, all of them then have the values of the design, and no part contains a multiplier. Most inputs
are the same net behind buffers, which needs no abc.

A part is the bits of one register or port. abc (`&cec -x`: simulation and SAT sweeping, ten times as fast
here as `cec`) proves the parts in parallel, each within a limit of CPU time. Wide multipliers exceed it:
after Booth recoding they share no internal nets with the design. Their parts are undecided, and only the
gate-level simulation of the test rows covers them.
"""

import functools
import json
import math
import pickle
import random
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ...fl.errors import BadInput
from ..files import scratch
from ..gc_pause import uncollected
from ..kit import kit, liberty
from ..kit.functions import parse
from ..netlist import document, yosys
from ..netlist.document import SEPARATOR, Document, Module
from ..netlist.logic import CONSTANTS, Bit, Gate, Logic, Node, State, cone, evaluated, read
from ..progress import say, stopwatch
from ..synth import script
from ..synth.carry_save import Step, narrow, save_carries
from ..synth.read_design import CELLS, read_design
from ..synth.sharing import share_adders
from ..synth.sizing.families import commutative, same_function
from . import word_proof
from .assertions import run_abc
from .report import PROVED, REFUTED, UNDECIDED, Equivalence, Part, Result, summary

SECONDS_A_PART = 60
JOBS = 2
QUICK = 2  # seconds for the fast engine at first: 8-bit products take it 9, the other engine 4
PATIENCE = 20  # elapsed seconds for each second of CPU time, on a busy machine
GRACE = 2  # additional seconds before abc is killed
CONFLICTS = 100_000  # of SAT at a node; with many more abc spends all its time on the hard nodes
MAX_GATE = 16  # nets in the cone of a clock gate that is no cell
MAX_BITS = 48  # of a part; wider registers are cut
WORD = 512  # random bits of a net
MASK = (1 << WORD) - 1

# To yosys' gates and flip-flops, keeping every net whose name the netlist may have.
GATES = """\
design -reset
{cells}read_json {name}.json
hierarchy -check -top {top}
memory_collect
memory_map
opt_clean
techmap -map +/techmap.v -D PROOF -map carry.v
dffunmap
simplemap
opt_expr
opt_clean
write_json {name}{of_gates}.json
"""
CARRY = script.FOLDER / "carry.v"
DESIGN, WORDS, SAVED = "coarse", "words", "saved"
# the rewritings before carry-save, in the order of synthesis, each with a name for its results
REWRITINGS: tuple[tuple[str, str, Callable[[Document], int | None]], ...] = (
    ("shared", "shared sum", share_adders),
    ("narrowed", "", narrow),
)
OF_GATES = "_gates"
ZEROS = "modexlab_zeros"  # a port with the nets that may always be 0

Source = tuple[Bit, bool]  # a source that both sides share, and whether a net is its complement
Parts = dict[str, list["Pair"]]


class Pair(NamedTuple):
    """Two nets to be proved equal, or one the complement of the other."""

    part: str
    gold: Bit
    gate: Bit
    inverted: bool = False


@uncollected()
def check_equivalence(
    design_sv: Path,
    netlist_json: Path,
    top: str,
    out_dir: Path,
    *,
    seconds: float = SECONDS_A_PART,
    rewritten: bool = True,
    kit_directory: Path | None = None,
) -> Equivalence:
    """Prove a netlist against its design; return the report, which is also written to equivalence.json.

    `rewritten`: synthesis may have rewritten arithmetic, so the rewritings are repeated and proved.
    """
    elapsed = stopwatch()
    files = kit.find(kit_directory)
    netlist = document.module(netlist_json, top)
    with scratch() as work, ThreadPoolExecutor(JOBS) as pool:
        reading = read_design(design_sv, top, work, files=files)
        if reading.named.isdisjoint(netlist["cells"]):  # made with hierarchy, without named cells
            reading = read_design(design_sv, top, work)
        proofs = _Proofs(work, files, pool, seconds, reading.named, rewritten)
        proofs.all(top, netlist)
    results, steps = proofs.results, proofs.steps
    report = Equivalence(
        equivalent=bool(results) and all(part.result == PROVED for part in results),
        refuted=any(part.result == REFUTED for part in results),
        method="registers by name (those that are gone: constant or unread), abc &cec of each next value "
        "and output"
        + ("; rewritten sums by algebra on words" if steps else "")
        + ("; the adders that the design names cell by cell" if reading.named else ""),
        summary=summary(results, steps, seconds),
        parts=results,
        unread_registers=proofs.unread,
        seconds=elapsed(),
    )
    report.write(out_dir)
    return report


class _Proofs:
    """Runs the proofs of parts, several at a time."""

    def __init__(
        self,
        work: Path,
        files: kit.Kit,
        pool: ThreadPoolExecutor,
        seconds: float,
        named: frozenset[str],
        rewritten: bool,
    ) -> None:
        self.work, self.library, self.pool, self.seconds = work, files.library, pool, seconds
        self.cells = CELLS.format(lib=files.lib) if named else ""
        self.named = named  # cells that the design names
        self.rewritten = rewritten
        self.results: list[Part] = []
        self.steps: list[str] = []
        self.unread = 0  # registers

    def all(self, top: str, netlist: Module) -> None:
        """Prove all parts of a netlist."""
        gate = read(netlist, self.library)
        design, steps = self.designs(top)
        proof = self.induction(design[-1], gate)
        results = proof.results
        undecided = {result.part for result in results if result.result == UNDECIDED}
        if undecided and len(design) > 1:
            # the netlist may have been made without these rewritings
            direct = self.induction(design[0], gate, undecided)
            if direct.correspondence() == proof.correspondence():
                better = {result.part: result for result in direct.results if result.result != UNDECIDED}
                results = [better.get(result.part, result) for result in results]
        self.results += results
        self.steps += steps
        self.unread += len(proof.free - proof.gold.latches.keys())

    def designs(self, top: str) -> tuple[list[Logic], list[str]]:
        """The design, followed by its stages after each rewriting of synthesis that is shown to preserve the
        function; and a description of each rewriting.
        """
        was = json.loads((self.work / f"{DESIGN}.json").read_text())
        stages = [DESIGN]
        steps: list[str] = []
        if not self.rewritten:
            return self._gates(top, DESIGN), steps

        def show(now: Document, chains: Sequence[list[Step]] = (), zeros: Collection[Bit] = ()) -> bool:
            try:
                word_proof.show(was["modules"][top], now["modules"][top], chains, zeros)
            except word_proof.NotShownError:
                return False
            return True

        for name, what, rewrite in REWRITINGS:
            now = _copied(was)
            count = rewrite(now)
            if not show(now):
                return self._gates(top, *stages), steps  # the following rewritings start from this one
            was = now
            if count:
                (self.work / f"{name}.json").write_text(json.dumps(was))
                stages.append(name)
                steps.append(_plural(count, what))
        now = _copied(was)
        chains = save_carries(now, prefix=False)
        module = was["modules"][top]
        try:
            words = word_proof.words(module, chains)
        except word_proof.NotShownError:
            chains = []
        if not chains:
            return self._gates(top, *stages), steps
        ports = module["ports"] | {ZEROS: {"direction": "output", "bits": words}}
        with_zeros = {"modules": {top: module | {"ports": ports}}}
        for name, made in ((WORDS, with_zeros), (SAVED, now)):
            (self.work / f"{name}.json").write_text(json.dumps(made))
        *logics, with_words, saved = self._gates(top, *stages, WORDS, SAVED)
        nets = dict(zip(words, with_words.module["ports"][ZEROS]["bits"], strict=True))
        if show(now, chains, self.zeros(with_words, nets)):
            logics.append(saved)
            steps.append(f"{_plural(len(chains), 'chain')} of sums step by step")
        return logics, steps

    def _gates(self, top: str, *names: str) -> list[Logic]:
        """Designs as gates, not optimised."""
        shutil.copy(CARRY, self.work)  # scripts accept no path with a blank
        scripts = (GATES.format(cells=self.cells, name=name, top=top, of_gates=OF_GATES) for name in names)
        yosys.run("gates", "".join(scripts), self.work)
        made = (document.module(self.work / f"{name}{OF_GATES}.json", top) for name in names)
        return [read(module, self.library) for module in made]

    def prove(self, proof: "_Proof", parts: Parts) -> list[Part]:
        """Prove parts; return their reports."""
        found = []
        for side in (proof.gold, proof.gate):
            side.places = {node.out: place for place, node in enumerate(side.nodes)}
        for part in self.pool.map(
            lambda name: proof.prove(name, parts[name], self.work, self.seconds), parts
        ):
            found.append(part)
            say(f"{len(parts)} parts", len(found) / len(parts))
        return found

    def induction(self, gold: Logic, gate: Logic, only: Collection[str] | None = None) -> "_Proof":
        """Match the registers of two designs and prove all parts, or only those in `only`."""
        proof = _Proof(gold, gate)
        proof.cut(self.named, self.library)
        proof.match()
        while True:
            proof.free_varying()
            constants = proof.constants()
            results = self.prove(proof, constants)
            bits = {
                f"{result.part} {index}": [pair]
                for result in results
                if result.result == REFUTED
                for index, pair in enumerate(constants[result.part])
            }
            wrong = [item.part for item in self.prove(proof, bits) if item.result == REFUTED]
            if not wrong:
                break
            proof.free_registers({bits[part][0].gold for part in wrong})
        parts, seen = proof.without_the_same(proof.parts())
        proof.words = proof.gold.simulated(), proof.gate.simulated()
        wanted = {name: pairs for name, pairs in parts.items() if only is None or name in only}
        proof.results = results + seen + self.prove(proof, wanted)
        return proof

    def zeros(self, logic: Logic, bits: Mapping[Bit, Bit]) -> set[Bit]:
        """The keys of the nets that are 0 in all states and for all inputs."""
        proof = _Proof(logic, logic)
        words = logic.simulate()
        maybe = {key: bit for key, bit in bits.items() if not words[bit]}
        parts = _parts(Pair(ZEROS, "0", bit) for bit in maybe.values())
        results = zip(parts.values(), self.prove(proof, parts), strict=True)
        proved = {pair.gate for pairs, part in results if part.result == PROVED for pair in pairs}
        return {key for key, bit in maybe.items() if bit in proved}


def _copied(design: Document) -> Document:
    """A deep copy, in a fifth of the time of copy.deepcopy."""
    copied = pickle.loads(pickle.dumps(design, pickle.HIGHEST_PROTOCOL))
    return copied


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}"


def _bit_names(module: Module) -> Iterator[tuple[tuple[str, int], Bit]]:
    """((name of a net, place), net) of all named nets."""
    for name, net in module["netnames"].items():
        if not net.get("hide_name"):
            yield from (((name, place), bit) for place, bit in enumerate(net["bits"]))


def _parts(pairs: Iterable[Pair]) -> Parts:
    """Group pairs by name; cut groups of more than MAX_BITS."""
    parts: Parts = {}
    for pair in pairs:
        part, number = pair.part, 1
        while len(parts.get(part, ())) >= MAX_BITS:
            number += 1
            part = f"{pair.part} #{number}"
        parts.setdefault(part, []).append(pair)
    return parts


class _Side:
    """The design or the netlist, as functions of sources that both share."""

    def __init__(self, logic: Logic) -> None:
        self.logic, self.nodes = logic, list(logic.nodes)  # a copy: cuts and clock gates change it
        self.same: dict[Bit, Source] = {}  # registers, input ports and outputs of cells at a cut
        self.places: dict[Bit, int] = {}  # index of the node that drives each net
        self.held: set[Bit] = set()  # nets for the next values of latches and gated registers
        self.drivers = {node.out: node for node in logic.nodes}
        self.latches = {
            bit: (state, inverted)
            for state in logic.states
            if state.latch and state.clear is None and state.preset is None
            for bit, inverted in state.outputs
        }
        self.gates: dict[Bit, Gate | None] = {item.out: item for item in logic.gates}  # by output
        self.buffers = {
            node.out: node.inputs[0]
            for node in logic.nodes
            if len(node.inputs) == 1 and node.function.cubes == ("1",)
        }

    def unbuffered(self, bit: Bit) -> Bit:
        """The net before buffers."""
        while bit in self.buffers:
            bit = self.buffers[bit]
        return bit

    def gate(self, bit: Bit) -> Gate | None:
        """The clock gate that drives a net: a cell, or a latch that is open while the clock is low and an AND
        with this clock.
        """
        if bit not in self.gates:
            self.gates[bit] = self._built_gate(bit)
        return self.gates[bit]

    def _built_gate(self, out: Bit) -> Gate | None:
        for held in sorted(self._leaves(out) & self.latches.keys(), key=str):
            latch, inverted = self.latches[held]
            clock, level = self.unbuffered(latch.clock), latch.rising
            while (node := self.drivers.get(clock)) and node.function.cubes == ("0",):
                clock, level = self.unbuffered(node.inputs[0]), not level
            if level or self._leaves(out, (held, clock)) != {held, clock}:
                continue
            words = {held: 0b1100 ^ (0b1111 if inverted else 0), clock: 0b1010}
            if self._value(out, words) & 0b1111 == 0b1000:
                return Gate(latch.cell, clock, latch.data, out)
        return None

    def _leaves(self, out: Bit, ends: Collection[Bit] = ()) -> set[Bit]:
        """The nets at which the cone of a net ends, which are `ends` or no node drives them; none for a large
        cone.
        """
        leaves, todo = set(), [out]
        for bit in todo:  # grows
            if bit in ends or bit not in self.drivers:
                leaves.add(bit)
            else:
                todo += self.drivers[bit].inputs
            if len(todo) > MAX_GATE:
                return set()
        return leaves if out in self.drivers else set()

    def _value(self, bit: Bit, words: Mapping[Bit, int]) -> int:
        """The word of a net in a small cone."""
        if bit in words:
            return words[bit]
        node = self.drivers[bit]
        return node.function.words([self._value(net, words) for net in node.inputs])

    def clock(self, bit: Bit) -> tuple[Bit, list[Bit]]:
        """(root of a clock, enables of the clock gates on the path from it)."""
        bit, enables = self.unbuffered(bit), []
        while gate := self.gate(bit):
            enables.append(gate.enable)
            bit = self.unbuffered(gate.clock)
        return bit, enables

    def next_value(self, state: State) -> Bit:
        """The next value of a register or latch, which keeps its own while it is closed or its clock is
        gated.
        """
        if state.latch:
            return self._held(state, {state.clock: state.rising})
        _, enables = self.clock(state.clock)
        return self._held(state, dict.fromkeys(enables, True)) if enables else state.data

    def _held(self, state: State, enables: Mapping[Bit, bool]) -> Bit:
        """A net for `enables ? data : own value`; each enable has its active level."""
        q, complement = state.outputs[0]
        out = f"held {state.cell}"
        if out in self.held:  # two registers of the design are this one
            return out
        self.held.add(out)
        pins = {"D": state.data, "Q": q} | {f"E{place}": bit for place, bit in enumerate(enables)}
        literals = (f"{'' if level else '!'}E{place}" for place, level in enumerate(enables.values()))
        opens = " & ".join(literals)
        made = parse(f"({opens} & D) | (!({opens}) & {'!' if complement else ''}Q)")
        self.nodes.append(Node(out, out, tuple(pins[pin] for pin in made.inputs), made))
        return out

    def simulated(self) -> dict[Bit, int]:
        """A random word for each net; corresponding sources of the two sides have the same word."""
        words = {bit: -value & MASK for bit, value in CONSTANTS.items()}
        for bit, (source, complement) in self.same.items():
            drawn = random.Random(str(source)).getrandbits(WORD)
            word = -CONSTANTS[source] if source in CONSTANTS else drawn
            words[bit] = (word & MASK) ^ (MASK if complement else 0)
        return evaluated(self.nodes, words, MASK)


class _Proof:
    """The registers of a design and its netlist, matched by name, and the pairs of nets to be proved."""

    def __init__(self, gold: Logic, gate: Logic) -> None:
        self.gold, self.gate = _Side(gold), _Side(gate)
        self.gate.same = {bit: (bit, False) for _, bit in gate.ports("input")}
        self.gate_states = {}
        for state in gate.states:
            for bit, inverted in state.outputs:
                first, complement = state.outputs[0]
                self.gate.same[bit] = first, inverted != complement
                self.gate_states[bit] = state, inverted
        self.shared_gates: list[tuple[str, Gate, Gate]] = []  # clock gates of both sides, by the net's name
        # registers of the design that the netlist lacks because nothing depends on them
        self.free: set[Bit] = set()
        self.words: tuple[dict[Bit, int], ...] = ()  # of the design and of the netlist
        self.named: dict[Bit, list[tuple[str, int]]] = {}  # names of the nets of the design
        self.results: list[Part] = []
        self.cuts: list[tuple[str, list[Bit], list[Bit], list[list[int]]]] = []
        self.shown: list[Bit] = []  # the netlist's nets that the cells at cuts drive

    def cut(self, named: Collection[str], library: liberty.Library) -> None:
        """Cut both sides at the named cells that they share."""
        cells = [side.logic.module["cells"] for side in (self.gold, self.gate)]
        kinds = library.cells
        alike = functools.cache(lambda one, two: _alike(kinds[one], kinds[two]))
        classes = functools.cache(lambda kind: _exchangeable(kinds[kind]))
        same = set()
        for name in sorted(named & cells[0].keys() & cells[1].keys()):
            (kind, gold), (other, gate) = ((side[name]["type"], side[name]["connections"]) for side in cells)
            inputs = kinds[kind].inputs
            if not (alike(kind, other) and gold.keys() == gate.keys() >= {*inputs}):
                continue
            same.add(name)
            golds, gates = ([pins[pin][0] for pin in inputs] for pins in (gold, gate))
            self.cuts.append((name, golds, gates, classes(kind)))
            for pin in filter(gold.__contains__, kinds[kind].outputs):
                shown = gate[pin][0]
                self.shown.append(shown)
                self.gold.same[gold[pin][0]] = self.gate.same[shown] = shown, False
        for side in (self.gold, self.gate):
            side.nodes = [node for node in side.nodes if node.cell not in same]

    def match(self) -> None:
        """Find the counterpart in the netlist of each input and register of the design; BadInput if the
        inputs differ.
        """
        gold, gate = self.gold.logic, self.gate.logic
        gate_bits = dict(_bit_names(gate.module))
        for (name, bit), (other, gate_bit) in zip(
            sorted(gold.ports("input")), sorted(gate.ports("input")), strict=False
        ):
            if name != other:
                raise BadInput(
                    f"the netlist has the input {other} where the design has {name}: they are not the same "
                    "design"
                )
            self.gold.same[bit] = gate_bit, False
        for name_and_place, bit in _bit_names(gold.module):
            self.named.setdefault(bit, []).append(name_and_place)
        for state in gold.states:
            q = state.outputs[0][0]
            # a register without a counterpart is constant or unread; otherwise a proof fails
            lost = ("1" if state.data == "1" else "0"), False
            self.gold.same[q] = self._counterpart(self.named.get(q, []), gate_bits) or lost
        self._match_gates()

    def _match_gates(self) -> None:
        """Cut both sides at the clock gates that have a common name."""
        gates = {item.out for item in self.gate.logic.gates}
        by_name = {
            name: bit
            for name, net in _bit_names(self.gate.logic.module)
            if (bit := self.gate.unbuffered(net)) in gates
        }
        for bit, names in self.named.items() if by_name else ():
            other = next((by_name[name] for name in names if name in by_name), None)
            if other is None or bit not in self.gold.drivers or bit in self.gold.same:
                continue
            gold, gate = self.gold.gate(self.gold.unbuffered(bit)), self.gate.gate(other)
            if gold and gate:
                self.shared_gates.append((min(names)[0], gold, gate))
                self.gold.same[gold.out] = self.gate.same[other] = other, False
                self.shown.append(other)
        cut = {gold.out for _, gold, _ in self.shared_gates}
        self.gold.nodes = [node for node in self.gold.nodes if node.out not in cut]

    @property
    def registers(self) -> Iterator[tuple[Bit, State]]:
        """The registers of the design, by the nets that they drive."""
        return ((state.outputs[0][0], state) for state in self.gold.logic.states)

    def _constant(self, q: Bit) -> bool:
        """Whether a register of the design is constant in the netlist."""
        return self.gold.same[q][0] in CONSTANTS

    def correspondence(self) -> dict[tuple[str, int], Source | None]:
        """The net in the netlist of each register of the design, by name; None for free registers."""
        return {
            name: None if q in self.free else self.gold.same[q]
            for q, _ in self.registers
            for name in self.named.get(q, ())
        }

    def constants(self) -> Parts:
        """The pairs, by part, that show that the registers which the netlist has as constants are
        constant.
        """
        return _parts(
            Pair("constant registers", state.data, self.gold.same[q][0])
            for q, state in self.registers
            if self._constant(q)
        )

    def parts(self) -> Parts:
        """All other pairs by part; BadInput if clocks, resets or outputs differ."""
        pairs: list[Pair] = []
        for q, state in self.registers:
            if q not in self.free and not self._constant(q):
                name, _ = min(self.named.get(q, [(state.cell, 0)]), key=lambda item: (len(item[0]), item))
                pairs.extend(self._state_pairs(name, state, *self.gold.same[q]))
        gate_outputs = dict(self.gate.logic.ports("output"))
        for name, bit in self.gold.logic.ports("output"):
            if name not in gate_outputs:
                raise BadInput(f"the netlist has no output {name}: it is not of the same design")
            pairs.append(Pair(name.rpartition("[")[0], bit, gate_outputs[name]))
        for name, gold, gate in self.shared_gates:
            pairs.append(Pair(name, gold.enable, gate.enable))
            pairs.extend(self._clock_pairs(name, (gold.clock, True), (gate.clock, True)))
        pairs.extend(self._cut_pairs() if self.cuts else ())
        return _parts(pairs)

    def _cut_pairs(self) -> Iterator[Pair]:
        """The pairs of inputs of the cells at the cuts; exchangeable pins are paired by their simulated
        words.
        """
        gold_words, gate_words = self.gold.simulated(), self.gate.simulated()
        for name, golds, gates, classes in self.cuts:
            for places in classes:
                left = [gates[place] for place in places]
                for place in places:
                    word = gold_words.get(golds[place], 0)
                    found = next((bit for bit in left if gate_words.get(bit, 0) == word), left[0])
                    left.remove(found)
                    yield Pair(name.rpartition(SEPARATOR)[0] or name, golds[place], found)

    def without_the_same(self, parts: Parts) -> tuple[Parts, list[Part]]:
        """The parts without the pairs that are the same net behind buffers or that another part proves; and
        the reports of parts that this leaves empty.
        """
        if not self.cuts:
            return parts, []
        left = {}
        proved = []
        known = set()

        def same(pair: Pair) -> bool:
            key = self.gold.unbuffered(pair.gold), self.gate.unbuffered(pair.gate), pair.inverted
            if key in known:
                return True
            known.add(key)
            source, complement = self.gold.same.get(key[0], (None, False))
            twin = source is not None and self.gate.same.get(key[1]) == (source, False)
            return twin and complement == pair.inverted

        for name, pairs in parts.items():
            if other := [pair for pair in pairs if not same(pair)]:
                left[name] = other
            else:
                proved.append(Part(name, len(pairs), PROVED, 0.0))
        return left, proved

    def _counterpart(
        self, names: Iterable[tuple[str, int]], gate_bits: Mapping[tuple[str, int], Bit]
    ) -> Source | None:
        """(register, port or constant of the netlist, whether it is inverted) with one of these names."""
        for name in names:
            if name not in gate_bits:
                continue
            bit = self.gate.unbuffered(gate_bits[name])
            if bit in self.gate_states or bit in CONSTANTS:
                return bit, False
            if node := self.gate.drivers.get(bit):
                if not node.inputs:
                    return ("1" if node.function.cubes else "0"), False
                if len(node.inputs) == 1 and node.inputs[0] in self.gate_states:
                    return node.inputs[0], True
        return None

    def free_varying(self) -> None:
        """Free the registers that the netlist has as constants although random simulation gives them another
        next value.
        """
        found = True
        while found:  # the values of free registers may make others vary
            words = self.gold.simulated()
            varying = []
            for q, state in self.registers:
                asynchronous = {0} if state.clear else set(), {MASK} if state.preset else set()
                if self._constant(q) and {words[state.data]}.union(*asynchronous) != {words[q]}:
                    varying.append(q)
            self._free(varying)
            found = bool(varying)

    def free_registers(self, next_values: Collection[Bit]) -> None:
        """Free the registers, constant in the netlist, whose next value is one of these nets."""
        self._free([q for q, state in self.registers if state.data in next_values and self._constant(q)])

    def _free(self, registers: Iterable[Bit]) -> None:
        for q in registers:
            self.free.add(q)
            self.gold.same[q] = f"free {q}", False

    def _state_pairs(self, part: str, gold: State, gate_bit: Bit, inverted: bool) -> Iterator[Pair]:
        """The pairs of a register: next value, and asynchronous clear and preset."""
        state, complement = self.gate_states[gate_bit]
        inverted ^= complement
        if gold.latch and not state.latch:
            raise BadInput(f"the latch {part} is a flip-flop in the netlist")
        yield Pair(part, self.gold.next_value(gold), self.gate.next_value(state), inverted)
        if gold.latch:
            yield Pair(part, gold.clock, state.clock, gold.rising != state.rising)
        elif state.latch and not (gold.rising and state.rising):
            raise BadInput(f"the register {part} has another edge of its clock in the netlist")
        elif not state.latch:
            yield from self._clock_pairs(part, (gold.clock, gold.rising), (state.clock, state.rising))
        for one, other in ((gold.clear, state.clear), (gold.preset, state.preset)):
            if (one is None) != (other is None) or (inverted and one is not None):
                raise BadInput(f"the register {part} has another asynchronous reset in the netlist")
            if one is not None and other is not None:
                yield Pair(part, one[0], other[0], one[1] != other[1])

    def _clock_pairs(self, part: str, gold: tuple[Bit, bool], gate: tuple[Bit, bool]) -> Iterator[Pair]:
        """The pair of two clocks, each with its active edge, if they are computed; BadInput if they differ
        otherwise.
        """
        (root, rising), (other, other_rising) = gold, gate
        (root, _), (other, _) = self.gold.clock(root), self.gate.clock(other)
        if root in self.gold.drivers or other in self.gate.drivers:
            yield Pair(part, root, other, rising != other_rising)
        elif (self.gold.same.get(root, (root, False)), rising) != ((other, False), other_rising):
            raise BadInput(f"the register {part} has another clock, or another edge of it, in the netlist")

    def prove(self, part: str, pairs: list[Pair], work: Path, seconds: float) -> Part:
        """Prove one part; return its report."""
        elapsed = stopwatch()
        if self.words:
            gold, gate = self.words
            words = ((gold.get(pair.gold, 0) ^ gate.get(pair.gate, 0), pair.inverted) for pair in pairs)
            if any(word != (MASK if inverted else 0) for word, inverted in words):
                return Part(part, len(pairs), REFUTED, 0.0)
        roots = [(pair.gold, False) for pair in pairs], [(pair.gate, pair.inverted) for pair in pairs]
        sides = [
            (side, own, cone(side.nodes, side.places, [bit for bit, _ in own]))
            for side, own in zip((self.gold, self.gate), roots, strict=True)
        ]
        # one output of each register of the netlist; the free registers of the design
        sources: list[Bit] = [
            *(bit for _, bit in self.gate.logic.ports("input")),
            *(state.outputs[0][0] for state in self.gate.logic.states if state.outputs),
            *sorted(f"free {q}" for q in self.free),
            *self.shown,
        ]
        if self.cuts:  # too many sources to name all of them
            read = {
                side.same.get(bit, (bit, False))[0]
                for side, own, nodes in sides
                for bit in (*(bit for bit, _ in own), *(bit for node in nodes for bit in node.inputs))
            }
            sources = [bit for bit in sources if bit in read]
        with scratch(work) as directory:
            for name, (side, own, nodes) in zip(("gold", "gate"), sides, strict=True):
                (directory / f"{name}.blif").write_text(_blif(nodes, own, sources, side.same))
            result = _cec(directory, seconds)
        return Part(part, len(pairs), result, elapsed())


def _alike(one: liberty.Cell, two: liberty.Cell) -> bool:
    """Whether two combinational cells have the same input names and compute the same function."""
    return not one.sequential and one.inputs == two.inputs and same_function(one, two)


def _exchangeable(cell: liberty.Cell) -> list[list[int]]:
    """The indices of a cell's inputs, grouped by exchangeability."""
    pairs = commutative(cell)
    found: list[list[int]] = []
    for place, pin in enumerate(cell.inputs):
        for places in found:
            if (cell.inputs[places[0]], pin) in pairs:
                places.append(place)
                break
        else:
            found.append([place])
    return found


def _blif(
    nodes: list[Node], roots: list[tuple[Bit, bool]], sources: list[Bit], same: Mapping[Bit, Source]
) -> str:
    """The cones of the roots, some of them inverted, as BLIF with the same source names in every text."""
    names = {node.out: f"n{index}" for index, node in enumerate(nodes)}
    place = {bit: f"i{index}" for index, bit in enumerate(sources)}
    leaves: dict[Bit, str] = {}

    def name(bit: Bit) -> str:
        return names.get(bit) or leaves.setdefault(bit, f"l{len(leaves)}")

    outputs = (f"o{index}" for index in range(len(roots)))
    lines = [".model m", " ".join([".inputs", *place.values()]), " ".join([".outputs", *outputs])]
    for node in nodes:
        lines.append(" ".join([".names", *map(name, node.inputs), names[node.out]]))
        lines.extend(f"{cube} 1".lstrip() for cube in node.function.cubes)
    for index, (bit, inverted) in enumerate(roots):
        lines += [f".names {name(bit)} o{index}", "0 1" if inverted else "1 1"]
    for bit, leaf in leaves.items():
        source, complement = same.get(bit, (bit, False))
        if source in CONSTANTS:
            lines += [f".names {leaf}", *(["1"] if CONSTANTS[source] != complement else [])]
        elif source in place:
            lines += [f".names {place[source]} {leaf}", "0 1" if complement else "1 1"]
        else:
            raise BadInput(f"the net {bit} has no driver")
    return "\n".join([*lines, ".end", ""])


def _cec(directory: Path, seconds: float) -> Result:
    """abc's verdict on gold.blif and gate.blif: first its fast engine briefly, then the engine that finds
    differences, then the fast engine again.
    """
    read_both = "".join(f"read_blif {side}.blif; strash; &get; &w {side}.aig; " for side in ("gold", "gate"))
    fast = f"{read_both}&cec -x -C {CONFLICTS} -T @ gold.aig gate.aig"
    other = f"cec -n -C {CONFLICTS} -T @ gold.blif gate.blif"
    for commands, limit in ((fast, min(QUICK, seconds)), (other, seconds), (fast, seconds)):
        if (result := _asked(commands, directory, limit)) != UNDECIDED:
            return result
    return UNDECIDED


def _asked(commands: str, directory: Path, seconds: float) -> Result:
    """abc's verdict within a limit of CPU time, which does not depend on the load of the machine."""
    patience = math.ceil(PATIENCE * seconds)
    text, ended = run_abc(commands.replace("@", str(patience)), directory, seconds, patience + GRACE)
    if not ended:
        return UNDECIDED
    if re.search(r"NOT EQUIVALENT", text, re.IGNORECASE):
        return REFUTED
    if re.search(r"are equivalent", text):
        return PROVED
    if re.search(r"UNDECIDED|timeout|timed out|resource", text, re.IGNORECASE):
        return UNDECIDED
    raise BadInput(f"abc compared nothing: {text.strip()[-300:] or 'no message'}")
