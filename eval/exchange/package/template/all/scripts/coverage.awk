# Reads coverage.dat of Verilator: points of the hardware (lines, branches, toggled bits) and how many were reached.
BEGIN { FS = "'" }
$2 ~ /rtl\// { points++; if ($3 > 0) reached++ }
END { printf "coverage: %.1f %% (%d of %d points)\n", 100 * reached / points, reached, points }
