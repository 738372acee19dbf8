"""The person's own Codex and Qwen Code write memories, with their login, and nothing of it is ever remembered.

The programs are real, codexmem is installed into them, and their model is scripted. What the others do, which are too
large for the gate, `python -m tests.agents.authors` shows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.agents.authors.model import agent_model
from codexmem.kernel.llm.model import Message, ModelPrompt, Trouble, Unanswered
from tests._support.scripted_model import Asked, Call, Say, ScriptedModel
from tests.agents.codex import Codex
from tests.agents.installation import Installation
from tests.agents.person import Person
from tests.agents.qwen import Qwen
from tests.agents.witness import Witness

pytestmark = pytest.mark.timeout(180)

ANSWER = {"title": "支付网关", "facts": ["The gateway takes up to 20 s."]}
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["title", "facts"],
    "additionalProperties": False,
}
RULES, QUESTION = "You write memories.", "What was learned here?"
PROMPT = ModelPrompt((Message("system", RULES), Message("user", QUESTION)), "memory", SCHEMA, 500)
# As long as a prompt may be: no argument of a command could be.
LONG = ModelPrompt((Message("system", RULES), Message("user", f"{QUESTION} {'材料 ' * 33_000}")), "memory", SCHEMA, 500)


def goes_on() -> None:
    """Nobody wants the work to stop."""


class Refusing(ScriptedModel):
    """A model server that refuses."""

    refusal: tuple[int, dict[str, Any]] | None = (500, {"error": {"message": "boom"}})

    def answer(self, asked: Asked) -> tuple[int, dict[str, Any] | list[dict[str, Any]]]:
        """The same to everybody; without a refusal, the script."""
        if self.refusal is None:
            return super().answer(asked)
        self.asked.append(asked)
        return self.refusal


@pytest.fixture
def programs(installation: Installation, tmp_path: Path) -> Path:
    """A folder with the agents' programs, as on a person's PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").symlink_to(installation.codex)
    qwen = folder / "qwen"
    qwen.write_text(f'#!/bin/sh\nexec "{installation.node}" "{installation.qwen}" "$@"\n')
    qwen.chmod(0o755)
    return folder


@pytest.fixture
def witness(person: Person, tmp_path: Path, alone: bool) -> Iterator[Witness]:
    """The person's codexmem, that takes down what is set in motion of it."""
    with Witness(person, tmp_path / "codexmem") as witness:
        yield witness


@pytest.fixture
def environ(person: Person, programs: Path, installation: Installation) -> dict[str, str]:
    """The person's environment, as their codexmem server has it."""
    return person.environment(
        PATH=f"{programs}:{os.environ['PATH']}", SCRIPTED_KEY="x", NODE_COMPILE_CACHE=str(installation.compiled)
    )


def settings_of(model: ScriptedModel) -> str:
    """Qwen Code's, with the login in them."""
    login = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "x", "OPENAI_MODEL": "scripted"}
    return json.dumps({"model": {"name": "scripted"}, "env": login})


def files_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_codex_answers_by_the_schema_and_nothing_of_it_is_remembered(
    codex: Codex, person: Person, programs: Path, witness: Witness, environ: dict[str, str]
) -> None:
    codex.configure(f'[projects."{person.repository}"]\ntrust_level = "trusted"\n')
    witness.install("codex", programs)
    config = person.home / ".codex" / "config.toml"
    log = person.home / "notified"
    config.write_text(f'notify = ["touch", "{log}"]\ndeveloper_instructions = "Be brief."\n' + config.read_text())
    # A session of the person's own starts everything: the installation works.
    codex.model.play(Say("Done."))
    assert codex.exec("Look around.").code == 0
    assert {each.split()[0] for each in witness.started} == {"codexmem-hook", "codexmem"}
    assert "POST /api/sessions/init" in witness.reached
    assert log.exists()
    log.unlink()
    witness.forget()
    kept, was = files_below(person.home / ".codex" / "sessions"), config.read_bytes()

    codex.model.play(Say(json.dumps(ANSWER)))
    completion = agent_model("codex", environ).answer(LONG, goes_on)

    assert json.loads(completion.text) == ANSWER
    assert (completion.prompt_tokens, completion.completion_tokens) == (100, 10)
    (asked,) = codex.model.asked
    assert asked.body["text"]["format"]["schema"] == SCHEMA
    assert asked.body["model"] == "scripted"
    assert asked.texts("user")[-1] == f"{RULES}\n\n{LONG.messages[1].content}"
    assert "Be brief." not in str(asked.body)
    # What the catalog of models gives each model, and what only a person can answer; both do nothing here.
    assert {name for _, name in asked.tools} <= {"apply_patch", "request_user_input"}
    assert (witness.started, witness.reached) == ([], [])
    assert not log.exists()
    assert files_below(person.home / ".codex" / "sessions") == kept
    assert config.read_bytes() == was


@pytest.mark.parametrize("code_mode", [False, True], ids=["tools", "code"])
def test_a_model_of_codex_that_is_led_astray_changes_nothing(
    codex: Codex, person: Person, environ: dict[str, str], code_mode: bool
) -> None:
    codex.configure(code_mode=code_mode)
    target = person.home / "astray"
    patch = f"*** Begin Patch\n*** Add File: {target}\n+x\n*** End Patch"
    tries = [Call("apply_patch", source=patch)]
    if code_mode:
        tries = [
            Call("exec", source=f"await tools.apply_patch({json.dumps(patch)})"),
            Call("exec", source=f"text(await tools.exec_command({{cmd: 'touch {target}'}}))"),
        ]
    codex.model.play(*tries, Say(json.dumps(ANSWER)))
    assert json.loads(agent_model("codex", environ).answer(PROMPT, goes_on).text) == ANSWER
    assert len(codex.model.asked) == len(tries) + 1
    assert not target.exists()


def test_qwen_answers_by_the_schema_and_nothing_of_it_is_remembered(
    qwen: Qwen, person: Person, programs: Path, witness: Witness, environ: dict[str, str]
) -> None:
    qwen.configure(settings_of(qwen.model))
    (person.home / ".qwen" / "QWEN.md").write_text("Be brief.")
    witness.install("qwen-code", programs)
    qwen.model.play(Say("Done."))
    assert qwen.ask("Look around.").code == 0
    assert {each.split()[0] for each in witness.started} == {"codexmem-hook", "codexmem"}
    witness.forget()
    kept = files_below(person.home / ".qwen" / "projects")

    qwen.model.play(Call("structured_output", ANSWER), Say("unasked"))
    completion = agent_model("qwen", environ).answer(LONG, goes_on)

    assert json.loads(completion.text) == ANSWER
    assert (completion.prompt_tokens, completion.completion_tokens) == (100, 10)
    (asked,) = qwen.model.asked
    assert asked.tools == [("", "structured_output")]
    assert LONG.messages[1].content in asked.texts("user")[-1]
    assert "Be brief." not in str(asked.body)
    assert (witness.started, witness.reached) == ([], [])
    assert files_below(person.home / ".qwen" / "projects") == kept


def test_a_model_of_qwen_that_writes_its_answer_down_has_answered(qwen: Qwen, environ: dict[str, str]) -> None:
    qwen.configure(settings_of(qwen.model))
    qwen.model.play(Say(json.dumps(ANSWER)))
    assert json.loads(agent_model("qwen-code", environ).answer(PROMPT, goes_on).text) == ANSWER


LIMIT = {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus"}
REFUSALS: dict[str, tuple[tuple[int, dict[str, Any]], Trouble]] = {
    "usage limit": ((429, {"error": {**LIMIT, "resets_at": 4_000_000_000}}), Trouble.RATE_LIMIT),
    "too many": ((429, {"error": {"type": "rate_limit_exceeded", "message": "slow down"}}), Trouble.RATE_LIMIT),
    "quota": ((429, {"error": {"type": "insufficient_quota", "message": "pay"}}), Trouble.QUOTA_EXHAUSTED),
    "key": ((401, {"error": {"message": "Incorrect API key provided"}}), Trouble.AUTH_INVALID),
    "server": ((500, {"error": {"message": "boom"}}), Trouble.TRANSIENT),
    "too long": ((400, {"error": {"message": "This model's maximum context length is 10."}}), Trouble.UNRECOVERABLE),
}


def test_what_codex_says_of_its_troubles_is_understood(
    installation: Installation, person: Person, environ: dict[str, str], alone: bool
) -> None:
    with Refusing() as server:
        Codex(installation, person, server).configure()
        found = {}
        for name, (refusal, _) in REFUSALS.items():
            server.refusal = refusal
            model = agent_model("codex", environ)
            with pytest.raises(Unanswered) as refused:
                model.answer(PROMPT, goes_on)
            found[name] = refused.value.trouble
            if refused.value.trouble is Trouble.RATE_LIMIT:
                # It is left alone until the time is over.
                assert refused.value.wait_s > 60
                asked = len(server.asked)
                with pytest.raises(Unanswered, match="recently") as again:
                    model.answer(PROMPT, goes_on)
                assert (again.value.trouble, len(server.asked)) == (Trouble.RATE_LIMIT, asked)
        assert found == {name: trouble for name, (_, trouble) in REFUSALS.items()}
        # Its login is gone.
        with pytest.raises(Unanswered) as refused:
            agent_model("codex", {**environ, "SCRIPTED_KEY": ""}).answer(PROMPT, goes_on)
        assert refused.value.trouble is Trouble.AUTH_INVALID


def test_what_qwen_says_of_its_troubles_is_understood(
    installation: Installation, person: Person, environ: dict[str, str], alone: bool
) -> None:
    with Refusing() as server:
        Qwen(installation, person, server).configure(settings_of(server))
        for name in ("key", "too long"):
            server.refusal, trouble = REFUSALS[name]
            with pytest.raises(Unanswered) as refused:
                agent_model("qwen-code", environ).answer(PROMPT, goes_on)
            assert refused.value.trouble is trouble
        (person.home / ".qwen" / "settings.json").write_text("{}")
        with pytest.raises(Unanswered) as refused:
            agent_model("qwen-code", environ).answer(PROMPT, goes_on)
        assert refused.value.trouble is Trouble.AUTH_INVALID


def test_a_codex_whose_server_does_not_answer_is_ended_in_time(
    installation: Installation, person: Person, environ: dict[str, str], alone: bool
) -> None:
    with Refusing() as server:
        Codex(installation, person, server).configure()
    with pytest.raises(Unanswered) as refused:
        agent_model("codex", environ, timeout_s=3).answer(PROMPT, goes_on)
    assert refused.value.trouble is Trouble.TRANSIENT
    assert "did not answer within 3 s" in refused.value.message
