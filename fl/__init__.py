"""Functional models on Python integers, without a clock or PyMTL3. Start with mod_exp.py. The package imports
no other room.
"""
