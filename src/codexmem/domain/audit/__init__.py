"""The audit log as values: a row, and the chain that shows whether one was changed, lost or moved."""
