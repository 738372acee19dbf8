"""Readers of public question sets, one module per format.

Each has `TASKS` and `read(folder)`, and forgives what is known to be wrong in the published files; the reasons stand
where the forgiving is done.
"""
