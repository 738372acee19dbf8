"""Finding memories and handing them over: search, context, timeline, provenance, undo, forgetting, imports."""
