"""A reader's terminal: one shell in an empty home, with our programs on its path and ports of its own.

A server that a page starts in the foreground is started beside the shell, as in a second terminal, and waited for.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from tests._support.server import STOPS_WITHIN_S, environment
from tests._support.waiting import eventually
from tests.agents.person import start_repository
from tests.docs.blocks import Block, compared

PORT = "37877"
HOME = "/home/li"
PATIENCE_S = 60.0
_LOCALES = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}
# Any program can be the agent of `mem-codecli`; this one needs no model: it says again what it was asked.
AGENT = '#!/bin/sh\nfor asked; do :; done\necho "$asked"\n'
# The one that codexmem is installed for.
PYTHON = '#!/bin/sh\nPYTHONPATH="{path}" exec "{python}" "$@"\n'
_LISTENS = re.compile(r"(?:listens on|正在监听) (http://[\w.:]+)")
_SERVED = re.compile(r"^(?P<before>(?:\w+=\S+ )*)codexmem (?P<verb>serve|worker)\b(?P<rest>[^&|;\n]*?)(?:\s+# .*)?$")


class Failed(AssertionError):
    """A command of a page did not do what the page says."""


class Terminal:
    """A shell to type a page into; ends what it started when the block ends."""

    def __init__(self, home: Path, programs: Path, settings: Mapping[str, str] | None = None, *,
                 language: str = "en", encoder: bool = False) -> None:  # fmt: skip
        self.home = home
        self._programs = programs
        self.port = _free_port()
        self._settings = {"LANG": _LOCALES[language], **(settings or {})}
        if not encoder:
            self._settings["CODEXMEM_EMBEDDER"] = "none"  # quicker, where the page does not depend on it
        self._ids: dict[str, str] = {}  # as the page has them, as they are
        self._served: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Terminal:
        self._furnish()
        # Commands have a terminal to read from, by which they know that a person types; they print into a pipe, so
        # that none asks anything.
        self._screen, self._keyboard = os.openpty()
        self._shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=self.home / "shop", env=self._env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            pass_fds=(self._keyboard,),
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._end_served()
        self._end_background()
        _end(self._shell.pid)
        self._shell.wait(20)
        for pipe in (self._shell.stdin, self._shell.stdout):
            assert pipe is not None
            pipe.close()
        os.close(self._keyboard)
        os.close(self._screen)

    def run(self, block: Block) -> None:
        """Type a block; raises where a command fails or prints something else than the page shows."""
        for line in filter(None, (line.strip() for line in block.first.splitlines())):
            self._typed(line, block.line)
        for step in block.steps:
            said = self._typed(step.command, step.line)
            missing, ids = compared(step.printed, said.replace(str(self.home), HOME))
            self._ids |= ids
            if missing is not None:
                raise Failed(f"line {step.line}: {step.command}\ndid not print: {missing}\nbut:\n{said}")

    def _typed(self, command: str, line: int) -> str:
        command = command.replace(PORT, str(self.port)).replace(HOME, str(self.home))
        for shown, true in self._ids.items():
            command = command.replace(shown, true)
        served = _SERVED.match(command)
        if served:
            return self._serve(served)
        mark = f"done-{secrets.token_hex(8)}"
        shell = self._shell
        assert shell.stdin is not None
        assert shell.stdout is not None
        shell.stdin.write(f"{{ {command}\n}} <&{self._keyboard}\nprintf '\\n%s\\n' \"{mark} $?\"\n")
        shell.stdin.flush()
        said: list[str] = []
        for each in shell.stdout:
            if each.startswith(mark):
                code = int(each.split()[1])
                break
            said.append(each)
        else:
            raise Failed(f"line {line}: {command}\nended the shell:\n{''.join(said)}")
        if code != 0:
            raise Failed(f"line {line}: {command}\nended with {code}:\n{''.join(said)}")
        return "".join(said)

    def _serve(self, wanted: re.Match[str]) -> str:
        # The shell's own variables decide, as they would in another terminal where they were typed too.
        shown = self._typed("env -0 | base64 -w0", 0).strip()
        env = dict(_pairs(shown))
        env.update(dict(part.split("=", 1) for part in wanted["before"].split()))
        if wanted["verb"] == "serve":
            self._end_served()
        log = self.home / f"{wanted['verb']}.log"
        words = subprocess.run(["bash", "-c", f"printf '%s\\0' {wanted['rest']}"], env=env, capture_output=True,
                               check=True, text=True).stdout.split("\0")[:-1]  # fmt: skip
        command = [str(self._programs / "codexmem"), wanted["verb"], *filter(None, words)]
        with log.open("wb") as written:
            started = subprocess.Popen(command, env=env, stdout=written, stderr=written, stdin=subprocess.DEVNULL,
                                       cwd=self.home / "shop", start_new_session=True)  # fmt: skip
        self._served.append(started)
        if wanted["verb"] == "serve":
            _wait(started, log)
        return log.read_text()

    def _end_served(self) -> None:
        for served in self._served:
            _end(served.pid)
            served.wait(STOPS_WITHIN_S)
        self._served = []

    def _end_background(self) -> None:
        """A server that a page started in the background and, failing, did not stop."""
        for told in self.home.rglob("server.json"):
            with contextlib.suppress(ValueError, KeyError, OSError):
                os.kill(json.loads(told.read_text())["pid"], signal.SIGTERM)

    def _furnish(self) -> None:
        agents = self.home / "bin"
        agents.mkdir()
        (agents / "codecli").write_text(AGENT)
        (agents / "codecli").chmod(0o755)
        (agents / "python").write_text(PYTHON.format(path=os.pathsep.join(sys.path), python=sys.executable))
        (agents / "python").chmod(0o755)
        # Of what a server refuses curl says nothing by itself.
        (self.home / ".curlrc").write_text("fail-with-body\nmax-time = 30\n")
        kept = environment(self.home)
        del kept["CODEXMEM_DATA_DIR"], kept["XDG_CONFIG_HOME"]
        self._env = kept | {
            "HOME": str(self.home), "PATH": f"{self._programs}:{agents}:{os.environ['PATH']}",
            "CODEXMEM_PORT": str(self.port), "CODEXMEM_AUTOSTART": "0",
            "GIT_CONFIG_NOSYSTEM": "1", **self._settings,
        }  # fmt: skip
        for name in (
            "LC_ALL",
            "LC_MESSAGES",
            "LANGUAGE",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
            "XDG_RUNTIME_DIR",
        ):
            self._env.pop(name, None)
        start_repository(self.home / "shop")


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def _pairs(encoded: str) -> list[tuple[str, str]]:
    import base64

    text = base64.b64decode(encoded).decode()
    return [(name, value) for name, _, value in (each.partition("=") for each in text.split("\0")) if name]


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    """Until a server has said where it listens and answers there; a worker has nothing to say."""

    def answers() -> bool:
        if process.poll() is not None:
            raise Failed(f"the server ended:\n{log.read_text()}")
        said = _LISTENS.search(log.read_text())
        try:
            if said:
                with urllib.request.urlopen(f"{said[1]}/api/readiness", timeout=5):
                    return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        return False

    try:
        eventually(answers, within_s=PATIENCE_S)
    except AssertionError:
        raise Failed(f"the server is not ready:\n{log.read_text()}") from None


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGTERM)
    except ProcessLookupError:
        return
