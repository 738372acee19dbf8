"""`codexmem qa`: questions with answers."""
