"""The ledger: measurements, verdicts and failures in one file, with export, merge, check and salvage."""
