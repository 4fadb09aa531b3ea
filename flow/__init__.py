"""The ASIC flow, with open tools only: from SystemVerilog to a netlist of library cells, its timing, energy and layout."""
