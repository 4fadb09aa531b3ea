"""Made-up stores for the tests of the report, with points, units and details like those of real ones."""

import io

from modexlab.eval.lab.metrics import Measurement, figure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store.store import Store

HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="hacked=1">'
COMMIT = "ea2b925de8f1"
CORNER = "typical (1.1 V)"
HASH = "0123456789abcdef" * 4
CYCLES = {  # 32 bits, encrypt and decrypt
    "naive-001": (1079, 1877),
    "mont-001": (162, 227),
    "naive": (580, 1022),
    "mont": (77, 129),
    "mont-ct": (93, 145),
    "ssmm": (540, 942),
    "cm-pm-000": (20, 33),
    "heap": (119, 184),
}
SYSTEMS = {
    "proc-naive": (2702, 6062),
    "procxcel-naive-001": (1028, 1884),
    "procxcel-mont-001": (169, 234),
    "procxcel-mont": (84, 136),
}
CHIPS = {  # area, slack, energies
    "naive-001": (16_800.0, 0.12, (4.1, 7.2)),
    "mont-001": (64_000.0, 0.05, (2.5, 3.9)),
    "mont": (22_500.0, 0.31, (0.91, 1.6)),
    "heap": (18_900.0, 0.44, (0.84, 1.35)),
    "ssmm": (9_400.0, 1.1, (3.9, 6.9)),
    "procxcel-mont-001": (94_639.0, 0.02, (2.7, 4.2)),
    "procxcel-mont": (52_000.0, 0.04, (1.4, 2.2)),
    "proc-naive": (30_346.0, 0.06, (31.0, 70.0)),
}
OPERATIONS = ("encrypt", "decrypt")
PROTECTED = [  # settings, area, energy and cycles of a decryption
    ({}, 9_500.0, 2.0, 230),
    ({"crt": True, "fit": "modulus", "verify": False}, 14_800.0, 2.1, 266),
    (
        {"crt": True, "fit": "modulus", "verify": True, "blind": "both"},
        18_600.0,
        8.0,
        813,
    ),
]
MANY_CYCLES = 1_234_567_891  # more digits than are shown of a measured figure


BY_FORMULA = "result of the functional level (FL) checked against pow; no hardware ran"


def figures_of(values, **by_operation):
    """Figures by metric: those of no operation, and those of each operation."""
    return tuple(
        figure(metric, value, operation)
        for operation, found in {"": values, **by_operation}.items()
        for metric, value in found.items()
    )


def counted(cycles, operation, tests="result of the RTL (native) checked against pow", details=None):
    """A simulation."""
    return Measurement(
        (figure("cycles", cycles, operation),),
        tests=tests,
        seconds=0.4,
        tools={"PyMTL3": "3.1.17", "Verilator": "5.48"},
        verilog_hash=HASH,
        details=details or {},
    )


def simulated(subject, nbits, cycles, operation="encrypt", stage="native", settings=()):
    """A point of simulation or by formula, with its measurement."""
    return Point(subject, nbits, settings, workload=operation, stage=stage), counted(cycles, operation)


def implemented(area, slack=0.1, energies=(1.0, 2.0), cycles=(77, 129), clock=3.0, **more):
    """A measurement of the flow."""
    values = {
        "area_um2": area,
        "cells": round(area / 1.3),
        "clock_ns": clock,
        "wns_ns": slack,
        "fmax_mhz": 1000 / (clock - slack),
        "power_mw": 2.5,
    }
    by_operation = {
        operation: {
            "cycles": count,
            "time_ns": count * clock,
            "energy_nj": energy,
            "energy_with_glitches_nj": 2.25 * energy,
        }
        for operation, count, energy in zip(OPERATIONS[-len(cycles) :], cycles, energies, strict=True)
    }
    return Measurement(
        figures_of(values, **by_operation),
        tests="52 rows at RTL, 52 at gates",
        seconds=31.0,
        tools={"Yosys": "0.70", "OpenSTA": "2.6"},
        verilog_hash=HASH,
        details=details(area),
        **more,
    )


def chip(subject, nbits=32, area=9.0, stage="flow", verdict=None, **flow):
    """A point of silicon with its measurement; `verdict`: of the proof of equivalence."""
    point = Point(subject, nbits, stage=stage, flow=tuple(flow.items()))
    measured = implemented(area, clock=flow.get("clock_period", 3.0))
    measured.details.update({"equivalence": verdict} if verdict else {})
    return point, measured


def details(area):
    """The details of a measurement, as in the flow's summary."""
    modules = (
        ("", "top", 9, 1.0),
        ("ctrl", "top_Sequencer", 1, 0.04),
        ("dpath", "top_ResidueDpath", 1, 0.14),
        ("setup", "top_ModDouble", 1, 0.1),
        ("units__0", "top_MontMulRem", 1, 0.33),
        ("units__1", "top_MontMulRem", 1, 0.36),
    )
    return {
        "area_by_module": [
            {"path": path, "module": module, "area_um2": area * share, "cells": cells, "share": share}
            for path, module, cells, share in modules
        ],
        "worst_path": {
            "start": "units__0.b_reg_0/CK",
            "end": "dpath.bas_reg_0/D",
            "slack_ns": 0.3,
            "modules": ["units__0", "units__0.steps__6", "dpath"],
            "cells": 42,
        },
        "caveats": ["one corner, typical; no wires"],
        "commit": COMMIT,
        "corner": CORNER,
    }


def leaking(name, constant):
    """A point of many exponents of one length, with its measurement."""
    cycles = [300 if constant else 260 + 3 * index for index in range(24)]
    runs = [
        {"name": "exponent", "times": 1, "cycles": count, "exp": hex((1 << 31) | ((1 << index) - 1))}
        for index, count in enumerate(cycles)
    ]
    made = counted(sum(cycles), "exponents", details={"exponentiations": runs})
    return Point(name, 32, workload="exponents"), made


def picture():
    """A PNG that is larger than the page shows it."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (1400, 1000), "white")
    draw = ImageDraw.Draw(image)
    for index in range(40):
        draw.rectangle((35 * index, 20 * index, 35 * index + 30, 900), fill=(6 * index, 120, 255 - 6 * index))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def measured():
    """The points of a store as `modexlab report` writes it, with a few more widths."""
    for subject, cycles in {**CYCLES, **SYSTEMS}.items():
        for operation, count in zip(OPERATIONS, cycles, strict=True):
            yield simulated(subject, 32, count, operation)
    for subject, (encrypt, decrypt) in CYCLES.items():
        for nbits in (16, 32, 64, 128, 256, 512, 1024):
            if subject.startswith("cm") and nbits > 64:
                continue
            scale = (nbits / 32) if subject.startswith(("mont", "heap", "cm")) else (nbits / 32) ** 1.9
            for operation, count in zip(OPERATIONS, (encrypt, decrypt), strict=True):
                cycles = count if nbits == 32 else round(count * scale)
                point = Point(subject, nbits, workload=operation, stage="formula")
                yield point, counted(cycles, operation, BY_FORMULA)
    slow = Point("naive-001", 2048, workload="decrypt", stage="formula")
    yield slow, counted(MANY_CYCLES, "decrypt", BY_FORMULA)
    for subject, (area, slack, energies) in CHIPS.items():
        cycles = {**CYCLES, **SYSTEMS}[subject]
        yield Point(subject, 32, stage="flow"), implemented(area, slack, energies, cycles)
    mont = Point("mont", 32, stage="flow")
    late = implemented(
        12_000.0, -0.21, (0.7, 1.2), CYCLES["mont"], 1.5, marks=("1.5 ns is missed by 0.210 ns", HOSTILE)
    )
    yield mont.at(flow={"clock_period": 1.5}), late
    slower = implemented(20_500.0, 0.9, (0.88, 1.55), CYCLES["mont"], 3.4)
    yield mont.at(flow={"clock_period": 3.4}), slower
    steps = {"steps_per_stage": 16}
    yield mont.at(settings=steps), implemented(31_000.0, 0.4, (0.8, 1.3), (60, 97))
    laid = implemented(2_631.0, 0.565, (0.048, 0.083), (8, 11), artifacts={"amoeba.png": picture()})
    yield Point("mont", 8, stage="layout"), laid
    for settings, area, energy, count in PROTECTED:
        yield mont.at(subject="mont-keyed", settings=settings), implemented(area, 0.3, (energy,), (count,))
    yield leaking("mont", False)
    yield leaking("mont-ct", True)


def store_of(path, records):
    """A store with these points and measurements."""
    store = Store(path)
    for point, measurement in records:
        store.record(point, measurement)
    return store


def write(path):
    """The store of the example, with one point that failed."""
    store = store_of(path, measured())
    store.fail(Point("ssmm-ct", 32, stage="flow"), HOSTILE, 12.0)
    return store


def write_many(path, count):
    """A store of `count` runs of the flow."""
    store = Store(path)
    subjects = [name for name in CHIPS if not name.startswith("proc")]
    for index in range(count):
        subject = subjects[index % len(subjects)]
        area, _, energies = CHIPS[subject]
        clock = round(1.5 + 0.001 * index, 4)
        stretched = area * (0.6 + 3 / clock) * (1 + 0.17 * ((index * 7919) % 97) / 97)
        made = implemented(stretched, 0.05, energies, CYCLES[subject], clock)
        store.record(Point(subject, 32, stage="flow", flow=(("clock_period", clock),)), made)
    return store
