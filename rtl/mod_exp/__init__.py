"""Exponentiation as the papers draw it: a controller, a datapath, and multipliers between them.

Begin with mod_exp.py. mont_mod_exp.py and fixed_mod_exp.py put converters and checks around it (papers 001
and 000); fold_exp.py, systolic/, serial/ and tiny/ have controllers of their own. Imports fl and rtl's units.
"""
