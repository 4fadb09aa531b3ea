"""Ours beside the twins, the papers, and the field."""
