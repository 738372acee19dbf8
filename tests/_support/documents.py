"""Folders of documents for tests of the lab's library."""

from __future__ import annotations

from pathlib import Path


def written(folder: Path, **texts: str) -> Path:
    """A folder with these Markdown files; a text that is empty removes its file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = folder / f"{name}.md"
        if text:
            path.write_text(text, encoding="utf-8")
        else:
            path.unlink()
    return folder


def long_text(word: str, paragraphs: int) -> str:
    """So many paragraphs, each of them nearly a piece and unlike the others."""
    return "\n\n".join(f"## {word} {number}\n\n" + f"The {word} of part {number} matters. " * 28
                       for number in range(paragraphs))  # fmt: skip
