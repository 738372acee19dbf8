"""Text of a memory as it may stand before a model or on a terminal: only text, whatever was written into it.

It cannot end the envelope it is put into, open another, pass for a host's or a model's own tags, for a turn of a
conversation or for a tool call, colour a terminal or hide. Our own tags lose their name and not only a bracket: our
hooks read an escaped bracket as a bracket, so that a memory which only speaks of `<private>` would take away the prompt
it is handed over with. Quoted, it cannot end the quote either: a parser tells our words from others'.
"""

from __future__ import annotations

import re

from codexmem.kernel.model import privacy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN, CLOSE = "\u201c", "\u201d"  # around what others wrote

# Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt), and the interlinear marks: drawn as nothing.
# Selectors of emoji (U+FE0F) are among them; without one an emoji is drawn in another style.
HIDDEN = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
_HIDDEN = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in HIDDEN)}]")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_]|[PX^_][^\x1b]*(?:\x1b\\)?)")
# A mark drawn over a bracket leaves it a bracket to the eye.
_OVER_BRACKET = re.compile("(?<=[<\uff1c])[\u0300-\u036f\u20d0-\u20ff]+")
_ENTITY = re.compile(r"&#(?:0*60|x0*3c);?", re.IGNORECASE)
# What hosts and models take for structure: tags by their names, tags of more than one word, marks of chat templates.
# Code such as List<int>, vector<size_t> and </div> stays as it is.
_TAGS = (
    "system|sys|instructions?|user|assistant|developer|admin|tools?|private|human|functions?|invoke|parameters?|"
    "thinking|think|thought|scratchpad|reasoning|antml|inst|reminder|important|policy|s"
)
_CLOSED_ONLY = "context|documents?|results?|output|stdout|stderr|data|memory|memories|message|prompt|response|quote"
# Runs are possessive (`*+`) and disjoint: what was read once is not tried again, so that time is linear.
_STRUCTURE = re.compile(
    rf"[<\uff1c](?=\s*+(?:(?:\\?/\s*+)?(?:{_TAGS})(?![a-z0-9.])|\\?/\s*+(?:{_CLOSED_ONLY})(?![a-z0-9.])|"
    rf"\\?/\s*+[a-z]++[-_:]|[|\uff5c]|<\s*+(?:/\s*+)?sys))|(?<!\w)[<\uff1c](?=\s*+[a-z]++(?:[-_]|:(?!:)))",
    re.IGNORECASE,
)
_LLAMA = re.compile(r"\[(\s*+(?:/\s*+)?INST\s*+)\]")
_TURN = re.compile(r"^([^\S\n]*+(?:Human|Assistant)):", re.MULTILINE)
# Tags that our own hooks act on, however their brackets are spelled: with another letter they are none.
_NAMES = "|".join(map(re.escape, (*privacy.CLOSED_TAGS, *privacy.HOST_TAGS)))
_RESERVED = re.compile(rf"((?:<|\uff1c|&lt;|\\u003c)\s*+(?:\\?/\s*+)?(?:{_NAMES}))(?![\w.:-])", re.IGNORECASE)
_MARKS = re.compile("[\u201c\u201d\u201e\u201f\u301d\u301e\u301f\uff02\u275d\u275e\U0001f676-\U0001f678]")
_CUT = "…"
_READ = 40  # times as many characters are read of a text as are quoted: white space, and what does not show
# What names of files, tests and tools and subjects of commits are made of. Whoever chooses one writes to an agent.
_SEGMENT = re.compile(r"[\w@+\-\[\]=.]*")
_SEGMENTS = re.compile(r"([^/:]*+(?::(?!:)[^/:]*+)*+)(/|::|\Z)")
_WORDS_AFTER = re.compile(r"\.[^\W_]++[_-]")
_PARTS = re.compile(r"[^\W_]+")
_HAN_THEN_LATIN = re.compile(r"(?<=[^\x00-\x7f])[_.-]?[A-Za-z]{2}")
_MOST_PARTS, _LONGEST_SEGMENT = 6, 60
_ENDING = (
    r"(?:[cm]?[jt]sx?|pyi?|go|rs|java|kt|rb|php|cs?|cc|cpp|h|hpp|css|html|md|json|toml|ya?ml|sql|txt|cfg|ini|lock|xml)"
)
_SUBJECT_WORD = re.compile(
    rf"[\w\-/#()'\u2019\"`,:;+&=%!\[\]\u3000-\u303f\uff0c\uff1a]*(?:(?<=\d)\.[\w.-]*|\.{_ENDING}\b[)'\"`,:;]*|\.?)|@[a-z][\w/-]*",
    re.IGNORECASE,
)
_CLAUSE = re.compile("[\u3002\uff01\uff1b\uff1f]")
_MOST_WORDS, _LONGEST_SUBJECT, _LONGEST_HAN = 12, 72, 24
_JSON_HIDDEN = re.compile(f"[\x7f-\x9f{_HIDDEN.pattern[1:-1]}]")


def plain(text: str) -> str:
    """Text that is only text: no control characters but ends of lines, nothing hidden, no structure, no envelope.

    The same again changes nothing. Linear in the length of the text.
    """
    if not text.isascii():
        text = _HIDDEN.sub("", text)
    if not text.isprintable():
        text = _ESCAPE.sub("", text.replace("\r\n", "\n"))
        text = "".join(each if each in "\n\t" or each.isprintable() else " " for each in text)
    text = _ENTITY.sub("&lt;", _OVER_BRACKET.sub("", text))
    text = _STRUCTURE.sub("&lt;", _RESERVED.sub(r"\1_", text))
    return _TURN.sub("\\1\uff1a", _LLAMA.sub(r"(\1)", text))


def plain_value(value: Any) -> Any:
    """A JSON value with every text in it plain, keys too."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(str(name)): plain_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    return value


def plain_json(text: str) -> str:
    """A JSON text that says the same to a program, and in which nothing hides from a model or passes for structure."""
    text = _STRUCTURE.sub("\\\\u003c", _OVER_BRACKET.sub(_escaped, text))
    return visible_json(text)


def visible_json(text: str) -> str:
    """A JSON text that says the same to a program and steers no terminal: what is not drawn is escaped."""
    return _JSON_HIDDEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def line(text: str) -> str:
    """Plain, on one line."""
    return " ".join(plain(text).split())


def without_marks(text: str) -> str:
    """The text with other quotation marks than those that we put around it."""
    return _MARKS.sub('"', text)


def quoted(text: str, limit: int = 0) -> str:
    """Plain, on one line, between quotation marks that do not occur in it; cut visibly where it is longer."""
    longest = limit * _READ or len(text)
    whole = len(text) <= longest
    text = without_marks(line(text[:longest]))
    if limit and (len(text) > limit or not whole):
        text = f"{text[: limit - 1].rstrip()}{_CUT}"
    return f"{OPEN}{text}{CLOSE}"


def name(text: str) -> str:
    """The name of a file, a test or a tool as it is told unasked: cut where names seldom go on, so that it says nothing
    else: at white space, before the seventh word of a segment, at a host, where a script changes."""
    text = line(text)
    kept = ""
    for found in _SEGMENTS.finditer(text):
        segment, sign = str(found[1]), str(found[2])
        fitting = _SEGMENT.match(segment)
        end = min(fitting.end() if fitting else 0, _LONGEST_SEGMENT)
        parts = list(_PARTS.finditer(segment, 0, end))
        if len(parts) > _MOST_PARTS:
            end = parts[_MOST_PARTS].start()
        for at, part in enumerate(parts[1:], 1):
            after = segment[part.end() : end]  # a dot in the middle of words is no ending but a host's
            joined = segment[part.start() - 1] in "_-" and after[:1] == "."
            if joined and (_WORDS_AFTER.match(after) or (at > 2 and "." in after[1:])):
                end = part.start()
                break
        if changed := _HAN_THEN_LATIN.search(segment, 0, max(segment.rfind("."), 0) or end):
            end = min(end, changed.start())
        if end < len(segment):
            return kept + segment[:end].rstrip("_-.=[") + _CUT
        kept += segment + sign
    return kept


def subject(text: str) -> str:
    """The subject of a commit as it is told unasked: words such as subjects have, cut at the first other."""
    kept: list[str] = []
    words = line(text).split(" ")
    for word in words[:_MOST_WORDS]:
        clause = _CLAUSE.search(word)
        han = len(word) if word.isascii() else (clause.start() if clause else min(len(word), _LONGEST_HAN))
        if not _SUBJECT_WORD.fullmatch(word[:han]) or len(" ".join((*kept, word[:han]))) > _LONGEST_SUBJECT:
            break
        kept.append(word[:han])
        if han < len(word):
            break
    said = " ".join(kept)
    return said if said == " ".join(words) else f"{said}{_CUT}"
