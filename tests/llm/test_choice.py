"""Which distiller the settings choose."""

from __future__ import annotations

import pytest

from codexmem.domain.errors import InvalidArgument
from codexmem.llm.choice import Wish, choose
from tests._support.model_server import ModelServer
from tests.llm.events import edit, material, nothing


def test_6_the_default_is_openai_and_without_a_key_rules() -> None:
    assert choose(Wish(model="m")).model is None
    assert choose(Wish(model="m", api_key="sk")).model == "m"
    assert choose(Wish("rules", "m", "http://127.0.0.1:1/v1", "sk")).model is None


def test_a_server_of_ones_own_needs_no_key() -> None:
    with ModelServer() as server:
        distiller = choose(Wish("openai", "m", server.url))
        assert distiller.observations(material(edit(1, "a.py", "x", "y")), nothing).by == "model"
        assert server.asked[0].key == "Bearer none"
        assert server.asked[0].body["model"] == "m"


def test_an_unknown_provider_or_no_model_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no provider"):
        choose(Wish("gemini"))
    with pytest.raises(InvalidArgument, match="no model"):
        choose(Wish("openai", "", "http://127.0.0.1:1/v1"))


def test_the_key_is_never_shown() -> None:
    assert "sk-secret" not in repr(Wish("openai", "m", "", "sk-secret"))
