"""Functional models on Python integers, without a clock or PyMTL3. Begin with mod_exp.py; imports no other
room.
"""
