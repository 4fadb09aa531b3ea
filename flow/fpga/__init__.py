"""What a design takes on FPGAs: fpga.py counts, fpga_route.py places and routes. Imports flow.synth and
flow.netlist.
"""
