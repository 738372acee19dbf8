"""The recorded terminal session shows what its script says, in both languages, and nothing of the machine it ran on."""

from __future__ import annotations

import json
import re

import pytest

from tests.docs.recording import IMAGES, SCRIPT, Recording, picture

SUFFIX = {"en": "", "zh": ".zh"}


def recorded(language: str) -> Recording:
    """What was kept."""
    _, *lines = (IMAGES / f"first-minute{SUFFIX[language]}.cast").read_text().splitlines()
    return Recording([(at, text) for at, _, text in map(json.loads, lines)])


@pytest.mark.parametrize("language", SCRIPT)
def test_it_is_the_session_of_the_script(language: str) -> None:
    shown = "".join(text for _, text in recorded(language).events)
    typed = re.findall(r"\x1b\[1;32m\$\x1b\[0m (.*)\r\n", shown)
    assert typed == [line for line in SCRIPT[language] if not line.startswith("#")]
    assert "error" not in shown


@pytest.mark.parametrize("language", SCRIPT)
def test_the_picture_is_drawn_from_it(language: str) -> None:
    assert (IMAGES / f"first-minute{SUFFIX[language]}.svg").read_text() == picture(recorded(language))


@pytest.mark.parametrize("language", SCRIPT)
def test_it_speaks_of_nobody_s_machine_and_fetches_nothing(language: str) -> None:
    for path in IMAGES.glob(f"first-minute{SUFFIX[language]}.*"):
        text = path.read_text()
        assert set(re.findall(r"https?://[^/\"\s:;]+", text)) <= {"http://127.0.0.1", "http://www.w3.org"}
        assert set(re.findall(r"/(?:tmp|root|work)/", text)) == set()


def test_waits_are_cut_and_a_line_written_over_is_drawn_once() -> None:
    lines = Recording([(0.0, "a\r\n"), (9.0, "10 %\r90 %\r\n"), (9.5, "\x1b[?25lb\n")]).lines()
    assert lines == [(0.0, "a"), (1.0, "90 %"), (1.5, "b")]
