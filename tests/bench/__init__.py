"""Short forms of the soak and benchmark programs: that they run, and that they notice what they are there to notice."""
