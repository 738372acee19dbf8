"""The lab: batches of runs that answer a request with citations, feedback on them, and lessons learned from it."""
