"""Contract 002 over HTTP."""
