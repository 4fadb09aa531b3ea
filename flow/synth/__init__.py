"""From Verilog to cells: synthesis.py (the step; begin here), the styles plain.py and optimised.py with the
passes of the latter, scripts of Yosys and abc, and the room sizing, which changes the netlist afterwards.

Imports flow.kit, flow.netlist and flow.timing.
"""
