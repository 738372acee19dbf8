"""Observations from records: few, and each about one matter.

What was read before it was changed belongs to the change. Tests that pass after a change are a fact about it; tests
that failed before and pass after make it a fix. Looks of one batch are one observation, and so are plain commands.
"""

from itertools import pairwise

from codexmem.domain.capture import Capture, CapturedEvent
from codexmem.llm import evidence
from codexmem.llm.language import language_of
from codexmem.llm.material import Distilled, Material
from codexmem.llm.paths import folder_of
from codexmem.llm.rules import calls
from codexmem.llm.rules.draft import Draft, finished, sentence
from codexmem.llm.rules.intent import wanted
from codexmem.llm.rules.records import Changed, Looked, Ran, Tested, Told
from codexmem.llm.rules.wording import Words

_APART = 2  # changed files up to which each has an observation of its own
_MANY_READS = 3  # reads that are worth an observation beside changes


def observations(material: Material) -> tuple[Distilled, ...]:
    """What these events were, in the language of the person who asked; the same for the same events."""
    words = Words(language_of(material.prompt))
    events = [event for event in material.events if event.kind is Capture.TOOL]
    found = [record for event in events for record in calls.records(event, words)]
    changed = [record for record in found if isinstance(record, Changed)]
    tested = [record for record in found if isinstance(record, Tested)]
    looked = [record for record in found if isinstance(record, Looked)]
    drafts = _changes(changed, material.prompt, words)
    drafts += _tests(tested, changed, drafts, words)
    drafts += _looks(looked, drafts, words)
    drafts += _runs([record for record in found if isinstance(record, Ran)], words)
    drafts += _told([record for record in found if isinstance(record, Told)])
    drafts.sort(key=lambda draft: min(event.seq for event in draft.events))
    return tuple(finished(draft, material.prompt, words) for draft in drafts)


def _changes(changed: list[Changed], prompt: str, words: Words) -> list[Draft]:
    by_path: dict[str, list[Changed]] = {}
    for record in changed:
        by_path.setdefault(record.path, []).append(record)
    kind = wanted(prompt)
    drafts = [_change(group, kind, words) for group in by_path.values()]
    if len(drafts) <= _APART:
        return drafts
    folder = folder_of(list(by_path))
    key = "changed.many_in" if folder else "changed.many"
    merged = Draft(
        kind, words.say(key, count=len(by_path), folder=folder), concepts=("what-changed",), files_changed=True
    )
    for draft in drafts:
        merged.facts.append(sentence(draft.title, words))
        merged.events += [event for event in draft.events if event not in merged.events]
    merged.story += merged.facts[:3]
    return [merged]


def _change(group: list[Changed], kind: str, words: Words) -> Draft:
    first = group[0]
    verb = first.verb if first.verb in {"created", "moved"} else group[-1].verb
    what = words.say(verb, path=first.path, to=first.to)
    details = list(dict.fromkeys(record.detail for record in group if record.detail))
    title = words.say("detail", what=what, detail=words.say("list").join(details[:2])) if details else what
    draft = Draft(kind, title, concepts=("what-changed",), events=_events(group), files_changed=True)
    if len(details) > 1:
        draft.facts += [words.say("changed.fact", path=first.path, detail=detail) for detail in details]
    plus, minus = sum(record.plus for record in group), sum(record.minus for record in group)
    if plus or minus:
        size = words.say("lines", plus=plus, minus=minus)
        draft.facts.append(words.say("changed.fact", path=first.path, detail=size))
    return draft


def _tests(tested: list[Tested], changed: list[Changed], changes: list[Draft], words: Words) -> list[Draft]:
    """Observations of runs that stand alone; the others become facts of the changes around them."""
    drafts: list[Draft] = []
    for number, record in enumerate(tested):
        later = [each for each in tested[number + 1 :] if each.run.runner == record.run.runner]
        said = _test_title(record, words)
        before = [change for change in changed if change.event.seq < record.event.seq]
        if record.passed and before:
            for draft in changes:
                draft.facts.append(words.say("test.after", what=said))
                draft.story.append(words.say("test.after", what=said))
                draft.events.append(record.event)
        elif not record.passed and any(each.passed for each in later) and len(before) < len(changed):
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


def _test(record: Tested, said: str, words: Words) -> Draft:
    draft = Draft("discovery", said, concepts=("how-it-works" if record.passed else "gotcha",), events=[record.event])
    if record.run.failing:
        draft.facts.append(words.say("test.failing_fact", names=words.several(list(record.run.failing), 5)))
    if record.error:
        draft.facts.append(words.say("error.fact", error=record.error))
    if record.run.skipped:
        draft.facts.append(words.say("test.skipped_fact", count=record.run.skipped))
    return draft


def _test_title(record: Tested, words: Words) -> str:
    run = record.run
    if record.passed:
        return (
            words.say("test.passed", runner=run.runner, count=run.passed)
            if run.passed
            else words.say("test.passed_bare", runner=run.runner)
        )
    if run.failed:
        said = words.say("test.failed", runner=run.runner, failed=run.failed, count=run.total)
    else:
        said = words.say("test.failed_bare", runner=run.runner)
    name = run.failing[0] if run.failing else record.error
    return words.say("test.name", what=said, name=name) if name else said


def _looks(looked: list[Looked], changes: list[Draft], words: Words) -> list[Draft]:
    """One observation of everything that was looked at, unless it belongs to a change."""
    altering = [draft for draft in changes if draft.files_changed]
    left: list[Looked] = []
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
    draft = Draft("discovery", _look_title(paths, searches, words), concepts=("how-it-works",), events=_events(left))
    draft.facts += [fact for record in left for fact in record.outline]
    for record in searches:
        what = words.quoted(record.searched)
        if record.found:
            draft.facts.append(words.say("found.fact", what=what, paths=words.several(list(record.found), 5)))
        else:
            draft.facts.append(words.say("found.none_fact", what=what))
    return [draft]


def _about(draft: Draft, record: Looked) -> bool:
    changed = evidence.files(draft.events).modified
    return bool(record.paths) and all(path in changed for path in record.paths)


def _look_title(paths: list[str], searches: list[Looked], words: Words) -> str:
    what = words.several([words.quoted(each) for each in dict.fromkeys(record.searched for record in searches)], 2)
    if not paths:
        found = list(dict.fromkeys(path for record in searches for path in record.found))
        hits = words.say("found.many", count=len(found)) if found else words.say("found.none")
        return words.say("searched.title", what=what, found=found[0] if len(found) == 1 else hits)
    folder = folder_of(paths)
    if len(paths) == 1:
        read = words.say("read.one", path=paths[0])
    elif len(paths) == 2:
        read = words.say("read.two", path=paths[0], other=paths[1])
    elif folder:
        read = words.say("read.many_in", count=len(paths), folder=folder)
    else:
        read = words.say("read.many", count=len(paths))
    return read + words.say("and") + words.say("searched", what=what) if searches else read


def _runs(ran: list[Ran], words: Words) -> list[Draft]:
    drafts: list[Draft] = []
    for record in ran:
        if record.sort == "plain":
            continue
        if drafts and drafts[-1].title == record.title:
            drafts[-1].events.append(record.event)
            continue
        concepts = ("gotcha",) if record.sort == "failure" else ("what-changed",)
        drafts.append(Draft(record.type, record.title, list(record.facts), [], concepts, [record.event]))
    drafts = _one_landmark(drafts, ran, words)
    plain = _without_recoveries(ran, drafts, words)
    if len(plain) == 1:
        record = plain[0]
        drafts.append(Draft(record.type, record.title, list(record.facts), [], ("how-it-works",), [record.event]))
    elif plain:
        shown = list(dict.fromkeys(record.command for record in plain))
        title = words.say("ran.many", count=len(plain), commands=words.several(shown, 3))
        facts = [fact for record in plain for fact in record.facts]
        drafts.append(Draft("discovery", title, facts, [], ("how-it-works",), _events(plain)))
    return drafts


def _without_recoveries(ran: list[Ran], drafts: list[Draft], words: Words) -> list[Ran]:
    """The plain commands, without those that only show that an earlier failure is over: that is told there."""
    left: list[Ran] = []
    for number, record in enumerate(ran):
        if record.sort != "plain":
            continue
        failed = {each.title for each in ran[:number] if each.sort == "failure" and each.command == record.command}
        draft = next((draft for draft in drafts if draft.title in failed), None)
        if draft is None:
            left.append(record)
            continue
        draft.facts.append(words.say("succeeded.after", command=record.command))
        draft.concepts = ("problem-solution", "gotcha")
        draft.events.append(record.event)
    return left


def _one_landmark(drafts: list[Draft], ran: list[Ran], words: Words) -> list[Draft]:
    """A commit and the push after it are one matter."""
    git = {record.title for record in ran if record.sort == "git"}
    absorbed: list[Draft] = []
    for before, after in pairwise(list(drafts)):
        if before.title in git and after.title in git and before not in absorbed:
            before.facts.append(sentence(after.title, words))
            before.events += [event for event in after.events if event not in before.events]
            absorbed.append(after)
    return [draft for draft in drafts if draft not in absorbed]


def _told(told: list[Told]) -> list[Draft]:
    drafts: list[Draft] = []
    for record in told:
        if drafts and drafts[-1].title == record.title:
            drafts[-1].events.append(record.event)
            continue
        drafts.append(Draft("discovery", record.title, list(record.facts), [], record.concepts, [record.event]))
    return drafts


def _events(records: "list[Changed] | list[Looked] | list[Ran]") -> list[CapturedEvent]:
    return list({record.event.seq: record.event for record in records}.values())
