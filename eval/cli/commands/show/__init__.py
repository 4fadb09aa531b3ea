"""The forms of `modexlab show`."""
