"""Which embedder the settings choose, and what happens where it is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codexmem.installation import install_command
from codexmem.kernel.embed.choice import EmbedderChoice, choose
from codexmem.kernel.embed.fastembed import FastEmbedder
from codexmem.kernel.embed.local import LocalEmbedder
from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from tests._support.toy_models import write_encoder


def model(wish: EmbedderChoice) -> str | None:
    chosen = choose(wish)
    return chosen.model if chosen is not None else None


def test_each_name_chooses_its_embedder() -> None:
    assert model(EmbedderChoice("none")) is None
    assert model(EmbedderChoice("local")) == "use-multilingual-v3"
    assert model(EmbedderChoice("local-better")) == "multilingual-e5-small"
    assert model(EmbedderChoice("openai", openai_model="m")) == "openai:m@api.openai.com"
    assert (
        model(EmbedderChoice("openai", openai_model="m", openai_base_url="http://ai.local/v1")) == "openai:m@ai.local"
    )
    assert model(EmbedderChoice("fastembed:BAAI/bge-small-en-v1.5")) == "fastembed:BAAI/bge-small-en-v1.5"
    assert model(EmbedderChoice("fastembed:/models/my-model")) == "fastembed:my-model"


def test_auto_prefers_a_configured_model_then_the_small_one_then_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model(EmbedderChoice(openai_model="m")) == "openai:m@api.openai.com"
    assert model(EmbedderChoice()) == "use-multilingual-v3"
    monkeypatch.setattr(LocalEmbedder, "installed", False)
    assert model(EmbedderChoice()) is None
    assert model(EmbedderChoice("local")) == "use-multilingual-v3"  # named: it says itself that it is not installed


@pytest.mark.parametrize("name", ["", "remote", "fastembed:", "fastembed"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="is not an embedder"):
        choose(EmbedderChoice(name))


def test_openai_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no model"):
        choose(EmbedderChoice("openai"))


def test_the_key_is_not_in_the_representation() -> None:
    assert "secret" not in repr(EmbedderChoice(openai_api_key="secret"))


@pytest.mark.slow
def test_fastembed_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no model folder"):
        FastEmbedder(str(tmp_path / "nothing")).query("x")
    with pytest.raises(Unavailable, match="is not a model folder"):
        FastEmbedder(str(tmp_path)).query("x")
    (write_encoder(tmp_path) / "tokenizer.json").unlink()
    with pytest.raises(Unavailable, match="does not take the model"):
        FastEmbedder(str(tmp_path)).query("x")
    with pytest.raises(Unavailable, match="the model BAAI/bge-small-en has not been fetched"):
        FastEmbedder("BAAI/bge-small-en").query("x")
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(Unavailable) as refused:
        FastEmbedder("BAAI/bge-small-en-v1.5").query("x")
    assert refused.value.hint == install_command("fastembed")
