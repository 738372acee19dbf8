"""Search: what a query means, where candidates come from, how they are ranked."""
