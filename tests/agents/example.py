"""The request in docs/agents.md: as a real one was, without ids, and with a reader's home and one date.

`python -m tests.agents.example` runs the two sessions and writes the block into both languages of the guide.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests._support.scripted_model import Asked, ScriptedModel
from tests._support.server import Server
from tests.agents import guide, story
from tests.agents.codex import Codex
from tests.agents.installation import Installation
from tests.agents.person import SERVER, Person

BLOCK = "codex-request"
_ZONE = re.compile(r"<timezone>[^<]*")
_END = re.compile(r"\bend [0-9a-f]{10}\b")  # of the frame, by a key of its own
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def shown(asked: Asked, person: Person) -> str:
    """Role and text of each message."""
    text = "\n\n".join(f"[{role}]\n{said}" for role, said in asked.messages)
    text = text.replace(str(person.repository), "/home/lin/shop").replace(str(person.home), "/home/lin")
    return _ZONE.sub("<timezone>UTC", _DATE.sub("2026-11-15", _END.sub("end 3f2a91c04b", text))) + "\n"


def _tell(folder: Path) -> str:
    person = Person(folder, "shop")
    with Server(person.data_dir, settings=SERVER) as server, ScriptedModel() as model:
        codex = Codex(Installation.find(), person, model)
        codex.configure(codex.tools(guide.blocks()["codex-mcp"]), guide.blocks()["codex-hooks"])
        story.first_session(codex)
        story.learned(server, summaries=1)
        return shown(story.second_session(codex)[1], person)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        text = _tell(Path(folder))
    for page in (guide.ENGLISH, guide.CHINESE):
        page.write_text(guide.replaced(page, BLOCK, text))
