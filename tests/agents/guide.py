"""What docs/agents.md tells people to configure, for the tests to configure exactly that.

A block is a fenced text below a comment with its name: `<!-- block: codex-hooks -->`.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
ENGLISH = DOCS / "agents.md"
CHINESE = DOCS / "agents.zh.md"
DEFAULT_PORT = "37877"
_BLOCK = re.compile(
    r"<!-- block: (?P<name>[a-z-]+) -->\n```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(page: Path = ENGLISH) -> dict[str, str]:
    """The blocks of a page by name."""
    return {found["name"]: found["text"] for found in _BLOCK.finditer(page.read_text())}


def replaced(page: Path, name: str, text: str) -> str:
    """The page with one block's text exchanged."""

    def exchange(found: re.Match[str]) -> str:
        if found["name"] != name:
            return found.group()
        return f"<!-- block: {name} -->\n```{found['kind']}\n{text}```"

    return _BLOCK.sub(exchange, page.read_text())
