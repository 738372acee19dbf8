"""`codexmem sync`: reads and writes the files of a checkout, and asks the store what is to become of them."""
