"""Power of a netlist under recorded activity: power.py (the step; begin here), estimator.py (all cells),
cell_energy.py (internal energy by kind of cell), report.py (results by operation).

Imports flow up to flow.timing.
"""
