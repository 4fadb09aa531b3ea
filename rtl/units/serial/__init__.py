"""Word-serial units on numbers in memories: those of paper 003's processor, and ours with multipliers.

Begin with digit_processor.py, then word_multiplier.py. Imports PyMTL3 alone.
"""
