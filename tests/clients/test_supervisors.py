"""Units for systemd and launchd. Neither runs in a test, so that their own checkers and stand-ins have to do."""

from __future__ import annotations

import configparser
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from codexmem.client import supervisors
from codexmem.client.supervisors import LABEL, UNIT, Launchd, Systemd

pytestmark = pytest.mark.process

COMMAND = ("/opt/my bin/codexmem", "serve", "--data-dir", "/data/100% $HOME", "--port", "37877")


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A stand-in for systemctl and launchctl that writes down what it is told."""
    for name in ("systemctl", "launchctl"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f'#!/bin/sh\necho "$@" >> {tmp_path}/told\n[ "$2" != start ] || {{ echo no >&2; exit 1; }}\n'
        )
        program.chmod(0o755)
    return tmp_path / "told"


def systemd(tmp_path: Path) -> Systemd:
    return Systemd({"PATH": f"{tmp_path}/bin:/bin"}, tmp_path)


def test_a_unit_says_what_to_run_to_the_letter(tmp_path: Path) -> None:
    text = systemd(tmp_path).text(COMMAND, Path("/data/server.log")).decode()
    assert 'ExecStart="/opt/my bin/codexmem" "serve" "--data-dir" "/data/100%% $$HOME" "--port" "37877"\n' in text
    assert "StandardOutput=append:/data/server.log\n" in text
    assert "RestartPreventExitStatus=6\n" in text


def test_a_unit_can_be_read_and_where_systemd_is_it_finds_nothing_wrong(tmp_path: Path) -> None:
    unit = tmp_path / UNIT
    unit.write_bytes(systemd(tmp_path).text(("/bin/sh", "serve", "--data-dir", "/data/my store"), tmp_path / "log"))
    read = configparser.ConfigParser(interpolation=None, strict=True)
    read.read(unit)
    assert read.sections() == ["Unit", "Service", "Install"]
    assert (read["Service"]["Restart"], read["Install"]["WantedBy"]) == ("on-failure", "default.target")
    if shutil.which("systemd-analyze"):
        verify = ["systemd-analyze", "verify", "--user", str(unit)]
        done = subprocess.run(verify, capture_output=True, text=True, check=False)
        assert [line for line in (done.stdout + done.stderr).splitlines() if UNIT in line] == []


def test_systemd_is_asked_for_a_users_services(tmp_path: Path, commands: Path) -> None:
    found = supervisors.working({"PATH": f"{tmp_path}/bin:/bin"}, tmp_path)
    assert found is not None
    assert (found.name, supervisors.in_charge({"PATH": f"{tmp_path}/bin:/bin"}, tmp_path)) == ("systemd", None)
    supervisors.write_unit(found, COMMAND, tmp_path / "server.log")
    assert found.unit() == tmp_path / ".config" / "systemd" / "user" / UNIT
    assert supervisors.in_charge({"PATH": f"{tmp_path}/bin:/bin"}, tmp_path) is not None
    commands.unlink()
    assert (found.enable(), found.stop(), found.disable(), found.start()) == ("", "", "", "no")
    assert commands.read_text().splitlines() == [
        "--user daemon-reload", f"--user enable --now {UNIT}", f"--user stop {UNIT}", f"--user disable --now {UNIT}",
        f"--user start {UNIT}",
    ]  # fmt: skip


def test_without_systemd_nobody_is_in_charge(tmp_path: Path) -> None:
    assert supervisors.working({"PATH": str(tmp_path)}, tmp_path) is None


def test_an_agent_of_launchd(tmp_path: Path, commands: Path) -> None:
    launchd = Launchd({"PATH": f"{tmp_path}/bin:/bin"}, tmp_path)
    assert launchd.unit() == tmp_path / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    said = plistlib.loads(launchd.text(COMMAND, Path("/data/server.log")))
    assert said["ProgramArguments"] == list(COMMAND)
    assert (said["Label"], said["RunAtLoad"], said["StandardErrorPath"]) == (LABEL, True, "/data/server.log")
    assert (launchd.enable(), launchd.stop()) == ("", "")
    assert [line.split()[0] for line in commands.read_text().splitlines()] == ["bootout", "bootstrap", "bootout"]
