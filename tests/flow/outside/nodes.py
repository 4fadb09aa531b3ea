"""Helpers that run mflowgen and the nodes of its graphs."""

import os
import re
import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent


def mflowgen(directory, *arguments, **variables):
    """The output of mflowgen or make, or of another program with both on its PATH."""
    env = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"} | variables
    done = subprocess.run(
        arguments, cwd=directory, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def configured(directory, graph, **kwargs):
    """Configure the graph in a folder; return the names of its nodes."""
    mflowgen(directory, "mflowgen", "run", "--design", str(graph), "--graph-kwargs", str(kwargs))
    return {name for _, name in re.findall(r"-\s+(\d+) : (\S+)", mflowgen(directory, "make", "list"))}


def output(directory, node, file):
    """The path of an output of a node."""
    (path,) = directory.glob(f"*-{node}/outputs/{file}")
    return path
