"""Lab 6, part 1: Pareto fronts, and a design that you defend."""


def front(points):
    """STEP 3: the points that no other one dominates, sorted. Each is a tuple of costs: less is better."""
    return []


HYPOTHESIS = ""  # STEP 2: two sentences, before you sweep
CHOICE = {}  # STEP 4: the parameters of your design, such as {"steps_per_stage": 8}
DEFENCE = ""  # STEP 4: why this point of the front, and for whom; fifty words or more
