"""`python -m modexlab.eval.cli`: the command line without its script."""

import sys

if not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # the current directory: nothing is imported from it

from .main import main

sys.exit(main())
