"""PrecisionMemBench on notes: does a request bring the memories it names, and no others?

Beliefs become notes: the scope is the domain, name and aliases are addresses, what was superseded or resolved is
deprecated or archived, a pinned one is core, and a relation mentions its participants. A case asks what a session asks:
`preload` with the request as intent, and `list` for what is pinned and for open questions; it passes if every set it
names is exactly met. The set itself stays where it lies; nothing of it is kept here.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import report
from codexmem.app.core import open_core
from codexmem.kernel.model import address
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Origin, Status
from codexmem.kernel.model.note import CORE
from codexmem.notes.model import ContextKind, NoteFilter, Strategy
from codexmem.notes.service import NoteService
from codexmem.settings import load

CASES, TURNS = 60, 8  # the goal
USER = "test-user"
_QUESTIONS = ".question"
_ME = WriteContext("bench", origin=Origin.HUMAN)  # what a person has agreed to is told at starts
_PAGE = 200


class Person:
    """One user's notes, asked through the verbs behind the tools."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._core = open_core(load({"data_dir": str(folder)}, environ={"XDG_CONFIG_HOME": str(folder)}))
        self._notes = self._core.room(NoteService)
        self._ids: dict[str, str] = {}  # belief by address
        self._uris: dict[str, str] = {}

    def close(self) -> None:
        """Give back the store."""
        self._core.close()

    def take_in(self, beliefs: Sequence[Mapping[str, Any]]) -> None:
        """Remember all of them, as one document."""
        for belief in beliefs:
            self._uris[belief["_id"]] = _uri(belief, belief["canonical_name"])
            self._ids[self._uris[belief["_id"]]] = belief["_id"]
        rows = [self._row(belief) for belief in beliefs]
        self._notes.exchange.take_in({"memories": rows}, Strategy.SKIP, _ME, keep_priority=True)
        self._core.indexer.catch_up(lambda: None)

    def add_aliases(self, belief_id: str, names: Sequence[str]) -> None:
        """Let a belief answer to more names."""
        uri = self._uris[belief_id]
        for name in names:
            self._notes.writing.alias(uri, f"{address.domain_of(uri)}://{name}", _ME)

    def relevant(self, query: str, scopes: Sequence[str]) -> list[str]:
        """What a request brings, within its scopes."""
        if not query.strip():
            return []
        loaded = self._notes.preload.load(ContextKind.INTENT, query)
        domains = {_domain(scope) for scope in scopes}
        return [
            self._ids[uri]
            for each in loaded.related
            if address.domain_of(uri := each.memory.state.uris[0]) in domains and uri in self._ids
        ]

    def pinned(self, scopes: Sequence[str]) -> list[str]:
        """Core notes of the scopes."""
        return [self._ids[uri] for scope in scopes for uri in self._core_of(_domain(scope))]

    def questions(self, scopes: Sequence[str]) -> list[str]:
        """Open questions of the scopes."""
        return [self._ids[uri] for scope in scopes for uri in self._core_of(_domain(scope) + _QUESTIONS)]

    def persona(self) -> str:
        """What holds of the user everywhere."""
        wish = NoteFilter("user", priority_max=CORE)
        return "\n".join(memory.state.content for memory in self._notes.shelf.page(wish, limit=_PAGE).memories)

    def _core_of(self, domain: str) -> list[str]:
        wish = NoteFilter(domain, priority_max=CORE, status=Status.ACTIVE)
        found = self._notes.shelf.page(wish, limit=_PAGE).memories
        return [memory.state.uris[0] for memory in found]

    def _row(self, belief: Mapping[str, Any]) -> dict[str, Any]:
        uri = self._uris[belief["_id"]]
        names = {address.name_of(uri): uri}
        for alias in belief["aliases"]:
            names.setdefault(" ".join(address.words_of(alias)), _uri(belief, alias))
        company = [self._uris[each] for each in belief.get("participants", ())]
        content = "\n".join((belief["content"], *company))
        status = "deprecated" if belief["superseded_by"] else "archived" if belief["resolved_at"] else "active"
        return {
            "uri": uri,
            "aliases": [each for each in names.values() if each != uri],
            "content": content,
            "priority": 1 if belief["pinned"] else 5,
            "status": status,
            "origin": "agent",
        }


def _domain(scope: str) -> str:
    kind, _, name = scope.partition(":")
    return "user" if kind == "user" else name


def _uri(belief: Mapping[str, Any], name: str) -> str:
    domain = _domain(belief["scope"][0])
    suffix = _QUESTIONS if belief["type"] == "open_question" else ""
    return f"{domain}{suffix}://{name.replace('/', ' ')}"


def failures(person: Person, scopes: Sequence[str], query: str, expect: Mapping[str, Any], budget: int | None
             ) -> dict[str, str]:  # fmt: skip
    """Which sections of a case were not met, and how."""
    pinned, questions, persona = person.pinned(scopes), person.questions(scopes), person.persona()
    relevant = person.relevant(query, scopes)
    if budget is not None:
        relevant = relevant[: max(0, budget - len(pinned))]
    wrong: dict[str, str] = {}
    sets = {"relevantBeliefs": relevant, "pinnedFacts": pinned, "openQuestions": questions}
    for name, got in sets.items():
        problem = _unmet(set(got), expect.get(name) or {})
        if problem:
            wrong[name] = problem
    noise = set(relevant) & set((expect.get("noiseCheck") or {}).get("mustNotSurface", ()))
    if noise:
        wrong["noiseCheck"] = f"surfaced {sorted(noise)}"
    problem = _untold(persona, expect.get("personaPrelude") or {})
    if problem:
        wrong["personaPrelude"] = problem
    return wrong


def _unmet(got: set[str], wanted: Mapping[str, Any]) -> str:
    if "shouldOnlyInclude" in wanted and got != set(wanted["shouldOnlyInclude"]):
        only = set(wanted["shouldOnlyInclude"])
        return f"missing {sorted(only - got)}, too many {sorted(got - only)}"
    missing = set(wanted.get("mustInclude", ())) - got
    extra = set(wanted.get("mustExclude", ())) & got
    return f"missing {sorted(missing)}, too many {sorted(extra)}" if missing or extra else ""


def _untold(text: str, wanted: Mapping[str, Any]) -> str:
    if wanted.get("isNull") and text:
        return "there should be none"
    if wanted.get("nonEmpty") and not text:
        return "there is none"
    lacking = [word for word in wanted.get("contains", ()) if word not in text]
    present = [word for word in wanted.get("mustNotContain", ()) if word in text]
    return f"lacks {lacking}, has {present}" if lacking or present else ""


def measure(data: Path) -> dict[str, Any]:
    """Play all cases, then the sessions, which learn as they go."""
    beliefs = json.loads((data / "beliefs.seed.json").read_text())
    cases = json.loads((data / "retrieval.cases.json").read_text())
    sessions = json.loads((data / "session-retrieval.cases.json").read_text())
    took: list[float] = []
    wrong: dict[str, dict[str, str]] = {}
    by_class: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        people: dict[str, Person] = {}

        def whose(user: str) -> Person:
            if user not in people:
                people[user] = Person(Path(folder) / user)
                people[user].take_in([each for each in beliefs if each["user_id"] == user])
            return people[user]

        whose("other-user")
        for case in cases:
            person = whose(case.get("userId", USER))
            began = time.perf_counter()
            budget = (case.get("budget") or {}).get("maxBeliefs")
            bad = failures(person, case["scope"], case["query"], case["expect"], budget)
            took.append(time.perf_counter() - began)
            by_class[case["category"]]["failed" if bad else "passed"] += 1
            if bad:
                wrong[case["caseId"]] = bad
        turns = passed_turns = 0
        for script in sessions:
            for turn in script["turns"]:
                turns += 1
                bad = failures(whose(USER), turn["scope"], turn["userMessage"], turn["expect"], None)
                passed_turns += not bad
                if bad:
                    wrong[f"{script['caseId']}#{turn['turnIndex']}"] = bad
                if "createBeliefAtTurn" in turn:
                    whose(USER).take_in([turn["createBeliefAtTurn"]])
                if "updateBeliefAtTurn" in turn:
                    change = turn["updateBeliefAtTurn"]
                    whose(USER).add_aliases(change["beliefId"], change["addAliases"])
        for person in people.values():
            person.close()
    return {
        "cases": len(cases),
        "passed": sum(counts["passed"] for counts in by_class.values()),
        "turns": turns,
        "turns_passed": passed_turns,
        "median_ms": round(report.percentile(took, 0.5) * 1000, 1),
        "classes": {name: dict(counts) for name, counts in sorted(by_class.items())},
        "failing": wrong,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--data", type=Path, required=True, help="folder with the three files of the set")
    options = parser.parse_args(argv)
    found = measure(options.data)
    lines = [f"{found['passed']} of {found['cases']} cases, {found['turns_passed']} of {found['turns']} session turns"]
    lines.append(f"median {found['median_ms']} ms a case")
    for name, counts in found["classes"].items():
        lines.append(f"  {name}: {counts.get('passed', 0)} of {sum(counts.values())}")
    lines += [f"  {name}: {problem}" for name, problem in found["failing"].items()]
    kept = found["passed"] >= CASES and found["turns_passed"] >= TURNS
    return report.conclude("precision", found, "\n".join(lines), kept=kept, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
