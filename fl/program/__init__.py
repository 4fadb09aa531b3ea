"""Exponentiation as a program: schedules, microinstructions, recipes, and the interpreter of the functional
level.
"""
