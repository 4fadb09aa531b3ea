"""Placement, clock tree, hold, power grid, routing, wires, GDS and pictures: place.py and route.py are the
steps, begin with place.py. placed.py is what their functions hand on.

Imports flow up to flow.synth.
"""
