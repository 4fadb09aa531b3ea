"""Charts that a command writes without a report."""
