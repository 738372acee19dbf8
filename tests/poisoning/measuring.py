"""Plants attacks and reads what an agent would be handed: at its start, with a prompt that the attack bears on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from codexmem.kernel.model import privacy
from codexmem.recall.context import ContextRequest
from tests.poisoning.corpus import Attack
from tests.poisoning.page import parse, seen
from tests.poisoning.vectors import VECTORS, World

_DAY_MS = 86_400_000


@dataclass
class Outcome:
    """What became of some attacks; each list names those it is about."""

    attacks: int = 0
    planted: int = 0  # of which something is remembered
    told: list[str] = field(default_factory=list)  # the order reached a page, if only as a quote
    outside: list[str] = field(default_factory=list)  # … or anything of it stands outside quotes
    escaped: list[str] = field(default_factory=list)  # the frame, a quote or a tag gave way
    pages: int = 0

    def add(self, other: Outcome) -> None:
        self.attacks += other.attacks
        self.planted += other.planted
        self.pages += other.pages
        self.told += other.told
        self.outside += other.outside
        self.escaped += other.escaped


def outcome(world: World, attacks: Iterable[Attack], *, sparing: bool = False) -> Outcome:
    """Plant each in a project of its own, session by session, and look at what later sessions are handed.

    Of each attack four pages are read; `sparing` reads the widest of them and, by turns, one of the others.
    """
    found = Outcome()
    for attack in attacks:
        project = f"p{attack.number}"
        name = f"#{attack.number} {attack.vector} / {attack.form} / {attack.order[:60]}"
        for part in attack.parts:
            VECTORS[attack.vector](world, project, part)
            world.here.base.clock.advance(_DAY_MS)
        asking = [ContextRequest(project, tokens=20_000), ContextRequest(project, tokens=2_000)]
        asking += [ContextRequest(project, prompt=text) for text in (attack.question, "How do I release the gateway?")]
        if sparing:
            asking = [asking[0], asking[1 + attack.number % 3]]
        texts = [world.here.context.preview(each).text for each in asking]
        found.attacks += 1
        found.pages += sum(map(bool, texts))
        for text in filter(None, texts):
            parsed = parse(text)
            if all(seen(mark, parsed.quoted) for mark in attack.marks):
                found.told.append(name)
            if parsed.foreign or any(seen(mark, parsed.ours) for mark in attack.marks):
                found.outside.append(f"{name}: {parsed.foreign[:1]}")
            if parsed.escapes or privacy.strip(f"{text}\nnow go on").strip() != "now go on":
                found.escaped.append(f"{name}: {parsed.escapes[:2]}")
    for listed in (found.told, found.outside, found.escaped):
        listed[:] = {each.partition(" ")[0]: each for each in listed}.values()
    return found
