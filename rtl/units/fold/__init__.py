"""A product a cycle, folded by rows of residues."""
