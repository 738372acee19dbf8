"""What every room stands on: values and rules, the store, search, jobs, events, models, and shared services."""
