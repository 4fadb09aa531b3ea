"""The program that runs one Yosys script in a process of its own. It imports little, because a proof starts
many of them.
"""

import json
import resource
import sys
from pathlib import Path


def main() -> None:
    """Run the commands of a script; then record the peak memory of this process and of abc, its child."""
    from pyosys import libyosys

    script, used = sys.argv[1:]
    design = libyosys.Design()
    for line in Path(script).read_text().splitlines():
        command = line.partition("#")[0].strip()
        if command:
            libyosys.run_pass(command, design)
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    Path(used).write_text(json.dumps({"peak_memory_mib": round(sum(peaks) / 1024, 1)}) + "\n")
