"""Modular products of each multiplier family, as mathematics."""
