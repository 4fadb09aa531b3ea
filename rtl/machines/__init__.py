"""Exponentiation machines built on product units: microprogrammed machines, machines with controllers of
their own, and converters into and out of number representations.

Begin with program_exp.py; fl/program/ir.py defines programs, fl/program/plan.py the choices of a machine
without a key.
Imports fl and rtl's units.
"""
