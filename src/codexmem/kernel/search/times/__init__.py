"""Time expressions of a query, Chinese and English: which stretch of time a question is about."""

from codexmem.kernel.search.times.finder import spans
from codexmem.kernel.search.times.span import Grain, TimeSpan

__all__ = ["Grain", "TimeSpan", "spans"]
