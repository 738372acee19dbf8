"""The files to deploy and release by: what they promise by themselves. `just lint-deploy` asks the real tools."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from codexmem import __version__
from codexmem.settings import BY_NAME
from tests.packaging import releasing
from tests.packaging.building import ROOT
from tests.packaging.contained import described

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "codexmem"
COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
REGISTRIES = re.compile(r"docker\.io|ghcr\.io|quay\.io|gcr\.io|pypi\.org|pythonhosted|npmjs\.(org|com)|\.pkg\.dev")


def test_no_file_names_a_registry() -> None:
    files = [path for folder in (DEPLOY, ROOT / ".github") for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 15
    assert [str(path) for path in files if REGISTRIES.search(path.read_text())] == []


def test_the_image_runs_as_nobody_in_particular_and_answers_signals_itself() -> None:
    user, environment, command = described()
    assert int(user) >= 10_000
    assert command == ["codexmem", "serve"]
    assert environment["CODEXMEM_AUTH"] == "token"
    assert {name for name in environment if name.startswith("CODEXMEM_")} <= {
        f"CODEXMEM_{each.upper()}" for each in BY_NAME
    }


def test_every_service_of_compose_is_confined_and_only_the_server_is_reachable() -> None:
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "healthcheck" in service or name == "server", name  # the server's is the image's
        for published in service.get("ports", []):
            assert (name, published.startswith("127.0.0.1:")) == ("server", True)
    assert COMPOSE["networks"]["inside"] == {"internal": True}


def test_what_compose_needs_before_the_first_start_is_made_once(tmp_path: Path) -> None:
    shutil.copytree(DEPLOY / "compose", tmp_path / "compose", ignore=shutil.ignore_patterns("secrets"))
    prepare = tmp_path / "compose" / "prepare"
    subprocess.run([prepare], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "compose" / "secrets").iterdir()}
    assert {f"./secrets/{name}" for name in made} == {each["file"] for each in COMPOSE["secrets"].values()}
    assert made["database_password"] in made["config.toml"]
    subprocess.run([prepare], check=True, capture_output=True)
    assert {path.name: path.read_text() for path in (tmp_path / "compose" / "secrets").iterdir()} == made


def test_the_values_of_the_chart_are_those_of_its_schema() -> None:
    import jsonschema

    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    jsonschema.validate(values, schema)
    assert schema["properties"].keys() - {"global"} == values.keys()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**values, "mode": "mysql"}, schema)


def test_everything_that_names_a_version_names_the_same_one(tmp_path: Path) -> None:
    assert releasing.problems(None) == []
    for path, _ in releasing.PLACES.values():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / "CHANGELOG.md").write_text(f"## [Unreleased]\n\n## [{__version__}] - 2026-01-01\n\n## [0.0.1]\n")
    assert releasing.problems(__version__, tmp_path) == []
    said = releasing.problems("9.9.9", tmp_path)
    assert len(said) == len(releasing.PLACES) + 1
    assert releasing.problems("1.0", tmp_path)[0] == "'1.0' is not MAJOR.MINOR.PATCH"
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / "release.yml").write_text(f"    - uses: a/b@v1\n    - uses: c/d@{'0' * 40}\n")
    assert releasing.problems(__version__, tmp_path) == ["a/b@v1 is not pinned by commit"]
