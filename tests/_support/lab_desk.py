"""A small knowledge base and a few lessons in memory, for agents under test. Words that two texts share decide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from codexmem.lab.model import Evidence, Lesson, RunTask

_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")


@dataclass
class SmallLibrary:
    """Texts by namespace; what each run was shown keeps its alias, also after a crash of the agent."""

    texts: dict[str, list[str]]
    shown: dict[str, list[Evidence]] = field(default_factory=dict)
    queries: list[tuple[str, str]] = field(default_factory=list)

    def shelf(self, task: RunTask) -> SmallShelf:
        """As one run sees it."""
        return SmallShelf(self, self.shown.setdefault(task.run.id, []))


@dataclass
class SmallShelf:
    """The evidence of one run."""

    library: SmallLibrary
    seen: list[Evidence]

    def query(self, namespace: str, text: str, mode: str, top_k: int) -> list[Evidence]:
        self.library.queries.append((namespace, text))
        found = sorted(
            enumerate(self.library.texts[namespace]), key=lambda each: (-_shared(text, each[1]), each[0])
        )[:top_k]  # fmt: skip
        return [self._show(namespace, number, content) for number, content in found]

    def get(self, alias: str) -> Evidence | None:
        return next((each for each in self.seen if each.alias == alias), None)

    def list(self, limit: int) -> tuple[int, Sequence[str]]:
        return len(self.seen), [each.alias for each in self.seen[:limit]]

    def _show(self, namespace: str, number: int, content: str) -> Evidence:
        chunk = f"chunk-{namespace}-{number}"
        ref = f"kb:{namespace}__{chunk}"
        known = next((each for each in self.seen if each.ref == ref), None)
        if known is None:
            alias = f"C{len(self.seen) + 1}"
            known = Evidence(alias, ref, f"{namespace}-{number}.md", content, namespace, chunk, 1)
            self.seen.append(known)
        return known


@dataclass
class SmallBank:
    """Lessons."""

    lessons: list[Lesson] = field(default_factory=list)

    def add(self, id: str, content: str, role: str = "global") -> None:
        self.lessons.append(Lesson(id, role, "reasoningbank_item", "active", content, "run_before", 1, 1))

    def archive(self, id: str) -> None:
        self.lessons = [replace(each, status="archived") if each.id == id else each for each in self.lessons]

    def search(self, query: str, top_k: int, role: str | None = None, status: str = "active",
               type: str | None = None) -> list[Lesson]:  # fmt: skip
        fitting = [each for each in self.lessons if each.status == status and role in {None, each.role}]
        return sorted(fitting, key=lambda each: -_shared(query, each.content))[:top_k]

    def get(self, mem_id: str) -> Lesson | None:
        return next((each for each in self.lessons if each.id == mem_id), None)

    def list(self, limit: int, role: str | None = None) -> tuple[int, Sequence[Lesson]]:
        active = [each for each in self.lessons if each.status == "active" and role in {None, each.role}]
        return len(active), active[:limit]


def _shared(one: str, other: str) -> int:
    return len({*_WORD.findall(one.lower())} & {*_WORD.findall(other.lower())})
