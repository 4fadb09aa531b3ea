"""Static timing: nldm.py has delays and slews by table and the own engine, opensta.py the first engine, spef.py the wires.

Begin with timing.py, the step. Imports flow.kit and flow.netlist.
"""
