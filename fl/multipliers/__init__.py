"""Modular products by the mathematics of each family."""
