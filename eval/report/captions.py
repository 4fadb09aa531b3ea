"""Titles and captions of the charts."""

CHARTS = {  # name: (title, caption)
    "area-time": (
        "Area × time",
        "Lower left is better. Each line connects the Pareto-optimal points of one width, operation, "
        "interface and stage. Time is cycles times the clock period. Filled: measured here. Outlined: a "
        "rebuilt published machine. Hollow: published. Pale: stale; lines ignore stale points if fresh ones "
        "exist.",
    ),
    "energy-time": (
        "Energy without glitches × time",
        "Lower left is better. Our energies exclude glitches and are therefore lower bounds; published "
        "ones are as printed. Symbols have the same meaning as in the area chart.",
    ),
    "widths": (
        "Cycles by width",
        "Machines alone, with default parameters. Lines are closed formulas, labelled at their ends; where "
        "the formula is known at one width, they join the counts. Filled points were counted in RTL and must "
        "lie on the line of their design. Hollow points are published; means over both operations are shown "
        "as decrypt. Families that share a colour differ in dash and shape. Encryption uses exponent 17 up "
        "to 17 bits and 65537 above, hence the step between 16 and 32 bits.",
    ),
    "area_um2-width": (
        "Area by width",
        "Machines with an area at several widths. Each line is one design with one interface. Both axes are "
        "logarithmic: slope 1 means proportional to the width, slope 2 to its square.",
    ),
    "time_ns-width": (
        "Time of an operation by width",
        "Cycles times the clock period, which was either given and is met, or found by a search for the "
        "highest clock.",
    ),
    "energy_nj-width": (
        "Energy of an operation without glitches by width",
        "For operations too long to simulate at gate level, the energy of a window of products is measured "
        "and scaled by the exact cycle count.",
    ),
    "areas": (
        "Area by module",
        "Modules of the same class are summed. A multiplier is one class, in the colour of its family. All "
        "other modules are grey, and large ones are split into their submodules. Families without a colour "
        "of their own share the strongest grey; the design tells them apart.",
    ),
    "energies": (
        "Energy of an operation, without and with all glitches",
        "One bar per operation, in the colour of the family. Full colour: the energy if each net changes at "
        "most once per cycle, the lower bound in all tables. Pale: the energy of glitches, transitions that "
        "do no work; deep logic between registers has more of them. Tick: the published energy.",
    ),
    "leakage": (
        "Cycles of random exponents",
        "One tick per exponent; all exponents have the same length. With a single tick at 100 %, the time "
        "reveals nothing about the exponent. In a smear, each 1 bit of the exponent costs a product. Grey: "
        "by formula, not simulated.",
    ),
    "cores": (
        "Area × time of a product",
        "Lower left is better. Multipliers alone, and machines without a separate multiplier, each at the "
        "requested clock that it met. The floor of each width is the area × time of 2n² bit products, "
        "each of which occupies half a selecting gate and half a full adder for one clock, at the shortest "
        "period among the points. The distance to the floor is the cost of registers, control, final "
        "additions and idle cells.",
    ),
    "choices": (
        "Area × time of a private operation",
        "Lower left is better. Thin lines: equal area × time. Dashed: the least area of a width, three "
        "operands in the smallest latches and one full adder. Labelled where there is room: the "
        "Pareto-optimal machines of each width, the widest of each family, and every "
        "machine in the shared colour.",
    ),
    "ratios": (
        "Ours and published",
        "Each point is one published figure: left of the line ours is lower, right of it higher. A bar is "
        "an energy, from no glitches to all glitches. Cycles are always comparable, areas and energies only "
        "in the same cell library. The tables give the verdicts.",
    ),
}
