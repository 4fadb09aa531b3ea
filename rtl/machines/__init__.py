"""Machines that raise to a power with product units: programs and what executes them, conversions in and out
of a representation.

Begin with program_exp.py; fl/program/ir.py defines programs, fl/program/plan.py the choices of a machine
without a key.
Imports fl and rtl's units.
"""
