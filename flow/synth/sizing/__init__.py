"""Sizes of cells, buffers and pins of a mapped netlist by its timing: sizing.py (the step, begin here) and,
by subject, families.py (which cells are drive strengths of one function), fanout.py (trees for nets with many
readers), model.py (the timing graph that changes in place, and estimates), moves.py (with buffers),
and adders.py with full_adders.py.

Imports flow.kit, flow.netlist, flow.timing, and synthesis.py.
"""
