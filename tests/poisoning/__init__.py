"""Attacks by text that is remembered: what of it reaches an agent unasked, and in which form."""
