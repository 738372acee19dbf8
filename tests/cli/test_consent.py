"""Nothing that was captured leaves the machine before somebody has said who may write memories, nor of a
project that they keep from it.

Everything runs as it is installed, with a key of OpenAI's in the environment, all five agents on the PATH, and a proxy
for whatever wants to go out. What is not captured at all is another matter: `tests/services/test_capture.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.request import ProxyHandler, build_opener

import pytest

from codexmem.agents.authors import NAMES
from codexmem.agents.authors.model import author_of
from tests._support.model_server import ModelServer
from tests.cli.test_processes import environ

pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(180)]
WITHIN_S = 60.0
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

    def run(self, *words: str, given: str | None = None, module: str = "codexmem.cli") -> str:
        """A program of ours, to its end."""
        done = subprocess.run(
            [sys.executable, "-m", module, *words], env=self.env, cwd=self.home / "shop", input=given, check=False,
            capture_output=True, text=True, timeout=WITHIN_S,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

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
        with build_opener(ProxyHandler({})).open(f"{url}{path}", timeout=WITHIN_S) as reply:
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
    home, programs = tmp_path / "home", tmp_path / "bin"
    for folder in ("shop", "secret"):
        (home / folder / ".git").mkdir(parents=True)
    programs.mkdir()
    for name in NAMES:
        program = programs / author_of(name).agent.program
        program.write_text(f'#!/bin/sh\necho "$(basename "$0") $1" >> "{home / "ran"}"\nexit 1\n')
        program.chmod(0o755)
    with Proxy() as proxy, ModelServer() as model:
        kept = {name: value for name, value in environ().items() if not name.startswith("XDG_")}
        env = {
            **kept, **proxy.environ, "HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "CODEXMEM_PORT": "0",
            "CODEXMEM_LANG": language, "CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_HOOK_BUDGET_MS": "8000",
            "OPENAI_API_KEY": "sk-of-something-else", "OPENAI_BASE_URL": model.url,
            "CODEXMEM_AUTHOR_EXCLUDE_PROJECTS": "~/secret",
        }  # fmt: skip
        person = Someone(home, env, language, proxy, model)
        person.run("start")
        try:
            yield person
        finally:
            person.run("stop")


@pytest.mark.parametrize("language, who", [("en", "codex"), ("zh", "openai")])
def test_nothing_leaves_the_machine_before_somebody_has_chosen(someone: Someone, who: str) -> None:
    someone.session("one")
    someone.session("two")
    for words in (("status",), ("search", "5179"), ("doctor",), ("writer",)):
        someone.run(*words)
    assert len(someone.summaries()) == 2
    assert someone.went_out == ([], [], 0)

    someone.run("writer", who)  # this is the consent, to one of them
    someone.session("three", "secret")  # and not for this project
    assert len(someone.summaries()) == 3
    assert someone.went_out == ([], [], 0)
    someone.session("four")
    eventually(lambda: someone.ran or someone.proxy.asked)
    expected = (set(), {"codex exec"}) if who == "codex" else ({"CONNECT api.openai.com:443"}, set())
    assert (set(someone.proxy.asked), set(someone.ran)) == expected
    assert someone.model.count == 0


def eventually(is_so: Callable[[], object]) -> None:
    """Wait until it is."""
    until = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)
