"""The command that adds an extra: by whatever installed this copy, and from where it was installed."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from pathlib import Path

import pytest

from codexmem.installation import DISTRIBUTION, install_command

PIP = f"{shlex.quote(sys.executable)} -m pip install"
UV_PIP = f"uv pip install --python {shlex.quote(sys.executable)}"


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with nothing in it but what a test says."""
    prefix = tmp_path / "environment"
    prefix.mkdir()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    return prefix


def install(prefix: Path, monkeypatch: pytest.MonkeyPatch, *, installer: str = "pip", origin: object = None) -> None:
    """Leave the metadata that an installer leaves."""
    about = prefix / "codexmem_cli-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {DISTRIBUTION}\nVersion: 0.1.0\n")
    (about / "INSTALLER").write_text(f"{installer}\n")
    if origin is not None:
        (about / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr(metadata, "distribution", lambda _: metadata.PathDistribution(about))


CHECKOUT = {"url": "file:///src/my%20copy", "dir_info": {}}
EDITABLE = {"url": "file:///src/codexmem", "dir_info": {"editable": True}}
WHEEL = {"url": "file:///tmp/codexmem_cli-0.1.0-py3-none-any.whl", "archive_info": {}}
GIT = {"url": "https://example.org/c.git", "vcs_info": {"vcs": "git", "commit_id": "abc", "requested_revision": "main"}}


@pytest.mark.parametrize(
    "installer,origin,command",
    [
        ("pip", None, f"{PIP} 'codexmem-cli[embed]'"),
        ("pip", CHECKOUT, f"{PIP} '/src/my copy[embed]'"),
        ("pip", EDITABLE, f"{PIP} --editable '/src/codexmem[embed]'"),
        ("pip", WHEEL, f"{PIP} '/tmp/codexmem_cli-0.1.0-py3-none-any.whl[embed]'"),
        ("pip", GIT, f"{PIP} 'codexmem-cli[embed] @ git+https://example.org/c.git@main'"),
        ("uv", None, f"{UV_PIP} 'codexmem-cli[embed]'"),
        ("uv", EDITABLE, f"{UV_PIP} --editable '/src/codexmem[embed]'"),
    ],
)
def test_a_hint_names_the_installer_and_the_origin(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, installer: str, origin: object, command: str
) -> None:
    install(prefix, monkeypatch, installer=installer, origin=origin)
    assert install_command("embed") == command


def test_a_tool_of_uv_keeps_the_extras_it_has(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(prefix, monkeypatch, installer="uv", origin=CHECKOUT)
    receipt = prefix / "uv-receipt.toml"
    receipt.write_text(
        '[tool]\nrequirements = [{ name = "codexmem-cli", extras = ["postgres"], directory = "/src" }]\n'
    )
    assert install_command("embed") == "uv tool install '/src/my copy[embed,postgres]'"
    assert install_command(anew=True) == "uv tool install --reinstall '/src/my copy[postgres]'"
    receipt.write_text("not a receipt")
    assert install_command("embed") == "uv tool install '/src/my copy[embed]'"


def test_an_application_of_pipx_keeps_the_extras_it_has(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(prefix, monkeypatch)
    record = prefix / "pipx_metadata.json"
    record.write_text(json.dumps({"main_package": {"package_or_url": "codexmem-cli[lab,otel]"}}))
    assert install_command("embed") == "pipx install --force 'codexmem-cli[embed,lab,otel]'"
    record.write_text("[]")
    assert install_command("embed") == "pipx install --force 'codexmem-cli[embed]'"


def test_a_copy_that_uvx_keeps_is_not_changed(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(prefix, monkeypatch, installer="uv")
    monkeypatch.setattr(sys, "prefix", "/home/li/.cache/uv/archive-v0/x1y2")
    assert install_command("embed") == "uvx --from 'codexmem-cli[embed]' codexmem"


def test_a_broken_installation_is_installed_anew(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(prefix, monkeypatch)
    assert install_command(anew=True) == f"{PIP} --force-reinstall codexmem-cli"


def test_without_metadata_the_package_is_named(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("embed") == f"{PIP} 'codexmem-cli[embed]'"


@pytest.mark.process
def test_the_environment_of_the_tests_names_this_checkout() -> None:
    assert install_command("embed").endswith(f"install --editable '{Path(__file__).parents[2]}[embed]'")
