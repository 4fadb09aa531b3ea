"""The backends agree: equal responses and equal cycle stamps, for all delays and stalls."""

from random import Random

import pytest
from modexlab.rtl.sim import (
    BrokenPromise,
    Run,
    SimulationTimeout,
    Stall,
    UnexpectedResponse,
    protocol,
    simulate,
    translate,
)

from tests.harness import RTL_BACKENDS, later, one_now, parametrize, ran_alike, refused, regress
from tests.rtl.sim.examples import (
    AddMod,
    Chain,
    Chatter,
    CountOnes,
    Exchange,
    Fickle,
    NoReset,
    NoStreams,
    Pass,
    Stutter,
    mk_twin,
)

DRIVERS = one_now(RTL_BACKENDS, "python", "native")  # backend verilog has the driver of backend python


def add_mods(nbits, count):
    """Requests, settings of the static port, and expected responses."""
    rng = Random(nbits)
    moduli = [rng.getrandbits(nbits) | 1 << (nbits - 1) for _ in range(3)]
    statics = [{"modulus": rng.choice(moduli)} for _ in range(count)]
    requests = [(rng.randrange(static["modulus"]), rng.randrange(static["modulus"])) for static in statics]
    expected = [(a + b) % static["modulus"] for (a, b), static in zip(requests, statics, strict=True)]
    return requests, statics, expected


@parametrize("nbits", one_now([8, 32, 33, 64, 2100, 4100], 33, 2100))
def test_backends_agree(nbits):
    requests, statics, expected = add_mods(nbits, 40)
    rng = Random(2)
    delays = {
        "source_delays": [rng.choice((0, 0, 1, 5)) for _ in requests],
        "sink_delays": [rng.choice((0, 0, 1, 4)) for _ in requests],
    }
    for options, stall in (
        ({}, None),
        (delays, None),
        ({}, Stall(7, 0.3, 0.6)),
        (delays, Stall(8, 0.5, 0.5)),
    ):
        run = ran_alike(lambda: AddMod(nbits), requests, statics=statics, stall=stall, **options)
        assert run.responses == expected


@parametrize("length", one_now([1, 2, 3, 5], 1))
def test_arrays_loops_and_lists_of_components(length):
    requests = [(i, 255 - i) for i in range(20)]
    run = ran_alike(lambda: Chain(8, length), requests, stall=Stall(1, 0.2, 0.2))
    assert run.responses == [(a + sum(range(length)), b) for a, b in requests]


def test_ports_with_the_names_of_other_signals():
    requests = [(1, 254), (7, 7), (0, 255)]
    assert ran_alike(lambda: Exchange(8), requests).responses == [(255 - b, 255 - a) for a, b in requests]


@regress
def test_latency_that_depends_on_the_operand():
    run = ran_alike(lambda: CountOnes(16), [1, 3, 0xFF, 0x8000, 0xFFFF])
    assert run.responses == [1, 2, 8, 1, 16]
    assert run.latencies == [2, 3, 9, 2, 17]


@parametrize("backend", DRIVERS)
def test_protocol_cycle_by_cycle(backend):
    sim = simulate(Pass(8), backend)
    # combinational, without delays: one message per cycle
    assert sim.run([5, 6, 7]) == Run([5, 6, 7], [0, 1, 2], [0, 1, 2])
    # offered after 2 idle cycles, counted from the cycle after the previous request
    assert sim.run([5, 6, 7], source_delays=2).accepted == [2, 5, 8]
    assert sim.run([5, 6, 7], source_delays=[0, 3, 1]).accepted == [0, 4, 6]
    # refused for 2 cycles, while the request stays offered
    assert sim.run([5, 6, 7], sink_delays=2).accepted == [2, 5, 8]
    # both: the delay of the sink starts when a message is offered
    assert sim.run([5, 6], source_delays=1, sink_delays=[1, 0]).accepted == [2, 4]
    # nothing to do
    assert sim.run([]) == Run([], [], [])
    assert sim.run([]).cycles == 0


@parametrize("backend", RTL_BACKENDS)
def test_statics_change_only_between_operations(backend):
    sim = simulate(AddMod(8), backend)
    requests = [(200, 100)] * 4
    run = sim.run(requests, statics=[{"modulus": m} for m in (201, 201, 251, 251)])
    assert run.responses == [99, 99, 49, 49]
    assert run.accepted == [0, 1, 3, 4]  # the third request waits until the second response has left
    assert run.done == [1, 2, 4, 5]
    assert run.cycles == 6
    # one setting for all requests, and a port that stays 0
    assert sim.run(requests, statics={"modulus": 150}).responses == [150] * 4
    assert sim.run([(1, 2)]).responses == [3]


@parametrize("backend", RTL_BACKENDS)
def test_hang_is_reported(backend):
    sim = simulate(CountOnes(16), backend)
    told = f"transaction 1 of 3 accepted, but not answered after 50 cycles with backend {backend}"
    with pytest.raises(SimulationTimeout, match=told):
        sim.run([1, 0, 3], max_cycles=50)
    with pytest.raises(SimulationTimeout, match="transaction 1 of 2 not accepted after 4 cycles"):
        sim.run([1, 1], max_cycles=4, source_delays=[0, 9])
    assert sim.run([1, 3]).responses == [1, 2]  # the next run starts with a reset


@parametrize("backend", RTL_BACKENDS)
def test_hang_without_a_limit(backend, monkeypatch):
    monkeypatch.setitem(protocol.HANG_CYCLES, backend, 100)
    with pytest.raises(SimulationTimeout, match=r"after 103 cycles .* no handshake for 100 cycles"):
        simulate(CountOnes(16), backend).run([1, 0])


def test_hang_limit_leaves_room_for_the_widest_machines():
    assert protocol.hang_cycles("native") >= 2 * 4096**2 * 2
    assert protocol.hang_cycles("python") < protocol.hang_cycles("native")


@parametrize("backend", DRIVERS)
@parametrize(
    "nbits, drops, message",
    [
        (8, True, "val fell in cycle 2"),
        *later((8, False, "the message changed in cycle 2"), (70, True, "val fell in cycle 2")),
        (70, False, "the message changed in cycle 2"),
    ],
)
def test_refused_response_that_does_not_stay(backend, drops, message, nbits):
    sim = simulate(Fickle(nbits, drops), backend)
    assert sim.run([5]).responses == [5]  # no message is refused, so no promise is broken
    with pytest.raises(
        BrokenPromise, match=f"response 0 with backend {backend}: {message}, before rdy took it"
    ):
        sim.run([5], sink_delays=3)
    with pytest.raises(BrokenPromise, match=f"response 0 with backend {backend}"):
        sim.run([5], stall=Stall(1, sink=0.9))
    assert sim.run([5, 6]).responses == [5, 6]


@parametrize("backend", DRIVERS)
@parametrize("gap", one_now([0, 2], 2))
def test_response_after_the_last(backend, gap):
    sim = simulate(Stutter(8, gap), backend)
    for _ in range(2):
        with unasked(1, 2 + gap, backend):
            sim.run([5])


@parametrize("backend", DRIVERS)
def test_response_without_request(backend):
    with unasked(0, 0, backend):
        simulate(Chatter(8), backend).run([1])


def unasked(number, cycle, backend):
    """Expect the error for a response without a request."""
    told = f"response {number} in cycle {cycle} with backend {backend} answers no request"
    return pytest.raises(UnexpectedResponse, match=told)


@regress
@parametrize("backend", ["verilog", "native"])
def test_designs_of_one_name_do_not_mix(backend):
    one, two = simulate(mk_twin(1), backend), simulate(mk_twin(2), backend)
    assert one.run([10, 20]).responses == [11, 21]
    assert two.run([10, 20]).responses == [12, 22]
    assert one.run([30]).responses == [31]


def test_two_simulations_of_one_design_do_not_mix():
    first, second = simulate(AddMod(8)), simulate(AddMod(8))
    assert first.run([(1, 2)]).responses == second.run([(1, 2)]).responses
    first.close()
    first.close()
    assert second.run([(2, 2)]).responses == [4]


def test_progress_of_a_long_run():
    for sim, requests in (
        (simulate(Pass(8)), [0] * 600_000),
        (simulate(CountOnes(512), "python"), [2**512 - 1] * 20),
    ):
        seen = []
        sim.run(requests, source_delays=9, progress=lambda *told, seen=seen: seen.append(told))
        assert seen == sorted(seen) and {total for _, total in seen} <= {len(requests)}


def test_power_up_seed_shows_a_missing_reset():
    first, other, again, reset = (
        simulate(NoReset(64), power_up_seed=seed).run([0]).responses for seed in (0, 1, 1, None)
    )
    assert reset == [0] and len({0, *first, *other}) == 3 and other == again
    requests, statics, expected = add_mods(8, 40)
    assert simulate(AddMod(8), power_up_seed=3).run(requests, statics=statics).responses == expected
    with refused("backend python starts all registers with 0"):
        simulate(NoReset(64), "python", power_up_seed=1)


def test_stalls_have_the_given_probability_and_seed():
    sim = simulate(Pass(8))
    stalls = Stall(1, source=0.25), Stall(1, sink=0.5), Stall(2, sink=0.5), Stall(1, sink=0.5)
    source, sink, other, again = (sim.run([0] * 20_000, stall=stall) for stall in stalls)
    assert source.cycles == pytest.approx(20_000 / 0.75, rel=0.02)
    assert sink.cycles == pytest.approx(20_000 / 0.5, rel=0.02)
    assert other != sink == again


@parametrize(
    "requests, options, message",
    [
        ([(1, 256)], {}, r"b of request 0 is 0x100, which does not fit into 8 bits"),
        ([(-1, 2)], {}, r"a of request 0 is -0x1, which does not fit"),
        ([(1, 2), 3], {}, r"request 1 must be a tuple \(a, b\), not 3"),
        ([(1, 2, 3)], {}, r"request 0 must be a tuple \(a, b\), not \(1, 2, 3\)"),
        ([(1, "2")], {}, r"b of request 0 must be an integer, not '2'"),
        ([(1, 2)], {"statics": {"modulo": 3}}, r"no static port named modulo \(there is: modulus\)"),
        (
            [(1, 2)],
            {"statics": {"modulus": 300}},
            r"static port modulus is 0x12c, which does not fit into 8 bits",
        ),
        ([(1, 2)], {"statics": []}, r"0 settings of the static ports for 1 requests"),
        ([(1, 2)], {"source_delays": [1, 2]}, r"source_delays has 2 entries for 1 requests"),
        ([(1, 2)], {"sink_delays": -1}, r"sink_delays must be 0 or more cycles \(below 2\*\*31\), not -1"),
        ([(1, 2)], {"max_cycles": 0}, r"max_cycles must be at least 1, not 0"),
    ],
)
def test_bad_arguments(requests, options, message):
    with refused(message):
        simulate(AddMod(8), "python").run(requests, **options)


def test_a_component_is_simulated_once():
    component = AddMod(8)
    translate(component)
    assert simulate(component).run([(1, 2)]).responses == [3]
    for backend in RTL_BACKENDS:
        with refused("this AddMod has been simulated: make a new one for each simulation"):
            simulate(component, backend)


def test_bad_simulations():
    with refused(r"unknown backend 'gate': .* there are python, verilog, native"):
        simulate(AddMod(8), "gate")
    with refused("NoStreams cannot be driven: it needs the streams `istream`"):
        simulate(NoStreams())
    with refused(r"the stall probability of the sink must be in \[0, 1\), not 1"):
        Stall(1, sink=1)
    with refused(r"no static port named x .there is: none"):
        simulate(Pass(8), "python").run([1], statics={"x": 1})
