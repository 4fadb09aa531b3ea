"""Product units and their parts: multipliers, dividers, adders, Montgomery steps, shift-sub steps.

Begin with mul_rem.py and mont_mul_rem.py. Imports fl and rtl's messages; knows no exponents.
"""
