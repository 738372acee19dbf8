"""What the readers share: JSON from a file, and times of day without a zone, taken as UTC."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

MONTHS = {
    name: number
    for number, name in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
         "december"),
        start=1,
    )
}  # fmt: skip
SECOND_MS = 1_000  # between two turns of one session


def read_json(path: Path) -> Any:
    """The document in the file."""
    return json.loads(path.read_text(encoding="utf-8"))


def at(year: int, month: int, day: int, hour: int = 12, minute: int = 0) -> int:
    """Epoch milliseconds; noon where only the day is known."""
    return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()) * 1_000
