"""Conversions to a scaled modulus and back, for machines that multiply on one."""
