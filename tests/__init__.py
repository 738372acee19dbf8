"""The tests, importable as a package so that benchmarks can share their support modules."""
