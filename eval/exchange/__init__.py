"""Formats of others: test vectors, packages for reuse, systems on chip."""
