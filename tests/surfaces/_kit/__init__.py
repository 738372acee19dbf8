"""The shared web kit."""
