"""Montgomery products by a scaled modulus."""
