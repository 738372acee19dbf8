"""What each tool call was, family by family."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from codexmem.kernel.llm import evidence
from codexmem.kernel.llm.clip import line, rendered
from codexmem.kernel.llm.patch import files_of
from codexmem.kernel.llm.paths import relative
from codexmem.kernel.llm.rules import changes, commands, definitions, failures
from codexmem.kernel.llm.rules.records import ChangeRecord, CommandRecord, LookRecord, Record, ToolRecord
from codexmem.kernel.llm.rules.wording import Wording
from codexmem.kernel.llm.tools import Family, Response, family_of, fields, first, path_of, response_of
from codexmem.kernel.model import quoting
from codexmem.kernel.model.capture import CapturedEvent

_TITLE = 80  # characters of what somebody typed, in a title
_SAID = 200  # characters of an answer, in a fact
_OLD = ("old_string", "oldString", "old_str", "old_text")
_NEW = ("new_string", "newString", "new_str", "new_text", "new_source")
_TELLING = ("title", "name", "query", "q", "prompt", "text", "path", "file_path", "url", "id", "key", "message", "body")


def records(event: CapturedEvent, words: Wording) -> list[Record]:
    """What this call did that is worth keeping; nothing for what is not."""
    match family_of(event):
        case Family.READ:
            return _read(event, words)
        case Family.EDIT:
            return _edited(event, words)
        case Family.WRITE:
            return _written(event, words)
        case Family.PATCH:
            return _patched(event, words)
        case Family.SHELL:
            return commands.records(event, words)
        case Family.SEARCH | Family.LIST:
            return _searched(event)
        case Family.FETCH | Family.WEB_SEARCH:
            return _web(event, words)
        case Family.AGENT:
            return _agent(event, words)
        case Family.MCP | Family.OTHER:
            return _other(event, words)


def _failed(event: CapturedEvent, what: str, response: Response, words: Wording) -> list[Record]:
    error = failures.telling(response.text) or line(response.text, 160)
    title = words.say("declined" if response.declined else "call.failed", what=what)
    title = words.say("detail", what=title, detail=words.quoted(error)) if error else title
    facts = (words.say("error.fact", error=error.rstrip(".")),) if error else ()
    return [CommandRecord(event, what, "failure", title, facts, "discovery")]


def _read(event: CapturedEvent, words: Wording) -> list[Record]:
    response = response_of(event)
    paths = evidence.files_of_call(event).read
    if response.failed:
        return _failed(event, words.say("read.of", path=quoting.name(_named(event))), response, words)
    if not paths:
        return []
    return [LookRecord(event, paths, _outline(paths[0], response, words) if len(paths) == 1 else ())]


def _outline(path: str, response: Response, words: Wording) -> tuple[str, ...]:
    found = definitions.names(response.text, path)
    if not found:
        return ()
    key = "read.headings" if definitions.is_prose(path) else "read.fact"
    return (words.say(key, path=path, names=words.several([each.name for each in found], 6)),)


def _named(event: CapturedEvent) -> str:
    return relative(path_of(event), event.cwd) or line(path_of(event), _TITLE) or quoting.name(event.tool)


def _edited(event: CapturedEvent, words: Wording) -> list[Record]:
    response = response_of(event)
    path = _named(event)
    if response.failed:
        return _failed(event, words.say("edit.of", path=quoting.name(path)), response, words)
    parts = [changes.between(old, new, path, words) for old, new in _edits(fields(event.input))]
    details = words.say("list").join(dict.fromkeys(part.detail for part in parts[:3] if part.detail))
    return [
        ChangeRecord(
            event, path, "edited", details, sum(part.plus for part in parts), sum(part.minus for part in parts)
        )
    ]


def _edits(given: dict[str, object]) -> Iterator[tuple[str, str]]:
    several = given.get("edits")
    for each in several if isinstance(several, list) else [given]:
        if isinstance(each, dict):
            old, new = _text(each, _OLD), _text(each, _NEW)
            if old != new:
                yield old, new


def _text(given: Mapping[str, object], names: tuple[str, ...]) -> str:
    # Blank text counts: it is what an edit that deletes leaves.
    return next((value for name in names if isinstance(value := given.get(name), str)), "")


def _written(event: CapturedEvent, words: Wording) -> list[Record]:
    response = response_of(event)
    path = _named(event)
    if response.failed:
        return _failed(event, words.say("write.of", path=quoting.name(path)), response, words)
    given = fields(event.input)
    several = list(_edits(given)) if isinstance(given.get("edits"), list) else []
    if several:  # as Cursor reports edits
        return _edited(event, words)
    change = changes.whole(_text(given, ("content", "text", "file_text", "contents")), path, words)
    new = fields(event.response).get("type") == "create" or "created" in response.text[:300].lower()
    return [ChangeRecord(event, path, "created" if new else "rewrote", change.detail, change.plus, change.minus)]


def _patched(event: CapturedEvent, words: Wording) -> list[Record]:
    response = response_of(event)
    changed = files_of(evidence.patch_text(event))[:20]
    if response.failed or response.text.lstrip().lower().startswith(("error", "failed", "invalid patch")):
        path = relative(changed[0].path, event.cwd) if changed else None
        return _failed(event, words.say("edit.of", path=quoting.name(path)) if path else event.tool, response, words)
    result: list[Record] = []
    for each in changed:
        path = relative(each.path, event.cwd)
        if path is None:
            continue
        old, new = "\n".join(each.removed), "\n".join(each.added)
        if each.verb == "deleted":
            result.append(ChangeRecord(event, path, "deleted"))
        elif each.verb == "created":
            change = changes.whole(new, path, words)
            result.append(ChangeRecord(event, path, "created", change.detail, change.plus, 0))
        else:
            change = changes.between(old, new, path, words)
            detail = change.detail if old or new else ""
            to = relative(each.to, event.cwd) or "" if each.to else ""
            result.append(ChangeRecord(event, path, each.verb, detail, change.plus, change.minus, to))
    return result


def _searched(event: CapturedEvent) -> list[Record]:
    pattern = first(fields(event.input), ("pattern", "query", "regex", "glob", "glob_pattern", "include"))
    if not pattern:
        return []  # listing a folder
    response = response_of(event)
    found = () if response.failed else evidence.files_of_call(event).read
    return [LookRecord(event, searched=line(pattern, 60), found=found)]


def _web(event: CapturedEvent, words: Wording) -> list[Record]:
    given = fields(event.input)
    response = response_of(event)
    question = first(given, ("prompt", "question"))
    if url := first(given, ("url", "uri")):
        place = urlsplit(url)
        what = words.say("fetched", url=line(f"{place.netloc}{place.path}".rstrip("/") or url, _TITLE))
    else:
        asked = first(given, ("query", "q", "search_term")) or question
        what = words.say("web_searched", what=words.quoted(line(asked, _TITLE)))
        question = ""
    if response.failed:
        return _failed(event, what, response, words)
    facts = [words.say("fetched.for", question=line(question, _SAID))] if question else []
    facts += _answer(response.text, words)
    return [ToolRecord(event, what, tuple(facts))]


def _answer(text: str, words: Wording) -> list[str]:
    said = line(text, _SAID)
    return [words.say("said", said=said)] if said else []


def _agent(event: CapturedEvent, words: Wording) -> list[Record]:
    given = fields(event.input)
    response = response_of(event)
    asked = first(given, ("description", "task", "title", "prompt", "message"))
    what = words.say("agent", what=line(asked, _TITLE)) if asked else words.say("agent.bare")
    if response.failed:
        return _failed(event, what, response, words)
    return [ToolRecord(event, what, tuple(_answer(response.text, words)))]


def _other(event: CapturedEvent, words: Wording) -> list[Record]:
    given = fields(event.input)
    response = response_of(event)
    about = first(given, _TELLING) or line(rendered(event.input) if given else "", 60)
    name = quoting.name(tool_name(event.tool))
    if shown := quoting.subject(line(about, 60)).strip("…"):
        what = words.say("called.with", tool=name, what=shown)
    else:
        what = words.say("called", tool=name)
    if response.failed:
        return _failed(event, what, response, words)
    return [ToolRecord(event, what, tuple(_answer(response.text, words)))]


def tool_name(tool: str) -> str:
    """A tool as a person calls it: server and tool of MCP, without its packaging."""
    if tool.startswith("mcp__"):
        return ".".join(tool.removeprefix("mcp__").split("__", 1))
    return tool.removeprefix("MCP:")
