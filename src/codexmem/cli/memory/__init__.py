"""`codexmem memory`: notes by their addresses."""
