"""What five agents were told months before there was a memory, and the questions that show it is known.

Each agent keeps its own transcript; that of Codex is then dated back, because nobody can wait three months for it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from tests._support.scripted_model import Say
from tests.agents.four_agents import Driven, Place
from tests.agents.transcripts import programs

DECIDED: Mapping[str, tuple[str, str]] = {
    "codex": (
        "We decided that the invoice mailer waits 17 minutes before it retries. 发票邮件重试前等待 17 分钟。",
        "After how many minutes does the invoice mailer retry?",
    ),
    "qwen-code": (
        "We decided that thumbnails of products are rendered at 640 pixels.",
        "At how many pixels are thumbnails of products rendered?",
    ),
    "gemini-cli": (
        "We decided that the nightly export of orders runs at 03:40.",
        "When does the nightly export of orders run?",
    ),
    "opencode": (
        "We decided that customer surnames are stored in upper case.",
        "How are customer surnames stored?",
    ),
    "claude-code": (
        "We decided that refunds above 900 euros need two signatures.",
        "Which refunds need two signatures?",
    ),
}
MONTHS = timedelta(days=92)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def told(agents: list[Driven]) -> None:
    """Each agent is told its decision, in a session of its own."""
    for agent in agents:
        agent.play(Say("Noted."))
        agent.ask(DECIDED[agent.name][0])


@contextlib.contextmanager
def claude(place: Place) -> Iterator[None]:
    """Claude Code too, whose settings stay."""
    with programs.claude(place) as conversation:
        conversation.turn(DECIDED["claude-code"][0], Say("Noted."))
        yield


def dated_back(home: Path) -> datetime:
    """Codex's transcripts become three months old; returns how old the first one is."""
    days: list[datetime] = []
    for path in sorted((home / ".codex" / "sessions").rglob("rollout-*.jsonl")):
        text = _MOMENT.sub(lambda found: _earlier(found[0]), path.read_text(encoding="utf-8"))
        day = datetime.fromisoformat(_MOMENT.findall(text)[0])
        days.append(day)
        target = home / ".codex" / "sessions" / f"{day:%Y/%m/%d}" / re.sub(
            r"\d{4}-\d\d-\d\dT", f"{day:%Y-%m-%d}T", path.name
        )  # fmt: skip
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        os.utime(target, (day.timestamp(), day.timestamp()))
        path.unlink()
    return min(days)


def _earlier(moment: str) -> str:
    return (datetime.fromisoformat(moment) - MONTHS).isoformat(timespec="seconds")
