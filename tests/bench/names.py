"""Areas of a design under other names: what a difference of two netlists has to exceed to mean something.

    make bench NAMES="mont --nbits 32"

The words after NAMES are those of `modexlab asic`. The plain script of the run is repeated by hand, with the
names of all wires and cells scrambled, which also changes the order in which abc sees them.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from modexlab.eval.cli.main import main
from modexlab.flow.kit import kit
from modexlab.flow.netlist import yosys
from modexlab.flow.synth import mapped

SEEDS = range(1, 6)
FLATTENED = re.compile(r"^flatten .*$", re.MULTILINE)


def area(folder: Path, seed: int | None) -> float:
    """The area of the netlist that a plain script makes, with its own names or with those of a seed."""
    with tempfile.TemporaryDirectory() as copy:
        directory = shutil.copytree(folder, copy, dirs_exist_ok=True)
        script = (folder / "plain.ys").read_text()
        if seed is not None:
            script = FLATTENED.sub(rf"\g<0>\nrename -scramble-name -seed {seed}", script)
        script += f"stat -liberty {kit.find().lib}\n"
        log = yosys.run("names", script, Path(directory)).log
        return float(re.findall(r"Chip area.*: *([\d.]+)$", log, re.MULTILINE)[-1])


def compare(words: list[str]) -> dict[str, float]:
    """Print and return the areas by names."""
    with tempfile.TemporaryDirectory() as output:
        if main(["asic", *words, "--to", "synthesis", "--output", output]):
            raise SystemExit(f"asic {' '.join(words)} failed")
        (folder,) = Path(output).glob(f"*/{mapped.SCRIPT}")
        own = area(folder, None)
        found = {"own names": own} | {f"seed {seed}": area(folder, seed) for seed in SEEDS}
    for name, value in found.items():
        print(f"{name:<10} {value:>12,.1f} um2 {value / own - 1:+7.1%}")
    return found


if __name__ == "__main__":
    compare(sys.argv[1:])
