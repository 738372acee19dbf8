"""`mem-codecli replay`: a run again, for the eye and as an account by today's rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codexmem.codecli import surroundings
from codexmem.codecli.agents.protocol import Launch
from codexmem.codecli.cli.root import cli
from codexmem.codecli.recording import Recorder
from codexmem.console.command import run
from tests.cli.conftest import Call

ANSWER = (
    "要部署商店，请按以下步骤：\n1. 运行 `just check`。\n2. 打标签：`git tag v1`。\n3. 推送标签：`git push --tags`。\n"
    "注意：若检查失败，不要打标签。\n"
)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """What Codex printed with `exec --json`: a command, then an answer."""
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path, Launch(("codex", "exec", "--json", "如何部署商店？"), {}, "/srv/shop"), adapter="codex")
    for line in (
        {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "rm -rf build"}},
        {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "rm -rf build",
                                            "exit_code": 1, "status": "failed"}},
        {"type": "item.completed", "item": {"id": "2", "type": "agent_message", "text": ANSWER}},
        {"type": "turn.completed", "usage": {}},
    ):  # fmt: skip
        recorder.wrote("stdout", json.dumps(line, ensure_ascii=False).encode() + b"\n")
    recorder.wrote("stderr", b"a warning\n")
    recorder.ended(7)
    return path


@pytest.mark.clause("001 §1.2.5", "replay prints exactly what a recorded run printed, on the same streams")
def test_what_was_printed_is_printed_again(recording: Path, home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["replay", str(recording)]) == 0
    streams = capfd.readouterr()
    assert [json.loads(line)["type"] for line in streams.out.splitlines()] == [
        "item.started", "item.completed", "item.completed", "turn.completed",
    ]  # fmt: skip
    assert streams.err == "a warning\n"


@pytest.mark.clause("001 §1.2.5", "an account of a recording: what was asked and said, which tools, today's verdicts")
def test_the_account_says_what_happened_and_what_todays_rules_say(
    recording: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_CODECLI_GATEKEEPER_MODE", "hard")
    monkeypatch.setenv("MEM_CODECLI_POLICY_DENYLIST", '["command:rm"]')
    document = call("replay", str(recording), "--json").json
    assert (document["exit_code"], document["adapter"]) == (7, "codex")
    assert [each["what"] for each in document["happenings"]] == ["tool_started", "tool_ended", "said", "turn_ended"]
    tool, ended, said, _ = document["happenings"]
    assert (tool["command"], tool["verdict"]) == ("rm -rf build", "deny")
    assert ended["ok"] is False
    assert said["text"].strip() == ANSWER.strip()
    (judged,) = document["gatekeeper"]
    assert judged["question"] == "如何部署商店？"
    assert {rule["name"] for rule in judged["rules"]} >= {"missing", "reusable", "form", "safe"}
    monkeypatch.delenv("MEM_CODECLI_POLICY_DENYLIST")
    monkeypatch.setenv("MEM_CODECLI_POLICY_ALLOWLIST", '["command:rm"]')
    assert call("replay", str(recording), "--json").json["happenings"][0]["verdict"] != "deny"


def test_the_account_for_people_is_translated_and_safe_to_print(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path, Launch(("someagent",), {}, "/"))
    recorder.wrote("stdout", b"\x1b]0;evil\x07said\x1b[2J\nmore\n")
    recorder.ended(0)
    said = call("replay", str(path), "--explain")
    assert "\x1b" not in said.out
    assert "said: " in said.out
    assert said.out.endswith("the agent exited with 0\n")
    assert call("replay", str(path), "--explain", "--lang", "zh").out.endswith("智能体以 0 结束\n")


def test_another_adapter_reads_it_another_way(recording: Path, call: Call) -> None:
    document = call("replay", str(recording), "--adapter", "generic", "--json").json
    assert [each["what"] for each in document["happenings"]] == ["said"]
    said = call("replay", str(recording), "--adapter", "nonsense")
    assert said.code == 2
    assert "codecli.adapter must be one of" in said.err


def test_speed_is_kept_and_can_be_changed(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    path = tmp_path / "run.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr(surroundings, "monotonic", lambda: next(clock, 2.0))
        recorder = Recorder(path, Launch(("someagent",), {}, "/"))
        recorder.wrote("stdout", b"x\n")
        recorder.ended(0)
    slept: list[float] = []
    monkeypatch.setattr(surroundings, "monotonic", lambda: 5.0 + sum(slept))
    monkeypatch.setattr(surroundings, "pause", slept.append)
    for speed in ("4", "0"):
        assert call("replay", str(path), "--speed", speed).code == 0
    assert slept == [0.25, 0.25]


def test_what_cannot_be_played_is_told(tmp_path: Path, call: Call, recording: Path) -> None:
    assert call("replay", str(tmp_path / "none")).code == 3
    (tmp_path / "text").write_text("hello\n")
    said = call("replay", str(tmp_path / "text"))
    assert said.code == 2
    assert "mem-codecli run --record FILE" in said.err
    recording.write_bytes(recording.read_bytes()[:-30])
    said = call("replay", str(recording))
    assert (said.code, "the recording was cut off" in said.err) == (0, True)
