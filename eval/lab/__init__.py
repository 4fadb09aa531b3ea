"""The laboratory: a point (point.py) is measured (measure.py) and recorded in the store (store/); spaces of
points are swept (space.py, sweep.py); figures are compared with the papers and with other cores
(comparison/). Imports eval.papers and eval.designs.
"""
