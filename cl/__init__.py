"""Cycle-level twins with the ports of the RTL, and closed formulas for cycles (timing.py). Imports fl and
rtl.
"""
