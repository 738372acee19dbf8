"""What says who or where somebody is: masked by `basic` and `strict`, and left alone where it is nobody's."""

# ruff: noqa: E501 - examples side by side

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model.redaction import LEVELS, kinds_in, redact, redact_value

EMAILS = {
    "write to zhang.wei@corp-mail.cn please": "write to [REDACTED:email] please",
    "邮箱：li.lei+work@shop.com.cn。": "邮箱：[REDACTED:email]。",
    "<dana@acme.io>, bob_x@a-b.co.uk": "<[REDACTED:email]>, [REDACTED:email]",
    "mailto:dana@acme.dev?subject=x": "mailto:[REDACTED:email]?subject=x",
}
STRICT = {
    "call +86 138 0013 8000 now": "call [REDACTED:phone] now",
    "+49 (151) 2345-6789": "[REDACTED:phone]",
    "电话13912345678谢谢": "电话[REDACTED:phone]谢谢",
    "139-1234-5678, 139 1234 5678": "[REDACTED:phone], [REDACTED:phone]",
    "tel (415) 555-2671 or 415-555-2671": "tel [REDACTED:phone] or [REDACTED:phone]",
    "座机 010-62345678": "座机 [REDACTED:phone]",
    "身份证 11010519491231002X": "身份证 [REDACTED:id-number]",
    "card 4539 5787 6362 1486": "card [REDACTED:card]",
    "card 4539578763621486.": "card [REDACTED:card].",
    "host 10.2.3.4:8080": "host [REDACTED:ip]:8080",
    "from 2001:db8:0:1:1:1:1:1 to fe80::1ff:fe23:4567:890a": "from [REDACTED:ip] to [REDACTED:ip]",
    "cd /home/alice/src": "cd /home/[REDACTED:user]/src",
    r"C:\Users\bob\x.txt": r"C:\Users\[REDACTED:user]\x.txt",
    "/Users/tom/Library": "/Users/[REDACTED:user]/Library",
    "用 AbCdEf12GhIjKl34MnOpQr56StUvWx78Yz 即可": "用 [REDACTED:random] 即可",
}
NOBODYS = [
    "git@github.com:owner/repo.git", "ssh://git@github.com/x", "ssh://bob@host.com/x", "someone@example.com", "a@b", "x@w.to(d)",
    "logo@2x.png", "@decorator.route", "user@host", "a @ b.com", "react@18.2.0", "noreply@anthropic.com", "q@k.transpose",
    "version 1.2.3.4", "==1.2.3.4", "127.0.0.1 0.0.0.0 255.255.255.0", "192.0.2.7 203.0.113.9", "1.2.3", "1.2.3.4.5", "999.1.1.1",
    "epoch 1763200000000 and 1763200000", "12:34:56", "std::vector a::b x::", "commit 13912345678abc", "id_13912345678",
    "4111 1111 1111 1111", "1234 5678 9012 3456", "/home/runner/work", "/home/user/x", "2026-03-04", "555-1234", "+1", "3.14159265358979",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709", "550e8400-e29b-41d4-a716-446655440000", "a_very_long_name_of_a_function_in_code_1",
    "012-345", "0000000000000000", "#13912345678", "1,234,567.89", "some-very-long-kebab-case-file-name-2026.txt",
]  # fmt: skip


@pytest.mark.clause(
    "001 §3.2.8", "basic masks e-mail addresses beside tokens and keys; strict masks more; off masks nothing"
)
@pytest.mark.parametrize("text", EMAILS)
def test_e_mail_addresses_are_masked_from_basic_on(text: str) -> None:
    assert LEVELS == ("off", "basic", "strict")
    assert redact(text, level="basic") == redact(text, level="strict") == EMAILS[text]
    assert redact(text, level="off") == text


@pytest.mark.parametrize("text", EMAILS)
def test_what_is_captured_keeps_its_addresses(text: str) -> None:
    assert redact(text) == text


@pytest.mark.clause("001 §3.2.8", "strict also masks numbers of people, machines, home directories and random strings")
@pytest.mark.parametrize("text", STRICT)
def test_the_rest_is_masked_by_strict_alone(text: str) -> None:
    assert redact(text, level="strict") == STRICT[text]
    assert redact(text, level="basic") == redact(text) == text


@pytest.mark.parametrize("text", NOBODYS)
def test_what_is_nobodys_is_left_alone(text: str) -> None:
    assert redact(text, level="strict") == text


@pytest.mark.clause("001 §3.2.8", "tokens and keys are masked by basic and strict, and by off not")
@pytest.mark.parametrize("level", LEVELS)
def test_secrets_at_every_level(level: str) -> None:
    token = "ghp_" + "a1B2" * 9
    value = {"password": "x9!z", "note": [f"key {token}", "dana@acme.io", "call 13912345678"]}
    made = redact_value(value, level=level)
    assert (token in str(made)) is (level == "off")
    assert ("x9!z" in str(made)) is (level == "off")
    assert ("dana" in str(made)) is (level == "off")
    assert ("13912345678" in str(made)) is (level != "strict")


def test_kinds_are_told_in_order() -> None:
    text = f"dana@acme.io ghp_{'a1B2' * 9} password=hunter22 ghp_{'a1B2' * 9}"
    assert kinds_in(text) == ("github", "password")
    assert kinds_in(text, level="basic") == ("email", "github", "password")
    assert kinds_in("my own value", known=["my own value"]) == ("known",)
    assert kinds_in("nothing here") == ()


PIECES = st.sampled_from([
    *EMAILS, *STRICT, "@", ".", "1", "138", "0", "-", " ", "+", ":", "::", "/home/", "a", "B", "中", "[REDACTED:ip]", "%40", "com",
])  # fmt: skip


@given(st.lists(PIECES, max_size=8), st.sampled_from(LEVELS))
def test_masking_twice_is_masking_once(pieces: list[str], level: str) -> None:
    once = redact(" ".join(pieces), level=level)
    assert redact(once, level=level) == once


@pytest.mark.process
def test_hooks_do_not_load_it() -> None:
    import subprocess
    import sys
    from pathlib import Path

    from codexmem.kernel.model import redaction

    code = (
        "import sys; from codexmem.kernel.model.redaction import redact\n"
        "redact('dana@acme.io password=hunter22 https://a:b1@c +49 151 23456789')\n"
        "sys.exit('codexmem.kernel.model.pii' in sys.modules)"
    )
    source = str(Path(redaction.__file__).parents[3])
    assert subprocess.run([sys.executable, "-S", "-c", code], check=False, env={"PYTHONPATH": source}).returncode == 0
