"""The machine of rings and a serial adder."""
