"""From a turn of a conversation to a question and an answer that stand by themselves, by rules alone.

Greetings, offers of more help, colours of a terminal, private regions, what we injected ourselves and its anchors go;
what was said about the matter stays as it was said. The time is linear in what is kept, which is bounded.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import re
from dataclasses import dataclass

from codexmem.kernel.model import privacy
from codexmem.kernel.model.clipping import clip
from codexmem.qa.gatekeeper.tags import tags_of

MAX_QUESTION = 2_000
MAX_ANSWER = 12_000
MAX_SUMMARY = 240
_LOOK_AT = 64_000  # characters of a turn; what comes after them is not read
ANCHOR = re.compile(r"\[QA_REF[^\]\n]{0,80}\]")
_ESCAPES = re.compile(
    r"\x1b\[[0-9;?]{0,20}[ -/]?[@-~]|\x1b\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]"
)
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| all| everyone| team| claude| codex)?[,.!，]"
    r"|(?:sure|certainly|of course|absolutely|(?:great|good) question|(?:happy|glad) to help|no problem)[,.!:]+"
    r"|(?:你好|您好|嗨|大家好|好问题|当然可以|当然|没问题|好的)[，。！,!.、]+)\s*",
    re.IGNORECASE,
)
_PLEASE = re.compile(r"^(?:请问(?:一下)?[，,]?|想问(?:一下|问)?[，,]?|请教(?:一下)?[，,]?)\s*")
_OFFER = re.compile(
    r"^(?:let me know\b|(?:would|do) you (?:like|want) me to\b|shall i\b|should i (?:also |now |go ahead|proceed)"
    r"|want me to\b"
    r"|if you(?:'d| would)? (?:like|want|need|have)[^.?!\n]{0,80}(?:let me know|i can|feel free|happy)|feel free to\b"
    r"|i can also\b|hope (?:this|that) helps|happy to\b|(?:is there )?anything else\b"
    r"|需要我|要不要我|是否需要我|如果(?:你)?(?:还)?(?:有|需要)(?:其他|任何|问题|进一步)|如有(?:其他)?(?:问题|疑问|需要)|希望(?:对你|以上|这)|还有(?:什么|其他)问题"
    r"|有(?:需要|问题)(?:再|随时))",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_MARKUP = re.compile(r"^(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)、]\s*)|\*\*|__")


@dataclass(frozen=True, slots=True)
class QaDraft:
    """What would be written."""

    question: str
    answer: str
    summary: str
    tags: tuple[str, ...]
    lengths: tuple[int, int]  # of question and answer before they were cut


def distil(question: str, answer: str) -> QaDraft | None:
    """The question and the answer without what is not about the matter; None if one of them is empty then."""
    asked = _PLEASE.sub("", _without_greeting(_clean(question)))
    answered = _without_offers(_without_greeting(_clean(answer)))
    if not asked or not answered:
        return None
    lengths = (max(len(asked), len(question) - _LOOK_AT), max(len(answered), len(answer) - _LOOK_AT))
    asked, answered = clip(asked, MAX_QUESTION), clip(answered, MAX_ANSWER)
    return QaDraft(asked, answered, summary_of(answered), tags_of(asked, answered), lengths)


def summary_of(answer: str) -> str:
    """The first sentence that says something, in at most so many characters."""
    for line in _without_code(answer).splitlines():
        text = _MARKUP.sub("", line.strip()).strip(" `*_:：")
        if len(text) >= 12 or (len(text) >= 6 and not text.isascii()):
            first = _SENTENCE_END.split(text, maxsplit=1)[0].strip()
            return first if len(first) <= MAX_SUMMARY else first[: MAX_SUMMARY - 1].rstrip() + "…"
    return clip(answer.strip(), MAX_SUMMARY)[:MAX_SUMMARY]


def sentences(text: str) -> list[str]:
    """The text in sentences, roughly."""
    return [piece for line in text.splitlines() for each in _SENTENCE_END.split(line) if (piece := each.strip())]


def _clean(text: str) -> str:
    text = _ESCAPES.sub("", privacy.strip(text[:_LOOK_AT]).replace("\r\n", "\n"))
    return ANCHOR.sub("", text).strip()


def _without_greeting(text: str) -> str:
    for _ in range(3):
        shorter = _GREETING.sub("", text, count=1).lstrip()
        if shorter == text or not shorter:
            break
        text = shorter
    return text


def _without_offers(text: str) -> str:
    """Offers of more help at the end, sentence by sentence; never the only sentence."""
    for _ in range(4):
        head, _, last = text.rpartition("\n")
        pieces = [piece for piece in _SENTENCE_END.split(last.strip()) if piece.strip()] or [""]
        if not _OFFER.match(pieces[-1].strip()):
            break
        kept = last[: last.rfind(pieces[-1])].rstrip() if len(pieces) > 1 else ""
        shorter = (head + "\n" + kept if kept else head).strip()
        if not shorter:
            break
        text = shorter
    return text


def _without_code(text: str) -> str:
    """The text with fenced blocks left out."""
    return "\n".join(text.split("```")[::2])
