"""A person's own patterns: what they mask, what is refused, and that none of them takes long."""

from __future__ import annotations

import sys
import time

import pytest

from codexmem.codecli.redactor import MOST, Patterns, Redactor
from codexmem.installation import install_command
from codexmem.kernel.model.errors import InvalidArgument, Unavailable


def test_level_patterns_and_known_values_are_masked_together() -> None:
    redactor = Redactor("basic", [r"EMP-\d{6}", "内部[0-9]+"], ["correct horse battery"])
    text = "工号 EMP-123456，内部42，correct horse battery，dana@acme.io，password=hunter22"
    assert redactor.text(text) == (
        "工号 [REDACTED:pattern]，[REDACTED:pattern]，[REDACTED:known]，[REDACTED:email]，password=[REDACTED:password]"
    )
    value = {"EMP-000001": ["x EMP-123456", 7, None, True], "token": "a1b2c3", "deep": {"a": ("EMP-123456",)}}
    assert redactor.value(value) == {
        "[REDACTED:pattern]": ["x [REDACTED:pattern]", 7, None, True],
        "token": "[REDACTED:token]",
        "deep": {"a": ["[REDACTED:pattern]"]},
    }


def test_off_masks_nothing_and_does_not_even_read_the_patterns() -> None:
    redactor = Redactor("off", ["("])
    assert redactor.text("password=hunter22 EMP-123456") == "password=hunter22 EMP-123456"
    assert redactor.value({"password": "x"}) == {"password": "x"}


def test_strict_and_no_patterns() -> None:
    assert Redactor("strict").text("call 13912345678") == "call [REDACTED:phone]"
    assert Redactor().text("call 13912345678, dana@acme.io") == "call 13912345678, [REDACTED:email]"


def test_what_is_masked_already_stays() -> None:
    assert Patterns(["[A-Za-z]+"]).redact("[REDACTED:password] abc [REDACTED:") == (
        "[REDACTED:password] [REDACTED:pattern] [REDACTED:"
    )
    once = Patterns(["a+", "p"]).redact("apa")
    assert Patterns(["a+", "p"]).redact(once) == once


@pytest.mark.parametrize(
    "written, said",
    [
        ("(", "missing"),
        ("(?=a)", "perl"),
        (r"(a)\1", "escape"),
        ("a*", "empty text"),
        ("x" * 2_000, "1,000"),
        ("\ud800", ""),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(written: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match="not a usable RE2 pattern") as refused:
        Patterns(["fine", written])
    assert said in str(refused.value)
    assert refused.value.details["reason"] == "bad_pattern"
    assert "wiki/Syntax" in str(refused.value.hint)


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="101 patterns"):
        Patterns(["a"] * (MOST + 1))


def test_without_the_library_patterns_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(Unavailable, match="google-re2") as refused:
        Patterns(["a"])
    assert install_command("patterns") in str(refused.value.hint)
    assert Redactor("basic").text("dana@acme.io") == "[REDACTED:email]"


@pytest.mark.process
def test_the_library_is_loaded_only_for_patterns() -> None:
    import subprocess

    code = (
        "import sys; from codexmem.codecli.redactor import Redactor\n"
        "Redactor('strict').text('x'); assert 're2' not in sys.modules\n"
        "Redactor('basic', ['a']); assert 're2' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_matches_may_be_of_any_alphabet_and_at_any_edge() -> None:
    assert Patterns(["密.密"]).redact("密中密" + "文" * 9_000 + "密中密\n密中密") == (
        "[REDACTED:pattern]" + "文" * 9_000 + "[REDACTED:pattern]\n[REDACTED:pattern]"
    )
    assert Patterns([r"\bx\b"]).redact("x\ud800x") == "[REDACTED:pattern]\ud800[REDACTED:pattern]"
    assert Patterns(["(?i)EMP"]).redact("emp EMP") == "[REDACTED:pattern] [REDACTED:pattern]"
    assert Patterns(["a"]).redact("") == ""


def test_a_pattern_that_matches_too_often_masks_the_rest_of_its_stretch() -> None:
    made = Patterns(["a"]).redact("ab" * 4_000)
    assert made.count("[REDACTED:pattern]") < 300
    assert made.endswith("[REDACTED:pattern]")


@pytest.mark.slow
def test_time_grows_with_the_text_alone() -> None:
    patterns = Patterns(["a.*b|a", "(x+x+)+y"])

    def taken(size: int) -> float:
        began = time.thread_time()
        patterns.redact("a" * size)
        return time.thread_time() - began

    assert min(taken(1 << 20) for _ in range(2)) < 12 * min(taken(1 << 18) for _ in range(2))
