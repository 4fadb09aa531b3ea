"""Proof of the processor against its instruction set. Begin with processor_checks.py."""
