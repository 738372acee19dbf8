"""What leaves the hook: nothing private, nothing secret, nothing endless."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.hook.events import MAX_BODY, body_of, encoded
from codexmem.kernel.model import own_tools, redaction

TOOL = {"contentSessionId": "s", "tool_name": "Bash"}


def told(record: dict[str, Any], event: str = "observation", known: tuple[str, ...] = ()) -> dict[str, Any]:
    body = body_of(event, record, known)
    assert body is not None
    return body


def test_a_session_without_a_name_is_nobodys() -> None:
    assert body_of("session-init", {"prompt": "x"}, ()) is None
    assert body_of("session-complete", {}, ()) is None


def test_a_private_prompt_leaves_a_turn_without_text() -> None:
    body = told({"contentSessionId": "s", "prompt": "<private>the launch date</private>"}, "session-init")
    assert body == {"contentSessionId": "s", "prompt": "", "private": True}


@pytest.mark.parametrize("prompt", ["", "  \n", "<system-reminder>x</system-reminder>", "<codexmem-context>x"])
def test_an_empty_prompt_is_no_prompt(prompt: str) -> None:
    assert body_of("session-init", {"contentSessionId": "s", "prompt": prompt}, ()) is None


def test_what_is_private_or_secret_goes_everywhere() -> None:
    secret = f"ghp_{'a1' * 18}"
    record = {
        **TOOL,
        "cwd": f"/x/{secret}",
        "tool_input": {"command": f"curl -H 'Authorization: Bearer {secret}'", "note": "<private>n</private>"},
        "tool_response": [f"password={'hunter22'}", {"k": "<private>v"}],
        "agent_id": "a",
    }
    text = json.dumps(told(record))
    assert secret not in text
    assert "hunter22" not in text
    assert "<private>" not in text
    prompt = told({"contentSessionId": "s", "prompt": f"用 {secret} 登录"}, "session-init")["prompt"]
    assert prompt == "用 [REDACTED:github] 登录"
    message = told({"contentSessionId": "s", "last_assistant_message": f"<private>x</private>{secret}"}, "summarize")
    assert message["last_assistant_message"] == "[REDACTED:github]"


def test_values_of_key_variables_are_secret_wherever_they_stand() -> None:
    body = told({**TOOL, "tool_response": "the value is Tr0ub4dor&3xyz"}, known=("Tr0ub4dor&3xyz",))
    assert body["tool_response"] == "the value is [REDACTED:known]"


@pytest.mark.parametrize("path", ["/a/.env", "/a/.env.local", r"C:\a\id_rsa", "deploy/prod.pem", "~/.netrc", "x.env"])
def test_files_of_secrets_are_not_quoted(path: str) -> None:
    body = told({**TOOL, "tool_name": "Write", "tool_input": {"file_path": path, "content": "odd value"},
                 "tool_response": "odd value"})  # fmt: skip
    assert body["tool_input"] == {"file_path": path}
    assert body["tool_response"] == "[REDACTED:file]"


@pytest.mark.parametrize("path", ["/a/.env.example", "/a/id_rsa.pub", "/a/environment.py", "/a/token.py", "/a/key.ts"])
def test_other_files_are(path: str) -> None:
    assert not redaction.is_secret_file(path)


@pytest.mark.parametrize(
    "tool, own",
    [
        ("mcp__codexmem__search", True),
        ("mcp__codexmem__anything_new", True),
        ("mcp__plugin_codexmem_codexmem__search", True),
        ("mcp_codexmem_search", True),
        ("codexmem_search", True),
        ("codexmem__search", True),
        ("codexmem.search", True),
        ("MCP:search", True),
        ("MCP:memory_add", True),
        ("MCP:create_memory", True),
        ("MCP:find_files", False),
        ("mcp__issues__search_codexmem", False),
        ("mcp__issues__search", False),
        ("mcp_issues_find", False),
        ("search", False),
        ("Read", False),
    ],
)
def test_our_own_tools_are_known_in_every_spelling(tool: str, own: bool) -> None:
    assert own_tools.is_own(tool) is own


def test_a_general_tool_may_name_our_server() -> None:
    assert own_tools.is_own("use_mcp_tool", {"server_name": "codexmem"})
    assert not own_tools.is_own("use_mcp_tool", {"server_name": "issues"})
    assert not own_tools.is_own("Bash", {"command": "codexmem search"})


def test_long_texts_are_cut_visibly() -> None:
    long = "头 " + "x" * 50_000 + " 尾"
    for value in (told({**TOOL, "tool_response": long})["tool_response"],
                  told({"contentSessionId": "s", "prompt": long}, "session-init")["prompt"]):  # fmt: skip
        assert len(value) < 16_000
        assert value.startswith("头")
        assert value.endswith("尾")
        assert "[… 36,628 characters left out …]" in value


def test_no_half_of_a_secret_is_left_at_a_cut() -> None:
    secret = f"ghp_{'a1' * 18}"
    for before in range(9_500, 9_700, 7):
        text = "x " * (before // 2) + secret + " y" * 10_000
        assert "a1a1a1" not in told({**TOOL, "tool_response": text})["tool_response"]
        assert (
            "a1a1a1" not in told({**TOOL, "tool_response": text[::-1].replace(secret[::-1], secret)})["tool_response"]
        )


@pytest.mark.parametrize(
    "huge",
    [["x" * 15_000] * 400, list(range(100_000)), {f"键{n}": "值" * 100 for n in range(10_000)}, "界" * 2_000_000],
    ids=["texts", "numbers", "entries", "one"],
)
def test_a_body_is_never_too_large(huge: Any) -> None:
    body = encoded(told({**TOOL, "tool_response": huge, "tool_input": {"a": huge}}))
    assert len(body) <= MAX_BODY
    assert json.loads(body)["tool_name"] == "Bash"


def test_what_json_cannot_say_is_left_out() -> None:
    body = told({**TOOL, "tool_response": [float("inf"), float("nan"), -0.5, "\ud800"]})
    assert json.loads(encoded(body))["tool_response"] == [None, None, -0.5, "?"]
