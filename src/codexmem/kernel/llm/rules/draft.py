"""An observation while rules gather what belongs to it, and what it looks like in the end."""

from dataclasses import dataclass, field

from codexmem.kernel.llm import evidence
from codexmem.kernel.llm.clip import clean, line
from codexmem.kernel.llm.material import ExtractedObservation
from codexmem.kernel.llm.rules.wording import Wording
from codexmem.kernel.model.capture import CapturedEvent

_TITLE = 140
_SUBTITLE = 120
_FACT = 240
_MAX_FACTS = 10
_HAN_ENDS = ("\u3002", "\uff01", "\uff1f")
_ENDS = (".", "!", "?", "…", *_HAN_ENDS)


@dataclass(slots=True)
class ObservationDraft:
    """An observation in the making."""

    type: str
    title: str
    facts: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)  # sentences after the title
    concepts: tuple[str, ...] = ()
    events: list[CapturedEvent] = field(default_factory=list)
    files_changed: bool = False


def finished(draft: ObservationDraft, prompt: str, words: Wording) -> ExtractedObservation:
    """The observation: bounded, clean, with its files and the request it belongs to."""
    request = line(clean(prompt, 2_000), _SUBTITLE)
    events = sorted({event.seq: event for event in draft.events}.values(), key=lambda event: event.seq)
    files = evidence.files(events)
    new = [fact for fact in draft.facts if _core(fact) not in draft.title]
    told = draft.story or ([] if draft.files_changed else new[:2])
    story = [sentence(draft.title, words), *(sentence(fact, words) for fact in dict.fromkeys(told))]
    if request and len(story) == 1:
        story.append(sentence(words.say("asked", request=request), words))
    facts = dict.fromkeys(clean(line(fact, _FACT), _FACT) for fact in draft.facts)
    return ExtractedObservation(
        type=draft.type,
        title=clean(line(draft.title, _TITLE), _TITLE),
        subtitle=request,
        narrative=clean(_joined(story), 2_000),
        facts=tuple(fact for fact in facts if fact)[:_MAX_FACTS],
        concepts=draft.concepts,
        files_read=tuple(path for path in files.read if path not in set(files.modified)),
        files_modified=files.modified,
        events=tuple(event.seq for event in events),
    )


def _joined(sentences: list[str]) -> str:
    text = ""
    for sentence in sentences:
        text += ("" if not text or text.endswith(_HAN_ENDS) else " ") + sentence
    return text


def _core(fact: str) -> str:
    """What a fact says beyond its first words, to see whether the title said it."""
    return fact.replace("\uff1a", ": ").partition(": ")[2].rstrip(".\u3002") or fact


def sentence(text: str, words: Wording) -> str:
    """With a full stop, unless it has an end."""
    return text if text.endswith(_ENDS) else text + words.say("summary.end")
