"""Static timing: nldm.py has delays and slews by table and the own engine, opensta.py the first engine,
wire_table.py the wires, clock_search.py which clock to try next, kernel.py with kernel.cpp the inner loops.

Begin with timing.py, the step; subject.py is what it analyses. Imports flow.kit and flow.netlist.
"""
