"""Programs that misbehave, and ours that keep silent below an agent that writes memories.

The programs are small scripts under the names of agents, so that each way of failing can be had at will.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from codexmem.agents.authors import NAMES
from codexmem.agents.authors.model import AgentModel, agent_model, author_of
from codexmem.kernel.llm.model import Message, Model, ModelPrompt, Trouble, Unanswered
from codexmem.kernel.model.errors import InvalidArgument
from tests._support.hook_endpoint import HookEndpoint
from tests._support.waiting import eventually
from tests.agents.installation import Installation
from tests.agents.person import PROGRAMS

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
PROMPT = ModelPrompt((Message("system", "Rules."), Message("user", "Question?")), "answer", SCHEMA, 100)
WHOLE = (
    '{"type":"item.completed","item":{"type":"agent_message","text":"{\\"a\\": 1}"}}\n'
    '{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":3}}'
)
Make = Callable[..., AgentModel]

pytestmark = pytest.mark.process


def goes_on() -> None:
    """Nobody wants the work to stop."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Somebody whose only programs besides the system's are in one folder."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "TMPDIR": str(tmp_path)}


@pytest.fixture
def make(environ: dict[str, str], tmp_path: Path) -> Make:
    """A model whose program is this script."""

    def made(script: str, *, agent: str = "codex", timeout_s: float = 10.0) -> AgentModel:
        program = tmp_path / "bin" / author_of(agent).agent.program
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return agent_model(agent, environ, timeout_s=timeout_s)

    return made


def refused(model: Model, prompt: ModelPrompt = PROMPT) -> Unanswered:
    with pytest.raises(Unanswered) as raised:
        model.answer(prompt, goes_on)
    return raised.value


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be taken note of does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int) -> bool:
    """Whether it ends; the system takes its time."""
    return eventually(lambda: not is_there(pid))


def test_an_answer_and_what_it_took(make: Make) -> None:
    completion = make(f"cat > /dev/null; cat <<'E'\n{WHOLE}\nE").answer(PROMPT, goes_on)
    assert (completion.text, completion.prompt_tokens, completion.completion_tokens) == ('{"a": 1}', 7, 3)


def test_a_connection_that_was_made_anew_is_no_failure(make: Make) -> None:
    again = '{"type":"error","message":"Reconnecting... 2/5 (429)"}'
    assert make(f"cat <<'E'\n{again}\n{WHOLE}\nE").answer(PROMPT, goes_on).text == '{"a": 1}'


def test_it_works_in_an_empty_folder_of_its_own_that_is_removed(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    refused(make(f'{{ pwd; ls -A; env; cat; }} > "{log}"; exit 3'))
    place, first, *rest = log.read_text().splitlines()
    assert "=" in first  # nothing is listed between the folder and the environment
    assert not Path(place).exists()
    assert {"CODEXMEM_AUTHOR=1", f"HOME={tmp_path / 'home'}"} <= {first, *rest}
    assert rest[-3:] == ["Rules.", "", "Question?"]


SECRETS = {
    "CODEXMEM_API_KEY": "s1", "CODEXMEM_OPENAI_API_KEY": "s2", "CODEXMEM_OIDC_CLIENT_SECRET": "s3",
    "CODEXMEM_DATABASE_URL": "postgresql://u:s4@db/x", "AWS_SECRET_ACCESS_KEY": "s5", "AWS_SESSION_TOKEN": "s6",
    "OPENAI_API_KEY": "s7", "GOOGLE_APPLICATION_CREDENTIALS": "s8", "GITHUB_TOKEN": "s9", "DATABASE_URL": "s10",
    "PGPASSWORD": "s11", "SSH_AUTH_SOCK": "s12", "AZURE_CLIENT_SECRET": "s13",
}  # fmt: skip


@pytest.mark.parametrize("agent, own", [
    ("codex", {"CODEX_HOME": "{home}/codex", "MY_LOGIN": "k"}), ("claude-code", {"ANTHROPIC_API_KEY": "k"}),
    ("gemini-cli", {"GEMINI_API_KEY": "k"}), ("qwen-code", {}), ("opencode", {}),
])  # fmt: skip
def test_it_gets_its_own_login_and_no_other_secret(
    make: Make, environ: dict[str, str], tmp_path: Path, agent: str, own: dict[str, str]
) -> None:
    own = {name: value.format(home=tmp_path) for name, value in own.items()}
    (tmp_path / "codex").mkdir()
    config = tmp_path / "codex" / "config.toml"
    config.write_text('model_provider = "mine"\n[model_providers.mine]\nenv_key = "MY_LOGIN"\n')
    needed = {"LANG": "zh_CN.UTF-8", "HTTPS_PROXY": "http://proxy:3128", "XDG_CONFIG_HOME": str(tmp_path)}
    environ.update(SECRETS | own | needed)
    log = tmp_path / "log"
    refused(make(f'env > "{log}"; exit 3', agent=agent))
    got = dict(line.partition("=")[::2] for line in log.read_text().splitlines())
    assert {name for name in got if name in SECRETS} == set()
    assert own.items() | needed.items() <= got.items()


def test_a_program_that_hangs_is_ended(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "pid"
    error = refused(make(f'echo $$ > "{log}"; exec sleep 600', timeout_s=0.5))
    assert (error.trouble, error.prompt_tokens > 0) == (Trouble.TRANSIENT, True)
    assert gone(int(log.read_text()))


def test_a_grandchild_that_hangs_is_ended_too(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "pid"
    hangs = f'sh -c \'trap "" TERM; sleep 600\' & echo $! > "{log}"'
    assert refused(make(f"{hangs}; wait", timeout_s=0.5)).trouble is Trouble.TRANSIENT
    assert gone(int(log.read_text()))
    # Its own end is not waited for, though it holds the output.
    log.unlink()
    assert make(f"{hangs}; cat <<'E'\n{WHOLE}\nE").answer(PROMPT, goes_on).text == '{"a": 1}'
    assert gone(int(log.read_text()))


def test_what_the_check_raises_passes_and_the_program_is_ended(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "pid"
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 5:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        make(f'echo $$ > "{log}"; exec sleep 600').answer(PROMPT, stop)
    assert gone(int(log.read_text()))


def test_a_program_that_does_not_read_its_prompt_may_answer(make: Make) -> None:
    long = ModelPrompt((Message("user", "x" * 99_000),), "answer", SCHEMA, 100)
    assert make(f"cat <<'E'\n{WHOLE}\nE").answer(long, goes_on).text == '{"a": 1}'


@pytest.mark.parametrize("script", [
    "exit 1", "kill -9 $$", "echo panicked >&2; exit 101", "true",
    """echo '{"type":"turn.completed","usage":{"input_tok'""",
    """echo '{"type":"item.completed","item":{"type":"agent_message","text":"{"}}'""",
])  # fmt: skip
@pytest.mark.parametrize("agent", NAMES)
def test_a_crash_or_half_an_answer_may_pass(make: Make, script: str, agent: str) -> None:
    assert refused(make(script, agent=agent)).trouble is Trouble.TRANSIENT


def test_endless_output_is_not_taken(make: Make) -> None:
    endless = refused(make("yes 12345678901234567890"))
    assert (endless.trouble, "printed more than" in endless.message) == (Trouble.TRANSIENT, True)
    assert refused(make("yes 12345678901234567890 >&2", timeout_s=1)).trouble is Trouble.TRANSIENT


def test_a_long_prompt_is_never_asked(make: Make) -> None:
    long = ModelPrompt((Message("user", "x" * 100_001),), "answer", SCHEMA, 100)
    assert refused(make("exit 1"), long).trouble is Trouble.UNRECOVERABLE


LIMITS = {
    "codex": 'echo \'{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again in 2 hours."}}\'',
    "claude-code": 'echo \'{"type":"result","is_error":true,"result":"Claude AI usage limit reached|4000000000"}\'',
    "qwen-code": 'echo \'[{"type":"result","is_error":true,"error":{"message":"[API Error: 429 quota exceeded]"}}]\'',
    "gemini-cli": 'echo \'{"error":{"message":"Your quota will reset after 2h0m0s."}}\'',
    "opencode": 'echo \'{"type":"error","error":{"name":"APIError","data":{"message":"Rate limit exceeded"}}}\'',
}
LOGINS = {
    "codex": 'echo \'{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}\'',
    "claude-code": 'echo \'{"type":"result","is_error":true,"result":"Not logged in · Please run /login"}\'',
    "qwen-code": 'echo \'[{"type":"result","is_error":true,"error":{"message":"No auth type is selected."}}]\'',
    "gemini-cli": "echo 'Please set an Auth method in your settings.json or specify GEMINI_API_KEY' >&2",
    "opencode": 'echo \'{"type":"error","error":{"name":"ProviderAuthError","data":{"message":"no API key"}}}\'',
}


@pytest.mark.parametrize("agent", NAMES)
def test_a_program_whose_limit_is_reached_is_left_alone(make: Make, agent: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    model = make(f'echo run >> "{log}"; {LIMITS[agent]}; exit 1', agent=agent)
    error = refused(model)
    assert (error.trouble, error.wait_s >= 900) == (Trouble.RATE_LIMIT, True)
    again = refused(model)
    assert (again.trouble, again.wait_s > 800) == (Trouble.RATE_LIMIT, True)
    assert log.read_text() == "run\n"
    assert "usage limit" in error.message


@pytest.mark.parametrize("agent", NAMES)
def test_somebody_has_to_log_in(make: Make, agent: str) -> None:
    error = refused(make(f"{LOGINS[agent]}; exit 1", agent=agent))
    assert (error.trouble, "log in" in str(error.hint)) == (Trouble.AUTH_INVALID, True)


def test_a_program_that_keeps_crashing_is_left_alone(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    model = make(f'echo run >> "{log}"; exit 1')
    for _ in range(5):
        refused(model)
    assert log.read_text() == "run\n" * 3


def test_what_the_program_said_is_not_passed_on(make: Make) -> None:
    error = refused(make("echo SECRET-OF-THE-PROMPT >&2; exit 1"))
    assert "SECRET" not in f"{error.message} {error.hint}"


def test_the_first_that_is_installed_is_chosen(make: Make, environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(Unanswered) as none:
        agent_model("agent", environ)
    assert none.value.trouble is Trouble.SETUP_REQUIRED
    for agent in reversed(NAMES):
        make("exit 1", agent=agent)
        assert agent_model("agent", environ).name == agent
    (tmp_path / "bin" / "codex").unlink()
    error = refused(agent_model("codex", environ))
    assert (error.trouble, "PATH" in str(error.hint)) == (Trouble.SETUP_REQUIRED, True)
    assert agent_model("Claude", environ).name == "claude-code"
    with pytest.raises(InvalidArgument):
        agent_model("cursor", environ)


def test_our_mcp_server_offers_nothing_below_an_author(environ: dict[str, str], alone: bool) -> None:
    first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    given = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": first})
    with HookEndpoint() as endpoint:
        for mark, asked in (({"CODEXMEM_AUTHOR": "1"}, 0), ({}, 1)):
            done = subprocess.run(
                [PROGRAMS / "codexmem", "mcp"], input=f"{given}\n", capture_output=True, text=True, timeout=30,
                check=False,
                env={**environ, "CODEXMEM_URL": endpoint.url, "CODEXMEM_AUTOSTART": "0", **mark},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert (bool(done.stdout), min(1, len(endpoint.asked))) == (bool(asked), asked)


def test_our_plugin_does_nothing_below_an_author(installation: Installation, tmp_path: Path) -> None:
    text = files("codexmem.agents").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    plugin = tmp_path / "plugin.mjs"
    plugin.write_text(text.replace("__HOOK__", '["/bin/true"]').replace("__OFFERED__", "{}"))
    script = (
        f"const {{ Codexmem }} = await import({json.dumps(plugin.as_uri())})\n"
        "console.log(Object.keys(await Codexmem({})).length)"
    )
    for mark, hooks in (({"CODEXMEM_AUTHOR": "1"}, 0), ({}, 5)):
        done = subprocess.run(
            [installation.node, "--input-type=module", "-e", script], capture_output=True, text=True, timeout=30,
            env={"PATH": os.environ["PATH"], **mark}, check=True,
        )  # fmt: skip
        assert int(done.stdout) == hooks


def test_an_authors_module_is_not_loaded_by_the_hook(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "codexmem.hook", "codex", "context"]
    done = subprocess.run(
        command, input=b"{}", capture_output=True, check=True, timeout=30,
        env={"HOME": str(tmp_path), "CODEXMEM_AUTHOR": "1", "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert done.stdout == b""
    assert b"authors" not in done.stderr
