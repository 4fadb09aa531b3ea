"""Numbers in memories, a digit or a word a cycle: what paper 003's processor is made of, and ours that
multiplies.

Begin with digit_processor.py, then word_multiplier.py. Imports PyMTL3 alone.
"""
