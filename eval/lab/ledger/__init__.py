"""What was measured, proved and refused, kept in one file: written, joined, exported, checked and salvaged."""
