"""Lab 5: from RTL to joules."""

# STEPS 2 to 4: figures of a product, from the output of `modexlab asic`
FOUR_STAGES = {"area_um2": None, "slack_ns": None, "clean_nj": None, "glitch_nj": None}
TWO_STAGES = {"area_um2": None, "slack_ns": None, "clean_nj": None, "glitch_nj": None}


def highest_clock_mhz(period_ns, slack_ns):
    """STEP 3: the highest clock of a netlist that has this slack at this clock period."""
    return 0


def product_ns(cycles, period_ns, slack_ns):
    """STEP 3: the time of an operation at this period, or at the period that is met if this one is missed."""
    return 0


def energy_nj(power_mw, cycles, period_ns):
    """STEP 4: the energy of an operation of so many cycles."""
    return 0


def glitch_factor(clean_nj, glitch_nj):
    """STEP 4: how many times more energy glitches make it."""
    return 0


# STEP 6: a unit of 16 bits that meets 2 ns, with a product in 10 ns at most on 2,500 um^2 at most
CHOICE = {"nstages": 4, "steps_per_stage": 4}
