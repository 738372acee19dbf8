"""`codexmem search`: the one search, from a terminal.

It reads the store without owning it, so it works beside a running server and keeps none from starting. To find nothing
is an answer, not a failure.
"""

from collections.abc import Sequence
from typing import Any

import click

from codexmem.cli import search_text
from codexmem.cli.dates import Stretch, stretch
from codexmem.cli.frame import Command, current, option
from codexmem.cli.messages import say, say_note
from codexmem.cli.store import chosen, store_options, tenant_of, tenant_option
from codexmem.domain.memory import REMEMBERED, VISIBLE, Kind, Status
from codexmem.domain.query import Filter
from codexmem.domain.search import Answer, Mode, Search, Unit

_LIMIT = 10
_UNLIKELY = 0.2  # a first result below this is said to be one
_FACETS = ("type", "concept", "file", "tag", "role")


@click.command("search", cls=Command, key="search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@option("--project", metavar="PROJECT", key="search.project")
@option("--kind", "kinds", multiple=True, type=click.Choice([each.value for each in Kind]), key="search.kind")
@option("--type", "type", multiple=True, metavar="TYPE", key="search.type")
@option("--concept", multiple=True, metavar="CONCEPT", key="search.concept")
@option("--file", multiple=True, metavar="FILE", key="search.file")
@option("--tag", multiple=True, metavar="TAG", key="search.tag")
@option("--role", multiple=True, metavar="ROLE", key="search.role")
@option("--status", "statuses", multiple=True, type=click.Choice([each.value for each in Status]), key="search.status")
@option("--session", metavar="SESSION", key="search.session")
@option("--since", type=stretch, metavar="DATE", key="search.since")
@option("--until", type=stretch, metavar="DATE", key="search.until")
@option("--as-of", type=stretch, metavar="DATE", key="search.as_of")
@option("--min-score", type=float, default=0.0, metavar="X", key="search.min_score")
@option("--limit", type=int, default=_LIMIT, metavar="N", key="search.limit")
@option("--offset", type=int, default=0, metavar="N", key="search.offset")
@option("--unit", type=click.Choice([each.value for each in Unit]), default=Unit.MEMORY.value, key="search.unit")
@option("--recipe", default="default", metavar="NAME", key="search.recipe")
@option("--explain", is_flag=True, key="search.explain")
@tenant_option
@store_options
def search(query: Sequence[str], tenant: str | None, data_dir: str | None, database_url: str | None,
           **wanted: Any) -> None:  # fmt: skip
    """Find memories."""
    asked = _search(" ".join(query), **wanted)
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    from codexmem.app import open_reading
    from codexmem.store.database import acting_as

    reading = open_reading(settings)
    try:
        with acting_as(whose):
            answer = reading.search(asked)
            bare = not answer.results and reading.is_empty()
    finally:
        reading.close()
    output = current()
    output.result(search_text.document(asked, answer), search_text.lines(answer, asked.offset))
    for note in _notes(asked, answer, bare=bare):
        output.note(note)


def _search(text: str, *, project: str | None, kinds: Sequence[str], statuses: Sequence[str], session: str | None,
            since: Stretch | None, until: Stretch | None, as_of: Stretch | None, min_score: float, limit: int,
            offset: int, unit: str, recipe: str, explain: bool, **facets: Sequence[str]) -> Search:  # fmt: skip
    chosen_ones = Filter(
        kinds=frozenset(map(Kind, kinds)) or REMEMBERED,
        project=project,
        statuses=frozenset(map(Status, statuses)) or VISIBLE,
        facets=tuple((facet, frozenset(facets[facet])) for facet in _FACETS if facets[facet]),
        session=session,
        created_from_ms=since.first_ms if since else None,
        created_to_ms=until.last_ms if until else None,
    )
    return Search(
        text, chosen_ones, limit=limit, offset=offset, min_score=min_score, unit=Unit(unit), recipe=recipe,
        explain=explain, as_of_ms=as_of.last_ms if as_of else None,
    )  # fmt: skip


def _notes(asked: Search, answer: Answer, *, bare: bool) -> list[str]:
    """What a person should know beside the results: whether and how they were found, and what to try next."""
    how = say("search.by_both") if answer.mode is Mode.HYBRID else say("search.by_words")
    notes = [how, *map(say_note, answer.notes)]
    if asked.explain:
        notes.append(search_text.effort(answer))
    if answer.results:
        best = max(found.score for found in answer.results)
        if best < _UNLIKELY and not asked.offset:
            notes.append(say("search.unlikely", score=search_text.percent(best)))
        if answer.more:
            notes.append(say("search.more", offset=asked.offset + asked.limit))
        return notes
    if bare:
        return [say("search.empty"), say("search.empty_next")]
    if asked.offset:
        return [*notes, say("search.beyond", offset=asked.offset)]
    notes.append(say("search.nothing"))
    if filters := search_text.narrowing(asked.filter):
        notes.append(say("search.try_filters", filters=filters))
    if asked.min_score:
        notes.append(say("search.try_score", score=asked.min_score))
    if answer.mode is Mode.LEXICAL:
        notes.append(say("search.try_words"))
    return notes
