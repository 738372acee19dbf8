"""The audit door."""
