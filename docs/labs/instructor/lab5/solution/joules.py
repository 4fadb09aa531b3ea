"""Solution of lab 5: from RTL to joules."""

# figures of a product, from the output of `modexlab asic`
FOUR_STAGES = {"area_um2": 4325, "slack_ns": 0.252, "clean_nj": 0.01308, "glitch_nj": 0.02318}
TWO_STAGES = {"area_um2": 5611, "slack_ns": -0.069, "clean_nj": 0.01371, "glitch_nj": 0.05143}


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
