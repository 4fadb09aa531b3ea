"""Exponentiation as a program: schedules, words, recipes, and what runs them at the functional level."""
