"""Rows as a file to download: CSV as RFC 4180 has it, or one JSON object a line.

A spreadsheet takes a cell that begins with certain characters for a formula, and what is exported here was written by
strangers (queries, error texts); such cells get a leading apostrophe. JSON lines hold exactly what the list shows.
"""

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from fastapi.responses import StreamingResponse

from codexmem.operations.wire.ops import LogRow

Row = dict[str, Any]  # one of the log's lines, as a list shows it

_FORMULA = tuple("=+-@\t\r\n\0")
_TOGETHER = 200  # rows per piece that is sent
_MEDIA = {"csv": "text/csv; charset=utf-8; header=present", "ndjson": "application/x-ndjson; charset=utf-8"}


def download(name: str, model: type[LogRow], rows: Iterable[LogRow], form: Literal["csv", "ndjson"]) -> Any:
    """The rows as an attachment, sent as they are read. The first of them are read before anything is sent, so that a
    store which does not answer is an error and not an empty file.
    """
    documents = (row.document() for row in rows)
    pieces = csv_pieces(documents, model.columns()) if form == "csv" else ndjson_pieces(documents)
    first = next(pieces, b"")
    return StreamingResponse(
        itertools.chain([first], pieces),
        media_type=_MEDIA[form],
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"', "Cache-Control": "no-store"},
    )


def csv_pieces(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A header and the rows, in UTF-8 with CRLF."""
    heading: list[list[Any]] = [list(columns)]
    for some in _some(rows):
        text = io.StringIO(newline="")
        table = csv.writer(text, lineterminator="\r\n")
        table.writerows(heading)
        table.writerows([cell(row[name]) for name in columns] for row in some)
        heading = []
        yield text.getvalue().encode(errors="replace")
    if heading:
        yield (",".join(columns) + "\r\n").encode()


def ndjson_pieces(rows: Iterable[Row]) -> Iterator[bytes]:
    """An object a line, in UTF-8."""
    for some in _some(rows):
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in some)
        yield "".join(lines).encode(errors="replace")


def cell(value: Any) -> str | int | float:
    """One value in a cell: numbers as they are, true and false in JSON's spelling, lists and maps as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"'{text}" if text.startswith(_FORMULA) else text


def _some(rows: Iterable[Row]) -> Iterator[list[Row]]:
    source = iter(rows)
    while some := list(itertools.islice(source, _TOGETHER)):
        yield some
