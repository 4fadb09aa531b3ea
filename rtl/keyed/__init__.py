"""The keyed accelerator: a microprogram for windows, CRT, blinding, the check of a result, and wiping.

Begin with program_exp.py; fl/program/ir.py defines programs. Imports fl, rtl's units and rtl/mod_exp.
"""
