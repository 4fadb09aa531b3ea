"""Runs design-rule decks in the KLayout application, because the Python package `klayout` cannot run Ruby
programs.
"""

import functools
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim import toolchain
from ...rtl.sim.toolchain import ToolError
from ..files import replace_text, scratch

PROGRAM = "klayout"
INSTALL = "run `apt-get install klayout`"
# Debian's KLayout lacks purge_devices, which IHP's deck calls for devices that it has moved. The run time of
# its purge is quadratic in the number of vias, unless circuits with only passive nets lose these nets first
ADDED = """
class RBA::Netlist
  def purge_devices; end unless method_defined?(:purge_devices)
  alias purge_circuits purge
  def purge
    each_circuit { |circuit| circuit.purge_nets_keep_pins if circuit.each_net.all?(&:is_passive?) }
    purge_circuits
  end
end
"""
TAIL = 500  # characters of a log that a message has


def require() -> None:
    """BadInput if the application is missing."""
    if shutil.which(PROGRAM) is None:
        raise BadInput(
            f"the application {PROGRAM} is missing, which runs the decks of design rules: {INSTALL}"
        )


@functools.cache
def version() -> str:
    """The version of the application; BadInput if it is missing."""
    require()
    return toolchain.run([PROGRAM, "-v"], toolchain.QUESTION).stdout.removeprefix("KLayout").strip()


def run_deck(deck: Path, files: Mapping[str, Path], report: Path, options: Sequence[str] = ()) -> None:
    """Run a deck, which writes `report`; `files` maps the deck's variables to files. BadInput if KLayout is
    missing.
    """
    require()
    given = [word for name, file in files.items() for word in ("-rd", f"{name}={file.absolute()}")]
    with scratch() as folder:
        replace_text(folder / "added.rb", ADDED)
        command = [PROGRAM, "-b", "-rm", str(folder / "added.rb"), "-r", str(deck), *given, *options]
        run = toolchain.run(command, name=deck.name, cwd=report.parent)
    if run.returncode or not report.exists():
        raise ToolError(f"{deck.name} ended with code {run.returncode}: {run.stderr.strip()[-TAIL:]}")
