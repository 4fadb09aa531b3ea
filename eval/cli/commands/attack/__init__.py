"""The forms of `modexlab attack`."""
