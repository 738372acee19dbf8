"""Finding memories: what a query means, where candidates come from and in which order they are given."""
