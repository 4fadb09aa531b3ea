"""Proofs about a design: its units, handshakes, timing and netlist.

Begin with registry.py. unit_contracts.py specifies units by their outputs or by one step of their registers;
exhaustive.py specifies the answers of units with streams. Benches in SystemVerilog (benches.py), which
flow/prove decides, compare the contracts with the hardware. Answers are compared by native simulation, after
a proof that they depend only on the request and the static ports.
"""
