"""Leakage of a machine, and the effect of faults in it."""
