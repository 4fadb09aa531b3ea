"""Products of one digit per cycle in a bit heap, with adders that the design names."""
