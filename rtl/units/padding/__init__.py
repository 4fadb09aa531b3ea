"""Padding of messages (PKCS #1), and the random bytes that it takes."""
