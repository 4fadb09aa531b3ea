"""PKCS #1 message padding, and its random bytes."""
