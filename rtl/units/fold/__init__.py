"""One product per cycle, reduced by rows of residues."""
