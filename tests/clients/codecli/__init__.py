"""The wrapper, part by part."""
