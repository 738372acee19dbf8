"""Which model the settings choose."""

from __future__ import annotations

import pytest

from codexmem.capture.author import TurnAuthor
from codexmem.kernel.llm.choice import ModelChoice, model_of
from codexmem.kernel.llm.material import FinishedTurn
from codexmem.kernel.model.errors import InvalidArgument
from tests._support.model_server import ModelServer
from tests.llm.events import nothing


def test_6_the_default_is_openai_and_without_a_key_rules() -> None:
    assert model_of(ModelChoice(model="m")) is None
    assert getattr(model_of(ModelChoice(model="m", api_key="sk")), "name", None) == "m"
    assert model_of(ModelChoice("rules", "m", "http://127.0.0.1:1/v1", "sk")) is None


def test_a_server_of_ones_own_needs_no_key() -> None:
    with ModelServer() as server:
        author = TurnAuthor(model_of(ModelChoice("openai", "m", server.url)))
        assert author.ask("shop", [FinishedTurn(1, "Do it", ())], (), nothing).by == "model"
        assert server.asked[0].key == "Bearer none"
        assert server.asked[0].body["model"] == "m"


def test_an_unknown_provider_or_no_model_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="not a provider"):
        model_of(ModelChoice("gemini"))
    with pytest.raises(InvalidArgument, match="no model"):
        model_of(ModelChoice("openai", "", "http://127.0.0.1:1/v1"))


def test_the_key_is_never_shown() -> None:
    assert "sk-secret" not in repr(ModelChoice("openai", "m", "", "sk-secret"))
