"""Observations from records: few, and each about one matter.

What was read before it was changed belongs to the change. Tests that pass after a change are a fact about it; tests
that failed before and pass after make it a fix. Looks of one batch are one observation, and so are plain commands.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from codexmem.kernel.llm import evidence
from codexmem.kernel.llm.clip import clean, line
from codexmem.kernel.llm.language import language_of
from codexmem.kernel.llm.material import ExtractedObservation, Material
from codexmem.kernel.llm.paths import folder_of
from codexmem.kernel.llm.rules import calls
from codexmem.kernel.llm.rules.records import ChangeRecord, CommandRecord, LookRecord, TestRecord, ToolRecord
from codexmem.kernel.llm.rules.wording import Wording
from codexmem.kernel.model import quoting
from codexmem.kernel.model.capture import Capture, CapturedEvent

_TITLE = 140
_SUBTITLE = 120
_FACT = 240
_MAX_FACTS = 10
_HAN_ENDS = ("\u3002", "\uff01", "\uff1f")
_ENDS = (".", "!", "?", "…", *_HAN_ENDS)
_LOOK_AT = 2_000
_WORDS: tuple[tuple[str, str, str], ...] = (
    ("bugfix", "fix|fixes|fixed|bug|bugs|crash|crashes|broken|regression", "修复|修正|修一下|错误|报错|崩溃|缺陷"),
    ("refactor", "refactor|refactoring|rename|clean ?up|simplify|restructure|reorgani[sz]e", "重构|重命名|整理|简化"),
    ("feature", "add|implement|create|introduce|support|build", "新增|添加|增加|实现|支持|新建|开发"),
)
_PATTERNS = tuple(
    (kind, re.compile(rf"\b(?:{latin})\b|{han}", re.IGNORECASE | re.ASCII)) for kind, latin, han in _WORDS
)


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


def wanted(prompt: str) -> str:
    """The type of a change that answers this request."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(prompt[:_LOOK_AT])), "change")


_APART = 2  # changed files up to which each has an observation of its own
_MANY_READS = 3  # reads that are worth an observation beside changes


def observations(material: Material) -> tuple[ExtractedObservation, ...]:
    """What these events were, in the language of the person who asked; the same for the same events."""
    words = Wording(language_of(material.prompt))
    events = [event for event in material.events if event.kind is Capture.TOOL]
    found = [record for event in events for record in calls.records(event, words)]
    changed = [record for record in found if isinstance(record, ChangeRecord)]
    tested = [record for record in found if isinstance(record, TestRecord)]
    looked = [record for record in found if isinstance(record, LookRecord)]
    drafts = _changes(changed, material.prompt, words)
    drafts += _tests(tested, changed, drafts, words)
    drafts += _looks(looked, drafts, words)
    drafts += _runs([record for record in found if isinstance(record, CommandRecord)], words)
    drafts += _told([record for record in found if isinstance(record, ToolRecord)])
    drafts.sort(key=lambda draft: min(event.seq for event in draft.events))
    return tuple(finished(draft, material.prompt, words) for draft in drafts)


def _changes(changed: list[ChangeRecord], prompt: str, words: Wording) -> list[ObservationDraft]:
    by_path: dict[str, list[ChangeRecord]] = {}
    for record in changed:
        by_path.setdefault(record.path, []).append(record)
    kind = wanted(prompt)
    drafts = [_change(group, kind, words) for group in by_path.values()]
    if len(drafts) <= _APART:
        return drafts
    folder = folder_of(list(by_path))
    key = "changed.many_in" if folder else "changed.many"
    merged = ObservationDraft(
        kind,
        words.say(key, count=len(by_path), folder=quoting.name(folder or "")),
        concepts=("what-changed",),
        files_changed=True,
    )
    for draft in drafts:
        merged.facts.append(sentence(draft.title, words))
        merged.events += [event for event in draft.events if event not in merged.events]
    merged.story += merged.facts[:3]
    return [merged]


def _change(group: list[ChangeRecord], kind: str, words: Wording) -> ObservationDraft:
    first = group[0]
    verb = first.verb if first.verb in {"created", "moved"} else group[-1].verb
    what = words.say(verb, path=quoting.name(first.path), to=quoting.name(first.to))
    details = list(dict.fromkeys(record.detail for record in group if record.detail))
    title = words.say("detail", what=what, detail=words.say("list").join(details[:2])) if details else what
    draft = ObservationDraft(kind, title, concepts=("what-changed",), events=_events(group), files_changed=True)
    if len(details) > 1:
        draft.facts += [words.say("changed.fact", path=first.path, detail=detail) for detail in details]
    plus, minus = sum(record.plus for record in group), sum(record.minus for record in group)
    if plus or minus:
        size = words.say("lines", plus=plus, minus=minus)
        draft.facts.append(words.say("changed.fact", path=first.path, detail=size))
    return draft


def _tests(
    tested: list[TestRecord], changed: list[ChangeRecord], changes: list[ObservationDraft], words: Wording
) -> list[ObservationDraft]:
    """Observations of runs that stand alone; the others become facts of the changes around them."""
    drafts: list[ObservationDraft] = []
    for number, record in enumerate(tested):
        later = [each for each in tested[number + 1 :] if each.run.runner == record.run.runner]
        said = _test_title(record, words)
        before = [change for change in changed if change.event.seq < record.event.seq]
        if record.passed is not False and before:
            for draft in changes:
                draft.facts.append(words.say("test.after", what=said))
                draft.story.append(words.say("test.after", what=said))
                draft.events.append(record.event)
        elif record.passed is False and any(each.passed for each in later) and len(before) < len(changed):
            for draft in changes:
                draft.type = "bugfix"
                draft.concepts = ("problem-solution", "what-changed")
                draft.facts.append(words.say("test.before", what=said))
                draft.story.append(words.say("test.before", what=said))
                if record.error:
                    draft.facts.append(words.say("error.fact", error=record.error))
                draft.events.append(record.event)
        elif not any(each.passed == record.passed for each in later):
            drafts.append(_test(record, said, words))
    return drafts


def _test(record: TestRecord, said: str, words: Wording) -> ObservationDraft:
    draft = ObservationDraft(
        "discovery", said, concepts=("gotcha" if record.passed is False else "how-it-works",), events=[record.event]
    )
    if record.run.failing:
        draft.facts.append(
            words.say("test.failing_fact", names=words.several([quoting.name(each) for each in record.run.failing], 5))
        )
    if record.error:
        draft.facts.append(words.say("error.fact", error=record.error))
    if record.run.skipped:
        draft.facts.append(words.say("test.skipped_fact", count=record.run.skipped))
    return draft


def _test_title(record: TestRecord, words: Wording) -> str:
    run = record.run
    if record.passed:
        return (
            words.say("test.passed", runner=run.runner, count=run.passed)
            if run.passed
            else words.say("test.passed_bare", runner=run.runner)
        )
    if record.passed is None:
        key = "test.unknown_count" if run.passed else "test.unknown"
        return words.say(key, runner=run.runner, count=run.passed)
    if run.failed:
        said = words.say("test.failed", runner=run.runner, failed=run.failed, count=run.total)
    else:
        said = words.say("test.failed_bare", runner=run.runner)
    name = quoting.name(run.failing[0]) if run.failing else record.error
    return words.say("test.name", what=said, name=words.quoted(name)) if name else said


def _looks(looked: list[LookRecord], changes: list[ObservationDraft], words: Wording) -> list[ObservationDraft]:
    """One observation of everything that was looked at, unless it belongs to a change."""
    altering = [draft for draft in changes if draft.files_changed]
    left: list[LookRecord] = []
    for record in looked:
        owner = next((draft for draft in altering if _about(draft, record)), None)
        if owner is not None:
            owner.events.append(record.event)
        else:
            left.append(record)
    paths = list(dict.fromkeys(path for record in left for path in record.paths))
    if altering and len(paths) < _MANY_READS:
        altering[0].events += [record.event for record in left]
        return []
    if not left:
        return []
    searches = [record for record in left if record.searched]
    draft = ObservationDraft(
        "discovery", _look_title(paths, searches, words), concepts=("how-it-works",), events=_events(left)
    )
    draft.facts += [fact for record in left for fact in record.outline]
    for record in searches:
        what = words.quoted(record.searched)
        if record.found:
            draft.facts.append(words.say("found.fact", what=what, paths=words.several(list(record.found), 5)))
        else:
            draft.facts.append(words.say("found.none_fact", what=what))
    return [draft]


def _about(draft: ObservationDraft, record: LookRecord) -> bool:
    changed = evidence.files(draft.events).modified
    return bool(record.paths) and all(path in changed for path in record.paths)


def _look_title(paths: list[str], searches: list[LookRecord], words: Wording) -> str:
    what = words.several([words.quoted(each) for each in dict.fromkeys(record.searched for record in searches)], 2)
    if not paths:
        found = list(dict.fromkeys(path for record in searches for path in record.found))
        hits = words.say("found.many", count=len(found)) if found else words.say("found.none")
        return words.say("searched.title", what=what, found=quoting.name(found[0]) if len(found) == 1 else hits)
    folder = folder_of(paths)
    if len(paths) == 1:
        read = words.say("read.one", path=quoting.name(paths[0]))
    elif len(paths) == 2:
        read = words.say("read.two", path=quoting.name(paths[0]), other=quoting.name(paths[1]))
    elif folder:
        read = words.say("read.many_in", count=len(paths), folder=quoting.name(folder or ""))
    else:
        read = words.say("read.many", count=len(paths))
    return read + words.say("and") + words.say("searched", what=what) if searches else read


def _runs(ran: list[CommandRecord], words: Wording) -> list[ObservationDraft]:
    drafts: list[ObservationDraft] = []
    for record in ran:
        if record.sort == "plain":
            continue
        if drafts and drafts[-1].title == record.title:
            drafts[-1].events.append(record.event)
            continue
        concepts = ("gotcha",) if record.sort == "failure" else ("what-changed",)
        drafts.append(ObservationDraft(record.type, record.title, list(record.facts), [], concepts, [record.event]))
    drafts = _one_landmark(drafts, ran, words)
    plain = _without_recoveries(ran, drafts, words)
    if len(plain) == 1:
        record = plain[0]
        drafts.append(
            ObservationDraft(record.type, record.title, list(record.facts), [], ("how-it-works",), [record.event])
        )
    elif plain:
        shown = list(dict.fromkeys(record.command for record in plain))
        title = words.say("ran.many", count=len(plain), commands=words.several(shown, 3))
        facts = [fact for record in plain for fact in record.facts]
        drafts.append(ObservationDraft("discovery", title, facts, [], ("how-it-works",), _events(plain)))
    return drafts


def _without_recoveries(
    ran: list[CommandRecord], drafts: list[ObservationDraft], words: Wording
) -> list[CommandRecord]:
    """The plain commands, without those that only show that an earlier failure is over: that is told there."""
    left: list[CommandRecord] = []
    for number, record in enumerate(ran):
        if record.sort != "plain":
            continue
        failed = {each.title for each in ran[:number] if each.sort == "failure" and each.command == record.command}
        failed = failed if record.succeeded else set()
        draft = next((draft for draft in drafts if draft.title in failed), None)
        if draft is None:
            left.append(record)
            continue
        draft.facts.append(words.say("succeeded.after", command=record.command))
        draft.concepts = ("problem-solution", "gotcha")
        draft.events.append(record.event)
    return left


def _one_landmark(drafts: list[ObservationDraft], ran: list[CommandRecord], words: Wording) -> list[ObservationDraft]:
    """A commit and the push after it are one matter."""
    git = {record.title for record in ran if record.sort == "git"}
    absorbed: list[ObservationDraft] = []
    for before, after in pairwise(list(drafts)):
        if before.title in git and after.title in git and before not in absorbed:
            before.facts.append(sentence(after.title, words))
            before.events += [event for event in after.events if event not in before.events]
            absorbed.append(after)
    return [draft for draft in drafts if draft not in absorbed]


def _told(told: list[ToolRecord]) -> list[ObservationDraft]:
    drafts: list[ObservationDraft] = []
    for record in told:
        if drafts and drafts[-1].title == record.title:
            drafts[-1].events.append(record.event)
            continue
        drafts.append(
            ObservationDraft("discovery", record.title, list(record.facts), [], record.concepts, [record.event])
        )
    return drafts


def _events(records: "list[ChangeRecord] | list[LookRecord] | list[CommandRecord]") -> list[CapturedEvent]:
    return list({record.event.seq: record.event for record in records}.values())


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
