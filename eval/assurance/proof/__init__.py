"""Proofs about a design: its units, handshakes, timing and netlist.

Begin with registry.py. unit_contracts.py says what units without registers compute and exhaustive.py what
those with streams answer; both are held against the hardware by benches in SystemVerilog (benches.py), which
flow/prove decides.
"""
