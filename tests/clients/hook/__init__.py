"""The hook, from its pieces to the whole program."""
