"""Which embedder the settings choose, and what happens where it is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codexmem.domain.errors import InvalidArgument, Unavailable
from codexmem.embed.choice import Wish, choose
from codexmem.embed.fastembed import FastEmbedder
from codexmem.embed.local import LocalEmbedder


def model(wish: Wish) -> str | None:
    chosen = choose(wish)
    return chosen.model if chosen is not None else None


def test_each_name_chooses_its_embedder() -> None:
    assert model(Wish("none")) is None
    assert model(Wish("local")) == "use-multilingual-v3"
    assert model(Wish("local-better")) == "multilingual-e5-small"
    assert model(Wish("openai", openai_model="m")) == "openai:m@api.openai.com"
    assert model(Wish("openai", openai_model="m", openai_base_url="http://ai.local/v1")) == "openai:m@ai.local"
    assert model(Wish("fastembed:BAAI/bge-small-en-v1.5")) == "fastembed:BAAI/bge-small-en-v1.5"
    assert model(Wish("fastembed:/models/my-model")) == "fastembed:my-model"


def test_auto_prefers_a_configured_model_then_the_small_one_then_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model(Wish(openai_model="m")) == "openai:m@api.openai.com"
    assert model(Wish()) == "use-multilingual-v3"
    monkeypatch.setattr(LocalEmbedder, "installed", False)
    assert model(Wish()) is None
    assert model(Wish("local")) == "use-multilingual-v3"  # named: it says itself that it is not installed


@pytest.mark.parametrize("name", ["", "remote", "fastembed:", "fastembed"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="is no embedder"):
        choose(Wish(name))


def test_openai_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no model"):
        choose(Wish("openai"))


def test_the_key_is_not_in_the_representation() -> None:
    assert "secret" not in repr(Wish(openai_api_key="secret"))


def test_fastembed_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no model folder"):
        FastEmbedder(str(tmp_path / "nothing")).query("x")
    with pytest.raises(Unavailable, match="is not a model folder"):
        FastEmbedder(str(tmp_path)).query("x")
    with pytest.raises(Unavailable, match="does not take the model"):
        FastEmbedder("no-such-model").query("x")
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(Unavailable) as refused:
        FastEmbedder("BAAI/bge-small-en-v1.5").query("x")
    assert refused.value.hint == "pip install 'codexmem[fastembed]'"
