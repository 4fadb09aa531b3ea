"""Power of a netlist under recorded activity: power.py (the step, begin here), estimator.py (every cell),
cell_energy.py (its internal energies), report.py (by operation).

Imports flow up to flow.timing.
"""
