"""The shape of the source tree, checked: layers, sizes and the one place of each outside thing."""
