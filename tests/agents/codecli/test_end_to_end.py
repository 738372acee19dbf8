"""`mem-codecli run` with real agents, a real server and a scripted model: one story, told by three protocols.

A person asks; the memory knows something about it and the model is told. The model wants to delete a folder, which the
policy denies; it is told why and goes on, runs the tests, which is allowed, and answers with the memory's anchor. What
was shown, used and proved arrives at the server, the answer becomes a candidate, and everything is in the audit log.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

from codexmem.codecli.audit_log import AuditLog
from tests._support.scripted_model import Call, Say, ScriptedModel
from tests._support.server import Server
from tests.agents.codex import Codex
from tests.agents.person import ENDS_WITHIN_S, Person
from tests.agents.qwen import Qwen

pytestmark = pytest.mark.timeout(180)

PROJECT = "shop"
KNOWN = {
    "question": "How long does the payment gateway take under load?",
    "answer": "The payment gateway needs up to 20 seconds under load, so TIMEOUT_S must be more. 支付网关最多 20 秒.",
}
PROMPT = "Why do orders time out when the payment gateway is under load, and how should TIMEOUT_S be chosen?"
WHY_NOT = "build 目录是发布用的: the build folder is for releases"
FORBIDDEN, ALLOWED = "rm -rf build", "python3 -m unittest test_orders"
TEST = "import unittest\n\n\nclass Orders(unittest.TestCase):\n    def test_sum(self):\n        assert 1 + 1 == 2\n"
ANSWER = """Orders time out because the client gives up before the payment gateway has answered. {anchor}

1. Choose TIMEOUT_S larger than the slowest answer of the gateway, which is 20 seconds under load.
2. Retry once at most, with the same idempotency key, so that nothing is paid for twice.
3. Watch the rate of retries, and raise the value only if it grows.

Note: this does not hold for refunds, which the gateway answers at once."""


@dataclass
class Story:
    """What is the same whoever the agent is."""

    person: Person
    server: Server
    model: ScriptedModel
    shell: str  # what the agent calls its shell
    argument: str  # and the command in it
    more: dict[str, Any] = field(default_factory=dict)
    qa_id: str = ""

    def begin(self, adapter: str, command: list[str]) -> None:
        """A memory that has proved right, a policy, and a model with a script."""
        stored = self.server.post("/v1/qa/candidates", {"project_id": PROJECT, **KNOWN}).json
        self.qa_id = stored["qa_id"]
        proof = {"project_id": PROJECT, "qa_id": self.qa_id, "success": True, "strong_signal": True}
        assert self.server.post("/v1/qa/validate", proof).status == 200
        config = self.person.home / ".config" / "mem-codecli" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            f"""project_id = "{PROJECT}"
            [codecli]
            command = {json.dumps(command)}
            adapter = "{adapter}"
            [memory]
            timeout_ms = 15000  # the machine may be busy; that no run waits longer is tested elsewhere
            [policy]
            allowlist = ["command:{ALLOWED}"]
            denylist = [{{command = "rm", reason = "{WHY_NOT}"}}]
            """
        )
        self.person.write("test_orders.py", TEST)
        (self.person.repository / "build").mkdir()
        (self.person.repository / "build" / "release.txt").write_text("1.0\n")
        self.model.play(self._runs(FORBIDDEN), self._runs(ALLOWED), Say(ANSWER.format(anchor=f"[QA_REF {self.qa_id}]")))

    def run(
        self, *arguments: str, given: str | None = None, inject: str = "system", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """The program, as a person starts it; with `given` on standard input."""
        command = [sys.executable, "-m", "codexmem.codecli.cli", "run", "--memory-on", "--audit", "auto",
                   "--inject-mode", inject, "--", *arguments]  # fmt: skip
        return subprocess.run(
            command, cwd=self.person.repository, env=self.person.environment(**environment), text=True, check=False,
            stdin=subprocess.DEVNULL if given is None else None, input=given, capture_output=True,
            timeout=ENDS_WITHIN_S,
        )  # fmt: skip

    def was_told(self) -> None:
        """The model's requests: memory first, then the reason, and then it went on."""
        bodies = [json.dumps(asked.body, ensure_ascii=False) for asked in self.model.asked if asked.tools]
        assert f"[QA_REF {self.qa_id}]" in bodies[0]
        assert "支付网关最多 20 秒" in bodies[0]
        assert WHY_NOT not in bodies[0]
        assert WHY_NOT in bodies[1]
        assert (self.person.repository / "build" / "release.txt").exists()
        assert "Ran 1 test" in next(body for body in bodies if "Ran 1 test" in body)

    def was_recorded(self) -> None:
        """The audit log: as it was written, with both decisions, their reasons and what came of the second."""
        log = AuditLog(self.person.home / ".local" / "state" / "mem-codecli" / "audit")
        assert log.verify().ok
        rows = list(log.rows())
        assert [(row["kind"], row.get("decision"), row.get("result")) for row in rows] == [
            ("request", "deny", None), ("request", "allow", None), ("result", None, "success")]  # fmt: skip
        # Codex's app-server tells a command with the shell around it.
        assert all(
            wanted in row["arguments"]["command"] for wanted, row in zip((FORBIDDEN, ALLOWED), rows, strict=False)
        )
        assert WHY_NOT in rows[0]["reason"]
        assert rows[2]["call_id"] == rows[1]["call_id"]
        assert {row["project_id"] for row in rows} == {PROJECT}
        assert len({row["run_id"] for row in rows}) == 1

    def was_learned(self) -> None:
        """The server: shown, used and proved once more, and one candidate."""
        searched = {"project_id": PROJECT, "query": KNOWN["question"], "limit": 20, "min_score": 0.0}
        items = self.server.post("/v1/qa/search", searched).json["items"]
        known = next(item for item in items if item["qa_id"] == self.qa_id)
        assert known["hits"] == {"shown": 1, "used": 1}
        assert known["validations"] == {"success": 2, "failure": 0}
        (candidate,) = [item for item in items if item["qa_id"] != self.qa_id]
        assert (candidate["status"], candidate["unproven"]) == ("candidate", True)
        assert "idempotency key" in candidate["answer"]
        assert "TIMEOUT_S" in candidate["question"]
        assert "QA_REF" not in candidate["answer"]

    def _runs(self, command: str) -> Call:
        return Call(self.shell, {self.argument: command, **self.more})


@pytest.fixture
def codex_story(codex: Codex, person: Person, server: Server, model: ScriptedModel) -> Story:
    codex.configure()
    return Story(person, server, model, "exec_command", "cmd")


@pytest.mark.clause("001 §2.2", "with the real Codex: search, injection, hit, candidate and validation in one run")
@pytest.mark.clause("001 §5.2", "the real Codex is told why by its hook and goes on")
def test_codex_exec(codex_story: Story, codex: Codex) -> None:
    codex_story.begin("auto", [str(codex.installation.codex)])

    done = codex_story.run("exec", "--json", PROMPT, SCRIPTED_KEY="x")

    assert done.returncode == 0, done
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["type"] == "turn.completed"
    assert events[-2]["item"]["text"].startswith("Orders time out because")
    codex_story.was_told()
    codex_story.was_recorded()
    codex_story.was_learned()


@pytest.mark.clause("001 §2.2", "with the real Codex: a prompt on standard input gets the memory before it")
@pytest.mark.parametrize("arguments", [("-",), ()], ids=["dash", "nothing"])
def test_codex_exec_reads_its_prompt_from_standard_input(
    arguments: tuple[str, ...], codex_story: Story, codex: Codex
) -> None:
    codex_story.begin("auto", [str(codex.installation.codex)])

    done = codex_story.run("exec", "--json", *arguments, given=f"{PROMPT}\n", inject="user", SCRIPTED_KEY="x")

    assert done.returncode == 0, done
    assert "no prompt" not in done.stderr
    first = json.dumps(next(asked.body for asked in codex_story.model.asked if asked.tools), ensure_ascii=False)
    assert f"</codexmem-context>\\n\\n{PROMPT}" in first  # in the same message
    codex_story.was_told()
    codex_story.was_recorded()
    codex_story.was_learned()


@pytest.mark.clause("001 §5.1", "approvals of the real Codex app-server pass the gate")
@pytest.mark.clause("001 §5.2", "the real Codex is told why inside its protocol and goes on")
def test_codex_app_server(codex_story: Story, codex: Codex) -> None:
    codex_story.begin("codex-app-server", [str(codex.installation.codex)])

    done = codex_story.run("exec", PROMPT, SCRIPTED_KEY="x")

    assert done.returncode == 0, done
    assert done.stdout == ANSWER.format(anchor=f"[QA_REF {codex_story.qa_id}]") + "\n"
    codex_story.was_told()
    codex_story.was_recorded()
    codex_story.was_learned()


@pytest.mark.clause("001 §5.1", "permission requests of the real Qwen Code over ACP pass the gate")
@pytest.mark.clause("001 §5.2", "the real Qwen Code is told why and goes on")
def test_qwen_over_acp(qwen: Qwen, person: Person, server: Server, model: ScriptedModel) -> None:
    qwen.configure()
    story = Story(person, server, model, "run_shell_command", "command", {"is_background": False})
    installed = qwen.installation
    story.begin("acp", [str(installed.node), str(installed.qwen), "--auth-type", "openai"])

    done = story.run(
        PROMPT, OPENAI_API_KEY="x", OPENAI_BASE_URL=model.url, OPENAI_MODEL="scripted", QWEN_CODE_NO_RELAUNCH="true",
        NODE_COMPILE_CACHE=str(installed.compiled),
    )  # fmt: skip

    assert done.returncode == 0, done
    assert done.stdout.endswith("which the gateway answers at once.\n")
    story.was_told()
    story.was_recorded()
    story.was_learned()


@pytest.mark.clause("001 §2.2", "with the real Qwen Code: a prompt on standard input gets the memory before it")
def test_qwen_reads_its_prompt_from_standard_input(
    qwen: Qwen, person: Person, server: Server, model: ScriptedModel
) -> None:
    qwen.configure()
    story = Story(person, server, model, "run_shell_command", "command", {"is_background": False})
    installed = qwen.installation
    story.begin("claude-json", [str(installed.node), str(installed.qwen), "--auth-type", "openai"])

    done = story.run(
        "--output-format", "stream-json", "--approval-mode", "yolo", given=f"{PROMPT}\n", inject="user",
        OPENAI_API_KEY="x", OPENAI_BASE_URL=model.url, OPENAI_MODEL="scripted", QWEN_CODE_NO_RELAUNCH="true",
        NODE_COMPILE_CACHE=str(installed.compiled),
    )  # fmt: skip

    assert done.returncode == 0, done
    first = json.dumps(next(asked.body for asked in model.asked if asked.tools), ensure_ascii=False)
    assert f"</codexmem-context>\\n\\n{PROMPT}" in first
    story.was_told()
    story.was_learned()
