"""Multiplier families of the catalogue, one file each, with their parameters and product units.

Imports fl, rtl and cl, whose units it puts together, and fl/param.py. Begin with multiplier.py.
"""
