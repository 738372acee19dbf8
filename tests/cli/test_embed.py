"""`codexmem embed`, and a store whose encoder changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.app import open_core
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.settings import load
from tests._support.model_hub import ModelHub
from tests._support.toy_models import write_encoder
from tests.cli.conftest import Call
from tests.cli.test_index import finding
from tests.services.restoring import fill

NAME = "acme/tiny"
WORDS = ("[PAD]", "[UNK]", "staging", "deploy", "tests")


@pytest.fixture
def hub(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelHub]:
    """A mirror, set as people set it."""
    with ModelHub({NAME: write_encoder(tmp_path / "upstream", WORDS)}) as hub:
        monkeypatch.setenv("CODEXMEM_MODEL_HUB", hub.url)
        yield hub


@pytest.mark.sqlite
def test_from_a_mirror_to_vectors_and_to_other_ones(
    call: Call, data_dir: Path, hub: ModelHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(data_dir, ["staging comes first", "run the tests"])
    monkeypatch.setenv("CODEXMEM_EMBEDDER", f"fastembed:{NAME}")
    missing = finding(call, "embedder")
    assert missing["what"] == f"fastembed:{NAME} does not work: the model {NAME} has not been fetched"
    assert missing["how"] == f"codexmem embed fetch {NAME}"
    said = call("embed", "fetch", NAME, "--lang", "zh")
    assert (said.code, said.out) == (0, f"{data_dir}/models/acme--tiny\n")
    assert said.err == f"{NAME}：5 个文件，0.0 MB，来自 {hub.url}/{NAME}；许可证：mit\n"
    first = call("embed", "fetch", NAME, "--json").json["digest"]

    assert call("index", "rebuild", "--json").json["model"] == f"fastembed:{NAME}@{first}"
    assert call("index", "status", "--json").json["indexed"] == {"sqlite": 2}
    assert finding(call, "embedder")["state"] == "ok"
    listed = call("embed", "ls", "--check")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.splitlines()[-1].split() == [f"fastembed:{NAME}", "0.0", "MB", "mit", "in", "use", "unchanged"]

    # Other weights under the same name: vectors of the new ones are made, and nothing is mixed.
    write_encoder(hub.models[NAME], WORDS, scale=3.0)
    second = call("embed", "fetch", NAME, "--again", "--json").json["digest"]
    status = call("index", "status", "--json").json
    assert (status["model"], status["indexed"], status["complete"]) == (
        f"fastembed:{NAME}@{second}", {"sqlite": 0}, False,
    )  # fmt: skip
    assert status["former"] == [f"fastembed:{NAME}@{first}"]
    core = open_core(load({"data_dir": str(data_dir)}))  # as a server does
    with acting_as(LOCAL):
        assert core.indexer.catch_up(lambda: None).embedded == 2
    core.close()
    renewed = call("index", "status", "--json").json
    assert (renewed["indexed"], renewed["complete"], renewed["former"]) == ({"sqlite": 2}, True, [])

    bundled = call("embed", "bundle", NAME, str(tmp_path / "tiny.tar"))
    assert (bundled.code, bundled.out) == (0, f"{tmp_path}/tiny.tar\n")
    there = call(
        "embed", "fetch", "--from", str(tmp_path / "tiny.tar"), "--data-dir", str(tmp_path / "there"), "--json"
    )
    assert there.json["digest"] == second

    (data_dir / "models" / "acme--tiny" / "config.json").write_text("{}")
    changed = call("embed", "ls", "--check", "--lang", "zh")
    assert changed.code == 6
    assert "已改变" in changed.out
    assert changed.err == f"{data_dir}/models/acme--tiny/config.json 已不是下载时的文件\n"
    assert finding(call, "embedder")["how"].endswith(f"codexmem embed fetch --again {NAME}")


def test_what_cannot_be_fetched_is_said_in_both_languages(call: Call, hub: ModelHub) -> None:
    said = call("embed", "fetch", "acme/none")
    assert said.code == 3
    assert said.err.startswith(f"error: {hub.url} has no such model, or does not show it to us\n")
    assert f"{hub.url} 没有这个模型" in call("embed", "fetch", "acme/none", "--lang", "zh").err
    assert call("embed", "fetch", "--from", ".", "--again").code == 2
    assert call("embed", "bundle", "acme/none", "x.tar").code == 3
