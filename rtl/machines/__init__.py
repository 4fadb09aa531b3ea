"""Machines that raise to a power with product units: programs and what executes them, conversions in and out of a representation.

Begin with program_exp.py; fl/program/program.py says what a program is, mod_exp_plan.py what a machine without a key is made of.
Imports fl and rtl's units.
"""
