"""Product units and what they are made of: multipliers, dividers, adders, the steps of Montgomery's and of
shift-sub arithmetic.

Begin with mul_rem.py and mont_mul_rem.py. Imports fl and rtl's messages; knows no exponents.
"""
