"""The instruction set as data: encodings (isa.py; start there), causes of traps, control and status
registers. The package imports only fl.
"""
