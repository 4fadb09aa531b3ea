"""The commands, one file per form, with OPTIONS and `execute`."""
