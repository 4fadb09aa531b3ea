"""Backend `native`: the processor's Verilog, compiled together with a C++ testbench and its memory
(native.cpp).

Constants of the architecture and of the commit port that both sides need are generated in front of the C++
text.
"""

import ctypes
import struct
from array import array
from pathlib import Path

from ...rtl.sim.harness import Harness
from ...rtl.sim.nativemodel import WITHDRAWN, NativeStage, constants, fields
from ...rtl.sim.protocol import BrokenPromise, Progress, hang_cycles
from ..isa.csrs import PROC2MNGR
from ..isa.isa import BY_NAME, LOAD, STORE, SYSTEM
from ..iss.outcome import A0, ACCELERATOR_WAIT, HANG, INTERRUPT_WAIT, LAST_PCS, TRAP_LOOP, Commit, Trap
from ..software.memory import REGIONS
from .base import (
    ACCELERATOR,
    ISSUE,
    LOOP_TRAPS,
    MANAGER,
    PORTS,
    SLEEP,
    STARVED_CYCLES,
    Job,
    MisalignedRequest,
    ProcSimulation,
    Refused,
    Tally,
)
from .harness import harness

FIRST_END = 16
ENDS = ("halt", "tohost", "limit", "starved", "misaligned", TRAP_LOOP, ACCELERATOR_WAIT, HANG, INTERRUPT_WAIT)
CONSTANTS = {
    "ISSUE": ISSUE,
    "LAST_PCS": LAST_PCS,
    "BUBBLE_ACCELERATOR": ACCELERATOR,
    "BUBBLE_MANAGER": MANAGER,
    "BUBBLE_SLEEP": SLEEP,
    "LOAD": LOAD,
    "STORE": STORE,
    "SYSTEM": SYSTEM,
    "SW": BY_NAME["sw"].match,
    "SW_MASK": BY_NAME["sw"].mask,
    "A0": A0,
    "CSR_PROC2MNGR": PROC2MNGR,
    "FIRST_END": FIRST_END,
    "LOOP_TRAPS": LOOP_TRAPS,
    "STARVED_CYCLES": STARVED_CYCLES,
}
REGIONS_TEXT = array("I", [bound for region in REGIONS for bound in region]).tobytes()
COMMIT = struct.Struct("<5I")
COUNTS = (  # fields common to _Tally and Tally
    "cycles",
    "instructions",
    "stats_instructions",
    "where",
    "stats_where",
    "a0",
    "stored",
    "since",
    "waiting",
)


DRIVER = constants(**CONSTANTS) + Path(__file__).with_name("native.cpp").read_text()


class _Job(ctypes.Structure):
    """Mirrors `Job` in native.cpp. Inputs are bytes, which the structure keeps alive."""

    _fields_ = (
        ("regions", ctypes.c_char_p),
        ("region_count", ctypes.c_uint64),
        ("manager", ctypes.c_char_p),
        *fields(ctypes.c_uint64, "manager_count", "max_cycles", "hang_cycles"),
        *fields(ctypes.c_uint64, "accelerator_cycles", "latency", "extra", "threshold"),
        ("random", ctypes.c_uint32 * len(PORTS)),
        *fields(ctypes.c_uint32, "entry", "core_id", "tohost"),
        *fields(ctypes.c_bool, "has_tohost", "record"),
    )


class _Tally(ctypes.Structure):
    """Mirrors `Tally` in native.cpp."""

    _fields_ = (
        *fields(ctypes.c_uint64, "cycles", "instructions", "stats_instructions"),
        *fields(ctypes.c_uint64 * (ISSUE + 1), "where", "stats_where"),
        *fields(ctypes.c_uint32, "a0", "stored"),
        *fields(ctypes.c_uint32 * 4, "trap", "last_trap"),
        *fields(ctypes.c_uint64, "traps", "since", "waiting"),
        ("last_pcs", ctypes.c_uint32 * LAST_PCS),
        *fields(ctypes.c_uint64, "refused", "refused_cycle"),
        *fields(ctypes.c_uint32, "refused_addr", "refused_write"),
        *fields(ctypes.c_uint32, "broken_port", "broken_addr"),
        ("broken_index", ctypes.c_uint64),
        ("output", ctypes.c_void_p),
        ("output_count", ctypes.c_uint64),
        ("commits", ctypes.c_void_p),
        ("commit_count", ctypes.c_uint64),
    )


class NativeProcSimulation(NativeStage, ProcSimulation):
    """Simulation of the compiled processor."""

    def _driver(self) -> str:
        return DRIVER

    def _harness(self) -> Harness:
        return harness()

    def _drive(self, job: Job, progress: Progress | None) -> Tally:
        lib, handle, timing = self._lib, ctypes.c_void_p(self._handle), job.timing
        tohost = job.program.tohost
        native_job = _Job(
            regions=REGIONS_TEXT,
            region_count=len(REGIONS),
            manager=array("I", job.manager).tobytes(),
            manager_count=len(job.manager),
            max_cycles=job.max_cycles or 0,
            hang_cycles=job.hang_cycles,
            accelerator_cycles=hang_cycles(self.backend),
            latency=timing.latency,
            extra=timing.extra,
            threshold=timing.threshold,
            random=timing.starts,
            entry=job.program.entry,
            core_id=job.core_id,
            tohost=tohost or 0,
            has_tohost=tohost is not None,
            record=job.record,
        )
        lib.sim_start(handle, ctypes.byref(native_job))
        for addr, data in job.program.segments:
            lib.sim_load(handle, ctypes.c_uint32(addr), bytes(data), ctypes.c_uint64(len(data)))
        end = self._advance(progress and (lambda: progress(self._state(_Tally).cycles, job.max_cycles or 0)))
        tally = self._state(_Tally)
        port = ("imem_req", "dmem_req", "proc2mngr")[tally.broken_port]
        if end < FIRST_END:
            message = f"{port} message {tally.broken_index}"
            raise BrokenPromise.at(message, tally.cycles, self.backend, dropped=end == WITHDRAWN)
        reason = ENDS[end - FIRST_END]
        if reason == "misaligned":
            raise MisalignedRequest.at(port, tally.broken_addr, tally.cycles, self.backend)
        ring = list(tally.last_pcs)
        first = tally.instructions % LAST_PCS
        commits = ctypes.string_at(tally.commits, COMMIT.size * tally.commit_count)
        counts = {name: getattr(tally, name) for name in COUNTS}
        return Tally(
            **counts,
            end=reason,
            refused=Refused(tally.refused_cycle, tally.refused_addr, bool(tally.refused_write))
            if tally.refused
            else None,
            trap=Trap(*tally.trap),
            last_trap=Trap(*tally.last_trap) if tally.traps else None,
            last_pcs=ring[first:] + ring[:first] if tally.instructions >= LAST_PCS else ring[:first],
            output=array("I", ctypes.string_at(tally.output, 4 * tally.output_count)).tolist(),
            commits=[*map(Commit._make, COMMIT.iter_unpack(commits))] if job.record else None,
        )
