"""Lab 6, part 3: settings of `mont` and `mont-keyed` that withstand the attacks."""

TIMING = {"schedule": "left-to-right"}  # STEP 8: the same cycles and the same trace for all exponents
FAULTS = {"crt": True, "verify": False}  # STEP 9: no wrong signature leaves
