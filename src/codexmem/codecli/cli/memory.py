"""`mem-codecli memory`: the five calls of the QA service, by hand.

The project must be named here, since what a person writes to a guessed project is hard to find again. A person waits
longer than an agent, so the configured time-out is only the least that is waited.

`mem-codecli confirm`: a person says that the last answer was right, which is the strongest signal there is.
"""

import sys
from collections.abc import Sequence

import click

from codexmem.codecli import project_context, surroundings
from codexmem.codecli.cli.configured import configured, memory_options
from codexmem.codecli.configuration import Config
from codexmem.codecli.memory_client import ItemReference, MemoryClient, RecalledItem
from codexmem.codecli.post_run import confirmed
from codexmem.codecli.redactor import Redactor
from codexmem.codecli.turns import Pending
from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.kernel.model.errors import NotFound

PATIENCE_MS = 15_000
CLIENT = "mem-codecli"


@click.group("memory", cls=Group, key="codecli.memory", no_args_is_help=True)
def memory() -> None:
    """The memory, by hand."""


@memory.command("search", cls=Command, key="codecli.memory.search")
@option("--query", required=True, metavar="TEXT", key="codecli.memory.search.query")
@option("--limit", type=click.IntRange(1, 20), metavar="N", key="codecli.memory.search.limit")
@option("--min-score", type=click.FloatRange(0, 1), metavar="X", key="codecli.memory.search.min_score")
@memory_options
def search(
    query: str, limit: int | None, min_score: float | None, project_id: str | None, memory_url: str | None
) -> None:
    """Find questions and answers."""
    flags = {"search.limit": limit, "search.min_score": min_score}
    config = configured({"project_id": project_id, "memory.base_url": memory_url, **flags}).config
    client, (project, _) = _client(config), project_context.project(config, surroundings.cwd())
    items = client.search(project, _text("--query", query), config.search.limit, config.search.min_score)
    document = {"project_id": project, "items": [dict(item.document) for item in items], "count": len(items)}
    output = current()
    output.result(document, "\n\n".join(_shown(place, item) for place, item in enumerate(items, start=1)))
    if not items:
        output.note(say("codecli.memory.search.nothing"))


@memory.command("hit", cls=Command, key="codecli.memory.hit")
@option("--qa-id", "qa_ids", multiple=True, required=True, metavar="ID", key="codecli.memory.hit.qa_id")
@option("--shown/--not-shown", default=True, key="codecli.memory.hit.shown")
@option("--used/--not-used", default=False, key="codecli.memory.hit.used")
@option("--message-id", metavar="ID", key="codecli.memory.hit.message_id")
@option("--context", metavar="TEXT", default="", key="codecli.memory.hit.context")
@memory_options
def hit(qa_ids: tuple[str, ...], shown: bool, used: bool, message_id: str | None, context: str,
        project_id: str | None, memory_url: str | None) -> None:  # fmt: skip
    """Tell that memories were shown or used."""
    _, client, project = _reached(project_id, memory_url)
    run = message_id or surroundings.fresh_id()
    told = client.hit(project, [ItemReference(qa_id, shown, used, run, context) for qa_id in dict.fromkeys(qa_ids)])
    unknown = [str(each) for each in told.get("unknown") or ()]
    output = current()
    output.result({"message_id": run, **told}, say("codecli.memory.hit.done", count=told.get("accepted", len(qa_ids))))
    if unknown:
        output.note(say("codecli.memory.hit.unknown", ids=", ".join(unknown)), good=False)
        click.get_current_context().exit(3)


@memory.command("candidate", cls=Command, key="codecli.memory.candidate")
@option("--q", "question", required=True, metavar="TEXT", key="codecli.memory.candidate.q")
@option("--a", "answer", required=True, metavar="TEXT", key="codecli.memory.candidate.a")
@option("--summary", metavar="TEXT", key="codecli.memory.candidate.summary")
@option("--tag", "tags", multiple=True, metavar="TAG", key="codecli.memory.candidate.tag")
@option("--metadata", multiple=True, metavar="NAME=VALUE", key="codecli.memory.candidate.metadata")
@option("--source", metavar="TEXT", key="codecli.memory.candidate.source")
@option("--author", metavar="TEXT", key="codecli.memory.candidate.author")
@option("--confidence", type=click.FloatRange(0, 1), metavar="X", key="codecli.memory.candidate.confidence")
@memory_options
def candidate(question: str, answer: str, summary: str | None, tags: tuple[str, ...], metadata: tuple[str, ...],
              source: str | None, author: str | None, confidence: float | None, project_id: str | None,
              memory_url: str | None) -> None:  # fmt: skip
    """Offer a question with its answer."""
    config, client, project = _reached(project_id, memory_url)
    given = {
        "question": _text("--q", question), "answer": _text("--a", answer), "summary": summary, "tags": list(tags),
        "metadata": _named(metadata), "source": source, "author": author,
    }  # fmt: skip
    masked = Redactor(config.redact.level, config.redact.patterns).value(given)
    told = client.candidate(project, **masked, confidence=confidence)
    output = current()
    qa_id, merged = str(told.get("qa_id", "")), told.get("merged_into")
    output.result(
        told,
        say("codecli.memory.candidate.merged", id=merged)
        if merged
        else say("codecli.memory.candidate.created", id=qa_id),
    )
    if masked != given:
        output.note(say("codecli.memory.candidate.redacted"))
    if told.get("contradicts"):
        output.note(
            say("codecli.memory.candidate.contradicts", ids=", ".join(map(str, told["contradicts"]))), good=False
        )
    output.note(say("codecli.memory.candidate.next", id=merged or qa_id))


@memory.command("validate", cls=Command, key="codecli.memory.validate")
@option("--qa-id", required=True, metavar="ID", key="codecli.memory.validate.qa_id")
@option("--success/--failure", default=None, key="codecli.memory.validate.success")
@option("--strong", is_flag=True, key="codecli.memory.validate.strong")
@option("--source", metavar="TEXT", default="person", key="codecli.memory.validate.source")
@option("--context", metavar="TEXT", key="codecli.memory.validate.context")
@memory_options
def validate(qa_id: str, success: bool | None, strong: bool, source: str, context: str | None,
             project_id: str | None, memory_url: str | None) -> None:  # fmt: skip
    """Tell that a memory proved right or wrong."""
    if success is None:
        raise UsageProblem(
            say("codecli.memory.validate.which"), hint=say("usage.see_help", command="mem-codecli memory validate")
        )
    _, client, project = _reached(project_id, memory_url)
    told = client.validate(
        project, qa_id, result="success" if success else "failure", success=success, strong_signal=strong,
        signal_strength="strong" if strong else "weak", source=source, context=context, client=CLIENT,
        ts=surroundings.now_ms(),
    )  # fmt: skip
    text = say(
        "codecli.memory.validate.done", id=told.get("qa_id", qa_id), status=told.get("status", "-"),
        confidence=_number(told.get("confidence")),
    )  # fmt: skip
    current().result(told, text)


@memory.command("expire", cls=Command, key="codecli.memory.expire")
@option("--batch-size", type=click.IntRange(1, 1000), default=200, metavar="N", key="codecli.memory.expire.batch_size")
@memory_options
def expire(batch_size: int, project_id: str | None, memory_url: str | None) -> None:
    """Let old candidates expire; it is about all projects of the key, so none need be named."""
    loaded = configured({"project_id": project_id, "memory.base_url": memory_url})
    told = _client(loaded.config).expire(batch_size)
    output = current()
    output.result(told, say("codecli.memory.expire.done", count=told.get("expired", 0)))
    if told.get("remaining"):
        output.note(say("codecli.memory.expire.more"))


def _reached(project_id: str | None, memory_url: str | None) -> tuple[Config, MemoryClient, str]:
    loaded = configured({"project_id": project_id, "memory.base_url": memory_url})
    return loaded.config, _client(loaded.config), project_context.given_project(loaded.config)


def _client(config: Config) -> MemoryClient:
    return MemoryClient(project_context.place(config), max(PATIENCE_MS, config.memory.timeout_ms))


def _text(name: str, given: str) -> str:
    """The text, from standard input if it is `-`; it must not be empty."""
    text = sys.stdin.read() if given == "-" else given
    if not text.strip():
        raise UsageProblem(say("usage.missing", name=name), hint=say("usage.see_help", command="mem-codecli memory"))
    return text


def _named(pairs: Sequence[str]) -> dict[str, str]:
    named = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    wrong = next((pair for pair in pairs if "=" not in pair), None)
    if wrong is not None:
        raise UsageProblem(
            say("usage.bad_value", name="--metadata", problem=wrong[:80]),
            hint=say("usage.see_help", command="mem-codecli memory candidate"),
        )
    return named


def _shown(place: int, item: RecalledItem) -> str:
    said = say(
        "codecli.memory.search.numbers", score=_number(item.score), confidence=_number(item.confidence),
        status=one_line(item.status) or "-",
    )  # fmt: skip
    marks = [say("codecli.memory.search.unproven")] if item.unproven else []
    if item.contradicts:
        marks.append(say("codecli.memory.search.contradicts", ids=one_line(", ".join(item.contradicts))))
    lines = [
        f"{place}. {one_line(item.qa_id)}  {said}" + "".join(f"  ({mark})" for mark in marks),
        _indented(say("codecli.memory.search.question", text=item.question)),
        _indented(say("codecli.memory.search.answer", text=item.answer)),
        "   " + one_line("  ".join((*(f"#{tag}" for tag in item.tags), item.anchor))),
    ]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in printable(text).splitlines())


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


_QUESTION = 80  # cells


@click.command("confirm", cls=Command, key="codecli.confirm")
@memory_options
def confirm(project_id: str | None, memory_url: str | None) -> None:
    """Keep the last answer."""
    config = configured({"project_id": project_id, "memory.base_url": memory_url}).config
    cwd = surroundings.cwd()
    project, _ = project_context.project(config, cwd)
    pending = Pending(surroundings.state_dir(), project, cwd)
    waiting = pending.waiting()
    if waiting is None:
        raise NotFound(
            f"nothing waits to be confirmed for {project} in this folder",
            hint="an answer waits after a run with --memory-on if it keeps the gatekeeper's rules; "
            "--trace-json tells which one it broke",
            details={"reason": "codecli_nothing_waits", "project": project},
        )
    client = MemoryClient(project_context.place(config), max(PATIENCE_MS, config.memory.timeout_ms))
    told = confirmed(client, project, pending, waiting)
    shown = cut(one_line(waiting.question), _QUESTION)
    document = {"project_id": project, "question": waiting.question, **told}
    current().result(document, say("codecli.confirm.done", qa_id=told["qa_id"], status=told["status"], question=shown))
