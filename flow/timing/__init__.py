"""Static timing: opensta.py is the first engine, nldm.py the flow's own; wire_table.py has the wires,
clock_search.py chooses the next clock to try, and kernel.py with kernel.cpp has the inner loops.

Begin with timing.py, the step; its subject is in subject.py. Imports flow.kit and flow.netlist.
"""
