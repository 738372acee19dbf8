"""URIs of notes: one spelling per address.

Scheme and slashes are normalised (`Project://a//b/` is `project://a/b`); the path keeps its case, because people name
files and classes in it. `system://` names views and cannot be written.
"""

import re
import unicodedata

from codexmem.kernel.model.errors import InvalidArgument

MAX_URI = 512  # characters; the URI is an index key
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,31}")
RESERVED = frozenset({"system"})
_WORDS = re.compile(r"[^\W_]+(?:[.+#'][^\W_]+)*[+#]*")


def normalise(uri: str) -> str:
    """The one spelling under which this address is stored."""
    text = unicodedata.normalize("NFC", uri.strip())
    scheme, separator, path = text.partition("://")
    scheme = scheme.lower()
    segments = [segment for segment in path.split("/") if segment]
    if not separator or not _SCHEME.fullmatch(scheme) or not segments:
        raise InvalidArgument(
            f"{uri[:80]!r} is not a memory URI", hint="write it as domain://path, e.g. project://config"
        )
    if any(segment in {".", ".."} for segment in segments) or any(unicodedata.category(c)[0] == "C" for c in path):
        raise InvalidArgument(f"{uri[:80]!r} holds a relative segment or a control character")
    normal = f"{scheme}://{'/'.join(segments)}"
    if len(normal) > MAX_URI:
        raise InvalidArgument(f"a memory URI has at most {MAX_URI} characters, this one has {len(normal)}")
    return normal


def writable(uri: str) -> str:
    """The normal spelling of an address that a caller may write to."""
    normal = normalise(uri)
    if normal.partition("://")[0] in RESERVED:
        raise InvalidArgument(
            f"{normal} is a view, it cannot be written", hint="choose another domain, e.g. project://"
        )
    return normal


def folder(text: str) -> str:
    """How all addresses below this one begin: `project://a/` for `project://a`, `project://` for itself."""
    domain, separator, path = text.partition("://")
    if separator and not path.strip("/ "):
        return f"{domain_of(normalise(f'{domain}://x'))}://"
    return f"{normalise(text)}/"


def domain_of(uri: str) -> str:
    """The part before `://`."""
    return uri.partition("://")[0]


def words_of(text: str) -> list[str]:
    """The words of a name or of a sentence that may hold one, in small letters."""
    return [word.removesuffix("'s") for word in _WORDS.findall(text.replace("\u2019", "'").casefold())]


def name_of(uri: str) -> str:
    """What people call it: the words of the last segment, with single spaces."""
    last = uri.rpartition("/")[2]
    return " ".join(words_of(last)) or last.casefold()
