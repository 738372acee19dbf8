"""Questions with answers (contract 001)."""
