"""Solution of lab 6, part 1: Pareto fronts, and a design with its defence."""


def dominates(one, other):
    """One is nowhere worse, and somewhere better."""
    return one != other and all(mine <= yours for mine, yours in zip(one, other, strict=True))


def front(points):
    """The points that no other one dominates."""
    return sorted(point for point in set(points) if not any(dominates(other, point) for other in points))


HYPOTHESIS = (
    "At 4 ns a cycle has room for all eight steps, so eight steps are the fastest. "
    "One step is the smallest, but takes far more than an eighth, because registers stay."
)
CHOICE = {"steps_per_stage": 8}
DEFENCE = (
    "For a card that signs rarely and pays for area, one step in a cycle is tempting. Its area is about "
    "half of the largest machine, but its time is six times as long, so the product of area and "
    "time is the worst of all. Eight steps still meet the clock, and every other point saves less area than "
    "it costs in time. So I choose eight steps, and would look for savings in the registers first."
)
