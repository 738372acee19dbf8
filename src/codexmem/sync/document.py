"""A memory as a Markdown file: a few fields between lines of `---`, and below them what it says.

The fields are a small part of YAML: one line for each, texts plain or in quotes, lists with one item on a line. The
same state gives the same bytes on every machine, so that a diff shows what somebody changed and nothing else. What
cannot be read is refused with its line, never guessed.

Where the file of a memory lies in the folder, and which address a file's place stands for.

The place follows from the memory alone, so that two clones put it in the same place. What no file system mangles is
kept as it is; anything else gets a part of the id, so that two addresses never share a file, whatever the case.
"""

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any

from codexmem.kernel.model import note, privacy, redaction
from codexmem.kernel.model.address import normalise
from codexmem.kernel.model.attrs import LessonAttrs, NoteAttrs, QaAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import MAX_CONTENT, MAX_TITLE, Kind, State, Status
from codexmem.sync.model import KINDS

MAX_FILE = MAX_CONTENT - 65_536  # characters: a request takes no longer text
_MAX_ITEMS = 200
_MAX_QUESTION, _MAX_SUMMARY, _MAX_ROLE = 4_000, 10_000, 64
FENCE = "---"
MARKS = ("<<<<<<< ", "=======", ">>>>>>> ")
Value = str | int | tuple[str, ...]
# The fields of each kind in the order in which they stand, with what they are where none is given.
FIELDS: dict[Kind, dict[str, Value]] = {
    Kind.NOTE: {"uri": "", "aliases": (), "title": "", "priority": note.USUAL_PRIORITY, "disclosure": ""},
    Kind.QA: {"question": "", "phrasings": (), "summary": "", "tags": ()},
    Kind.LESSON: {"role": "global", "title": ""},
}
_KEY = re.compile(r"([A-Za-z_]+):(?:[ \t]+(.*))?$")
_PLAIN = re.compile(r"""[^\W\d_](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029#:"'\\]|:(?=[^\s:#"'\\]))*""")
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029]")
_SPECIAL = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """What a file says, or is to say."""

    kind: Kind
    body: str
    fields: dict[str, Value] = field(default_factory=dict)
    id: str = ""

    def get(self, name: str) -> Value:
        """A field, or what it is where none is given."""
        return self.fields.get(name, FIELDS[self.kind][name])

    def head(self, name: str) -> list[str]:
        """The lines of one field; none where it says nothing."""
        value = self.get(name)
        if value == FIELDS[self.kind][name] and name not in ("uri", "question"):
            return []
        if isinstance(value, tuple):
            return [f"{name}:", *(f"  - {_scalar(each)}" for each in value)]
        return [f"{name}: {value if isinstance(value, int) else _scalar(value)}"]

    def text(self) -> str:
        """The whole file."""
        named = [f"id: {self.id}"] if self.id else []
        lines = [line for name in FIELDS[self.kind] for line in self.head(name)]
        return "\n".join([FENCE, *named, f"kind: {self.kind.value}", *lines, FENCE, self.body, ""])

    def digest(self) -> str:
        """The same for files that say the same, under whatever id."""
        return hashlib.sha256(replace(self, id="").text().encode()).hexdigest()


def of_state(kind: Kind, state: State, id: str = "") -> MemoryFile:
    """The file of a memory in this state."""
    match state.attrs:
        case NoteAttrs(disclosure=disclosure):
            fields: dict[str, Value] = {
                "uri": state.uris[0] if state.uris else "", "aliases": state.uris[1:], "title": state.title,
                "priority": state.priority, "disclosure": disclosure,
            }  # fmt: skip
        case QaAttrs(question=question, phrasings=phrasings, summary=summary, tags=tags):
            fields = {"question": question or state.title, "phrasings": phrasings, "summary": summary, "tags": tags}
        case LessonAttrs(role=role):
            fields = {"role": role, "title": state.title}
        case _:
            raise InvalidArgument(f"a {kind} is not kept as a file")
    return MemoryFile(kind, _body(state.content), fields, id)


def to_state(file: MemoryFile, before: State | None, project: str) -> State:
    """The state of a memory that says what the file says; what a file does not tell stays as it was."""
    usual = State("", _ATTRS[file.kind](), project=project)
    if before is None and file.kind is Kind.LESSON:
        usual = replace(usual, type="manual_note")
    state = before or usual
    if _body(state.content) != file.body:
        state = replace(state, content=file.body)
    match state.attrs:
        case NoteAttrs():
            uris = tuple(dict.fromkeys(map(note.fit_uri, (_text(file, "uri"), *_items(file, "aliases")))))
            if project and any(map(note.is_for_all_projects, uris)):
                raise InvalidArgument(
                    f"{uris[0]} belongs to no project", hint="core:// and user:// are not kept in a repository"
                )
            priority = file.get("priority")
            assert isinstance(priority, int)
            state = replace(state, title=_text(file, "title"), priority=priority, uris=uris)
            return note.fit(state, _text(file, "disclosure"))
        case QaAttrs() as attrs:
            question = _text(file, "question")
            if not question.strip():
                raise InvalidArgument("an answer needs its question", hint="add a line question: …")
            more = replace(
                attrs, question=question, summary=_text(file, "summary"), tags=_items(file, "tags"),
                phrasings=tuple(each for each in _items(file, "phrasings") if each != question),
            )  # fmt: skip
            title = " ".join(question.split())[:MAX_TITLE] if question != attrs.question else state.title
            return replace(state, attrs=more, title=title)
        case LessonAttrs() as attrs:
            # What was edited in a file, learning leaves as it is; what only came as one is nobody's word yet.
            edited = attrs.by_hand or before is not None
            return replace(
                state, title=_text(file, "title"), attrs=replace(attrs, role=_text(file, "role"), by_hand=edited)
            )
        case _:
            raise InvalidArgument(f"a {file.kind} is not kept as a file")


def unreviewed(state: State, kind: Kind) -> State:
    """The state as a checkout brings it, whatever its front matter says: answers and lessons wait for a person."""
    return replace(state, status=Status.ACTIVE if kind is Kind.NOTE else Status.CANDIDATE)


def parse(text: str, kind: Kind = Kind.NOTE) -> MemoryFile:
    """What a file says; one without fields is all body, and of the kind that its folder is for."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    _sound(text)
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return _checked(MemoryFile(kind, _body(text)))
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), 0)
    if not end:
        raise _wrong(1, "the fields that begin here do not end", f"add a line {FENCE} below the last field")
    raw = _fields(lines[1:end])
    named = raw.pop("kind", (0, kind.value))
    if named[1] not in {each.value for each in KINDS}:
        raise _wrong(named[0], f"kind {str(named[1])[:40]!r} is none of note, qa and lesson", "correct it")
    kind = Kind(named[1])
    at, name = raw.pop("id", (0, ""))
    if name and not (isinstance(name, str) and _ID.fullmatch(name)):
        raise _wrong(at, "this is no id", "take the line out: a new one is given")
    fields = {key: _typed(kind, key, value, line) for key, (line, value) in raw.items()}
    return _checked(MemoryFile(kind, _body("\n".join(lines[end + 1 :])), fields, str(name)))


def marked(text: str) -> int | None:
    """The line at which an unresolved conflict begins, None if there is none."""
    wanted, began = 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(MARKS[0]):
            wanted, began = 1, number
        elif wanted and (line.startswith(MARKS[wanted]) if wanted == 2 else line.rstrip() == MARKS[wanted]):
            if wanted == 2:
                return began
            wanted += 1
    return None


def resolved(text: str, *, mine: bool) -> str:
    """The text with one side of every conflict; `mine` is the file's."""
    kept: list[str] = []
    side: bool | None = None
    for line in text.splitlines(keepends=True):
        if side is None and line.startswith(MARKS[0]):
            side = True
        elif side is True and line.rstrip() == MARKS[1]:
            side = False
        elif side is False and line.startswith(MARKS[2]):
            side = None
        elif side is None or side is mine:
            kept.append(line)
    return "".join(kept)


def refusal_of(text: str) -> InvalidArgument | None:
    """Why a text must not be kept anywhere: a secret or a private region, with the line it begins in."""
    masked = redaction.redact(text)
    if masked != text:
        what = f"holds what looks like a secret ({', '.join(redaction.kinds_in(text)[:3])})"
        return _wrong(_first_line(text, masked), what, "take it out, and change it if it was ever committed")
    stripped = privacy.strip(text)
    if stripped != text:
        return _wrong(_first_line(text, stripped), "holds a private region", "take it out of the file")
    return None


_ATTRS = {Kind.NOTE: NoteAttrs, Kind.QA: QaAttrs, Kind.LESSON: LessonAttrs}


def _first_line(text: str, other: str) -> int:
    same = next((at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    return text.count("\n", 0, same) + 1


def _wrong(line: int, what: str, hint: str) -> InvalidArgument:
    return InvalidArgument(f"line {line}: {what}", hint=hint, details={"line": line})


def _body(content: str) -> str:
    return content.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _sound(text: str) -> None:
    if len(text) > MAX_FILE:
        raise _wrong(1, f"the file has {len(text):,} characters, at most {MAX_FILE:,} are kept", "split it")
    if "\0" in text:
        raise _wrong(text.count("\n", 0, text.index("\0")) + 1, "holds the character NUL", "take it out")


def _checked(file: MemoryFile) -> MemoryFile:
    if not file.body.strip():
        raise _wrong(1, "says nothing", "write something below the fields, or remove the file")
    limits = {"question": _MAX_QUESTION, "summary": _MAX_SUMMARY, "role": _MAX_ROLE, "title": MAX_TITLE}
    for name, most in limits.items():
        if len(str(file.fields.get(name, ""))) > most:
            raise _wrong(1, f"{name} is longer than {most:,} characters", "shorten it")
    return file


def _fields(lines: list[str]) -> dict[str, tuple[int, str | tuple[str, ...]]]:
    found: dict[str, tuple[int, str | tuple[str, ...]]] = {}
    items: tuple[str, list[str]] | None = None
    for number, line in enumerate(lines, 2):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if items is not None and (stripped.startswith("- ") or stripped == "-"):
            items[1].append(_read(stripped[1:].strip(), number))
            found[items[0]] = (found[items[0]][0], tuple(items[1]))
            continue
        match = _KEY.fullmatch(line.rstrip())
        if match is None:
            raise _wrong(number, "this is no field", "write it as name: value")
        name, value = match[1], (match[2] or "").strip()
        if name in found:
            raise _wrong(number, f"{name} stands here twice", "keep one of them")
        items = (name, []) if not value else None
        found[name] = (number, () if not value else _list(value, number) if value[0] == "[" else _read(value, number))
    return found


def _list(value: str, line: int) -> tuple[str, ...]:
    inner = value[1:-1].strip() if value.endswith("]") else None
    if inner is None or any(sign in inner for sign in "[]{}\"'"):
        raise _wrong(line, "this list cannot be read", "write one item on each line, as - item")
    return tuple(_read(each.strip(), line) for each in inner.split(",") if each.strip())


def _read(value: str, line: int) -> str:
    if value.startswith('"'):
        try:
            text, end = json.JSONDecoder().raw_decode(value)
        except ValueError:
            raise _wrong(line, "the text in quotes does not end, or is not escaped", 'write " as \\"') from None
        if value[end:].strip() and not value[end:].lstrip().startswith("#"):
            raise _wrong(line, "something stands behind the text in quotes", "take it out")
        if any("\ud800" <= each <= "\udfff" for each in text) or "\0" in text:
            raise _wrong(line, "holds half of a surrogate pair, or NUL", "take it out")
        return str(text)
    if value.startswith("'"):
        match = re.fullmatch(r"'((?:[^']|'')*)'(?:\s+#.*)?", value)
        if match is None:
            raise _wrong(line, "the text in quotes does not end", "write ' as ''")
        return match[1].replace("''", "'")
    if value[:1] in ("|", ">", "&", "*", "!", "{", "%", "@", "`"):
        raise _wrong(line, f"{value[0]} has a meaning in YAML that is not read here", "put the text in double quotes")
    return re.split(r"\s#", value, maxsplit=1)[0].rstrip()


def _typed(kind: Kind, name: str, value: str | tuple[str, ...], line: int) -> Value:
    usual = FIELDS[kind].get(name)
    if usual is None:
        known = ", ".join(FIELDS[kind])
        raise _wrong(line, f"a {kind.value} has no field {name}", f"its fields are id, kind, {known}")
    if isinstance(usual, tuple):
        items = value if isinstance(value, tuple) else (value,)
        if len(items) > _MAX_ITEMS:
            raise _wrong(line, f"{name} has {len(items)} items, at most {_MAX_ITEMS} are kept", "shorten it")
        return tuple(dict.fromkeys(each for each in items if each))
    if isinstance(value, tuple):
        if value:
            raise _wrong(line, f"{name} is one value, not a list", "write it as name: value")
        return usual
    if isinstance(usual, int):
        if not re.fullmatch(r"10|[0-9]", value):
            raise _wrong(line, f"{name} is a whole number from 0 to 10", "correct it")
        return int(value)
    return value


def _scalar(text: str) -> str:
    """A text as YAML and we both read it."""
    plain = _PLAIN.fullmatch(text) and text == text.strip() and text.lower() not in _SPECIAL
    if plain:
        return text
    # Escaped besides: what some programs take for the end of a line.
    quoted = json.dumps(text, ensure_ascii=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _text(file: MemoryFile, name: str) -> str:
    value = file.get(name)
    return value if isinstance(value, str) else ""


def _items(file: MemoryFile, name: str) -> tuple[str, ...]:
    value: Any = file.get(name)
    return value if isinstance(value, tuple) else ()


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
