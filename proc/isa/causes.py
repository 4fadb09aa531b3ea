"""Trap causes: the values of mcause (RISC-V privileged specification, table 3.6), their descriptions, and the
causes that halt.
"""

MISALIGNED_FETCH = 0  # misaligned target, reported at the jump or branch
FETCH_FAULT = 1
ILLEGAL = 2
BREAKPOINT = 3
MISALIGNED_LOAD = 4
LOAD_FAULT = 5
MISALIGNED_STORE = 6
STORE_FAULT = 7
ECALL = 11
EXTERNAL_INTERRUPT = 0x8000_000B  # no instruction trapped: the one at mepc has not been executed

MEANING = {
    MISALIGNED_FETCH: "misaligned jump target",
    FETCH_FAULT: "instruction fetch outside memory",
    ILLEGAL: "illegal instruction",
    BREAKPOINT: "ebreak",
    MISALIGNED_LOAD: "misaligned load",
    LOAD_FAULT: "load outside memory",
    MISALIGNED_STORE: "misaligned store",
    STORE_FAULT: "store outside memory",
    ECALL: "ecall",
    EXTERNAL_INTERRUPT: "external interrupt",
}

# Memory faults. An access that the bus refuses traps in X, to mtvec, with one of these causes. The memory
# refuses an access in M, too late for a handler: the next instruction may already be in the multiplier or
# divider, which cannot be flushed, and minstret has counted the access.
ALWAYS_HALT = (LOAD_FAULT, STORE_FAULT)
