"""Crosschecks of the flow's figures with other tools, on the netlist and layout of a run.

Begin with check.py, which runs all checks, and compares the area with Yosys. timing.py and power.py use
OpenSTA, shapes.py uses KLayout, and connections.py compares the drawn metal with the netlist. report.py has
the results. deck.py runs the kit's own design rules, for a step of the flow. Imports flow up to flow.layout.
"""
