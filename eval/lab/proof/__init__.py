"""What is proved of a design, check by check: its units, its handshakes, its time, its netlist.

Begin with checks.py. contracts.py says what units without registers compute and answers.py what those with
streams answer; both are held against the hardware by benches in SystemVerilog (benches.py), which flow/prove
decides.
"""
