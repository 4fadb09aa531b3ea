"""The instruction set as data: encodings (isa.py, where to begin), causes of traps, control and status
registers. Imports fl alone.
"""
