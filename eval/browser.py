"""A headless browser that prints pages to PDF."""

import os
import shutil
from pathlib import Path

from ..fl.errors import BadInput
from ..flow.files import replacing, scratch
from ..rtl.sim import toolchain
from ..rtl.sim.toolchain import ToolError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SCRIPT_MS = 60_000  # of the page's own clock, for its scripts: charts are drawn before it is printed


def browser() -> str:
    """The path of a browser; BadInput if there is none."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise BadInput(
            f"--pdf needs a browser, and none of {', '.join(PROGRAMS)} is installed; install one (on Debian: "
            "apt-get install chromium), or print the HTML page by any browser"
        )
    return found


def print_pdf(page: Path) -> Path:
    """Print an HTML file to a PDF next to it; return the path of the PDF."""
    pdf = page.with_suffix(".pdf")
    with scratch() as profile, replacing(pdf) as part:
        command = [
            browser(),
            "--headless",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # root has no sandbox
            f"--user-data-dir={profile}",
            "--no-pdf-header-footer",
            f"--virtual-time-budget={SCRIPT_MS}",
            f"--print-to-pdf={part}",
            page.absolute().as_uri(),
        ]
        done = toolchain.run(command, toolchain.PAGE)
        if done.returncode or not part.stat().st_size:
            raise ToolError(f"{command[0]} did not print {page}: {done.stderr.strip()[-500:]}")
    return pdf
