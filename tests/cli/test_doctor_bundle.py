"""`codexmem doctor --bundle`: what helps is in it; secrets, memories and who somebody is are not."""

from __future__ import annotations

import json
import stat
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from codexmem.agents import installable
from codexmem.console.store import chosen
from codexmem.kernel.store import inspection
from codexmem.operations.cli.doctor.bundle import LEFT_OUT, Scrub
from codexmem.operations.cli.install.text import installer_of
from tests._support.postgres import PostgresServer
from tests.cli.conftest import Call
from tests.services.restoring import fill

NAMES = ["README.txt", "about.json", "doctor.json", "settings.json", "store.json", "agents.json", "server.json",
         "metrics.txt", "server.log"]  # fmt: skip
USER = "marguerite"
MEMORY = "the launch code of the penguin parade is on the blue shelf"
KEY = "sk-proj-q7Rk2mXw9ZtB4nVcLs8Yd3Fg6Hj1Ka5P"
PASSWORD = "hunter2hunter2"
IN_ENVIRONMENT = "9f8e7d6c5b4a39281706"
IN_LOG = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
TOKEN = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
SECRETS = (KEY, PASSWORD, IN_ENVIRONMENT, IN_LOG, TOKEN, MEMORY, "penguin", USER, "acme-takeover", "li@corp.example.io")


@pytest.fixture
def planted(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's home with secrets in every place that a bundle is made from."""
    place = tmp_path / USER
    place.mkdir()
    data_dir = place / ".local" / "share" / "codexmem"
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(data_dir))
    monkeypatch.setenv("CODEXMEM_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CODEXMEM_CHROMA_URL", f"http://somebody:{PASSWORD}@chroma.example:8000/?key={PASSWORD}")
    monkeypatch.setenv("CODEXMEM_EXCLUDE_PROJECTS", "acme-takeover,/srv/acme-takeover/*")
    monkeypatch.setenv("SOME_SERVICE_API_KEY", IN_ENVIRONMENT)
    chosen()
    fill(data_dir, [MEMORY])
    (data_dir / "token").write_text(TOKEN)
    qwen = place / ".qwen" / "settings.json"
    qwen.parent.mkdir()
    qwen.write_text(json.dumps({"env": {"KEY": KEY}, "note": MEMORY}))
    installer_of(chosen()).install(installable()["qwen-code"])
    (data_dir / "server.log").write_text("\n".join((
        "2026-01-01 10:00:00,000 INFO    codexmem.requests: GET /api/search 200 1.5 ms",
        f"2026-01-01 10:00:01,000 WARNING codexmem.llm: Authorization: Bearer {IN_LOG} of li@corp.example.io",
        f"2026-01-01 10:00:02,000 ERROR   codexmem.services: cannot read '{MEMORY}' in {place}/acme",
        "    | Traceback (most recent call last):",
        f'    |   File "{place}/venv/codexmem/kernel/services/recall.py", line 7, in search',
        f"    |     raise ValueError({MEMORY!r})",
        f"    | ValueError: {MEMORY}",
        f"{MEMORY} and {TOKEN}",
        json.dumps({"at": "2026-01-01", "level": "ERROR", "logger": "x", "message": f'no "{MEMORY}"', "query": MEMORY,
                    "traceback": f'  File "/a.py", line 1, in f\nKeyError: {MEMORY}'}),
        f"2026-01-01 10:00:03,000 INFO    codexmem.x: key {KEY} and {IN_ENVIRONMENT} of {USER} from the environment",
    )))  # fmt: skip
    return place


def parts(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as bundle:
        assert bundle.testzip() is None
        return {name: bundle.read(name).decode() for name in bundle.namelist()}


@pytest.mark.sqlite
def test_no_secret_no_memory_and_no_name_is_in_any_part(call: Call, planted: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.zip"
    said = call("doctor", "--bundle", str(target), "--json")
    assert said.json["bundle"] == {"path": str(target), "files": NAMES}
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    found = parts(target)
    assert list(found) == NAMES
    leaked = [(name, secret) for name, text in found.items() for secret in SECRETS if secret in text]
    assert leaked == []
    assert not [secret for secret in SECRETS if secret.encode() in target.read_bytes()]


@pytest.mark.sqlite
def test_what_helps_is_in_it(call: Call, planted: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.zip"
    said = call("doctor", "--bundle", str(target))
    assert said.out.endswith(f"written: {target}\n" + "".join(f"    {name}\n" for name in NAMES))
    assert "look at it before you share it" in said.err
    found = parts(target)
    about = json.loads(found["about.json"])
    assert (about["packages"]["click"], about["sqlite"]) == (version("click"), inspection.library()[0])
    store = json.loads(found["store.json"])
    assert (store["engine"], store["schema"], store["rows"]["memories"]) == ("sqlite", store["expected_schema"], 1)
    assert "codexmem.db" in [each["name"] for each in store["files"]]
    settings = {each["name"]: each for each in json.loads(found["settings.json"])}
    assert settings["openai_api_key"]["origin"] == "environment CODEXMEM_OPENAI_API_KEY"
    assert settings["chroma_url"]["value"].startswith("http://somebody:")
    assert settings["exclude_projects"]["value"] == "(2)"
    assert settings["data_dir"]["value"] == "~/.local/share/codexmem"
    (agent,) = json.loads(found["agents.json"])
    assert agent == {"agent": "qwen-code", "readable": True, "files": [
        {"path": "~/.qwen/settings.json", "was_there": True, "as_we_left_it": True}]}  # fmt: skip
    checks = {each["check"]: each["state"] for each in json.loads(found["doctor.json"])["checks"]}
    assert (checks["schema"], checks["agent:qwen-code"]) == ("ok", "ok")
    assert json.loads(found["server.json"]) == {"health": None, "readiness": None}
    log = found["server.log"].splitlines()
    assert log[0] == "2026-01-01 10:00:00,000 INFO    codexmem.requests: GET /api/search 200 1.5 ms"
    assert log[2] == "2026-01-01 10:00:02,000 ERROR   codexmem.services: cannot read '…' in ~/acme"
    assert log[3:7] == [LEFT_OUT, '    | File "~/venv/codexmem/kernel/services/recall.py", line 7, in search', LEFT_OUT,
                        "    | ValueError"]  # fmt: skip
    assert json.loads(log[8])["traceback"] == ['    | File "/a.py", line 1, in f', "    | KeyError"]


@pytest.mark.sqlite
def test_a_file_that_exists_is_replaced_only_if_that_is_said(call: Call, tmp_path: Path) -> None:
    target = tmp_path / "report.zip"
    target.write_text("mine")
    refused = call("doctor", "--bundle", str(target))
    assert (refused.code, refused.out, target.read_text()) == (5, "", "mine")
    assert refused.err == f"error: {target} already exists\nhint: choose another name, or add --overwrite\n"
    assert call("doctor", "--bundle", str(target), "--overwrite").code == 0
    assert (list(parts(target)), stat.S_IMODE(target.stat().st_mode)) == (NAMES, 0o600)
    nowhere = call("doctor", "--bundle", str(tmp_path / "no" / "r.zip"), "--lang", "zh")
    assert (nowhere.code, nowhere.err.splitlines()[0].startswith("错误：无法写入")) == (2, True)


def test_short_names_and_nobodys_are_no_reason_to_tear_words_apart() -> None:
    scrub = Scrub(["abc"], Path("/home/anna"), ["anna"], ["box"])
    assert scrub.text("/home/anna/x annas anna's susanna abc") == "~/x annas <user>'s susanna abc"
    assert scrub.value({"at box": ["/home/anna"], "password": "p", "count": 3}) == {
        "at <host>": ["~"], "password": "[REDACTED:password]", "count": 3,
    }  # fmt: skip


@pytest.mark.postgresql
def test_a_store_on_postgresql_is_told_of_without_its_password(
    call: Call, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    url = postgres_server.create_store("bundled")
    said = call("doctor", "--canary", "--bundle", str(tmp_path / "r.zip"), "--database-url", url, "--json").json
    assert {each["check"]: each["state"] for each in said["checks"]}["canary:store"] == "skipped"
    found = parts(tmp_path / "r.zip")
    store = json.loads(found["store.json"])
    assert (store["engine"], store["schema"], "memories" in store["rows"]) == (
        "postgresql", inspection.expected_schema(), True
    )  # fmt: skip
