"""`codexmem plugins`: a folder of plugins that call this installation, and never somebody's own folder."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call


def test_a_folder_is_written_named_and_written_again(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "my plugins"
    told = call("plugins", str(folder), "--json").json
    assert told["take"].keys() == {"claude-code", "codex", "gemini-cli", "qwen-code", "opencode"}
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == told["files"]
    server = json.loads((folder / "plugins/claude-code/.mcp.json").read_text())["mcpServers"]["codexmem"]
    assert Path(server["command"]).is_absolute()
    # The store is not where a bare environment would look for it.
    assert server["args"][-2:] == ["--data-dir", str(tmp_path / "data")]
    (folder / "plugins/codex/.mcp.json").write_text("old")
    said = call("plugins", str(folder))
    assert said.code == 0
    assert (folder / "plugins/codex/.mcp.json").read_text() != "old"
    assert f"codex plugin marketplace add '{folder}'" in said.out


def test_a_folder_with_other_things_in_it_is_left_alone(call: Call, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    refused = call("plugins", str(mine))
    assert refused.code == 2
    assert "holds other files" in refused.err
    assert [path.name for path in mine.iterdir()] == ["notes.txt"]
