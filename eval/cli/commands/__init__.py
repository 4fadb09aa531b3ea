"""One file a command, with `add` (its options) and `execute`."""
