"""Translates components to readable Verilog, and caches it."""
