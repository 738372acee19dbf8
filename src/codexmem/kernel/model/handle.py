"""How people name a memory of any kind, and the label under which every interface shows it.

A label is itself a name: what a search shows can be asked about as it stands. `#123`, `#S9` and `#P7` are numbers of
one counter, and the letter is for people: `9` and `S9` are one memory. `kb-…`, `qa-…` and bare ids are minted;
`project://config` is an address; `mem:<id>` is a lesson, `kb:<namespace>__<chunk>` a piece of a document. A leading
`note` or `qa` is for people only.
"""

import re

from codexmem.kernel.model import address
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import MAX_KEY, Kind, Memory
from codexmem.kernel.model.query import Handle, Id, Seq, Uri

EXAMPLES = "#123, S9, P7, kb-…, qa-…, project://config or mem:<id>"
_NUMBER = re.compile(r"#?[SsPp]?([0-9]{1,18})")
_LESSON = "mem:"
_WORDS = frozenset({Kind.NOTE.value, Kind.QA.value})


def parsed(text: str) -> Handle:
    """The handle that is meant."""
    name = " ".join(text.split())
    word, _, rest = name.partition(" ")
    if rest and word.lower() in _WORDS:
        name = rest
    if (numbered := _NUMBER.fullmatch(name)) is not None:
        return Seq(int(numbered[1]))
    if "://" in name:
        return Uri(address.normalise(name))
    minted = name.removeprefix(_LESSON).strip()
    if not minted or len(minted) > MAX_KEY or " " in minted or not minted.isprintable():
        raise InvalidArgument(f"{text[:80]!r} names no memory", hint=f"write {EXAMPLES}")
    return Id(minted)


def ref(memory: Memory) -> str:
    """The memory's name as programs pass it on: its label without the word that people read before it."""
    word, _, rest = label(memory).partition(" ")
    return rest if rest and word in _WORDS else word


def label(memory: Memory) -> str:
    """The memory's name as every interface shows it."""
    match memory.kind:
        case Kind.NOTE:
            return f"note {memory.state.uris[0]}" if memory.state.uris else f"note #{memory.seq}"
        case Kind.QA:
            return f"qa {memory.id}"
        case Kind.KNOWLEDGE | Kind.CHUNK:
            return memory.id
        case Kind.LESSON:
            return f"{_LESSON}{memory.id}"
        case Kind.SUMMARY:
            return f"#S{memory.seq}"
        case Kind.PROMPT:
            return f"#P{memory.seq}"
        case Kind.OBSERVATION:
            return f"#{memory.seq}"
