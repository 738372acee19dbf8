"""A summary without a model: the request, the files, and what the agent itself said at the end."""

import re

from codexmem.kernel.llm import evidence
from codexmem.kernel.llm.clip import clean, line
from codexmem.kernel.llm.language import language_of
from codexmem.kernel.llm.material import Material, TurnSummary
from codexmem.kernel.llm.rules.compose import observations
from codexmem.kernel.llm.rules.wording import Wording
from codexmem.kernel.model import quoting
from codexmem.kernel.model.capture import MAX_MESSAGE

_REQUEST = 400
_DONE = 6  # things done that are named
_NEXT = re.compile(r"^[\s>*#_-]{0,12}(?:next(?: steps?| up)?\b|todo\b|下一步|接下来|待办|后续)", re.IGNORECASE)
_BULLET = re.compile(r"^\s{0,12}(?:[-*•]|\d{1,2}[.)、])\s*(?P<text>\S.*)$")
# Markdown's marks, only where Markdown has them: __init__, a > b, a*b and List<int> are what was said.
_OPENING = re.compile(r"^\s{0,3}(?:#{1,6}\s|>\s?)+")
_PAIRED = re.compile(r"(?<!\w)(\*{1,3}|`{1,3})(?=\S)([^*`]{1,400}?)(?<=\S)\1(?!\w)")


def summary(material: Material, message: str) -> TurnSummary | None:
    """Where things stand; None if nothing is known beyond the request."""
    words = Wording(language_of(material.prompt or message))
    files = evidence.files(material.events)
    read = [path for path in files.read if path not in set(files.modified)]
    done = [each.title for each in observations(material) if "what-changed" in each.concepts]
    learned, plans = _said(message, words)
    digest = TurnSummary(
        request=line(clean(material.prompt, 4_000), _REQUEST),
        investigated=_ended(
            words.say("summary.read", paths=words.several([quoting.name(path) for path in read], 8)), words
        )
        if read
        else "",
        learned=learned,
        completed="" if not done else clean(_ended(words.say("list").join(done[:_DONE]), words), 2_000),
        next_steps=plans,
    )
    beyond = digest.investigated or digest.learned or digest.completed or digest.next_steps
    return digest if beyond else None


def _said(message: str, words: Wording) -> tuple[str, str]:
    """What the agent said, whole, and of it what it plans to do next."""
    learned: list[str] = []
    steps: list[str] = []
    planning = False
    for row in clean(message, MAX_MESSAGE).splitlines():
        bullet = _BULLET.match(row)
        if _NEXT.match(row):
            planning = True
            if head := _plain(_NEXT.sub("", row, count=1).strip(" :\uff1a*#_-")):
                steps.append(head)
        elif planning and (bullet or (row.strip() and not steps)):
            steps.append(_plain(bullet.group("text") if bullet else row))
        elif row.strip():
            planning = False
            if not row.lstrip().startswith("```"):
                learned.append(_plain(row))
    plans = ("\uff1b" if words.language == "zh" else "; ").join(step for step in steps if step)
    return "\n".join(text for text in learned if text), plans


def _ended(text: str, words: Wording) -> str:
    return text + words.say("summary.end")


def _plain(row: str) -> str:
    return _PAIRED.sub(r"\2", _OPENING.sub("", row)).strip()
