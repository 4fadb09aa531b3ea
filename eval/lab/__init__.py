"""The laboratory: a point (point.py) is measured (measure.py) and kept in the ledger (ledger.py); spaces of
points are swept (space.py, explore.py), compared with the papers (compare.py) and with each other (cores.py).
Imports eval.papers and eval.designs.
"""
