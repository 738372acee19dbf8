"""`codexmem doctor`: checks, mends, a canary through every door, and a bundle for whoever helps."""
