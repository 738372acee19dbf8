"""Where the file of a memory lies in the folder, and which address a file's place stands for.

The place follows from the memory alone, so that two clones put it in the same place. What no file system mangles is
kept as it is; anything else gets a part of the id, so that two addresses never share a file, whatever the case.
"""

import hashlib
import re
import unicodedata

from codexmem.kernel.model.address import normalise
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Kind
from codexmem.sync.document import MemoryFile

FOLDERS = {"notes": Kind.NOTE, "answers": Kind.QA, "lessons": Kind.LESSON}
ENDING = ".md"
MAX_PATH = 400  # characters inside the folder
_FOLDER_OF = {kind: name for name, kind in FOLDERS.items()}
_LONGEST = 60  # characters of one name
_MOST_PARTS = 8
_UNFIT = re.compile(r"[^\w.+@-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def kind_of(path: str) -> Kind:
    """What a file without a kind is, by the folder it lies in."""
    return FOLDERS.get(path.partition("/")[0], Kind.NOTE)


def path_of(file: MemoryFile) -> str:
    """The place of a new file."""
    folder = _FOLDER_OF[file.kind]
    if file.kind is Kind.NOTE:
        domain, _, rest = str(file.get("uri")).partition("://")
        whole = [domain, *rest.split("/")]
        plain = [_name(part) for part in whole][:_MOST_PARTS]
        if plain != whole:
            plain[-1] += f"-{_tail(file.id)}"
        return f"{folder}/{'/'.join(plain)}{ENDING}"
    told = str(file.get("question") or "") if file.kind is Kind.QA else str(file.get("title") or "") or file.body
    return f"{folder}/{_name(told.strip().splitlines()[0][:200])[:40].rstrip('-.')}-{_tail(file.id)}{ENDING}"


def uri_of(path: str) -> str:
    """The address that the place of a note stands for; empty where it stands for none."""
    first, _, rest = path.partition("/")
    domain, slash, name = rest.removesuffix(ENDING).partition("/")
    if first != "notes" or not slash or not path.endswith(ENDING):
        return ""
    try:
        uri = normalise(f"{domain}://{unicodedata.normalize('NFC', name)}")
    except InvalidArgument:
        return ""
    return uri


def _name(text: str) -> str:
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    name = _UNFIT.sub("-", folded)[:_LONGEST].strip("-. ") or "x"
    return f"{name}-" if _RESERVED.fullmatch(name) else name


def _tail(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()[:8]
