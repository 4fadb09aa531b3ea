"""Measurements, proofs and failures in one file: written, joined, exported, checked and salvaged."""
