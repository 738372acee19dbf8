"""The documents of the operator's paths, as routes take and answer them."""
