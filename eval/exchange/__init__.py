"""Exchange formats: test vectors, IP packages, systems on chip."""
