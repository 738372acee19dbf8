"""Observations and summaries without any model: by what tools are known to do, the same for the same events."""

from codexmem.kernel.llm.rules.compose import observations
from codexmem.kernel.llm.rules.summary import summary

__all__ = ["observations", "summary"]
