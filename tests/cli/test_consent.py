"""Nothing that was captured leaves the machine before somebody has said who may write memories, nor of a
project that they keep from it.

One person's programs are the real ones, everybody else's are forks of loaded ones; all have a key of OpenAI's in the
environment, all five agents on the PATH, and a proxy for whatever wants to go out. What is not captured at all is
another matter: `tests/services/test_capture.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.request import ProxyHandler, build_opener

import pytest

from codexmem.agents.authors import NAMES
from codexmem.agents.authors.model import author_of
from codexmem.kernel.model.writer import writer_of
from codexmem.settings.table import DEFAULT_MODEL
from tests._support import warm
from tests._support.model_server import ModelServer
from tests._support.server import Server, environment
from tests._support.waiting import eventually, patience
from tests.cli.test_processes import environ

WITHIN_S = 60.0  # times `patience`: whether something happens is asked here, not how soon
pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(180 * patience())]
CROSSED = os.environ.get("CODEXMEM_CONSENT_TESTS_WHOLE") == "1"  # every writer in every language
SAID = {
    "en": ("Which port does it use?", "The dev server listens on port 5179 because Grafana has 5173."),
    "zh": ("它用哪个端口？", "开发服务器监听端口 5179，因为 Grafana 占用了 5173。"),
}


@dataclass
class Proxy:
    """Takes down what wants to go out, and lets nothing through."""

    asked: list[str] = field(default_factory=list)  # method and address
    _server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        asked = self.asked

        class Endpoint(BaseHTTPRequestHandler):
            def parse_request(self) -> bool:
                """Whatever the method is."""
                if super().parse_request():
                    asked.append(f"{self.command} {self.path}")
                    self.send_error(502)
                return False

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def environ(self) -> dict[str, str]:
        """The variables that programs look at, in both spellings."""
        assert self._server is not None
        url = f"http://127.0.0.1:{self._server.server_address[1]}"
        names = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": "127.0.0.1"}
        return names | {name.lower(): value for name, value in names.items()}


@dataclass(frozen=True)
class Someone:
    """A person's machine: their codexmem, their agents' programs, and what of it went out."""

    home: Path
    env: dict[str, str]
    language: str
    proxy: Proxy
    model: ModelServer

    def run(self, *words: str, given: str | None = None, module: str = "codexmem.cli", folder: str = "shop") -> str:
        """A program of ours, to its end."""
        done = self._tried(module, words, given, folder)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self) -> None:
        """Their server; the command waits half a minute for it, which a busy machine may need more than once."""
        eventually(lambda: self._tried("codexmem.cli", ["start"]).returncode == 0)

    def _tried(self, module: str, words: Sequence[str], given: str | None = None,
               folder: str = "shop") -> subprocess.CompletedProcess[str]:  # fmt: skip
        return subprocess.run(
            [sys.executable, "-m", module, *words], env=self.env, cwd=self.home / folder, input=given, check=False,
            capture_output=True, text=True, timeout=WITHIN_S * patience(),
        )  # fmt: skip

    def session(self, key: str, folder: str = "shop") -> None:
        """A session of one turn, as an agent's hooks report it, and what comes of it by rules."""
        prompt, answer = SAID[self.language]
        about = {"contentSessionId": key, "cwd": str(self.home / folder)}
        tool = {"tool_name": "Bash", "tool_input": {"command": "cat vite.config.ts"}, "tool_response": "port: 5179"}
        before = len(self.summaries())
        for event, said in (
            ("context", {}), ("session-init", {"prompt": prompt}), ("observation", tool),
            ("summarize", {"last_assistant_message": answer}), ("session-complete", {}),
        ):  # fmt: skip
            self.run("raw", event, given=json.dumps(about | said), module="codexmem.hook")
        eventually(lambda: len(self.summaries()) > before and not self.get("/api/processing-status")["isProcessing"])

    def summaries(self) -> list[Any]:
        """What rules wrote of the turns."""
        found: list[Any] = self.get("/api/summaries?limit=9")["items"]
        return found

    def get(self, path: str) -> Any:
        """What the running server answers."""
        url = json.loads((self.home / ".local/share/codexmem/server.json").read_text())["url"]
        with build_opener(ProxyHandler({})).open(f"{url}{path}", timeout=WITHIN_S * patience()) as reply:
            return json.load(reply)

    @property
    def ran(self) -> list[str]:
        """Each start of an agent's program."""
        log = self.home / "ran"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def went_out(self) -> tuple[list[str], list[str], int]:
        """Through the proxy, by an agent, and to the server that other programs use."""
        return self.proxy.asked, self.ran, self.model.count


@pytest.fixture
def someone(language: str, tmp_path: Path) -> Iterator[Someone]:
    """Who has everything that could be used and has chosen nothing; their server runs."""
    home, programs = machine(tmp_path)
    with Proxy() as proxy, ModelServer() as model:
        kept = {name: value for name, value in environ().items() if not name.startswith("XDG_")}
        env = {
            **kept, **proxy.environ, "HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "CODEXMEM_PORT": "0",
            "CODEXMEM_LANG": language, "CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_HOOK_BUDGET_MS": "8000",
            "OPENAI_API_KEY": "sk-of-something-else", "OPENAI_BASE_URL": model.url,
            "CODEXMEM_AUTHOR_EXCLUDE_PROJECTS": "~/secret",
        }  # fmt: skip
        person = Someone(home, env, language, proxy, model)
        person.start()
        try:
            yield person
        finally:
            person.run("stop")


@pytest.mark.parametrize("language", SAID if CROSSED else ["en"])
def test_nothing_leaves_the_machine_before_somebody_has_chosen(someone: Someone) -> None:
    someone.session("one")
    for words in (("status",), ("search", "5179"), ("doctor",), ("writer",)):
        someone.run(*words)
    assert len(someone.summaries()) == 1
    assert someone.went_out == ([], [], 0)

    someone.run("writer", "codex")  # this is the consent, to one of them
    someone.session("two", "secret")  # and not for this project
    someone.session("refused", "refusing")  # nor for one that says so itself
    assert "refusing/.codexmem.toml" in someone.run("writer", folder="refusing")
    assert len(someone.summaries()) == 3
    assert someone.went_out == ([], [], 0)
    someone.session("three")
    eventually(lambda: someone.ran or someone.proxy.asked)
    assert (set(someone.proxy.asked), set(someone.ran)) == (set(), {"codex exec"})
    assert someone.model.count == 0


# What is chosen, and what of it is then told: programs that run, addresses at the proxy, the model server, a bridge.
WRITERS = {
    "rules": (set(), set(), False, False),
    **{name.partition("-")[0]: ({author_of(name).agent.program}, set(), False, False) for name in NAMES},
    "openai": (set(), {"CONNECT api.openai.com:443"}, False, False),
    "server": (set(), set(), True, False),
    "sampling": (set(), set(), False, True),
}


# Where nothing is said to a person the language makes no difference: the other one takes a program.
PAIRS = [(who, language) for who in WRITERS for language in SAID if CROSSED or language == "en" or who == "codex"]


@pytest.mark.parametrize("who, language", PAIRS)
def test_every_writer_is_told_after_the_choice_and_nobody_else_ever(who: str, language: str, tmp_path: Path) -> None:
    home, programs = machine(tmp_path)
    with Proxy() as proxy, ModelServer() as model:
        settings = {
            **proxy.environ, "HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "CODEXMEM_LANG": language,
            "CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_EMBEDDER": "none", "OPENAI_API_KEY": "sk-of-something-else",
            "OPENAI_BASE_URL": model.url, "CODEXMEM_AUTHOR_EXCLUDE_PROJECTS": "~/secret",
        }  # fmt: skip

        def told(server: Server) -> tuple[set[str], set[str], bool, bool]:
            asked = server.post("/api/sampling/next", {"bridge": "b", "holding": ""}).json
            log = home / "ran"
            ran = {line.partition(" ")[0] for line in log.read_text().splitlines()} if log.exists() else set()
            return ran, set(proxy.asked), bool(model.count), asked["question"] is not None

        nobody: tuple[set[str], set[str], bool, bool] = (set(), set(), False, False)
        with Server(tmp_path, settings=settings) as server:
            reported(server, "one", home / "shop", language)
            assert told(server) == nobody
        choice = ["writer", who]
        if who == "server":
            settings["CODEXMEM_OPENAI_MODEL"] = "m"
            choice = ["config", "set", "openai_base_url", model.url]
        done = warm.run(choice, env=environment(tmp_path, **settings))
        assert done.returncode == 0, done.stderr
        if who != "server":
            chosen = writer_of(who, model=DEFAULT_MODEL, base_url="", api_key="sk")
            assert chosen.described(language) in done.stdout.decode()
        with Server(tmp_path, settings=settings) as server:
            reported(server, "two", home / "secret", language)  # the person keeps it from authors
            reported(server, "three", home / "refusing" / "src", language)  # and this one does so itself
            assert told(server) == nobody
            reported(server, "four", home / "shop", language)
            if WRITERS[who] != nobody:
                eventually(lambda: told(server) != nobody)
            assert told(server) in (WRITERS[who], (*WRITERS[who][:3], False))  # a bridge gets a question once


@pytest.mark.parametrize("who", [who for who in WRITERS if who != "server"])
def test_whoever_chooses_is_told_in_their_language_who_writes(who: str, tmp_path: Path) -> None:
    home, programs = machine(tmp_path)
    settings = {"HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "CODEXMEM_LANG": "zh", "OPENAI_API_KEY": "sk"}
    done = warm.run(["writer", who], env=environment(tmp_path, **settings))
    assert done.returncode == 0, done.stderr
    chosen = writer_of(who, model=DEFAULT_MODEL, base_url="", api_key="sk")
    assert chosen.described("zh") in done.stdout.decode()


def machine(folder: Path) -> tuple[Path, Path]:
    """A person's home with three checkouts, and programs named as all agents, which note that they were started."""
    home, programs = folder / "home", folder / "bin"
    for name in ("shop", "secret", "refusing/src"):
        (home / name).mkdir(parents=True)
        (home / name.partition("/")[0] / ".git").mkdir()
    (home / "refusing" / ".codexmem.toml").write_text("rules_only = true\n")
    programs.mkdir()
    for name in NAMES:
        program = programs / author_of(name).agent.program
        program.write_text(f'#!/bin/sh\necho "$(basename "$0") $1" >> "{home / "ran"}"\nexit 1\n')
        program.chmod(0o755)
    return home, programs


def reported(server: Server, key: str, folder: Path, language: str) -> None:
    """A session of one turn, and what rules make of it."""
    prompt, answer = SAID[language]
    about = {"contentSessionId": key, "cwd": str(folder), "project": folder.name}
    for path, said in (
        ("init", {"prompt": prompt}), ("summarize", {"last_assistant_message": answer}), ("complete", {}),
    ):  # fmt: skip
        assert server.post(f"/api/sessions/{path}", about | said).status == 200
    eventually(lambda: server.request("GET", f"/api/summaries?limit=9&project={folder.name}").json["items"])
