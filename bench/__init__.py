"""Soak and benchmark programs, each run as `python -m bench.<name>` and ending by itself."""
