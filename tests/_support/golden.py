"""Texts that must stay as they are, kept in files; with `CODEXMEM_GOLDEN=write` they are written anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

from codexmem.kernel.model.memory import Memory


def same_as_golden(path: Path, text: str, memories: list[Memory]) -> None:
    """The text is what the file says, if these memories were the first ever written."""
    place = {str(memory.seq): str(number) for number, memory in enumerate(memories, 1)}
    text = re.sub(r"#(S|P|)(\d+)", lambda found: f"#{found[1]}{place[found[2]]}", text)
    text = re.sub(r"(?<=anchor: )(S|P|)(\d+)$", lambda found: found[1] + place[found[2]], text, flags=re.MULTILINE)
    if os.environ.get("CODEXMEM_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")
