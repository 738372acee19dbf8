"""Values and rules, alone."""
