"""The ASIC flow, with open-source tools only: from SystemVerilog to a netlist of library cells, with its
timing, energy and layout.

Files that one step writes and another reads are structs. product.py has their writer and reader; most rooms
define theirs in report.py.
"""
