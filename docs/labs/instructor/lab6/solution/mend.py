"""Solution of lab 6, part 3: settings of `mont` that withstand the attacks."""

TIMING = {"schedule": "fixed-window"}  # every digit takes the same products
FAULTS = {"crt": True, "verify": True}  # the public exponent must give the message again
