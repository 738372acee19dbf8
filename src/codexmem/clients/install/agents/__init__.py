"""One module per agent, and the table of them."""
