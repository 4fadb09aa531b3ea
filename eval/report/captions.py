"""Titles and captions of the charts."""

CHARTS = {  # name: (title, caption)
    "area-time": (
        "Area × time",
        "Lower left is better. The line connects the Pareto-optimal points of one width, operation, "
        "interface and stage. Time is cycles times the clock period. Filled: measured here; outlined: a "
        "rebuilt published machine; hollow: published; pale: stale, and on no line where fresher points "
        "exist.",
    ),
    "energy-time": (
        "Energy without glitches × time",
        "Lower left is better. Our energies are without glitches and therefore lower bounds; published "
        "ones are as printed. The marks are those of the chart of areas.",
    ),
    "widths": (
        "Cycles by width",
        "Lines are closed formulas, labelled at their ends. Filled points were counted in RTL and must "
        "lie on the line of their design. Hollow points are published; means over both operations appear "
        "with decrypt. Families of one colour differ in dash and shape. Machines alone, with default "
        "parameters. Encryption uses exponent 17 up to 17 bits and 65537 above, hence the step between 16 "
        "and 32 bits.",
    ),
    "area_um2-width": (
        "Area by width",
        "Machines with an area at several widths. Lines join one design with one interface. Both axes are "
        "logarithmic: slope 1 means proportional to the width, slope 2 to its square.",
    ),
    "time_ns-width": (
        "Time of an operation by width",
        "Cycles times the clock period, which was given and is met, or searched.",
    ),
    "energy_nj-width": (
        "Energy without glitches of an operation by width",
        "Operations too long for a gate-level simulation are measured in a window of their products and "
        "scaled by the exact cycle count.",
    ),
    "interfaces": (
        "Area behind each interface",
        "The same machine at one clock: the multiplier alone, the machine alone, behind registers, behind "
        "AXI4-Lite, and with a processor.",
    ),
    "areas": (
        "Where the area is",
        "Modules of one class are added up. A multiplier is one class in the colour of its family; "
        "everything else is grey, and large modules are split into their parts.",
    ),
    "paths": (
        "Longest path and clock",
        "Bars: the longest path. Tick: the clock period asked for; the difference is slack.",
    ),
    "energies": (
        "Energy of an operation, without and with all glitches",
        "One bar per operation, in the colour of the family. Full colour: each net changes at most once a "
        "cycle, the lower bound in all tables. Pale: glitches, transitions that do no work; deep logic "
        "between two registers has more of them. Tick: as published.",
    ),
    "leakage": (
        "Cycles of random exponents",
        "One tick per exponent, all of one length. With a single tick at 100 %, time says nothing about "
        "the exponent. In a smear, each one in the exponent costs a product. Grey: by formula, not "
        "simulated.",
    ),
    "protections": (
        "Cycles, area and energy without glitches of each protection",
        "In percent of the fixed window alone (vertical line). Cycles are counted at an RSA width; area "
        "and energy are those of small machines, for which blinding is expensive because their exponents "
        "are short.",
    ),
    "cores": (
        "Area × time of a product",
        "Multipliers alone, and machines without a separate multiplier, each at its highest clock. Lower "
        "left is better. Each width has a floor of area × time at the shortest period of its points: 2n² "
        "bit products, each for one clock in half a selecting gate and half a full adder. The distance to "
        "the floor is the cost of registers, control, final additions and idle cells.",
    ),
    "choices": (
        "Area × time of a private operation",
        "Lower left is better. Thin lines join points of equal area × time. Each width has a floor of "
        "area: three operands in the smallest latches, and one full adder. Shapes distinguish our "
        "machines, twins of published machines, foreign cores and published figures; colours distinguish "
        "families. The Pareto-optimal machines of each width are labelled.",
    ),
    "ratios": (
        "Ours and published",
        "Each point is one published figure: left of the line ours is lower, right of it higher. A bar is "
        "an energy, between none and all glitches. Cycles compare directly; areas and energies only in "
        "the same library; the verdicts are in the tables.",
    ),
}
