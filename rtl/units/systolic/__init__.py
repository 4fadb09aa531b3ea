"""Rows of processing elements with one small multiplier each: paper 002's array, and ours on a scaled
modulus.

Begin with systolic_array.py and systolic_pe.py, then scaled_array.py and scaled_pe.py. Imports fl, rtl's
messages and states.
"""
