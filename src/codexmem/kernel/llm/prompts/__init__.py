"""What models are asked, one module for each question: its texts, its schema and the reading of its answer's shape."""
