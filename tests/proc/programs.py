"""Random programs for tests of the processor, and the comparison with the instruction-set simulator, commit
by commit.
"""

import random

from modexlab.proc.core.null_xcel import NullXcelFL
from modexlab.proc.isa.isa import BY_NAME, INSTRUCTIONS
from modexlab.proc.iss.iss import ISS

from tests.proc.assembler import CODE, DATA, DATA_BYTES, NUMBER, Assembler, encode, word
from tests.proc.difference import first_difference

CORNERS = (0, 1, 2, 31, 0x7F, 0x80, 0x8000, 0xFFFF)
CORNERS += (0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF)


def of_group(*groups):
    """The names of the instructions of these groups."""
    return [instruction.name for instruction in INSTRUCTIONS if instruction.group in groups]


BRANCHES, LOADS, STORES = of_group("branch"), of_group("load"), of_group("store")
REGISTER_OPS = [
    instruction.name for instruction in INSTRUCTIONS if instruction.fmt == "R" and instruction.group == "alu"
]
IMMEDIATE_OPS = [
    instruction.name for instruction in INSTRUCTIONS if instruction.fmt in "IH" and instruction.group == "alu"
]
NBYTES = {"b": 1, "h": 2, "w": 4}


def size_of(name):
    """The number of bytes that a load or store moves."""
    return NBYTES[name[1]]


# ---- comparison


def check(expected, outcome, where):
    """Check that two runs of a program differ only in time, and that all cycles are accounted for."""
    difference = first_difference(expected, outcome)
    assert difference is None, f"{where}: {difference}"
    if outcome.cycles is not None:
        assert sum(outcome.where.values()) == outcome.cycles, where
        assert outcome.where["issue"] >= outcome.instructions, where
        assert sum(outcome.window.where.values()) == outcome.window.cycles, where


def golden(program, manager=(), limit=200_000):
    """The outcome of the instruction-set simulator; the program must end by itself."""
    outcome = ISS(program, NullXcelFL(), manager).run(limit, record=True)
    assert outcome.reason != "limit", outcome.explain(program)
    return outcome


# ---- random programs

GP, RA = NUMBER["gp"], NUMBER["ra"]
COUNTERS = (NUMBER["tp"], NUMBER["s0"])  # of outer and inner loops
RESERVED = {GP, RA, *COUNTERS}
MAX_DEPTH = len(COUNTERS)
WORDS_FROM_MANAGER = 512  # more than a program reads

# reads mcause and mtval, so that the comparison of commits covers them. It returns to the next instruction
# or, after a jump to an unmapped address (cause 1), to the address in ra
HANDLER = """
handler:
    csrrs t6, mcause, zero
    csrrs t5, mtval, zero
    addi  t6, t6, -1
    beq   t6, zero, lost
    csrrs t6, mepc, zero
    addi  t6, t6, 4
    csrrw zero, mepc, t6
    mret
lost:
    csrrw zero, mepc, ra
    mret
"""


class RandomProgram:
    """A random program that executes at least `minimum` instructions.

    user: restrict it to features that every system offers to user programs; the caller passes `program` an
    `end` that writes the exit sequence.
    """

    handler = HANDLER

    def __init__(self, seed, minimum=200, *, user=False, base=CODE):
        draw = self.random = random.Random(seed)
        self.pick = draw.choice
        self.name = f"random program {seed}"
        self.user = user
        self.asm = Assembler(base)
        self.text = self.asm.text
        self.with_traps = not user and draw.random() < 0.6
        # a few registers and memory locations that are used much more often than others
        self.hot = draw.sample([i for i in range(1, 32) if i not in RESERVED], draw.randint(2, 8))
        self.hot_offsets = [draw.randrange(-2048, 2048), *(draw.randrange(-256, 256) for _ in range(3))]
        self.functions = []
        kinds = {"alu": 30, "muldiv": 8, "load": 12, "store": 10, "far_access": 6, "branch": 12, "loop": 4}
        kinds |= {"jump": 4, "computed_jump": 3, "call": 4, "fence": 1, "patch": 1}
        if not user:
            kinds |= {"csr": 7, "xcel": 4, "manager_word": 4}
        if self.with_traps:
            kinds |= {"trap": 5}
        self.kinds, self.weights = list(kinds), list(kinds.values())
        self.asm.data[:] = draw.randbytes(DATA_BYTES)
        self.manager = [] if user else [draw.getrandbits(32) for _ in range(WORDS_FROM_MANAGER)]
        self._start()
        executed = 0
        while executed < minimum:
            executed += self.item()

    def program(self, end=Assembler.end):
        """The program, with its functions, and its end after everything else."""
        last = self.asm.fresh()
        self.text(f"jal zero, {last}")
        for function in self.functions:
            self.asm.label(function)
            self.block(MAX_DEPTH, leaf=True)
            self.text("jalr zero, 0(ra)")
        self.text(f"{self.handler}\n{last}:")
        end(self.asm)
        return self.asm.program(self.name)

    def _start(self):
        self.text(f"li gp, {DATA}")
        for register in range(1, 32):
            if register != GP:
                self.asm.li(register, self.value())
        if self.with_traps:
            self.text("la t6, handler; csrrw zero, mtvec, t6")

    # ---- random choices

    def often(self, share):
        """True with this probability."""
        return self.random.random() < share

    def value(self):
        """A random word, often a corner value."""
        kind = self.random.random()
        if kind < 0.4:
            return self.pick(CORNERS)
        if kind < 0.6:
            return self.random.randrange(-16, 16) & 0xFFFF_FFFF
        return self.random.getrandbits(32)

    def source(self):
        """A random register."""
        return self.pick(self.hot) if self.often(0.75) else self.random.randrange(32)

    def target(self):
        """A random register that may be written."""
        if self.often(0.75):
            return self.pick(self.hot)
        register = self.random.randrange(32)
        return 0 if register in RESERVED else register

    def written(self):
        """A random register that may be written, except x0."""
        return self.target() or self.pick(self.hot)

    def offset(self, nbytes):
        """A random aligned place in the data, as offset from gp."""
        offsets = self.hot_offsets if self.often(0.6) else [self.random.randrange(-2048, 2048)]
        return self.pick(offsets) & -nbytes

    # ---- items: each writes instructions and returns the minimum number that is executed

    def item(self, depth=0, *, leaf=False):
        """A random item of the kinds below; returns the minimum number of executed instructions. depth:
        number of enclosing loops. leaf: inside a function, where ra and the loop counters are in use.
        """
        while True:
            kind = self.random.choices(self.kinds, self.weights)[0]
            if (kind == "loop" and depth >= MAX_DEPTH) or (kind in ("call", "trap") and leaf):
                continue
            if kind in ("branch", "loop"):
                return getattr(self, kind)(depth, leaf)
            return getattr(self, kind)()

    def block(self, depth, *, leaf=False):
        """A few random items."""
        return sum(self.item(depth, leaf=leaf) for _ in range(self.random.randint(1, 5)))

    def alu(self):
        """A single-cycle instruction."""
        kind = self.random.random()
        if kind < 0.5:
            self.two_sources(REGISTER_OPS)
        elif kind < 0.9:
            name = self.pick(IMMEDIATE_OPS)
            limits = (0, 31) if BY_NAME[name].fmt == "H" else (-2048, 2047)
            imm = self.pick([*limits, self.random.randint(*limits)])
            self.text(f"{name} x{self.target()}, x{self.source()}, {imm}")
        else:
            name = self.pick(["lui", "auipc"])
            self.text(f"{name} x{self.target()}, {self.random.getrandbits(20)}")
        return 1

    def two_sources(self, names, first=None):
        """One of these instructions with random registers; `first`: its first source."""
        first = self.source() if first is None else first
        self.text(f"{self.pick(names)} x{self.target()}, x{first}, x{self.source()}")

    def muldiv(self):
        """A multiplication or division."""
        self.two_sources(of_group("mul", "div"))
        return 1

    def load(self):
        """A load, often directly followed by a use."""
        name, rd = self.pick(LOADS), self.target()
        self.text(f"{name} x{rd}, {self.offset(size_of(name))}(gp)")
        if self.often(0.5):
            self.two_sources(REGISTER_OPS, rd)
            return 2
        return 1

    def store(self):
        """A store."""
        name = self.pick(STORES)
        self.text(f"{name} x{self.source()}, {self.offset(size_of(name))}(gp)")
        return 1

    def far_access(self):
        """A load or store whose address has just been computed."""
        name, pointer = self.pick(LOADS + STORES), self.written()
        nbytes = size_of(name)
        self.text(f"andi x{pointer}, x{self.source()}, {0x7FF & -nbytes}; add x{pointer}, gp, x{pointer}")
        low = self.pick([-1024, 0]) & -nbytes
        register = self.target() if name in LOADS else self.source()
        self.text(f"{name} x{register}, {low}(x{pointer})")
        return 3

    def branch(self, depth, leaf):
        """An if, or an if with else."""
        name, end, other = self.pick(BRANCHES), self.asm.fresh(), self.asm.fresh()
        self.text(f"{name} x{self.source()}, x{self.source()}, {other}")
        least = 1
        if self.often(0.3):
            then = self.block(depth, leaf=leaf) + 1
            self.text(f"jal zero, {end}; {other}:")
            least += min(then, self.block(depth, leaf=leaf))
        else:
            self.block(depth, leaf=leaf)
            self.asm.label(other)
        self.asm.label(end)
        return least

    def loop(self, depth, leaf):
        """A loop that counts down and exits at its top or at its end."""
        counter, rounds = COUNTERS[depth], self.random.randint(1, 4)
        self.text(f"li x{counter}, {rounds}")
        top = self.asm.label()
        down = f"addi x{counter}, x{counter}, -1"
        if self.often(0.3):
            out = self.asm.fresh()
            self.text(f"beq x{counter}, zero, {out}")
            inside = self.block(depth + 1, leaf=leaf)
            self.text(f"{down}; jal zero, {top}; {out}:")
            return 2 + rounds * (inside + 3)
        inside = self.block(depth + 1, leaf=leaf)
        ends = ("bne x{0}, zero", "blt zero, x{0}", "bltu zero, x{0}", "bne zero, x{0}")
        self.text(f"{down}; {self.pick(ends).format(counter)}, {top}")
        return 1 + rounds * (inside + 2)

    def junk(self):
        """Harmful instructions that are never executed."""
        for _ in range(self.random.randint(0, 3)):
            match self.random.randrange(6):
                case 0:
                    self.asm.word(self.random.getrandbits(32))
                case 1:
                    self.store()
                case 2 if not self.user:
                    self.manager_word()
                case 3 if not self.user:
                    self.text("csrrwi zero, xr0, 1")
                case 4:
                    self.text(f"jal x{self.written()}, {8 * self.random.randrange(-9, 9)}")
                case _:
                    self.text(f"li x{self.written()}, 5")

    def jump(self):
        """A forward jump over other instructions."""
        over = self.asm.fresh()
        self.text(f"jal x{self.target()}, {over}")
        self.junk()
        self.asm.label(over)
        return 1

    def computed_jump(self):
        """A forward jump over other instructions by jalr."""
        pointer, over = self.written(), self.asm.fresh()
        odd = self.random.randrange(2)  # bit 0 of the target is dropped
        self.text(f"la x{pointer}, {over}; jalr x{self.target()}, {odd}(x{pointer})")
        self.junk()
        self.asm.label(over)
        return 3

    def call(self):
        """A function call by jal or jalr."""
        if len(self.functions) < 3:
            self.functions.append(self.asm.fresh())
        function = self.pick(self.functions)
        if self.often(0.5):
            self.text(f"jal ra, {function}")
            return 2
        self.text(f"la ra, {function}; jalr ra, 0(ra)")
        return 4

    def fence(self):
        """A fence, fence.i or wfi that does not wait."""
        if self.user:
            self.asm.emit("fence", imm=0xFF)
        else:
            self.text(self.pick(["fence", "fence.i", "wfi"]))
        return 1

    def patch(self):
        """Store an instruction and execute it."""
        slot, pointer, register = self.asm.fresh(), *self.random.sample(self.hot, 2)
        new = word(f"addi x{self.written()}, x{self.source()}, {self.random.randrange(-2048, 2048)}")
        at = self.offset(4)
        self.text(f"li x{register}, {new}; la x{pointer}, {slot}")
        if self.often(0.5):  # through memory
            self.text(f"sw x{register}, {at}(gp); lw x{register}, {at}(gp)")
        self.text(f"sw x{register}, 0(x{pointer}); fence.i")
        if self.often(0.5):
            self.asm.nops(1)
        self.text(f"{slot}:; xori x{self.target()}, x{self.source()}, -1")
        return 6

    def csr(self):
        """An access to a CSR that has the same value at every level."""
        match self.random.randrange(5):
            case 0:
                constants = ("misa", "mstatus", "mie", "mip", "mvendorid", "marchid", "mimpid", "mhartid")
                self.text(f"csrrs x{self.target()}, {self.pick((*constants, 'numcores'))}, zero")
            case 1:
                counter = self.pick(["instret", "minstret", "minstreth"])
                self.text(f"csrrs x{self.target()}, {counter}, zero")
            case 2:
                name = self.pick(["csrrw", "csrrs", "csrrc"])
                register = self.pick(["minstret", "minstreth", "misa", "mstatus", "stats_en"])
                self.text(f"{name} x{self.target()}, {register}, x{self.source()}")
            case 3:
                name = self.pick(["csrrsi", "csrrci"])
                # bits 1:0 stay 0
                self.text(f"{name} x{self.target()}, mtvec, {self.random.randrange(4)}")
            case _:
                name = self.pick(of_group("csr"))
                register = self.pick(["mscratch", "mepc", "mcause", "mtval"])
                field = self.random.randrange(32) if name.endswith("i") else f"x{self.source()}"
                self.text(f"{name} x{self.target()}, {register}, {field}")
        return 1

    def xcel(self):
        """An access to an accelerator register, most of which the null accelerator does not have."""
        number = self.pick([0, 0, 0, 1, 31])
        if self.often(0.5):
            name, field = self.pick(["csrrw", "csrrwi"]), self.random.randrange(32)
            self.text(f"{name} zero, xr{number}, {'' if name.endswith('i') else 'x'}{field}")
            return 1
        rd = self.target()
        self.text(f"{self.pick(['csrrs', 'csrrci'])} x{rd}, xr{number}, 0")
        if self.often(0.5):
            self.text(f"add x{self.target()}, x{rd}, x{rd}")
            return 2
        return 1

    def manager_word(self):
        """Read a word from the manager, or send one."""
        if self.often(0.5):
            self.text(f"csrrw zero, proc2mngr, x{self.source()}")
        else:
            self.text(f"csrrs x{self.target()}, mngr2proc, zero")
        return 1

    def trap(self):
        """An instruction that traps and that the handler skips."""
        match self.random.randrange(8):
            case 0:
                illegal = (0, 0xFFFF_FFFF, encode("add") | 0x4000_1000, encode("lw") | 0x3000)
                self.asm.word(self.pick((*illegal, encode("ecall") | 0x80)))
            case 1:
                self.text(self.pick(["ecall", "ebreak"]))
            case 2:
                name = self.pick([name for name in LOADS if size_of(name) > 1])
                self.text(f"{name} x{self.target()}, {self.offset(size_of(name)) | 1}(gp)")
            case 3:
                self.text(f"{self.pick(['sh', 'sw'])} x{self.source()}, {self.offset(4) | 1}(gp)")
            case 4:
                self.text(f"{self.pick(BRANCHES)} x{self.source()}, x{self.source()}, 6")
            case 5:
                self.text(f"jal x{self.target()}, 2")
            case 6:
                register = self.pick(["0", "0x7df", "0xc01", "mngr2proc", "numcores"])
                self.text(f"csrrw x{self.target()}, {register}, x{self.source()}")
            case _:
                self.text(f"jalr ra, {self.pick([0, 0x1FC, 2])}(zero)")
                return 6
        return 1
