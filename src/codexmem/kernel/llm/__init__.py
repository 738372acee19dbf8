"""Turning what was captured into observations and summaries: by a model behind OpenAI's interface, or by rules."""
