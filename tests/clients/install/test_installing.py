"""Making changes good and taking them back: links, modes, changes by others, several installers at once."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codexmem.agents import PROMPT, installable
from codexmem.agents.install.installing import Installer, InstallRefused, undone
from codexmem.agents.install.targets import UserHome
from codexmem.client import files
from tests.clients.install.test_agents import tree

Write = Callable[[str, str], Path]
QWEN, CODEX = installable()["qwen-code"], installable()["codex"]
SOURCES = Path(__file__).parents[3] / "src"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_link_is_followed_and_stays_a_link(installer: Installer, person: UserHome, write: Write) -> None:
    real = write("dotfiles/qwen.json", '{\n  "a": 1\n}\n')
    link = person.home / ".qwen" / "settings.json"
    link.parent.mkdir()
    link.symlink_to("../dotfiles/qwen.json")
    before = tree(person.home)
    installer.install(QWEN)
    assert link.is_symlink()
    assert "codexmem" in real.read_text()
    installer.uninstall(QWEN)
    assert link.is_symlink()
    assert tree(person.home) == before


def test_a_link_to_nothing_is_filled_and_emptied(installer: Installer, person: UserHome) -> None:
    link = person.home / ".qwen" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(person.home / "dotfiles" / "qwen.json")
    installer.install(QWEN)
    assert json.loads(link.read_text())["mcpServers"]
    installer.uninstall(QWEN)
    assert (link.is_symlink(), link.exists(), (person.home / "dotfiles").exists()) == (True, False, False)


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o640])
def test_the_mode_of_a_file_is_kept(bits: int, installer: Installer, write: Write) -> None:
    file = write(".qwen/settings.json", "{}")
    file.chmod(bits)
    installer.install(QWEN)
    assert mode(file) == bits
    installer.uninstall(QWEN)
    assert mode(file) == bits


def test_new_files_and_receipts_are_for_their_owner_only(installer: Installer, person: UserHome, write: Write) -> None:
    write(".codex/config.toml", 'api_key = "sk-secret"\n')
    installer.install(CODEX)
    installer.install(QWEN)
    assert mode(person.home / ".qwen" / "settings.json") == 0o600
    assert mode(installer.receipts.folder) == 0o700
    assert {mode(path) for path in installer.receipts.folder.iterdir()} == {0o600}


def test_what_others_wrote_since_stays_to_the_byte(installer: Installer, write: Write) -> None:
    text = '{\n  // mine\n  "a": {},\n  "hooks": {},\n  "z": 1\n}\n'
    file = write(".qwen/settings.json", text)
    installer.install(QWEN)
    file.write_text(file.read_text().replace('"a": {}', '"a": {"new": true}, // two'))
    (change,) = installer.plan_removal(QWEN)
    assert (change.since, change.fate) == (True, "change")
    installer.uninstall(QWEN)
    assert file.read_text() == text.replace('"a": {}', '"a": {"new": true}, // two')


def test_a_file_that_was_laid_out_anew_loses_ours_only(installer: Installer, write: Write) -> None:
    file = write(".qwen/settings.json", '{"a": 1, "hooks": {}}')
    installer.install(QWEN)
    file.write_text(json.dumps({**json.loads(file.read_text()), "b": 2}, indent=4))
    installer.uninstall(QWEN)
    assert json.loads(file.read_text()) == {"a": 1, "hooks": {}, "b": 2}


def test_a_table_of_codex_that_came_behind_ours_stays(installer: Installer, write: Write) -> None:
    file = write(".codex/config.toml", 'model = "x"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "say"\n')
    before = file.read_text()
    installer.install(CODEX)
    added = '\n# seen today\n[projects."/x"]\ntrust_level = "trusted"\n'
    file.write_text(file.read_text() + added)
    installer.uninstall(CODEX)
    assert file.read_text() == before + added


def test_without_a_receipt_ours_is_found_by_what_it_says(installer: Installer, write: Write) -> None:
    file = write(".codex/config.toml", 'model = "x"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "say"\n')
    before = file.read_text()
    installer.install(CODEX)
    installer.receipts.drop("codex")
    installer.uninstall(CODEX)
    assert file.read_text().rstrip("\n") == before.rstrip("\n")


def test_an_installation_over_changes_remembers_what_is_theirs(installer: Installer, write: Write) -> None:
    file = write(".qwen/settings.json", '{\n  "a": 1\n}\n')
    installer.install(QWEN)
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))
    installer.install(QWEN)
    (change,) = installer.uninstall(QWEN)
    assert (file.read_text(), change.since) == ('{\n  "a": 2\n}\n', False)


def test_what_is_not_installed_is_not_touched(installer: Installer, person: UserHome, write: Write) -> None:
    write(".qwen/settings.json", '{"a": 1}')
    before = tree(person.home)
    for agent in installable().values():
        assert {change.fate for change in installer.uninstall(agent)} == {"none"}
    assert tree(person.home) == before


def test_a_plan_changes_nothing(installer: Installer, person: UserHome, tmp_path: Path, write: Write) -> None:
    write(".qwen/settings.json", '{"a": 1}')
    before = tree(tmp_path)
    for agent in installable().values():
        installer.plan(agent)
        installer.plan_removal(agent)
    assert tree(tmp_path) == before


def test_a_change_that_was_not_shown_is_not_made(installer: Installer, write: Write) -> None:
    file = write(".qwen/settings.json", '{"a": 1}')
    shown = installer.plan(QWEN)
    file.write_text('{"a": 2}')
    with pytest.raises(files.StaleFile):
        installer.install(QWEN, shown)
    assert file.read_text() == '{"a": 2}'


def test_a_file_that_changes_at_the_last_moment_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("theirs")
    with pytest.raises(files.StaleFile):
        files.replace(file, b"as read", b"ours")
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]
    assert file.read_text() == "theirs"


def test_secrets_beside_our_entry_are_not_shown(installer: Installer, write: Write) -> None:
    write(".qwen/settings.json", '{\n  "OPENAI_API_KEY": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"\n}\n')
    (change,) = installer.plan(QWEN)
    assert "sk-proj" not in change.diff()
    assert '+  "mcpServers"' in change.diff()


@pytest.mark.parametrize("content,problem", [(b"\xff\xfe{", "not text in UTF-8"), (b"[1]", "object was expected")])
def test_what_is_no_settings_file_is_refused(content: bytes, problem: str, installer: Installer, write: Write) -> None:
    file = write(".qwen/settings.json", "")
    file.write_bytes(content)
    with pytest.raises(InstallRefused, match=problem):
        installer.install(QWEN)
    assert file.read_bytes() == content


def test_a_folder_in_the_place_of_a_file_is_refused(installer: Installer, person: UserHome) -> None:
    (person.home / ".qwen" / "settings.json").mkdir(parents=True)
    with pytest.raises(InstallRefused, match="directory"):
        installer.install(QWEN)


def test_several_installers_at_once_leave_whole_files(installer: Installer, person: UserHome, write: Write) -> None:
    text = '{\n  // mine\n  "a": 1\n}\n'
    file = write(".qwen/settings.json", text)
    program = (
        "import sys; from pathlib import Path;"
        "from tests.clients.install.conftest import COMMANDS;"
        "from codexmem.agents.install.targets import UserHome;"
        "from codexmem.agents import installable;"
        "from codexmem.agents.install.installing import Installer;"
        "home, data = map(Path, sys.argv[1:3]);"
        "i = Installer(UserHome(home, {'PATH': ''}), COMMANDS, data);"
        "[getattr(i, 'uninstall' if n % 2 else 'install')(installable()['qwen-code']) for n in range(7)]"
    )
    command = [sys.executable, "-c", program, str(person.home), str(installer.receipts.folder.parent)]
    env = {**os.environ, "PYTHONPATH": f"{SOURCES}:{SOURCES.parent}"}
    running = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE) for _ in range(3)]
    assert [(each.communicate()[1], each.returncode) for each in running] == [(b"", 0)] * 3
    assert QWEN.hook(person, PROMPT)
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]
    installer.uninstall(QWEN)
    assert file.read_text() == text


@pytest.mark.parametrize(
    "before,written,today,left",
    [
        ("a\nc\n", "a\nB\nc\n", "a\nB\nc\nd\n", "a\nc\nd\n"),
        ("a\nc\n", "a,\nB\nc\n", "0\na,\nB\nc\n", "0\na\nc\n"),
        ("a\n", "a\nB\n", "a\nb\n", None),
        ("a\n", "a\nB\n", "a\nB\nB\n", None),
        ("a\nb\n", "a\n", "a\n", None),
    ],
)
def test_our_lines_are_taken_out_if_they_are_as_we_wrote_them(
    before: str, written: str, today: str, left: str | None
) -> None:
    assert undone(before, written, today) == left
