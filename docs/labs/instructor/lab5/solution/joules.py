"""Solution of lab 5: from RTL to joules."""

# figures of a product, from the output of `modexlab asic`
FOUR_STAGES = {"area_um2": 3253, "slack_ns": 0.200, "clean_nj": 0.007034, "glitch_nj": 0.01229}
TWO_STAGES = {"area_um2": 4274, "slack_ns": -0.353, "clean_nj": 0.004731, "glitch_nj": 0.01541}


def highest_clock_mhz(period_ns, slack_ns):
    """The longest path takes the period without the slack."""
    return 1000 / (period_ns - slack_ns)


def product_ns(cycles, period_ns, slack_ns):
    """A negative slack makes the period longer, a positive one is left over."""
    return cycles * (period_ns - min(slack_ns, 0))


def energy_nj(power_mw, cycles, period_ns):
    """A milliwatt for a nanosecond is a picojoule."""
    return power_mw * cycles * period_ns / 1000


def glitch_factor(clean_nj, glitch_nj):
    """How many times more energy glitches make it."""
    return glitch_nj / clean_nj


# one stage, around which a product goes four times: a quarter of the steps, and as many cycles
CHOICE = {"nstages": 1, "steps_per_stage": 4}
