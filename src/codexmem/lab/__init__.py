"""Runs, feedback and lessons (contract 002)."""
