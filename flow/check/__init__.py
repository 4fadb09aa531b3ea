"""Crosschecks of the flow's figures with other tools, on the netlist and layout of a run.

Begin with check.py, which does all of it, and asks Yosys for the area: timing.py and power.py ask OpenSTA,
shapes.py KLayout; connections.py holds what is drawn against the netlist. report.py is what
comes out. deck.py runs the kit's own design rules, for a step of the flow. Imports flow up to flow.layout.
"""
