"""Texts of the commands, by key, in the language of the moment.

They are data: `en.json` and `zh.json` have the same keys. English errors speak for themselves; `zh_errors.json` has
their Chinese by reason and by code, and that of notes by how they begin.
"""

import functools
import json
import string
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import CodexmemError
from codexmem.settings import SETTINGS

HERE = Path(__file__).parent


class _Counted(string.Formatter):
    """Writes `{count:memory|memories}` as the word that fits the count, which may have commas in it."""

    def format_field(self, value: object, format_spec: str) -> str:
        """The word or, without a bar, the value."""
        one, bar, many = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return one if str(value) == "1" else many


_filled = _Counted().format
_language = "en"
_folders = [HERE]


def use(language: str) -> None:
    """Speak this language from now on."""
    global _language  # noqa: PLW0603  (one process, one reader)
    _language = language


def language() -> str:
    """The language of the moment."""
    return _language


def add_folder(folder: Path) -> None:
    """Take in the texts of another program than `codexmem`; only that program loads them."""
    if folder not in _folders:
        _folders.append(folder)
        catalogue.cache_clear()


@functools.cache
def catalogue(language: str) -> dict[str, str]:
    """All texts in one language; what is not spoken is not read."""
    return {key: text for folder in _folders for key, text in texts(language, folder).items()}


def texts(language: str, folder: Path = HERE) -> dict[str, str]:
    """The texts of one program. What a setting means is said in English where it is declared."""
    declared = {f"setting.{setting.name}": setting.help for setting in SETTINGS}
    found: dict[str, str] = _read(folder / f"{language}.json")
    return found | declared if (language, folder) == ("en", HERE) else found


@functools.cache
def chinese_errors() -> dict[str, dict[str, str]]:
    """Errors by reason with their hints, by code, notes by how they begin, refusals by what they say in English."""
    found: dict[str, dict[str, str]] = _read(HERE / "zh_errors.json")
    return found


def _read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def say(key: str, **values: object) -> str:
    """The text for this key."""
    text = catalogue(_language)[key]
    return _filled(text, **values) if values else text


def say_note(note: str) -> str:
    """What an answer says of how it was found, as far as we can say it in the language of the moment."""
    if _language == "en":
        return note
    for beginning, said in chinese_errors()["notes"].items():
        if note.startswith(beginning):
            return said + note.removeprefix(beginning)
    return note


def explain(error: CodexmemError) -> tuple[str, str | None]:
    """An error's message and hint.

    English is what the error itself says; Chinese goes by its reason, then by its code. One that was `spoken` here is
    in the right language already.
    """
    if _language == "en" or getattr(error, "spoken", False):
        return error.message, error.hint
    chinese, reason = chinese_errors(), str(error.details.get("reason", ""))
    if reason in chinese["errors"]:
        values = {key: value for key, value in error.details.items() if key != "reason"}
        hint = chinese["hints"].get(reason)
        return chinese["errors"][reason].format(**values), hint.format(**values) if hint else error.hint
    codes = chinese["codes"]
    return f"{codes.get(error.code, codes['internal'])}：{error.message}", error.hint  # noqa: RUF001
