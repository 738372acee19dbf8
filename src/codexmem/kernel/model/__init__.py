"""Values and rules of the memory: no I/O, standard library only, importable by every program of the project."""
