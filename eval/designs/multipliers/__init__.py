"""The first axis of the catalogue: multipliers, a family a file, each with its parameters and what a product
unit is made of.

Imports fl, rtl and cl, whose units it puts together, and fl/param.py. Begin with multiplier.py.
"""
