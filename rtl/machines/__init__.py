"""Machines that raise to a power with product units: control, datapath, conversions in and out of a representation.

Begin with mod_exp.py; mod_exp_plan.py says what a machine is made of. Imports fl and rtl's units.
"""
