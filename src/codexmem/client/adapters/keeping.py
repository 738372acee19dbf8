"""JSON values of other libraries, kept as notes: how they are written into one, and where.

What is private or secret is taken out of the value before it becomes text, by the rules of the server, which would
otherwise cut into the text itself. Addresses spell every name so that it can be read back.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, unquote

from codexmem.client.blocking import Client
from codexmem.kernel.model import json_text, privacy, redaction
from codexmem.kernel.model.errors import NotFound
from codexmem.notes.wire import Note, NotePlace

PAGE = 200
_TOGETHER = 8  # notes that are read at once
_EMPTY = "%"  # spells a name without a letter; no other name is spelled so


def written(value: Any) -> str:
    """The text that keeps this value, on one line, so that lists show its beginning."""
    return json.dumps(redaction.redact_value(privacy.strip_value(value)), ensure_ascii=False, allow_nan=False)


def value_of(note: Note) -> Any:
    """The value that a note keeps; None if somebody wrote something else there."""
    try:
        return json_text.loads(note.content)
    except ValueError:
        return None


def address(domain: str, names: Sequence[str]) -> str:
    """The address under these names; of none, the domain."""
    return f"{domain}://{'/'.join(map(_spelled, names))}"


def names(uri: str) -> tuple[str, ...]:
    """The names of an address."""
    path = uri.partition("://")[2]
    return tuple("" if part == _EMPTY else unquote(part) for part in path.split("/") if part)


def read(client: Client, uri: str) -> Note | None:
    """A note; None if there is none or it is deleted."""
    try:
        note = client.notes.read(uri)
    except NotFound:
        return None
    return None if note.deleted else note


def read_all(client: Client, uris: Sequence[str]) -> Iterator[Note | None]:
    """Several notes in this order, a few at a time: who stops early has not read the rest."""
    with ThreadPoolExecutor(_TOGETHER, thread_name_prefix="codexmem-client") as pool:
        for start in range(0, len(uris), _TOGETHER):
            yield from pool.map(lambda uri: read(client, uri), uris[start : start + _TOGETHER])


def notes_under(client: Client, uri: str) -> Iterator[NotePlace]:
    """What has its first address below this one, at any depth, in no order."""
    waiting = [uri]
    while waiting:
        for place in client.notes.whole_tree(waiting.pop(), limit=PAGE):
            if place.has_children:
                waiting.append(place.uri)
            if place.seq is not None and place.alias_of is None:
                yield place


def _spelled(name: str) -> str:
    if not name:
        return _EMPTY
    if unicodedata.normalize("NFC", name) != name:
        return quote(name, safe="")
    spelled = "".join(each if each.isalnum() or each in "-_.~@+=,:" else quote(each, safe="") for each in name)
    return spelled.replace(".", "%2E") if set(spelled) == {"."} else spelled
