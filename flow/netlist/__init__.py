"""Netlists of cells as Yosys writes them: netlist.py reads them, logic.py evaluates them, ownership.py maps
each cell to its source module, yosys.py runs Yosys in a process of yosys_process.py. Imports flow.kit.
"""
