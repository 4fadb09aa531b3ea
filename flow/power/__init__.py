"""Power of a netlist under recorded activity: power.py (the step, begin here), energies of cells, energy by operation.

Imports flow up to flow.timing.
"""
