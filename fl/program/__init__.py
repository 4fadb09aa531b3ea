"""Exponentiation as a program: schedules, microinstructions, recipes, and the interpreter at the functional
level.
"""
