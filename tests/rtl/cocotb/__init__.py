"""Tests that cocotb runs inside a simulator: third-party masters on our slaves."""
