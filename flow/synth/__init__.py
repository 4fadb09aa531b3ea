"""From Verilog to cells: synthesis.py (the step, begin here), the cells that a design names (named_cells.py),
the rewriting of words before mapping, styles of Yosys and abc, and the room sizing, which goes over the
netlist afterwards.

Imports flow.kit, flow.netlist and flow.timing.
"""
