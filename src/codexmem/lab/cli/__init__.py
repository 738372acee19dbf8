"""The lab at the command line: library, batches, runs, lessons, products, presets."""
