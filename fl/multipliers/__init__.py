"""Mathematics of the modular product of each multiplier family."""
