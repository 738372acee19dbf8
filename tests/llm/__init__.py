"""What is distilled, by whom, and what every failure becomes."""
