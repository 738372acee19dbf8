"""The recipes of CONTRIBUTING.md, carried out on a copy of the package."""
