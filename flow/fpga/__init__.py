"""FPGA resources of a design, counted by Yosys. Imports flow.synth and flow.netlist."""
