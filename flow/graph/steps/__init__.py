"""The steps of the flow. graph.py finds the classes in the modules of this folder, and in those of the
folders that $MODEXLAB_STEPS names, separated by colons.
"""

import os
from pathlib import Path

VARIABLE = "MODEXLAB_STEPS"
OWN = tuple(Path(folder).absolute() for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder)
if OWN:
    __path__ += map(str, OWN)
    os.environ[VARIABLE] = os.pathsep.join(map(str, OWN))  # for processes in other directories
