"""Exponentiation on systolic arrays: paper 002, and ours on a scaled modulus."""
