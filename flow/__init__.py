"""The ASIC flow, with open tools only: from SystemVerilog to a netlist of library cells, its timing, energy
and layout.

A file that one step writes and another reads is a struct (product.py has its writer and its reader):
report.py of each room has its own.
"""
