"""What all tests share: Hypothesis without time limits, and a build cache that xdist workers have in common."""

import os

from hypothesis import HealthCheck, settings

# examples are drawn afresh in every run of `make regress`, and the same in every run of `make test`
settings.register_profile(
    "test", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("regress", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("regress" if os.environ.get("MODEXLAB_EXAMPLES_FACTOR", "1") != "1" else "test")
