"""The whole program, as an agent calls it: exit 0 and valid output whatever happens, and no event lost or doubled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests._support.hook_endpoint import Asked, HookEndpoint
from tests._support.waiting import eventually
from tests.clients.hook.conftest import SOURCES, Call
from tests.clients.hook.test_dialects import payload

TOOL: dict[str, Any] = {
    "session_id": "s-1",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_response": "a.py",
}


def spooled(data: Path) -> list[str]:
    root = data / "spool"
    return sorted(path.name for path in root.glob("*.event")) if root.is_dir() else []


def test_an_event_reaches_the_server(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    said = hook("codex", "observation", payload=payload("codex-post-tool-use-bash"), url=endpoint.url)
    assert (said.code, said.out, said.err) == (0, "", "")
    (event,) = endpoint.events
    assert event.path == "/api/sessions/observations"
    assert event.body["contentSessionId"] == "0199a213-81c0-7800-8aa1-bbab2a035a53"
    assert (event.body["project"], event.body["platform"]) == ("shop", "codex")
    assert abs(event.body["at"] - time.time() * 1000) < 60_000
    assert len(event.body["event_id"]) == 32
    assert spooled(data) == []


@pytest.mark.parametrize(
    "event, path",
    [
        ("session-init", "/api/sessions/init"), ("observation", "/api/sessions/observations"),
        ("summarize", "/api/sessions/summarize"), ("session-complete", "/api/sessions/complete"),
    ],
)  # fmt: skip
def test_each_event_has_its_path(event: str, path: str, hook: Call, endpoint: HookEndpoint) -> None:
    said = hook("raw", event, payload={**TOOL, "prompt": "hello", "last_assistant_message": "bye"}, url=endpoint.url)
    assert (said.code, said.out) == (0, "")
    assert endpoint.events[0].path == path


def test_a_patch_that_codex_reports_to_no_hook_goes_before_the_end_of_its_turn(
    hook: Call, endpoint: HookEndpoint, tmp_path: Path
) -> None:
    failed = {"type": "FileChange", "id": "p1", "status": "failed", "stderr": "no room", "changes": {}}
    told = {"type": "item_completed", "turn_id": "t1", "item": failed}
    (tmp_path / "rollout.jsonl").write_text(json.dumps({"type": "event_msg", "payload": told}))
    given = payload("codex-stop") | {"transcript_path": str(tmp_path / "rollout.jsonl"), "turn_id": "t1"}
    assert hook("codex", "summarize", payload=given, url=endpoint.url).code == 0
    patch, stop = (each.body for each in endpoint.events)
    assert (patch["tool_name"], patch["tool_response"]) == ("apply_patch", {"output": "no room", "success": False})
    assert stop["last_assistant_message"] == "The port is 8123."
    assert patch["event_id"] != stop["event_id"]


def test_context_is_printed_in_the_agents_form(hook: Call, endpoint: HookEndpoint) -> None:
    endpoint.context = "端口 8123\n"
    said = hook("codex", "context", payload=payload("codex-session-start"), url=endpoint.url)
    assert said.json == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "端口 8123"}
    }  # fmt: skip
    (asked,) = endpoint.asked
    assert asked.path == "/api/context"
    assert asked.query == {"project": "shop", "cwd": "/home/me/shop", "platform": "codex",
                           "session": "0199a213-81c0-7800-8aa1-bbab2a035a53"}  # fmt: skip


@pytest.mark.parametrize(
    "language, counts, away",
    [
        ("en", "codexmem: 3 told, 1 opened, 2 learned\n", "codexmem: no server\n"),
        ("zh", "codexmem：告知 3，打开 1，学到 2\n", "codexmem：无服务器\n"),
    ],
)
def test_a_status_line_counts_and_captures_nothing(
    language: str, counts: str, away: str, hook: Call, endpoint: HookEndpoint, data: Path
) -> None:
    asks = {"session_id": "a b", "hook_event_name": "Status"}
    assert hook("claude-code", "status-line", payload=asks, CODEXMEM_LANG=language).out == away
    endpoint.context = '{"session": "a b", "told": 3, "opened": 1, "learned": 2}'
    said = hook("claude-code", "status-line", payload=asks, url=endpoint.url, CODEXMEM_LANG=language)
    assert (said.code, said.out, said.err) == (0, counts, "")
    (asked,) = endpoint.asked
    assert (asked.method, asked.path, asked.query) == ("GET", "/api/lineage/counts", {"session": "a b"})
    assert spooled(data) == []


@pytest.mark.parametrize("counts", [{}, {"told": "many", "opened": 1, "learned": 2}, {"told": 1}])
def test_a_status_line_says_nothing_that_was_not_counted(
    counts: dict[str, Any], hook: Call, endpoint: HookEndpoint
) -> None:
    endpoint.context = json.dumps(counts)
    assert hook("claude-code", "status-line", payload={"session_id": "s"}, url=endpoint.url).out == ""
    assert hook("claude-code", "status-line", payload={}, url=endpoint.url).out == ""


def test_a_prompt_is_delivered_and_answered_with_what_bears_on_it(hook: Call, endpoint: HookEndpoint) -> None:
    endpoint.context = "the port is 8123"
    said = hook("claude-code", "session-init", payload=payload("claude-user-prompt-submit"), url=endpoint.url)
    assert said.json["hookSpecificOutput"] == {
        "hookEventName": "UserPromptSubmit", "additionalContext": "the port is 8123"
    }  # fmt: skip
    delivered, asked = endpoint.asked
    assert delivered.body["prompt"] == asked.query["prompt"] == "修复登录超时的问题"


def test_cursor_is_not_asked_to_wait_for_what_it_cannot_take(hook: Call, endpoint: HookEndpoint) -> None:
    endpoint.context = "x"
    said = hook("cursor", "session-init", payload=payload("cursor-before-submit-prompt"), url=endpoint.url)
    assert said.json == {"continue": True}
    assert [each.method for each in endpoint.asked] == ["POST"]


def test_input_may_be_closed(endpoint: HookEndpoint, tmp_path: Path) -> None:
    endpoint.context = "the port is 8123"
    command = f"exec {sys.executable} -m codexmem.hook claude-code context <&-"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(SOURCES), "CODEXMEM_URL": endpoint.url}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] == "the port is 8123"
    assert endpoint.asked[0].query["project"] == tmp_path.name


def test_prompt_context_can_be_switched_off(hook: Call, endpoint: HookEndpoint) -> None:
    endpoint.context = "x"
    said = hook("codex", "session-init", payload=payload("codex-user-prompt-submit"), url=endpoint.url,
                CODEXMEM_PROMPT_CONTEXT="0")  # fmt: skip
    assert said.out == ""
    assert [each.method for each in endpoint.asked] == ["POST"]


def test_a_private_prompt_asks_for_nothing(hook: Call, endpoint: HookEndpoint) -> None:
    endpoint.context = "x"
    said = hook("raw", "session-init", payload={"session_id": "s", "prompt": "<private>x</private>"}, url=endpoint.url)
    assert said.out == ""
    (asked,) = endpoint.asked
    assert (asked.body["private"], asked.body["prompt"]) == (True, "")


def test_a_long_prompt_makes_no_long_address(hook: Call, endpoint: HookEndpoint) -> None:
    hook("raw", "session-init", payload={"session_id": "s", "prompt": "端口 " * 50_000}, url=endpoint.url)
    assert len(endpoint.asked[1].query["prompt"]) <= 1_000


def test_nothing_relevant_is_nothing_printed(hook: Call, endpoint: HookEndpoint) -> None:
    for status in (200, 404, 503):
        endpoint.status = status
        assert hook("codex", "context", payload=payload("codex-session-start"), url=endpoint.url).out == ""


@pytest.mark.parametrize(
    "given", [b"", b"   ", b"{", b"[1]", b"null", b"\xff\xfe", b'{"a":' * 50_000, b"\xef\xbb\xbf{}"]
)
@pytest.mark.parametrize("platform", ["codex", "cursor"])
def test_broken_input_is_all_right(given: bytes, platform: str, hook: Call, endpoint: HookEndpoint) -> None:
    said = hook(platform, "observation", payload=given, url=endpoint.url)
    assert (said.code, said.err) == (0, "")
    assert said.out == ("" if platform == "codex" else '{"continue":true}\n')
    assert endpoint.asked == []


@pytest.mark.parametrize(
    "arguments", [[], ["codex"], ["codex", "nonsense"], ["codex", "policy"], ["nobody", "nothing", "x"]]
)
def test_unknown_events_are_a_success_without_action(arguments: list[str], hook: Call, endpoint: HookEndpoint) -> None:
    said = hook(*arguments, payload=TOOL, url=endpoint.url)
    assert (said.code, said.out, said.err, endpoint.asked) == (0, "", "", [])


def test_an_unknown_platform_is_raw(hook: Call, endpoint: HookEndpoint) -> None:
    assert hook("windsurf", "observation", payload=TOOL, url=endpoint.url).code == 0
    assert endpoint.events[0].body["platform"] == "raw"


@pytest.mark.parametrize("mark", ["CODEXMEM_AUTHOR", "CODEXMEM_INTERNAL"])
def test_our_own_work_is_not_remembered(hook: Call, endpoint: HookEndpoint, mark: str) -> None:
    endpoint.context = "x"
    for event in ("observation", "context"):
        said = hook("codex", event, payload=TOOL, url=endpoint.url, **{mark: "1"})
        assert (said.code, said.out, said.err) == (0, "", "")
    assert endpoint.asked == []


def test_a_bom_and_crlf_are_read(hook: Call, endpoint: HookEndpoint) -> None:
    hook("raw", "observation", payload=b"\xef\xbb\xbf" + json.dumps(TOOL, indent=1).replace("\n", "\r\n").encode(),
         url=endpoint.url)  # fmt: skip
    assert len(endpoint.events) == 1


def test_a_token_is_brought_to_the_store_it_belongs_to(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    data.mkdir()
    (data / "token").write_text("t-1\n")
    hook("raw", "observation", payload=TOOL, url=endpoint.url)
    assert endpoint.asked[0].headers["Authorization"] == "Bearer t-1"


def test_a_server_that_is_away_costs_no_event(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    endpoint.stop()
    for number in range(3):
        said = hook("raw", "observation", payload={**TOOL, "tool_use_id": f"u-{number}"}, url=endpoint.url)
        assert (said.code, said.out, said.err) == (0, "", "")
    assert len(spooled(data)) == 3
    endpoint.start()
    assert hook("raw", "observation", payload={**TOOL, "tool_use_id": "u-3"}).code == 0
    for _ in range(4):  # what a busy machine did not send in the hook's time stays for the next
        if spooled(data):
            hook("raw", "drain", payload={})
    assert [event.body["tool_use_id"] for event in endpoint.events] == ["u-0", "u-1", "u-2", "u-3"]
    assert len({event.body["event_id"] for event in endpoint.events}) == 4
    assert spooled(data) == []


@pytest.mark.parametrize("status", [401, 403, 404, 408, 421, 429, 500, 502, 503, 507, 302])
def test_an_answer_that_may_change_keeps_the_event(status: int, hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    endpoint.status = status
    assert hook("raw", "observation", payload=TOOL, url=endpoint.url).code == 0
    assert len(spooled(data)) == 1
    endpoint.status = 200
    hook("raw", "drain", payload={})
    assert spooled(data) == []
    assert endpoint.events[-1].body == endpoint.events[0].body


@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_an_answer_that_is_final_puts_the_event_aside(
    status: int, hook: Call, endpoint: HookEndpoint, data: Path
) -> None:
    endpoint.status = status
    assert hook("raw", "observation", payload=TOOL, url=endpoint.url).code == 0
    assert spooled(data) == []
    assert len(list((data / "spool" / "rejected").iterdir())) == 1
    hook("raw", "observation", payload=TOOL, url=endpoint.url)
    assert len(endpoint.events) == 2


def test_a_slow_server_is_not_waited_for(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    endpoint.delay_s = 5
    said = hook("raw", "observation", payload=TOOL, url=endpoint.url, CODEXMEM_HOOK_BUDGET_MS="600")
    assert said.code == 0
    assert len(spooled(data)) == 1


@pytest.mark.parametrize("whole", [True, False])
def test_input_that_never_ends_is_not_waited_for(whole: bool, hook: Call, endpoint: HookEndpoint) -> None:
    read, write = os.pipe()
    os.write(write, json.dumps(TOOL).encode()[: None if whole else -1])
    said = hook("raw", "observation", stdin=read, url=endpoint.url)
    os.close(write)
    os.close(read)
    assert said.code == 0
    assert len(endpoint.events) == whole


def test_input_may_come_in_pieces(hook: Call, endpoint: HookEndpoint) -> None:
    read, write = os.pipe()
    said, over = json.dumps(TOOL).encode(), threading.Event()

    def speak() -> None:
        for at in range(0, len(said), 40):
            os.write(write, said[at : at + 40])
            over.wait(0.12)
        os.close(write)

    speaking = threading.Thread(target=speak)
    speaking.start()
    hook("raw", "observation", stdin=read, url=endpoint.url)
    over.set()
    speaking.join()
    os.close(read)
    assert len(endpoint.events) == 1


def test_a_lost_answer_is_sent_again_under_the_same_id(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    given_up = threading.Event()

    def slow_at_first(_: Asked) -> None:
        if not endpoint.events:
            given_up.wait()

    endpoint.choose = slow_at_first
    hook("raw", "observation", payload=TOOL, url=endpoint.url, CODEXMEM_HOOK_BUDGET_MS="500")
    given_up.set()
    assert len(spooled(data)) == 1
    eventually(lambda: endpoint.events)
    hook("drain", payload={})
    assert len(endpoint.events) == 2
    assert len({event.body["event_id"] for event in endpoint.events}) == 1


def test_an_agent_does_not_pay_for_what_others_left(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    endpoint.stop()
    for _ in range(12):
        hook("raw", "observation", payload=TOOL, url=endpoint.url)
    endpoint.delay_s = 0.1
    endpoint.start()
    hook("raw", "summarize", payload={"session_id": "s-1", "last_assistant_message": "x"})
    assert spooled(data), "its own event waits behind the others"
    endpoint.delay_s = 0
    hook("drain", payload={})
    assert spooled(data) == []
    assert endpoint.events[-1].path == "/api/sessions/summarize"


def test_drain_waits_for_whoever_delivers(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    from codexmem.hook.spool import Spool

    endpoint.stop()
    hook("raw", "observation", payload=TOOL, url=endpoint.url)
    endpoint.start()
    lock = Spool(str(data)).take_lock()
    assert lock is not None
    threading.Timer(0.5, os.close, [lock]).start()
    hook("drain", payload={})
    assert len(endpoint.events) == 1


def test_hooks_at_once_deliver_each_event_once(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    endpoint.stop()
    hook("raw", "observation", payload={**TOOL, "tool_use_id": "first"}, url=endpoint.url)
    endpoint.start()
    endpoint.delay_s = 0.02
    threads = [
        threading.Thread(
            target=hook, args=("raw", "observation"), kwargs={"payload": {**TOOL, "tool_use_id": f"u-{n}"}}
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hook("drain", payload={})
    assert spooled(data) == []
    assert sorted(event.body["tool_use_id"] for event in endpoint.events) == ["first", *(f"u-{n}" for n in range(8))]


def test_a_poisoned_event_does_not_stop_the_others(hook: Call, endpoint: HookEndpoint, data: Path) -> None:
    def fails(asked: Asked) -> int | None:
        return 500 if asked.method == "POST" and asked.body.get("tool_use_id") == "poison" else None

    endpoint.choose = fails
    for name in ("poison", "a", "b", "c", "d", "e", "f"):
        hook("raw", "observation", payload={**TOOL, "tool_use_id": name}, url=endpoint.url)
        hook("drain", payload={})
    taken = [event.body["tool_use_id"] for event in endpoint.events if event.body["tool_use_id"] != "poison"]
    assert taken == ["a", "b", "c", "d", "e", "f"]
    assert spooled(data) == []
    assert len(list((data / "spool" / "rejected").iterdir())) == 1


@pytest.mark.parametrize("variable", ["XDG_RUNTIME_DIR", "TMPDIR"])
def test_an_event_that_finds_no_room_waits_elsewhere_and_is_delivered(
    hook: Call, endpoint: HookEndpoint, tmp_path: Path, variable: str
) -> None:
    (tmp_path / "file").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    settings = {"CODEXMEM_DATA_DIR": str(tmp_path / "file" / "data"), variable: str(elsewhere)}
    said = hook("raw", "observation", payload=TOOL, **settings)
    assert (said.code, said.out) == (0, "")
    assert "cannot be written" in said.err
    assert str(elsewhere) in said.err
    own = elsewhere / f"codexmem-{os.geteuid()}"
    (kept,) = own.rglob("*.event")
    assert not any(path.stat().st_mode & 0o077 for path in (own, kept.parent, kept))
    said = hook("raw", "observation", payload={**TOOL, "tool_use_id": "second"}, CODEXMEM_URL=endpoint.url, **settings)
    assert (said.code, said.err) == (0, "")
    assert [event.body.get("tool_use_id") for event in endpoint.events] == [TOOL.get("tool_use_id"), "second"]
    assert not list(own.rglob("*.event"))


def test_an_event_that_can_be_kept_nowhere_is_lost_aloud(hook: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = {"CODEXMEM_DATA_DIR": str(tmp_path / "file" / "data"), "TMPDIR": str(tmp_path / "file")}
    said = hook("raw", "observation", payload=TOOL, **settings)
    assert (said.code, said.out) == (0, "")
    assert "this event is lost" in said.err
    assert "已丢失" in hook("raw", "observation", payload=TOOL, LANG="zh_CN.UTF-8", **settings).err


def test_a_folder_that_others_can_reach_is_not_trusted(hook: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shared = tmp_path / "shared" / f"codexmem-{os.geteuid()}"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    settings = {"CODEXMEM_DATA_DIR": str(tmp_path / "file" / "data"), "TMPDIR": str(shared.parent)}
    assert "this event is lost" in hook("raw", "observation", payload=TOOL, **settings).err
    assert not list(shared.iterdir())


def test_a_working_directory_that_is_gone_is_no_reason_to_fail(endpoint: HookEndpoint, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"rmdir {gone} && exec {sys.executable} -m codexmem.hook raw observation"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(SOURCES), "CODEXMEM_URL": endpoint.url}
    done = subprocess.run(["sh", "-c", command], cwd=gone, env=env, input=json.dumps(TOOL).encode(), check=False)
    assert done.returncode == 0
    assert endpoint.events[0].body["project"] == "unnamed"


def test_the_last_words_come_from_the_transcript_if_need_be(hook: Call, endpoint: HookEndpoint, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}\n'
    )
    hook("claude-code", "summarize", payload={"session_id": "s", "transcript_path": str(transcript)}, url=endpoint.url)
    assert endpoint.events[0].body["last_assistant_message"] == "done"


SECRETS = f"ghp_{'a1' * 18}", "hunter22!", "Tr0ub4dor&3xyz", "the launch is in May"


def test_nothing_secret_is_ever_on_the_disk(hook: Call, data: Path) -> None:
    github, password, variable, private = SECRETS
    said = {"command": f"curl -u me:{password} -H 'X: {github}'", "note": f"<private>{private}</private>"}
    hook("raw", "observation", payload={**TOOL, "tool_input": said, "tool_response": f"{variable} <private>{private}"},
         ACME_API_KEY=variable)  # fmt: skip
    hook("raw", "session-init", payload={"session_id": "s", "prompt": f"{github} <private>{private}</private>"})
    hook("raw", "summarize", payload={"session_id": "s", "last_assistant_message": f"password: {password}"})
    files = [path for path in data.rglob("*") if path.is_file()]
    assert len(files) == 3
    for path in files:
        text = path.read_text()
        assert not [secret for secret in SECRETS if secret in text]


def test_it_loads_nothing_slow() -> None:
    code = (
        "import sys, io, os\nfrom codexmem.hook import program\n"
        'program.run([\'claude-code\', \'observation\'], b\'{"session_id":"s","tool_name":"Bash"}\')\n'
        "print(' '.join(sys.modules))"
    )
    env = {"PYTHONPATH": str(SOURCES), "CODEXMEM_AUTOSTART": "0", "CODEXMEM_DATA_DIR": "/dev/null/x", "HOME": "/",
           "TMPDIR": "/dev/null"}  # fmt: skip
    done = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=True)
    slow = {"re", "enum", "typing", "json", "socket", "dataclasses", "pathlib", "uuid", "subprocess", "collections",
            "functools", "contextlib", "tempfile", "threading", "argparse", "click"}  # fmt: skip
    assert slow & set(done.stdout.split()) == set()
