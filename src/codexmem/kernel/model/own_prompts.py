"""How prompts that we ask models with are known again, wherever somebody kept them: they are no person's words."""

from __future__ import annotations

import re

MARK = "Mark of this prompt: "  # before the secret that the lines around data carry
_OWN = re.compile(rf"^{re.escape(MARK)}[0-9a-f]{{12}}$", re.MULTILINE)


def marked(secret: str) -> str:
    """The line that every prompt of ours has."""
    return f"{MARK}{secret}"


def is_own(prompt: str) -> bool:
    """Whether it is a prompt of ours."""
    return MARK in prompt and bool(_OWN.search(prompt))
