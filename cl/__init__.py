"""Cycle-level twins with the ports of the RTL, and closed formulas for cycles (timing.py). The package
imports fl and rtl.
"""
