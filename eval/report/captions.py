"""Titles and captions of the charts."""

CHARTS = {  # name: (title, caption)
    "area-time": (
        "Area × time",
        "Down and left is better. The line is the front of those that may be held against each other: the "
        "same width, operation and stage, alone or with a processor; of many points only those on it have "
        "their names, where a design is on it first. Time is that of an operation: cycles times the period "
        "of the clock, which was given and is met, or searched (the highest clock). Filled: measured here; "
        "with an edge: a published machine, built anew; hollow: as its paper has it; pale: stale, that is, "
        "of other sources or tools, and not on the line where there is something newer.",
    ),
    "energy-time": (
        "Energy without glitches × time",
        "Energy of one operation, of ours without glitches and so a lower bound, of a paper as it has it, "
        "by the same marks. What lies above the line is beaten by another design in both.",
    ),
    "widths": (
        "Cycles by width",
        "Lines are closed formulas, with the name of the design at the end. Filled points were counted in "
        "RTL and must lie on the line of their design. Hollow points are published; means over both "
        "operations are shown with decrypt. Families of one colour differ in dash and shape. Machines alone, "
        "with default parameters. Encryption uses exponent 17 up to 17 bits and 65537 above, hence the step "
        "between 16 and 32 bits.",
    ),
    "area_um2-width": (
        "Area by width",
        "Machines that went through the flow at several widths, at the clock that was asked for, or "
        "searched. Lines join the same design with the same interface; the axes are logarithmic, so that a "
        "line of slope 1 grows with the width and one of slope 2 with its square.",
    ),
    "time_ns-width": (
        "Time of an operation by width",
        "Cycles times the period of the clock, which was asked for and is met, or searched.",
    ),
    "energy_nj-width": (
        "Energy without glitches of an operation by width",
        "Operations that are too long to be simulated as gates are measured in a window of their products "
        "and scaled by the exact count of cycles.",
    ),
    "areas": (
        "Where the area is",
        "Modules of one class are added up. A multiplier is one class and has the colour of its family; "
        "everything else is grey, and large modules are split into their parts.",
    ),
    "paths": (
        "Longest path and clock",
        "Bars: the longest path. Tick: the clock period that was asked for; what is left between them is "
        "slack.",
    ),
    "energies": (
        "Energy of an operation, without and with all glitches",
        "One bar for each operation, in the colour of the family. Full colour: each net changes at most once "
        "a cycle, the lower bound that all tables have. Pale: glitches, transitions that do no work; deep "
        "logic between two registers has more of them. Tick: as published.",
    ),
    "leakage": (
        "Cycles of random exponents",
        "One tick for each exponent, all of one length. A single tick at 100 %: the duration says nothing "
        "of such an exponent. A smear: "
        "each one in it costs a product. Grey: by formula, and not seen in hardware.",
    ),
    "protections": (
        "Cycles, area and energy without glitches of each protection",
        "In percent of the fixed window alone, which is where the line is. Cycles at an RSA width by the "
        "words of the program; area and energy are those of machines that went through the flow, whose "
        "blinding is dear because their exponents are short.",
    ),
    "cores": (
        "Area × time of a product",
        "Multipliers alone, and machines that have none apart, each at the highest clock that was searched; "
        "a sign for a family, and the width behind the name. Down and left is better. The lines are floors "
        "of area × time, one for each width at the shortest period of its points: 2n² bit products, each "
        "for a clock in half a selecting gate and half a full adder. How far a point is from its line is "
        "what registers, control, last additions and idle cells cost.",
    ),
    "choices": (
        "Area × time of a private operation",
        "Lower left is better. Thin lines join points of equal area × time. Shapes distinguish our machines, "
        "twins of published machines, foreign cores and published figures; colours distinguish families. "
        "The Pareto-optimal machines of each width are labelled.",
    ),
    "ratios": (
        "Ours and published",
        "Each point is one published figure: left of the line ours is less, right of it more. A bar is an "
        "energy, which lies between none and all glitches. Cycles compare directly; areas and energies only "
        "on the same library; see the verdicts in the tables.",
    ),
}
