"""What a route of this room answers, for the interface description: its document, and what a refusal looks like."""

from typing import Any

from pydantic import BaseModel


class PlainError(BaseModel):
    """What went wrong, and what to do next where that can be said."""

    error: str
    hint: str | None = None
    details: dict[str, object] | None = None  # with `reason`, by which a client words it in another language


def answers(model: Any) -> dict[int | str, dict[str, object]]:
    """For a route's `responses`: what it answers, and what a refusal looks like."""
    return {200: {"model": model}, "default": {"model": PlainError, "description": "An error"}}
