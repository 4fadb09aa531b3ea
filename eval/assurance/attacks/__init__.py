"""Leakage assessment and fault injection."""
