"""The ledger: measurements, proofs and failures in one file, with join, export, verification and salvage."""
