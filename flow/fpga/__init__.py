"""FPGA resources of a design: fpga.py counts them, fpga_route.py places and routes. Imports flow.synth and
flow.netlist.
"""
