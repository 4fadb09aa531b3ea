"""From Verilog to cells: synthesis.py (the step; begin here), cells that a design names (named_cells.py),
rewriting of words before mapping, styles of Yosys and abc, and the room sizing, which changes the netlist
afterwards.

Imports flow.kit, flow.netlist and flow.timing.
"""
