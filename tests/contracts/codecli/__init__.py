"""Contract 001 from outside: the wrapper's commands and files, against a running memory server."""
