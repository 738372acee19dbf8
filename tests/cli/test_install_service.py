"""The server in the background by command alone, without systemd: `init`, `start`, `status`, `logs`, `open`, `stop`."""

from __future__ import annotations

import errno
import io
import json
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests._support import warm
from tests.cli.conftest import Call
from tests.cli.test_help import snapshot
from tests.cli.test_processes import environ

pytestmark = pytest.mark.sqlite


class Shell:
    """Commands as processes, in a home of their own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data_dir = home / ".local" / "share" / "codexmem"
        kept = {name: value for name, value in environ().items() if not name.startswith("XDG_")}
        self._environ = {**kept, "HOME": str(home), "PATH": "/usr/bin:/bin", "CODEXMEM_EMBEDDER": "none",
                         "BROWSER": "/bin/false"}  # fmt: skip

    def __call__(self, *words: str, code: int = 0, more: Mapping[str, str] | None = None) -> Any:
        done = subprocess.run(
            [warm.program("codexmem"), *words, "--json"], cwd=self.home, check=False,
            env={**self._environ, **(more or {})}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    home = tmp_path / "home"
    home.mkdir()
    shell = Shell(home)
    yield shell
    shell("stop")


SYSTEMCTL = """\
#!/bin/sh
# Does what systemd would with our unit: runs its command in the background unless it runs, and ends it.
unit="$HOME/.config/systemd/user/codexmem.service"
alive() { [ -f "$HOME/pid" ] && kill -0 "$(cat "$HOME/pid")" 2>/dev/null; }
case "$2" in
enable | start)
    alive && exit 0
    eval "exec setsid $(sed -n 's/^ExecStart=//p' "$unit")" >"$HOME/unit.log" 2>&1 </dev/null &
    echo $! >"$HOME/pid"
    ;;
stop | disable)
    alive && kill "$(cat "$HOME/pid")"
    ;;
esac
exit 0
"""


def test_a_day_of_the_server(shell: Shell) -> None:
    """First with a stand-in for systemctl, because no test machine has a user's systemd; then with nobody's help."""
    program = shell.home / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(SYSTEMCTL)
    program.chmod(0o755)
    path = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    assert shell("status", code=6)["running"] is False
    assert shell("logs") == {"log": str(shell.data_dir / "server.log"), "exists": False, "lines": []}
    planned = shell("init", "--port", "0", "--dry-run", more=path)
    assert (planned["service"], planned["url"], Path(planned["unit"]).exists()) == ("systemd", None, False)
    assert not shell.data_dir.exists()

    made = shell("init", "--port", "0", more=path)
    unit = Path(made["unit"])
    assert (made["service"], made["agents"], unit.is_file()) == ("systemd", [], True)
    assert tomllib.loads(Path(made["settings_file"]).read_text()) == {"port": 0}
    seen = shell("status", more=path)
    # One server, and it is the unit's: nobody else was started beside it.
    assert (seen["kept_by"], seen["pid"]) == ("systemd", int((shell.home / "pid").read_text()))
    assert not (shell.data_dir / "server.starting").exists()
    assert (seen["url"], seen["data_dir"]) == (made["url"], str(shell.data_dir))
    again = shell("start", more=path)
    assert (again["started"], again["pid"]) == (False, seen["pid"])
    assert shell("open", "memories", "--print") == {"url": f"{made['url']}/ui/memories", "opened": False}
    assert shell("open")["opened"] is False
    stopped = shell("stop", more=path)
    assert (stopped["stopped"], stopped["pid"]) == (True, seen["pid"])
    assert shell("status", code=6)["pid"] is None
    assert shell("stop") == {"running": False, "stopped": False}
    assert shell("uninstall", "--yes", more=path)["service"] == str(unit)
    assert not unit.exists()

    # Started by hand also where hooks may not, and however short ago one has tried.
    (shell.data_dir / "server.starting").touch()
    alone = shell("start", more={"CODEXMEM_AUTOSTART": "0"})
    assert (alone["started"], alone["kept_by"]) == (True, "nobody")
    assert len(shell("logs", "-n", "3")["lines"]) == 3

    # Whoever needs it right after a stop starts it.
    assert shell("stop")["stopped"] is True
    assert not (shell.data_dir / "server.starting").exists()


def test_a_server_elsewhere_is_not_ours_to_start(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEXMEM_URL", "https://memory.example")
    before = snapshot(home.parent)
    for command in ("start", "stop"):
        said = call(command)
        assert (said.code, said.err.splitlines()[0]) == (
            6,
            "error: your settings use the server at https://memory.example, which this command does not control",
        )
    assert call("init").code == 2
    assert call("open", "--print").out == "https://memory.example/viewer\n"
    assert snapshot(home.parent) == before


@pytest.mark.process
def test_people_are_told_in_their_language(call: Call, home: Path) -> None:
    said = call("status", "--lang", "zh")
    assert (said.code, said.out.splitlines()[0], said.err) == (6, "未运行", "启动请用：codexmem start\n")
    assert call("logs", "--follow", "--json").code == 2
    assert "no server has been started" in call("logs").err
    assert call("stop").err == "no server is running\n"


def test_init_names_a_file_that_is_in_the_way(call: Call, tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("mine")
    for folder in (tmp_path / "memory" / "deeper", tmp_path / "memory"):
        said = call("init", "--service", "none", "--data-dir", str(folder))
        assert (said.code, said.err.splitlines()[0]) == (
            2, f"error: {tmp_path}/memory is a file, and memories are stored in a folder",
        )  # fmt: skip
        assert "codexmem init --data-dir DIR" in said.err
    assert (tmp_path / "memory").read_text() == "mine"


def test_init_says_that_the_disk_is_full(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("codexmem.operations.cli.install.init.TemporaryFile", lambda **_: Full())
    said = call("init", "--service", "none", "--data-dir", str(tmp_path / "memory"))
    assert (said.code, said.err.splitlines()[0]) == (1, f"error: the disk is full: {tmp_path}/memory")
    assert "磁盘已满" in call("init", "--service", "none", "--lang", "zh").err
