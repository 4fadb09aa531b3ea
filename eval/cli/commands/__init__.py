"""The commands, one file each, with `add` (options) and `execute`."""
