"""What tests and benchmarks share: real engines to run against. Nothing here needs pytest."""
