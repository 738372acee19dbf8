"""The audit endpoint."""
