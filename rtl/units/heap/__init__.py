"""Rows in one heap, whose adders the design names: a digit a clock."""
