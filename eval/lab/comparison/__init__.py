"""Comparison of our designs with the twins, the papers and other published cores."""
