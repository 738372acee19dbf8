"""`codexmem writer`: who writes the memories, and choosing somebody else; and the question that `init` asks once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from codexmem.console import writer as seen_writer
from codexmem.console.command import Command, current, setting_option
from codexmem.console.messages import language, say
from codexmem.console.store import chosen
from codexmem.kernel.model.writer import AGENTS, ANY_AGENT, MODEL, PROVIDERS, RULES, MemoryWriter
from codexmem.operations.cli.config import write_user_file
from codexmem.operations.cli.install.service import restarted
from codexmem.operations.cli.install.text import detected, person

if TYPE_CHECKING:
    from codexmem.settings import Settings


@click.command("writer", cls=Command, key="writer")
@click.argument("who", metavar="[WHO]", type=click.Choice(PROVIDERS), required=False)
@setting_option("data_dir", metavar="DIR")
def writer(who: str | None, data_dir: str | None) -> None:
    """Say who writes the memories, or choose."""
    settings = chosen(data_dir=data_dir)
    output = current()
    if who is not None:
        write_user_file({"provider": who})
        settings = chosen(data_dir=data_dir)
        if settings.provider != who:
            output.note(say("writer.overruled", origin=settings.origins["provider"]), good=False)
        elif who != settings.writer.provider == RULES and settings.rules_only:
            output.note(say("writer.overruled", origin=settings.origins["rules_only"]), good=False)
        restarted(settings)
    found = seen_writer.seen(settings)
    output.result(found.document(), found.text())
    if who in AGENTS and who not in _agents() and not (who == ANY_AGENT and _agents()):
        output.note(say("writer.missing", name=AGENTS[who]), good=False)
    if who is None:
        output.note(say("writer.change", names=" | ".join(PROVIDERS)))
    elif found.writer.sends:
        output.note(say("writer.sent"))


def asked(settings: Settings) -> str | None:
    """What the person answers who has not decided yet; None where there is nobody to ask or nothing to decide."""
    output = current()
    if settings.origins["provider"] != "default" or not output.may_ask:
        return None
    offers = [RULES, *_agents(), *([MODEL] if settings.openai_api_key or settings.openai_base_url else [])]
    output.note(say("writer.ask"))
    for number, name in enumerate(offers, 1):
        output.note(f"  {number}  {_described(name, settings)}")
    if len(offers) > 1:
        output.note(say("writer.sent"))
        output.note(say("writer.cost", calls=settings.daily_calls or "∞"))
    number = click.prompt(say("writer.number"), type=click.IntRange(1, len(offers)), default=1, err=True)
    return offers[number - 1]


def _agents() -> list[str]:
    """The person's agents that can write, as the setting spells them."""
    whose = person()
    names = {agent.name.partition("-")[0] for agent in detected() if agent.found(whose).program}
    return [name for name in AGENTS if name != ANY_AGENT and name in names]


def _described(name: str, settings: Settings) -> str:
    if name == RULES:
        return MemoryWriter(RULES).described(language())
    if name in AGENTS:
        return MemoryWriter(name, AGENTS[name]).described(language())
    wished = replace(settings, provider=name, origins={**settings.origins, "provider": "flag"})
    return wished.writer.described(language())
