"""Models fetched from a hub over real HTTP, compared with their hashes, and loaded by the real fastembed."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.kernel.embed.fastembed import CrossEncoder, FastEmbedder
from codexmem.kernel.embed.hub import Hub, adopt
from codexmem.kernel.embed.model_folder import LOCK, ModelLock, bundle, fetched, lock_of, place_of
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, Unavailable
from tests._support.model_hub import ModelHub
from tests._support.toy_models import write_encoder, write_model

NAME = "acme/tiny-e5-small"
WORDS = ("[PAD]", "[UNK]", "staging", "deploy", "query", "passage", ":")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[ModelHub]:
    folder = write_encoder(tmp_path / "upstream", WORDS)
    (folder / "README.md").write_text("not needed")
    (folder / "pytorch_model.bin").write_bytes(b"not needed")
    with ModelHub({NAME: folder}) as hub:
        yield hub


def fetch(hub: ModelHub, models: Path, *, again: bool = False) -> ModelLock:
    return Hub(models, url=hub.url).fetch(NAME, lambda *_: None, again=again)


def test_a_fetched_model_is_what_the_hub_says_and_is_loaded_without_it(hub: ModelHub, tmp_path: Path) -> None:
    models, steps = tmp_path / "models", list[tuple[int, int]]()
    lock = Hub(models, url=hub.url).fetch(NAME, lambda *step: steps.append(step))
    assert (lock.model, lock.source, lock.licence) == (NAME, f"{hub.url}/{NAME}", "mit")
    assert lock.revision == hub.commit(NAME)
    assert [each.path for each in lock.files] == [
        "config.json", "onnx/model.onnx", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
    ]  # fmt: skip
    total = sum(each.bytes for each in lock.files)
    assert steps[-1] == (total, total)
    assert steps == sorted(steps)
    assert [entry for _, entry in fetched(models)] == [lock]
    assert not list(models.glob("*.partial"))

    hub.models.clear()
    embedder = FastEmbedder(NAME, models=models)
    assert embedder.model == f"fastembed:{NAME}@{lock.digest}"
    (passage,) = embedder.passages(["staging"])
    assert embedder.dimension == len(WORDS)
    # The authors' prefixes are a part of the text: what is encoded is "passage: staging" and "query: staging".
    plain = FastEmbedder(str(write_encoder(tmp_path / "plain", WORDS)))
    assert passage == plain.query("passage: staging")
    assert embedder.query("staging") == plain.query("query: staging")
    assert fetch(hub, models) == lock  # here already: the hub, which is empty now, is not asked


def test_the_hub_of_these_tests_is_one_to_the_clients_of_the_real_one(hub: ModelHub, tmp_path: Path) -> None:
    from huggingface_hub import snapshot_download

    theirs = Path(snapshot_download(NAME, endpoint=hub.url, local_dir=tmp_path / "theirs", token=False))
    fetch(hub, tmp_path / "models")
    for each in (lock_of(place_of(tmp_path / "models", NAME)) or pytest.fail("no lock")).files:
        assert (theirs / each.path).read_bytes() == (place_of(tmp_path / "models", NAME) / each.path).read_bytes()


def test_a_broken_connection_is_resumed_where_it_broke(hub: ModelHub, tmp_path: Path) -> None:
    models = tmp_path / "models"
    hub.break_after = 100
    with pytest.raises(Unavailable, match="could not be fetched") as broken:
        fetch(hub, models)
    assert "goes on where it stopped" in (broken.value.hint or "")
    assert list(fetched(models)) == []
    already = hub.sent
    lock = fetch(hub, models)
    assert hub.sent == sum(each.bytes for each in lock.files)  # nothing was sent twice
    assert already > 100
    assert "bytes=100-" in {given for path, given, _ in hub.asked if path.startswith("cdn/")}


def test_what_was_left_of_another_commit_is_fetched_anew(hub: ModelHub, tmp_path: Path) -> None:
    hub.break_after = 100
    with pytest.raises(Unavailable):
        fetch(hub, tmp_path / "models")
    write_encoder(hub.models[NAME], WORDS, scale=3.0)
    partial = tmp_path / "models" / "acme--tiny-e5-small.partial" / "onnx" / "model.onnx"
    partial.write_bytes(b"x" * 100)
    assert fetch(hub, tmp_path / "models").revision == hub.commit(NAME)


def test_other_bytes_than_the_hub_described_are_refused(hub: ModelHub, tmp_path: Path) -> None:
    hub.spoil = True
    with pytest.raises(Unavailable, match=r"onnx/model\.onnx is not what it says it is"):
        fetch(hub, tmp_path / "models")
    assert list(fetched(tmp_path / "models")) == []


def test_a_changed_file_is_refused_at_the_load_until_it_is_fetched_again(hub: ModelHub, tmp_path: Path) -> None:
    models = tmp_path / "models"
    lock = fetch(hub, models)
    file = place_of(models, NAME) / "tokenizer.json"
    file.write_bytes(file.read_bytes().replace(b"staging", b"staginG"))
    with pytest.raises(Unavailable, match=r"tokenizer\.json is not the file that was fetched") as refused:
        FastEmbedder(NAME, models=models).query("staging")
    assert refused.value.hint is not None
    assert f"codexmem embed fetch --again {NAME}" in refused.value.hint
    with pytest.raises(Unavailable, match="is not the file that was fetched"):
        fetch(hub, models)
    assert fetch(hub, models, again=True) == lock
    assert FastEmbedder(NAME, models=models).query("staging")


def test_other_weights_are_another_model(hub: ModelHub, tmp_path: Path) -> None:
    models = tmp_path / "models"
    before, running = fetch(hub, models), FastEmbedder(NAME, models=models)
    vector = running.query("staging")
    write_encoder(hub.models[NAME], WORDS, scale=3.0)
    after = fetch(hub, models, again=True)
    assert after.digest != before.digest
    # What runs keeps what it has loaded, and its name; the next process has the new one under a new name.
    assert (running.model, running.query("staging")) == (f"fastembed:{NAME}@{before.digest}", vector)
    renewed = FastEmbedder(NAME, models=models)
    assert renewed.model == f"fastembed:{NAME}@{after.digest}"
    assert renewed.query("staging") != vector


def test_a_bundle_is_the_same_model_elsewhere(hub: ModelHub, tmp_path: Path) -> None:
    lock, file = fetch(hub, tmp_path / "models"), tmp_path / "tiny.tar"
    bundle(place_of(tmp_path / "models", NAME), file)
    assert adopt(tmp_path / "elsewhere", file, None) == lock
    assert FastEmbedder(NAME, models=tmp_path / "elsewhere").query("staging")
    with pytest.raises(Conflict, match="holds acme/tiny-e5-small, not other"):
        adopt(tmp_path / "third", file, "other")

    with tarfile.open(file) as archive:
        archive.extractall(tmp_path / "opened", filter="data")
    (tmp_path / "opened" / "config.json").write_text("{}")
    with pytest.raises(Unavailable, match="is not the file that was fetched"):
        adopt(tmp_path / "third", tmp_path / "opened", None)
    assert list((tmp_path / "third").iterdir()) == []
    (tmp_path / "noise").write_bytes(b"no archive")
    with pytest.raises(InvalidArgument, match="neither a folder nor a bundle"):
        adopt(tmp_path / "third", tmp_path / "noise", None)


def test_a_folder_of_ones_own_gets_a_lock_and_a_name(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "downloaded", WORDS)
    with pytest.raises(InvalidArgument, match="does not say which model it is"):
        adopt(tmp_path / "models", folder, None)
    lock = adopt(tmp_path / "models", folder, NAME)
    assert (lock.source, lock.query_prefix) == (str(folder), "query: ")
    assert FastEmbedder(NAME, models=tmp_path / "models").query("staging")
    (folder / "onnx" / "model.onnx").unlink()
    with pytest.raises(NotFound, match="has no ONNX file"):
        adopt(tmp_path / "models", folder, NAME)


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd"])
def test_a_lock_that_names_files_elsewhere_is_refused(hub: ModelHub, tmp_path: Path, path: str) -> None:
    fetch(hub, tmp_path / "models")
    file = place_of(tmp_path / "models", NAME) / LOCK
    file.write_text(file.read_text().replace('"config.json"', f'"{path}"'))
    with pytest.raises(Unavailable, match="names a file elsewhere"):
        FastEmbedder(NAME, models=tmp_path / "models").query("staging")


def test_what_the_hub_does_not_have_is_said(hub: ModelHub, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="has no such model"):
        Hub(tmp_path / "models", url=hub.url).fetch("acme/nothing", lambda *_: None)
    (hub.models[NAME] / "onnx" / "model.onnx").unlink()
    with pytest.raises(NotFound, match="has no ONNX file"):
        fetch(hub, tmp_path / "models")
    with pytest.raises(InvalidArgument, match="is not the name of a model"):
        Hub(tmp_path / "models", url=hub.url).fetch("../x", lambda *_: None)
    with pytest.raises(Unavailable, match="has not been fetched") as refused:
        FastEmbedder(NAME, models=tmp_path / "models").query("x")
    assert refused.value.hint == f"codexmem embed fetch {NAME}"


def test_the_token_goes_to_the_hub_and_never_unencrypted_to_another_machine(hub: ModelHub, tmp_path: Path) -> None:
    Hub(tmp_path / "models", url=hub.url, token="hf_secret").fetch(NAME, lambda *_: None)
    sent = {(path.startswith("cdn/"), authorization) for path, _, authorization in hub.asked}
    assert sent == {(False, "Bearer hf_secret"), (True, "")}  # nor to the host where large files lie
    with pytest.raises(InvalidArgument, match="unencrypted"):
        Hub(tmp_path / "other", url="http://hub.example.com", token="hf_secret").fetch(NAME, lambda *_: None)
    assert "secret" not in repr(Hub(tmp_path, token="hf_secret"))


def test_a_reranker_is_fetched_and_compared_in_the_same_way(hub: ModelHub, tmp_path: Path) -> None:
    hub.models["acme/judge"] = write_model(tmp_path / "judge")
    Hub(tmp_path / "models", url=hub.url).fetch("acme/judge", lambda *_: None)
    judge = CrossEncoder("acme/judge", models=tmp_path / "models")
    poor, good = judge.scores("good", ["poor", "good"])
    assert poor < good
    (place_of(tmp_path / "models", "acme/judge") / "config.json").write_text("{}")
    with pytest.raises(Unavailable, match="is not the file that was fetched"):
        CrossEncoder("acme/judge", models=tmp_path / "models").scores("good", ["poor"])
