"""From Verilog to cells: synthesis.py (the step, begin here), the rewriting of words before mapping, styles of Yosys and abc, sizing.

Imports flow.kit, flow.netlist and flow.timing.
"""
