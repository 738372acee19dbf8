"""The agent as a process."""
