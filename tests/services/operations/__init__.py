"""What operators ask of a store."""
