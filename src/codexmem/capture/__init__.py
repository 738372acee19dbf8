"""What hooks report, kept and turned into observations (contract 000)."""
