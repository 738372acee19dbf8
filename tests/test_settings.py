"""Settings: which source wins, what is refused, and that no secret is ever shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codexmem.hook.surroundings import refusing_file
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.settings import BY_NAME, SETTINGS, field_names, is_person, load, masked, project_file, terminal


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}


def write_user(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config" / "codexmem" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_project(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".codexmem.toml").write_text(text)
    return folder


def test_the_table_and_the_values_name_the_same_settings() -> None:
    assert sorted(field_names()) == sorted(BY_NAME)
    assert all(setting.help and setting.default for setting in SETTINGS)


def test_defaults(environ: dict[str, str], tmp_path: Path) -> None:
    settings = load({}, environ, tmp_path)
    assert (settings.host, settings.port, settings.auth) == ("127.0.0.1", 37877, "")
    assert settings.data_dir == tmp_path / "data" / "codexmem"
    assert settings.database_url == f"sqlite:///{tmp_path}/data/codexmem/codexmem.db"
    assert set(settings.origins.values()) == {"default"}
    assert not settings.on_postgres


def test_each_source_beats_the_next(environ: dict[str, str], tmp_path: Path) -> None:
    user = write_user(tmp_path, "port = 1\n")
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    assert load({}, environ, nowhere).port == 1
    assert load({}, environ, nowhere).origins["port"] == f"user file {user}"
    project = write_project(tmp_path, "port = 2\n")
    assert load({}, environ, project).port == 2
    environ["CODEXMEM_PORT"] = "3"
    assert load({}, environ, project).port == 3
    assert load({}, environ, project).origins["port"] == "environment CODEXMEM_PORT"
    settings = load({"port": "4", "host": None}, environ, project)
    assert (settings.port, settings.origins["port"], settings.origins["host"]) == (4, "flag", "default")


def test_the_project_file_is_found_in_the_git_root_only(tmp_path: Path) -> None:
    root = write_project(tmp_path, "port = 2\n")
    deep = root / "a" / "b"
    deep.mkdir(parents=True)
    assert project_file(deep) == root / ".codexmem.toml"
    (root / ".git").rmdir()
    assert project_file(deep) is None
    assert project_file(root) == root / ".codexmem.toml"


@pytest.mark.parametrize("name", [s.name for s in SETTINGS if not s.in_project])
def test_a_checkout_may_not_say_where_memories_live_or_who_reads_them(
    name: str, environ: dict[str, str], tmp_path: Path
) -> None:
    project = write_project(tmp_path, f'{name} = "/tmp/x"\n')
    with pytest.raises(InvalidArgument, match=f"{name} may not be set there") as caught:
        load({}, environ, project)
    assert "CODEXMEM_" in str(caught.value.hint)


def test_where_secrets_and_programs_come_from_is_not_for_a_checkout() -> None:
    assert {s.name for s in SETTINGS if not s.in_project} == {
        "host", "data_dir", "database_url", "database_direct_url", "database_replica_url", "database_replica_s",
        "auth", "allowed_hosts", "pg_bin_dir", "embedder",
        "model_hub", "model_hub_token", "embedder_threads", "openai_base_url", "openai_api_key",
        "openai_embedding_model", "openai_embedding_base_url",
        "openai_embedding_api_key", "vector_backend", "chroma_url", "chroma_collection", "reranker",
        "rerank_url", "rerank_model", "rerank_api_key", "rerank_depth", "provider", "openai_model", "daily_tokens",
        "author_tokens", "daily_calls", "author_exclude_projects",
        "skip_tools", "exclude_projects", "capture_days", "url", "api_key", "autostart", "kb_principles_dir",
        "kb_modulation_dir", "kb_roots", "lab_api_bases", "lab_profile", "lab_learn",
        "enable_debug_endpoints", "trust_agents", "request_slots", "tenant_slots", "tenant_rate", "daily_requests",
        "daily_events", "tenant_memories", "public_url", "oidc_issuer", "oidc_client_id", "oidc_client_secret",
        "oidc_tenant", "oidc_scopes", "oidc_group_claim", "oidc_groups", "oidc_join", "oidc_session_hours",
        "oidc_key_days",
    }  # fmt: skip


def test_an_unknown_key_names_the_file_and_the_nearest_known_one(environ: dict[str, str], tmp_path: Path) -> None:
    path = write_user(tmp_path, "databse_url = 'x'\n")
    with pytest.raises(InvalidArgument) as caught:
        load({}, environ, tmp_path)
    assert str(path) in caught.value.message
    assert "did you mean 'database_url'" in caught.value.message


def test_a_broken_file_is_named(environ: dict[str, str], tmp_path: Path) -> None:
    path = write_user(tmp_path, "port = \n")
    with pytest.raises(InvalidArgument, match=str(path)):
        load({}, environ, tmp_path)
    path.write_bytes(b"lang = '\xff'")
    with pytest.raises(InvalidArgument, match=str(path)):
        load({}, environ, tmp_path)


@pytest.mark.parametrize(
    "name,value",
    [
        ("port", "65536"), ("port", "-1"), ("port", "x"), ("port", True), ("port", 1.5), ("port", "１"),
        ("auth", "yes"), ("log_level", "loud"), ("lang", "fr"), ("pool_size", "0"), ("allowed_hosts", [1]),
        ("data_dir", ""), ("data_dir", "a\0b"), ("database_url", "mysql://x"), ("max_body_bytes", "1"),
        ("reranker", "auto"), ("reranker", "fastembed:"), ("rerank_url", "ftp://x"), ("rerank_depth", "1"),
        ("provider", "cursor"), ("daily_tokens", "-1"), ("skip_tools", [1]), ("exclude_projects", 1),
        ("capture_days", "0"), ("oidc_issuer", "http://evil.test"), ("oidc_groups", "a"), ("oidc_tenant", "A b"),
        ("batch_events", "0"), ("batch_events", "51"), ("batch_wait_s", "3601"),
    ],
)  # fmt: skip
def test_a_wrong_value_says_what_was_expected(
    name: str, value: object, environ: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgument, match=f"{name} must be"):
        load({name: value}, environ, tmp_path)


def test_values_are_read_in_their_own_types(environ: dict[str, str], tmp_path: Path) -> None:
    write_user(tmp_path, 'allowed_hosts = ["a", "b:1"]\nlog_format = "json"\nworker_threads = 8\n')
    settings = load({"auth": " TOKEN "}, environ, tmp_path)
    assert settings.allowed_hosts == ("a", "b:1")
    assert (settings.log_format, settings.worker_threads, settings.auth) == ("json", 8, "token")
    environ["CODEXMEM_ALLOWED_HOSTS"] = "x, y ,"
    assert load({}, environ, tmp_path).allowed_hosts == ("x", "y")


def test_no_secret_is_ever_shown(environ: dict[str, str], tmp_path: Path) -> None:
    url = "postgresql://me:hunter2@db:5432/mem?sslpassword=hunter2"
    settings = load({"database_url": url}, environ, tmp_path)
    assert settings.database_url == url
    assert settings.on_postgres
    assert settings.shown("database_url") == "postgresql://me:***@db:5432/mem?sslpassword=***"
    assert "hunter2" not in repr(settings)
    with pytest.raises(InvalidArgument) as caught:
        load({"database_url": "mysql://me:hunter2@db/x"}, environ, tmp_path)
    assert "hunter2" not in caught.value.message + str(caught.value.details)


def test_a_key_is_never_shown_and_our_own_variable_comes_first(environ: dict[str, str], tmp_path: Path) -> None:
    settings = load({}, environ | {"OPENAI_API_KEY": "sk-shared"}, tmp_path)
    assert settings.openai_api_key == "sk-shared"
    assert settings.origins["openai_api_key"] == "environment OPENAI_API_KEY"
    both = load({}, environ | {"OPENAI_API_KEY": "sk-shared", "CODEXMEM_OPENAI_API_KEY": "sk-ours"}, tmp_path)
    assert both.openai_api_key == "sk-ours"
    assert both.shown("openai_api_key") == "***"
    assert both.shown("openai_embedding_api_key") == ""
    assert "sk-ours" not in repr(both)


def test_6_the_model_is_openais_unless_told_otherwise(environ: dict[str, str], tmp_path: Path) -> None:
    settings = load({}, environ, tmp_path)
    assert (settings.provider, settings.openai_model, settings.openai_base_url) == ("openai", "gpt-5.6-luna", "")
    environ |= {"CODEXMEM_PROVIDER": "Rules", "CODEXMEM_OPENAI_MODEL": "qwen3:8b"}
    settings = load({}, environ, tmp_path)
    assert (settings.provider, settings.openai_model) == ("rules", "qwen3:8b")
    assert settings.origins["openai_model"] == "environment CODEXMEM_OPENAI_MODEL"


def test_extraction_is_batched_and_bounded_by_default(environ: dict[str, str], tmp_path: Path) -> None:
    settings = load({}, environ, tmp_path)
    assert (settings.batch_events, settings.batch_wait_s) == (5, 10)
    assert (settings.daily_tokens, settings.capture_days) == (2_000_000, 30)
    assert {"ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite", "AskUserQuestion", "tool_search"} <= set(
        settings.skip_tools
    )
    assert not {"Bash", "Read", "Edit", "Write", "apply_patch"} & set(settings.skip_tools)
    assert settings.exclude_projects == ()
    environ |= {"CODEXMEM_DAILY_TOKENS": "0", "CODEXMEM_EXCLUDE_PROJECTS": "~/private/**, 秘密*"}
    settings = load({"skip_tools": ["Bash"]}, environ, tmp_path)
    assert (settings.daily_tokens, settings.skip_tools) == (0, ("Bash",))
    assert settings.exclude_projects == ("~/private/**", "秘密*")
    assert settings.author_exclude_projects == ()


def test_a_checkout_cannot_send_texts_elsewhere(environ: dict[str, str], tmp_path: Path) -> None:
    for line in (
        'openai_base_url = "http://evil"', 'chroma_url = "http://evil"', 'embedder = "fastembed:./model"',
        'openai_api_key = "sk-theirs"', 'openai_model = "dear"', "daily_tokens = 0", "exclude_projects = []",
        "author_exclude_projects = []",
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match="may not be set there"):
            load({}, environ, write_project(tmp_path, line + "\n"))


def test_a_checkout_can_refuse_an_author_and_not_allow_one(environ: dict[str, str], tmp_path: Path) -> None:
    environ["CODEXMEM_PROVIDER"] = "codex"
    project = write_project(tmp_path, "rules_only = true\n")
    settings = load({}, environ, project)
    assert (settings.rules_only, settings.writer.provider) == (True, "codex")  # elsewhere it is still Codex
    (project / "a").mkdir()
    assert refusing_file(str(project / "a")) == str(project / ".codexmem.toml")
    (project / "a" / ".codexmem.toml").write_text("rules_only = false\n")
    assert refusing_file(str(project / "a"))
    write_project(tmp_path, "rules_only = false\n")
    assert refusing_file(str(project / "a")) == ""
    environ["CODEXMEM_RULES_ONLY"] = "on"
    assert load({}, environ, project).writer.provider == "rules"
    write_user(tmp_path, "rules_only = true\n")
    del environ["CODEXMEM_RULES_ONLY"]
    assert load({}, environ, project).writer.provider == "rules"
    for text in ("rules_only = perhaps\n", 'rules_only = "perhaps"\n', "rules_only = 1\n"):
        write_project(tmp_path, text)
        assert refusing_file(str(project)), text
    assert refusing_file("") == refusing_file("a\0b") == refusing_file(f"/{'x' * 5000}") == ""


@pytest.mark.parametrize(
    "name, good, bad",
    [
        ("embedder", "fastembed:BAAI/bge", "fastembed:"),
        ("embedder", "local-better", "remote"),
        ("chroma_url", "http://127.0.0.1:8000", "file:///etc/passwd"),
        ("openai_base_url", "https://ai.local/v1", "ai.local"),
        ("chroma_collection", "team-1", "a/b"),
        ("vector_backend", "hybrid", "lance"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(
    environ: dict[str, str], tmp_path: Path, name: str, good: str, bad: str
) -> None:
    assert getattr(load({name: good}, environ, tmp_path), name) == good
    with pytest.raises(InvalidArgument, match=f"{name} must be"):
        load({name: bad}, environ, tmp_path)


@pytest.mark.parametrize("url", ["sqlite:////a/b.db", "postgresql:///mem", "postgresql://me@db/mem"])
def test_an_address_without_a_secret_is_shown_whole(url: str) -> None:
    assert masked(url) == url


def test_language_goes_by_flag_then_setting_then_locale(environ: dict[str, str], tmp_path: Path) -> None:
    assert terminal(None, environ).language == "en"
    assert terminal(None, environ | {"LANG": "zh_CN.UTF-8"}).language == "zh"
    assert terminal(None, environ | {"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}).language == "en"
    assert terminal(None, environ | {"LANG": "zh_CN.UTF-8", "CODEXMEM_LANG": "en"}).language == "en"
    assert terminal("zh", environ | {"CODEXMEM_LANG": "en"}).language == "zh"
    write_user(tmp_path, "lang = 'zh'\n")
    assert terminal(None, environ).language == "zh"
    write_user(tmp_path, "lang = \n")
    assert terminal(None, environ).language == "en"


def test_colour_wishes(environ: dict[str, str]) -> None:
    looks = terminal(None, environ | {"NO_COLOR": "1", "TERM": "dumb"})
    assert (looks.no_color, looks.force_color, looks.dumb) == (True, False, True)


def test_a_direct_address_counts_only_beside_the_address_it_belongs_to(environ: dict[str, str], tmp_path: Path) -> None:
    environ |= {
        "CODEXMEM_DATABASE_URL": "postgresql://pooler/team",
        "CODEXMEM_DATABASE_DIRECT_URL": "postgresql://db/team",
        "CODEXMEM_DATABASE_REPLICA_URL": "postgresql://standby/team",
    }
    found = load({}, environ, tmp_path)
    assert (found.direct_url, found.database_replica_url) == ("postgresql://db/team", "postgresql://standby/team")
    other = load({"database_url": "postgresql://elsewhere/other"}, environ, tmp_path)
    assert other.direct_url == "postgresql://elsewhere/other"
    assert other.origins["database_direct_url"] == other.origins["database_replica_url"] == "default"
    assert other.database_replica_url == ""
    del environ["CODEXMEM_DATABASE_URL"]
    assert load({}, environ, tmp_path).direct_url.startswith("sqlite:///")


@pytest.mark.parametrize(
    "around, at_terminal, person",
    [({}, True, True), ({}, False, False), ({"CLAUDECODE": "1"}, True, False), ({"CODEX_THREAD_ID": "x"}, True, False),
     ({"CODEX_HOME": "/home/me/.codex"}, True, True)],
)  # fmt: skip
def test_a_person_is_at_a_terminal_that_no_agent_opened(
    monkeypatch: pytest.MonkeyPatch, around: dict[str, str], at_terminal: bool, person: bool
) -> None:
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: at_terminal, raising=False)
    assert is_person(around) is person
