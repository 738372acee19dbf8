"""What agents asked for, in a chain that shows gaps."""
