"""`mem-codecli` with the real agents behind it."""
