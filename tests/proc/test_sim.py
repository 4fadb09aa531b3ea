"""The testbench of the processor: equal outcomes with all backends and at the functional level, and its own
rules.
"""

import re
from dataclasses import replace

import pytest
from modexlab.proc.core.null_xcel import NullXcel, NullXcelFL
from modexlab.proc.core.pipeline_trace import WIDTH, cut
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.proc.isa import causes
from modexlab.proc.isa.isa import INSTRUCTIONS, disassemble
from modexlab.proc.iss.iss import ISS
from modexlab.proc.iss.outcome import ACCELERATOR_WAIT, HANG, TRAP_LOOP, Stuck, Trap
from modexlab.proc.sim import MemoryTiming, simulate_proc
from modexlab.proc.sim.base import MisalignedRequest, UnknownBubble
from modexlab.proc.sim.native import NativeProcSimulation
from modexlab.proc.software.elf import Program
from modexlab.rtl.sim import translate
from modexlab.rtl.sim.base import Options
from modexlab.rtl.sim.nativemodel import ModuleText
from modexlab.rtl.sim.protocol import BrokenPromise
from modexlab.rtl.units.multiplier import Multiplier

from tests.harness import RTL_BACKENDS, expect, module_fixture, one_now, parametrize, refused, regress
from tests.proc.assembler import code, of_words
from tests.proc.difference import first_difference
from tests.proc.sim_examples import (
    CHANGES_DMEM,
    CHANGES_MANAGER,
    MISALIGNED_DMEM,
    MISALIGNED_IMEM,
    ODD_BUBBLE,
    WITHDRAWS_IMEM,
    Liar,
    SilentXcel,
    Walker,
)

TIMINGS = (
    MemoryTiming(),
    MemoryTiming(latency=4),
    MemoryTiming(stall=0.5, seed=2),
    MemoryTiming(extra=6, seed=3),
    MemoryTiming(latency=2, stall=0.3, extra=3, seed=4),
)
WORDS = [7, 0x80000001, 0xFFFFFFFF, 12345]


def program_of(source, symbols=None):
    """A program of these instructions only."""
    return of_words(code(source), symbols=symbols)


def everything():
    """All ports and all causes of bubbles: words of the manager through memory, multiplier, divider and
    accelerator, and a trap handler.
    """
    return program_of(
        f"""
        jal zero, start
    handler:
        csrrs s1, mepc, zero; addi s1, s1, 4; csrrw zero, mepc, s1; mret
    start:
        la t0, handler; csrrw zero, mtvec, t0; la s0, 0x1000; li a1, {len(WORDS)}; csrrwi zero, stats_en, 1
    loop:
        csrrs t0, mngr2proc, zero; sw t0, 0(s0); sb a1, 1(s0); lhu t1, 0(s0); mul t2, t1, t0; div t1, t2, a1
        csrrw zero, xr0, t1; csrrs t2, xr0, zero; add a0, a0, t2; csrrw zero, proc2mngr, t2
        csrrw zero, mvendorid, t0  # read only: the handler goes on behind it
        csrrs t2, minstret, zero; fence.i; sw t2, 4(s0); addi s0, s0, 8; addi a1, a1, -1
        bne a1, zero, loop; csrrwi zero, stats_en, 0; csrrw zero, mtvec, zero; ecall
        """
    )


def mk_proc_xcel():
    return ProcXcel(lambda: Proc(mul_latency=3), NullXcel)


@module_fixture
def native():
    with simulate_proc(mk_proc_xcel()) as sim:
        yield sim


@module_fixture
def python():
    return simulate_proc(mk_proc_xcel(), "python")


def anywhere(outcome):
    """The outcome without the backend, the only field in which backends may differ."""
    return replace(outcome, backend=None)


@parametrize("timings", one_now((TIMINGS[::4], TIMINGS), TIMINGS[::4]), ids=("two", "all"))
def test_backends_agree(native, python, timings):
    program = everything()
    expected = ISS(program, xcel=NullXcelFL(), manager=WORDS).run(record=True)
    assert expected.reason == "exit"
    assert len(expected.output) == len(WORDS)
    seen = set()
    with simulate_proc(mk_proc_xcel(), "verilog") as verilog:
        for timing in timings:
            outcomes = [
                sim.run(program, manager=WORDS, timing=timing, record=True)
                for sim in (python, verilog, native)
            ]
            assert [outcome.backend for outcome in outcomes] == list(RTL_BACKENDS)
            first, *others = map(anywhere, outcomes)
            assert first_difference(expected, first) is None
            assert others == [first, first]
            assert sum(first.where.values()) == first.cycles
            assert sum(first.window.where.values()) == first.window.cycles < first.cycles
            seen |= {cause for cause, cycles in first.where.items() if cycles}
    assert seen == set(first.where) - {
        "accelerator",
        "sleep",
    }  # the accelerator answers at once, and without a bus nothing sleeps


def test_runs_are_independent(native):
    # the exit code combines a register, a word of memory and a CSR, which the program then changes
    program = program_of(
        """
        li s0, 0x1000; lw t0, 0(s0); csrrs t1, mscratch, zero; add a0, t0, t1; add a0, a0, s1
        li s1, 5; sw s1, 0(s0); csrrw zero, mscratch, s1; ecall
        """
    )
    first = native.run(program)
    expect(first, reason="exit", exit_code=0)
    native.run(everything(), manager=WORDS, timing=TIMINGS[4], max_cycles=100)  # ended early
    assert native.run(program) == first
    for seed in (1, 2):
        with simulate_proc(mk_proc_xcel(), power_up_seed=seed) as sim:
            assert sim.run(program) == first


@parametrize("backend", RTL_BACKENDS)
def test_memory_cycle_by_cycle(backend):
    nop = 0x13
    words = of_words([nop] * 10 + [0])
    with simulate_proc(Walker(), backend) as sim:
        # word i is requested in cycle i and answered `latency` cycles later
        for latency in (1, 2, 7):
            outcome = sim.run(words, timing=MemoryTiming(latency=latency), record=True)
            expect(outcome, reason="exit", instructions=10, cycles=10 + latency + 1)
            assert outcome.where == {**dict.fromkeys(outcome.where, 0), "issue": 11, "start": latency}
            assert outcome.last_pcs == [0x200 + 4 * i for i in range(10)]
            assert [commit.inst for commit in outcome.commits] == [nop] * 10
        # outside memory the answer is an error
        outcome = sim.run(Program("edge", 0x3FFFFC, ((0x3FFFFC, b"\x13\0\0\0"),)))
        assert outcome.trap == Trap(0x400000, 0, causes.FETCH_FAULT, 0)
        expect(outcome, reason="trap", exit_code=None, commits=None)
        # words from the manager come back in the cycle in which they are offered
        assert sim.run(words, manager=range(20), max_cycles=7).output == list(range(7))
        # bytes that are not aligned to words
        outcome = sim.run(Program("bytes", 0x208, ((0x209, b"\1\2\3\4\5\6"),)), record=True)
        assert [commit.inst for commit in outcome.commits] == [0x03020100, 0x00060504]


def test_stalls_and_extra_cycles_are_as_likely_as_they_say():
    count = 20_000
    words = of_words([0x13] * count + [0])
    with simulate_proc(Walker()) as sim:
        for stall in (0.25, 0.9):
            cycles = sim.run(words, timing=MemoryTiming(stall=stall)).cycles
            assert cycles * (1 - stall) == pytest.approx(count, rel=0.03)
            # the manager's source offers words that it does not hold back, and its sink accepts them
            sent = sim.run(
                words, manager=range(count), timing=MemoryTiming(stall=stall), max_cycles=10_000
            ).output
            assert sent == list(range(len(sent)))
            both = 1 / (1 - stall) ** 2 if stall < 0.5 else None
            if both:
                assert 10_000 / both < len(sent) < 10_000 * (1 - stall)
        timings = [MemoryTiming(extra=3, seed=seed) for seed in range(800)]
        cycles = [sim.run(of_words([0]), timing=timing).cycles for timing in timings]
        assert set(cycles) == {2, 3, 4, 5}
        assert all(150 < cycles.count(cycle) < 250 for cycle in set(cycles))
        # answers stay in order: the last of many is as late as the latest
        assert sim.run(words, timing=MemoryTiming(extra=50)).cycles == count + 2 + 50


@parametrize("backend", one_now(RTL_BACKENDS, "python", "native"))
def test_broken_promises(backend):
    program = of_words([0x13])
    timing = MemoryTiming(stall=0.9)
    with simulate_proc(Liar(), backend) as sim:
        for lie, message in (
            (WITHDRAWS_IMEM, "imem_req message 0 with backend .*: val fell"),
            (CHANGES_DMEM, "dmem_req message 0 with backend .*: the message changed"),
            (CHANGES_MANAGER, "proc2mngr message 0 with backend .*: the message changed"),
        ):
            with pytest.raises(BrokenPromise, match=f"{message} in cycle 1, before rdy took it"):
                sim.run(program, core_id=lie, timing=timing)
        for lie, port, addr in ((MISALIGNED_IMEM, "imem", "0x202"), (MISALIGNED_DMEM, "dmem", "0x201")):
            with pytest.raises(
                MisalignedRequest, match=f"{port}_req with backend {backend} asks for address {addr} in"
            ):
                sim.run(program, core_id=lie, timing=timing)
        with pytest.raises(UnknownBubble, match=r"50 bubbles have the code 12; the last one .* is 10"):
            sim.run(program, core_id=ODD_BUBBLE, max_cycles=50)
        outcome = sim.run(program, max_cycles=50)  # now it does not lie
        assert (outcome.cycles, outcome.where["start"]) == (50, 50)


def test_end_by_tohost(native, python):
    for stored, exit_code in ((1, 0), (2 * 21 + 1, 21), (1338, 669)):
        # a 0, a byte, a half word or another word is not an end; words after the end are not sent
        source = f"""
            li s0, 0x1000; sw zero, 4(s0); sb s0, 5(s0); li t0, {stored}; sh t0, 4(s0)
            sw t0, 8(s0); csrrw zero, proc2mngr, t0; sw t0, 4(s0); csrrw zero, proc2mngr, t0; li a0, 99
        """
        program = program_of(source, {"tohost": 0x1004})
        expected = ISS(program).run()
        for timing in TIMINGS:
            outcome = native.run(program, timing=timing)
            expect(outcome, reason="tohost", exit_code=exit_code, output=[stored])
            assert first_difference(expected, outcome) is None
            assert anywhere(outcome) == anywhere(python.run(program, timing=timing))


def test_limits(native, python):
    forever = program_of("addi t0, t0, 1; jal zero, -4")
    for sim in (native, python):
        outcome = sim.run(forever, max_cycles=200)
        expect(outcome, reason="limit", exit_code=None, cycles=200)
        assert outcome.stuck is None
        assert outcome.explain(forever).startswith("no end after ")
        assert len(outcome.last_pcs) == 16
        assert set(outcome.last_pcs) == {0x200, 0x204}
    # the last cycle of the limit counts
    cycles = native.run(everything(), manager=WORDS).cycles
    assert native.run(everything(), manager=WORDS, max_cycles=cycles).reason == "exit"
    assert native.run(everything(), manager=WORDS, max_cycles=cycles - 1).reason == "limit"
    # without a word from the manager
    for sim in (native, python):
        with refused("reads manager word 4, and only 3 were given; give as many"):
            sim.run(everything(), manager=WORDS[:3])


def test_a_trap_loop_ends_at_once(native, python):
    """The first instruction of the handler traps, so nothing retires any more; the run ends whatever the
    limit.
    """
    for handler, cause in (
        (0x208, "ebreak (mcause 3, "),
        (0x100, "instruction fetch outside memory (mcause 1, "),
    ):
        program = program_of(f"li t0, {handler}; csrrw zero, mtvec, t0; ebreak")
        expected = ISS(program).run(record=True)
        for timing in TIMINGS[:3]:
            for limit in (None, 10**6):
                outcome = native.run(program, timing=timing, max_cycles=limit, record=True)
                assert first_difference(expected, outcome) is None
                assert outcome.cycles < 1000
                assert outcome.stuck.why == expected.stuck.why == TRAP_LOOP
                assert anywhere(outcome) == anywhere(
                    python.run(program, timing=timing, max_cycles=limit, record=True)
                )
        assert outcome.explain(program).startswith(
            f"nothing has retired for {outcome.stuck.cycles} cycles since pc 0x204: trap loop, the "
            "handler's first "
            f"instruction traps: {cause}"
        )


@parametrize("backend", RTL_BACKENDS)
def test_a_hang(backend, monkeypatch):
    """The run ends if nothing retires for too long; cycles of a slow memory do not count."""
    monkeypatch.setattr("modexlab.proc.sim.base.HANG_CYCLES", 30)
    program = of_words([0x13, 0])
    with simulate_proc(Liar(), backend) as sim:
        for limit in (None, 1000):
            outcome = sim.run(program, max_cycles=limit)
            expect(outcome, reason="limit", cycles=40, stuck=Stuck(HANG, 40))
            assert outcome.explain(program) == "nothing has retired for 40 cycles since reset"
        assert sim.run(program, max_cycles=39).stuck is None
    with simulate_proc(Walker(), backend) as sim:
        assert sim.run(program, timing=MemoryTiming(latency=100)).reason == "exit"


@regress
def test_an_accelerator_may_take_its_time(monkeypatch):
    program = program_of("csrrs t0, xr0, zero; ecall")
    monkeypatch.setattr("modexlab.proc.sim.base.HANG_CYCLES", 100)
    for module in ("pybench", "native"):
        monkeypatch.setattr(f"modexlab.proc.sim.{module}.hang_cycles", lambda backend: 1000)
    sims = [simulate_proc(ProcXcel(Proc, SilentXcel), backend) for backend in ("python", "native")]
    for limit, waited in ((None, 1000), (100_000, 1000), (500, None)):
        outcomes = [sim.run(program, max_cycles=limit) for sim in sims]
        assert anywhere(outcomes[0]) == anywhere(outcomes[1])
        assert (outcomes[0].reason, outcomes[0].stuck.why) == ("limit", ACCELERATOR_WAIT)
        assert waited is None or outcomes[0].where["accelerator"] == waited
        assert re.fullmatch(
            r"nothing has retired for \d+ cycles since .*: waiting for the accelerator",
            outcomes[0].explain(program),
        )


@regress
def test_verilog_text_in_place_of_a_component(native):
    text = ModuleText(translate(mk_proc_xcel(), "Chip"), "Chip")
    program = everything()
    with NativeProcSimulation(text, Options()) as sim:
        assert sim.run(program, manager=WORDS) == native.run(program, manager=WORDS)


@parametrize("backend", one_now(RTL_BACKENDS, "python", "native"))
def test_waveforms(backend, tmp_path):
    path = tmp_path / "waves.vcd"
    with simulate_proc(Walker(), backend, vcd=path) as sim:
        sim.run(of_words([0x13, 0x00A00513, 0]))
    text = path.read_text()
    assert text.count("$enddefinitions") == 1
    assert "ahead" in text
    assert {0x200, 0x00A00513} <= {int(bits, 2) for bits in re.findall(r"^b([01]+) ", text, re.MULTILINE)}


def traced(program, backend):
    """The lines of a traced run, one for each cycle."""
    lines = []
    cycles = (
        simulate_proc(mk_proc_xcel(), backend, trace=lambda *line: lines.append(line)).run(program).cycles
    )
    assert [cycle for cycle, _ in lines] == [*range(cycles)]
    return [text for _, text in lines]


def test_traces():
    program = program_of("la a0, 3; ecall")
    # the component's own line with backend python, retiring instructions with backend verilog
    assert traced(program, "python")[-1].split("|")[0].strip().endswith("!ecall")
    assert traced(program, "verilog")[-4:] == [
        "(start)",
        "00000200 lui a0, 0x0",
        "00000204 addi a0, a0, 3",
        "00000208 ecall  trap, cause 11",
    ]
    # far up in memory, where a taken branch is longer than a column
    far = of_words(code("bne zero, gp, 0x140; bgeu zero, zero, 8; .word 0; ecall"), base=0x8000_0000)
    text = "\n".join(traced(far, "python"))
    assert " bne zero, gp, 0x80000140 " in text
    assert " bgeu zero, zero, 0x800000… " in text
    with refused("backend native has no line trace"):
        simulate_proc(mk_proc_xcel(), trace=print)


def test_what_is_cut_in_the_trace_has_a_mark():
    for instruction in INSTRUCTIONS:
        for registers in (0, -1):
            word = instruction.match | registers & ~instruction.mask & 0xFFFF_FFFF
            for mark in ("", "#"):
                text = mark + disassemble(word, 0x8000_0100)
                shown = cut(text)
                assert shown == text if len(text) <= WIDTH else shown == f"{text[: WIDTH - 1]}…"
                assert len(shown) <= WIDTH
    assert cut("#bne zero, gp, 0x80000140") == "#bne zero, gp, 0x80000140"


def test_progress_of_long_runs(native):
    forever = program_of("jal zero, 0")
    seen = []
    native.run(forever, max_cycles=4_000_000, progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert all(0 < done < total == 4_000_000 for done, total in seen)


def test_a_run_can_be_interrupted(native):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native.run(program_of("jal zero, 0"), max_cycles=10**12, progress=interrupt)
    assert native.run(everything(), manager=WORDS).reason == "exit"


def test_differences(native):
    outcome = native.run(everything(), manager=WORDS, record=True)
    assert first_difference(outcome, outcome) is None
    commits = list(outcome.commits)
    commits[5] = commits[5]._replace(data=77)
    assert first_difference(outcome, replace(outcome, commits=commits)) == (
        "commit 5: 0x224 addi s0, s0, 0 (0x00040413) data 0x1000 in x8 expected, "
        "0x224 addi s0, s0, 0 (0x00040413) data 0x4d in x8 found"
    )
    shorter = first_difference(outcome, replace(outcome, commits=commits[:5]))
    assert shorter.startswith("commit 5: 0x224") and shorter.endswith("expected, the end found")
    assert first_difference(outcome, replace(outcome, exit_code=1)).startswith("exit_code: ")
    assert (
        first_difference(outcome, replace(outcome, cycles=1)) == f"cycles: {outcome.cycles} expected, 1 found"
    )


def test_bad_input(native):
    program = program_of("ecall")
    for keywords, message in (
        ({"manager": [1, 2**32]}, r"manager word 1 is 4294967296: give integers from 0 to 2\*\*32 - 1"),
        ({"max_cycles": 0}, "max_cycles must be at least 1, not 0"),
        ({"core_id": -1}, "core_id is -1: give"),
    ):
        with refused(message):
            native.run(program, **keywords)
    for keywords, message in (
        ({"latency": 0}, "latency must be 1 or more cycles .*, not 0"),
        ({"extra": -1}, "extra cycles must be 0 or more .*, not -1"),
        ({"stall": 1.0}, r"stall probability must be in \[0, 1\), not 1.0"),
    ):
        with refused(message):
            MemoryTiming(**keywords)
    with refused("unknown backend 'nativ': did you mean 'native'"):
        simulate_proc(mk_proc_xcel(), "nativ")
    with refused("Multiplier is not a processor: it needs a stream `imem_req` of MemReq"):
        simulate_proc(Multiplier(8))
    with refused("ProcXcel is not a processor: it needs a port `commit` of Commit"):
        simulate_proc(ProcXcel(Proc, NullXcel, observed=False))
    used = Walker()
    simulate_proc(used, "python")
    with refused("this Walker has been simulated: make a new one"):
        simulate_proc(used, "python")
