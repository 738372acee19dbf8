"""Each example remembers in a first run and recalls in a second, with a scripted model on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support.scripted_model import Call, Say, ScriptedModel, Step
from tests._support.server import Server, environment
from tests.client.running import Example

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = "I am Li, and I deploy on Fridays."
ASKED = "On which day do I deploy?"
# What the model does in the first run; without tools it only speaks.
SCRIPTS: dict[str, tuple[Step, ...]] = {
    "openai_agents.py": (),
    "langgraph_store.py": (),
    "pydantic_ai_memory.py": (Call("remember", {"fact": SAID}), Say("Noted.")),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server for each: where several memories speak of deploying, the question alone does not tell which is meant."""
    settings = {"CODEXMEM_AUTH": "token", "CODEXMEM_EMBEDDER": "none"}
    with Server(tmp_path, settings=settings) as running:
        yield running


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(aside="Noted.") as model:
        yield model


def test_every_example_is_run() -> None:
    assert sorted(each.name for each in EXAMPLES.glob("*.py")) == sorted(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_second_run_knows_what_the_first_was_told(name: str, server: Server, model: ScriptedModel) -> None:
    env = environment(server.data_dir, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="sk-scripted")
    with Example(EXAMPLES / name, env) as example:
        model.play(*SCRIPTS[name])
        assert example.run(SAID) == "Noted."
        assert _sent(model)[0].count(SAID) == 1, "nothing but what was said now"
        model.play(Say("On Fridays."))
        assert example.run(ASKED) in {"On Fridays.", "Noted."}
        (second,) = _sent(model)
        assert SAID in second
        assert ASKED in second


def _sent(model: ScriptedModel) -> list[str]:
    return [json.dumps(asked.body, ensure_ascii=False) for asked in model.asked]
