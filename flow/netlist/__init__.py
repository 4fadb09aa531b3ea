"""Netlists of cells as Yosys writes them: netlist.py reads them, logic.py evaluates, ownership.py says which
module a cell came from.

yosys.py runs Yosys. Imports flow.kit.
"""
