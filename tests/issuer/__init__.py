"""Issuers that people sign in with: a real one, and one that signs what no issuer should."""
