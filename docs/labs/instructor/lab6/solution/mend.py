"""Solution of lab 6, part 3: settings of `mont` and `mont-keyed` that withstand the attacks."""

TIMING = {"schedule": "ladder", "scan": "full"}  # both products for every bit, leading zeros included
FAULTS = {"crt": True, "verify": True}  # the public exponent must give the message again
