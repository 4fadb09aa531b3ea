"""Attachment of a machine: registers of a processor (xcel.py), AXI4-Lite (axi4lite.py), paper 000's bus
(axi4lite_000.py). Each instantiates one component per box of its diagram; registers/ has the others.
Imports fl, and rtl's machines, units and messages.
"""
