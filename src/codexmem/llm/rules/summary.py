"""A summary without a model: the request, the files, and what the agent itself said at the end."""

import re

from codexmem.llm import evidence
from codexmem.llm.clip import clean, line
from codexmem.llm.language import language_of
from codexmem.llm.material import Digest, Material
from codexmem.llm.rules.compose import observations
from codexmem.llm.rules.wording import Words

_REQUEST = 400
_LEARNED = 500
_STEPS = 600
_DONE = 6  # things done that are named
_NEXT = re.compile(r"^[\s>*#_-]{0,12}(?:next(?: steps?| up)?\b|todo\b|下一步|接下来|待办|后续)", re.IGNORECASE)
_BULLET = re.compile(r"^\s{0,12}(?:[-*•]|\d{1,2}[.)、])\s*(?P<text>\S.*)$")
_HAN_ENDS = ("\u3002", "\uff01", "\uff1f")
_SENTENCE = re.compile(rf"(?<=[.!?])\s+|(?<=[{''.join(_HAN_ENDS)}])")
# Markdown's marks, only where Markdown has them: __init__, a > b, a*b and List<int> are what was said.
_OPENING = re.compile(r"^\s{0,3}(?:#{1,6}\s|>\s?)+")
_PAIRED = re.compile(r"(?<!\w)(\*{1,3}|`{1,3})(?=\S)([^*`]{1,400}?)(?<=\S)\1(?!\w)")


def summary(material: Material, message: str) -> Digest | None:
    """Where things stand; None if nothing is known beyond the request."""
    words = Words(language_of(material.prompt or message))
    files = evidence.files(material.events)
    read = [path for path in files.read if path not in set(files.modified)]
    done = [each.title for each in observations(material) if "what-changed" in each.concepts]
    digest = Digest(
        request=line(clean(material.prompt, 4_000), _REQUEST),
        investigated=_ended(words.say("summary.read", paths=words.several(read, 8)), words) if read else "",
        learned=_learned(message),
        completed="" if not done else clean(_ended(words.say("list").join(done[:_DONE]), words), 2_000),
        next_steps=_next_steps(message, words),
    )
    beyond = digest.investigated or digest.learned or digest.completed or digest.next_steps
    return digest if beyond else None


def _learned(message: str) -> str:
    """The first sentences, up to the plans."""
    kept: list[str] = []
    for row in clean(message, 16_000).splitlines():
        if _NEXT.match(row):
            break
        text = _plain(row)
        if text and not row.startswith("```"):
            kept.append(text)
    said = ""
    for sentence in _SENTENCE.split(" ".join(kept)[:4_000]):
        if said and len(said) + len(sentence) + 1 > _LEARNED:
            break
        said = f"{said} {sentence}".strip() if not said.endswith(_HAN_ENDS) else said + sentence
    return line(said, _LEARNED)


def _next_steps(message: str, words: Words) -> str:
    rows = clean(message, 16_000).splitlines()
    for number, row in enumerate(rows):
        if not _NEXT.match(row):
            continue
        head = _NEXT.sub("", row, count=1).strip(" :\uff1a*#_-")
        steps = [head] if head else []
        for follower in rows[number + 1 :]:
            bullet = _BULLET.match(follower)
            if bullet:
                steps.append(_plain(bullet.group("text")))
            elif follower.strip():
                if not steps:
                    steps.append(_plain(follower))
                break
        if steps:
            return line(("\uff1b" if words.language == "zh" else "; ").join(steps), _STEPS)
    return ""


def _ended(text: str, words: Words) -> str:
    return text + words.say("summary.end")


def _plain(row: str) -> str:
    return _PAIRED.sub(r"\2", _OPENING.sub("", row)).strip()
