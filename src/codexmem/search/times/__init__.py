"""Time expressions of a query, Chinese and English: which stretch of time a question is about."""

from codexmem.search.times.finder import spans
from codexmem.search.times.span import Grain, Span

__all__ = ["Grain", "Span", "spans"]
