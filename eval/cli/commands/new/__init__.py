"""Forms of `modexlab new`."""
