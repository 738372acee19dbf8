"""TOML: the person's text is the beginning of the new one where TOML allows it, and nothing of it changes anywhere."""

from __future__ import annotations

import tomllib

import pytest

from codexmem.agents.install import formats
from codexmem.agents.install.entries import Element, Entry, Member

ENTRIES: list[Entry] = [
    Member(("mcp_servers", "codexmem"), {"command": "codexmem", "args": ["mcp"]}),
    Element(("hooks", "Stop"), {"hooks": [{"type": "command", "command": "codexmem-hook codex summarize"}]}),
]
AT_THE_END = [
    "",
    '# mine\nmodel = "x" # why\n',
    'model = "x"',
    '[mcp_servers.other] # theirs\ncommand = "a"\n\n[projects."/x"]\ntrust_level = "trusted"\n# end\n',
    'mcp_servers.other.command = "a"\r\n[[hooks.Stop]]\r\n[[hooks.Stop.hooks]]\r\ncommand = "theirs"\r\n',
]
IN_PLACE = [
    '[hooks]\nStop = [{ hooks = [{ command = "theirs" }] }] # kept\n\n[z]\na = 1\n',
    'mcp_servers = { other = { command = "a" } } # kept\n',
]


@pytest.mark.parametrize("text", AT_THE_END)
def test_ours_goes_behind_what_is_there(text: str) -> None:
    made = formats.edited("toml", text, ENTRIES)
    assert made.startswith(text)
    assert ("\r\n" in made) == ("\r\n" in text)
    assert formats.edited("toml", made, ENTRIES) == made
    assert tomllib.loads(formats.stripped("toml", made, ENTRIES, tomllib.loads(text))) == tomllib.loads(text)


@pytest.mark.parametrize("text", IN_PLACE)
def test_ours_goes_among_what_stands_in_one_line(text: str) -> None:
    made = formats.edited("toml", text, ENTRIES)
    assert tomllib.loads(made)["mcp_servers"]["codexmem"]["args"] == ["mcp"]
    assert "# kept" in made
    assert formats.edited("toml", made, ENTRIES) == made
    assert tomllib.loads(formats.stripped("toml", made, ENTRIES, tomllib.loads(text))) == tomllib.loads(text)


def test_malformed_toml_is_refused_with_its_place() -> None:
    with pytest.raises(formats.UneditableFile, match="line 2"):
        formats.edited("toml", "a = 1\nb = \n", ENTRIES)


def test_a_value_in_the_way_is_refused() -> None:
    with pytest.raises(formats.UneditableFile, match="hooks is not a table"):
        formats.edited("toml", "hooks = 1\n", ENTRIES)
