"""Status, figures, the event stream and upkeep over HTTP (contract 000)."""
