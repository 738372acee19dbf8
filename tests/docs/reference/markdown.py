"""Small pieces of Markdown: tables whose cells may hold anything, and the note that a page is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tests.docs.pages import Language

Spoken = Mapping[Language, str]
MADE: Spoken = {
    "en": "<!-- Made from the code by `just generated`. Edit the code instead. -->",
    "zh": "<!-- 由 `just generated` 根据代码生成；请修改代码。 -->",
}


def both(en: str, zh: str) -> Spoken:
    """One text in both languages."""
    return {"en": en, "zh": zh}


def page(language: Language, title: Spoken, *parts: str) -> str:
    """A whole page."""
    return "\n\n".join([f"# {title[language]}", MADE[language], *(part for part in parts if part)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a cell that holds a bar or a line break keeps them without breaking the row."""
    return "\n".join([_row(head), "|" + "---|" * len(head), *map(_row, rows)])


def code(text: str) -> str:
    """Text as code inside a line."""
    return f"`{text}`" if text else ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ").strip() for cell in cells) + " |"
