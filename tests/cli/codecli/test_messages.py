"""Both languages say the same things of `mem-codecli`: same keys, same values, nothing unused and nothing missing."""

from __future__ import annotations

import re
from pathlib import Path

from codexmem.codecli.cli.root import cli
from codexmem.codecli.config_table import BY_NAME
from codexmem.console import messages
from tests.cli.test_messages import commands, placeholders

FOLDER = Path(messages.__file__).parents[2] / "codecli" / "cli"
ENGLISH, CHINESE = (messages.texts(language, FOLDER / "messages") for language in ("en", "zh"))
SOURCES = {path.name: path.read_text() for path in FOLDER.glob("*.py")}
# Keys that are put together: of warnings, of what happened in a recording, and of why the gatekeeper refuses.
PUT_TOGETHER = ("codecli.notice.", "codecli.replay.asked", "codecli.replay.said", "codecli.gatekeeper.")


def test_both_catalogues_have_the_same_keys_and_values() -> None:
    assert ENGLISH.keys() == CHINESE.keys()
    assert all(ENGLISH.values())
    assert all(CHINESE.values())
    assert {key for key in ENGLISH if placeholders(ENGLISH[key]) != placeholders(CHINESE[key])} == set()


def test_the_keys_are_of_this_program_alone() -> None:
    assert {key for key in ENGLISH if not key.startswith("codecli.")} == set()
    assert ENGLISH.keys() & messages.texts("en").keys() == set()


def test_every_key_is_used_and_every_used_key_is_there() -> None:
    literals = {
        found
        for text in SOURCES.values()
        for found in re.findall(r"""["'](codecli\.[a-z_]+(?:\.[a-z_]+)*)["']""", text)
    }
    of_commands = {
        f"{command.key}.{what}"  # type: ignore[attr-defined]
        for command in commands(cli)
        for what in ("help", "example", "short")
    }
    of_findings = {f"{key}.{what}" for key in literals if ".doctor." in key for what in ("why", "how")}
    put_together = {key for key in ENGLISH if key.startswith(PUT_TOGETHER)}
    assert ENGLISH.keys() - literals - of_commands - of_findings - put_together == set()
    assert of_commands <= ENGLISH.keys()
    named = {command.key for command in commands(cli)}  # type: ignore[attr-defined]
    others = {"codecli.no_input"}  # of the context, not of the catalogue
    assert literals - ENGLISH.keys() - named - BY_NAME.keys() - others == set()


def test_every_finding_that_is_not_well_says_why_and_how() -> None:
    text = SOURCES["checks.py"]
    bad = set(re.findall(r'(?:"(?:failure|warning)"|self\._bad), "(codecli\.doctor\.[a-z_]+)"', text))
    bad |= {"codecli.doctor.auth_wrong", "codecli.doctor.auth_missing"}
    assert len(bad) > 20
    assert {key for key in bad if f"{key}.why" not in ENGLISH or f"{key}.how" not in ENGLISH} == set()


def test_every_notice_has_its_text() -> None:
    text = (FOLDER.parent / "config_files.py").read_text()
    reasons = set(re.findall(r'_warn\("([a-z_]+)"', text))
    assert {f"codecli.notice.{reason}" for reason in reasons} == {
        key for key in ENGLISH if key.startswith("codecli.notice.")
    }
