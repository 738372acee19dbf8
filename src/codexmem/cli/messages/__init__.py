"""Which language we speak, and what is said in it. The texts are data: one file per language, the same keys in each."""

import string
from collections.abc import Mapping

from codexmem.cli.messages.en import EN
from codexmem.cli.messages.zh import ZH
from codexmem.cli.messages.zh_errors import CODES, ERRORS, HINTS, NOTES
from codexmem.domain.errors import CodexmemError


class _Counted(string.Formatter):
    """Writes `{count:memory|memories}` as the word that fits the count, which may have commas in it."""

    def format_field(self, value: object, format_spec: str) -> str:
        """The word or, without a bar, the value."""
        one, bar, many = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return one if str(value) == "1" else many


_filled = _Counted().format
CATALOGUES = {"en": dict(EN), "zh": dict(ZH)}
_language = "en"


def use(language: str) -> None:
    """Speak this language from now on."""
    global _language  # noqa: PLW0603  (one process, one reader)
    _language = language


def language() -> str:
    """The language of the moment."""
    return _language


def learn(english: Mapping[str, str], chinese: Mapping[str, str]) -> None:
    """Take in what another program than `codexmem` has to say; only that program loads it."""
    CATALOGUES["en"].update(english)
    CATALOGUES["zh"].update(chinese)


def say(key: str, **values: object) -> str:
    """The text for this key."""
    text = CATALOGUES[_language][key]
    return _filled(text, **values) if values else text


def say_note(note: str) -> str:
    """What an answer says of how it was found, as far as we can say it in the language of the moment."""
    if _language == "en":
        return note
    for beginning, said in NOTES.items():
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
    reason = str(error.details.get("reason", ""))
    if reason in ERRORS:
        values = {key: value for key, value in error.details.items() if key != "reason"}
        hint = HINTS.get(reason)
        return ERRORS[reason].format(**values), hint.format(**values) if hint else error.hint
    return f"{CODES.get(error.code, CODES['internal'])}：{error.message}", error.hint  # noqa: RUF001
