"""When: cycle-level twins with the ports of the RTL, and the closed formulas for cycles (timing.py). Imports
fl and rtl.
"""
