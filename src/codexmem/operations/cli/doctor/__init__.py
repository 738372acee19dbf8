"""`codexmem doctor`: checks, fixes, a canary through every interface, and a bundle for whoever helps."""
