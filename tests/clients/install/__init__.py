"""Installing into agents."""
