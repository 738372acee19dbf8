"""Other memories, side by side with ours on one machine: the same texts, the same questions, the same encoder."""
