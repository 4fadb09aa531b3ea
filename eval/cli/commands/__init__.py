"""The commands, one file for each form, with OPTIONS and `execute`."""
