"""Contract 000 §5, and what §4 says of hooks."""
