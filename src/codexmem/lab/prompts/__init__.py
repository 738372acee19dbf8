"""What a model is asked about lessons."""
