"""Words that are stored: memories of a programmed machine, and registers that may be latches."""
