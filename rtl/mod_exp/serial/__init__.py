"""Exponentiation word by word: the digit-serial processors of paper 003, and ours."""
