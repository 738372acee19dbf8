"""Tables of the lab."""
