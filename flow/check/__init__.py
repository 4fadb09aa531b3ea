"""The flow's own figures against those of other tools, on the netlist and the layout that a run has made.

Begin with check.py, which does all of it: timing.py and power.py ask OpenSTA, area.py Yosys, shapes.py
KLayout; connections.py reads the DEF and holds what is drawn against the netlist. report.py is what comes
out. Imports flow up to flow.layout.
"""
