"""Print pip's settings as shell commands that export uv's variables. uv does not read pip's configuration."""

import ast
import os
import shlex
import subprocess
import sys

VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
SECTIONS = ("global", "install", ":env:")  # the later ones take precedence


def settings(lines):
    """uv's variables with their values, from the lines of `pip config list`."""
    found = {}
    for line in lines:
        place, _, value = line.partition("=")
        section, _, name = place.rpartition(".")
        if section in SECTIONS and name in VARIABLES:
            separator = "," if name == "find-links" else " "
            found[SECTIONS.index(section), name] = separator.join(str(ast.literal_eval(value)).split())
    return {VARIABLES[name]: value for (_, name), value in sorted(found.items())}


if __name__ == "__main__":
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for variable, value in settings(listed.splitlines()).items():
        if variable not in os.environ:
            print(f"export {variable}={shlex.quote(value)}")
