"""Netlists of cells as Yosys writes them: netlist.py reads them, logic.py evaluates them, ownership.py maps
each cell to its source module, yosys.py runs Yosys. Imports flow.kit.
"""
