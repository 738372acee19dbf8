"""Whether an answer can be accepted: JSON, of the profile's shape, with as many items as were asked for, and with
citations that lead somewhere. What is wrong is told in words with which a model can fix it."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from codexmem.kernel.llm.structured import UnusableAnswer, parsed
from codexmem.kernel.model.errors import CodexmemError
from codexmem.lab.model import RunOutput
from codexmem.lab.service.profiles import Cited, Profile, schemas

_BRACKETS = re.compile(r"[\[【]([^\[\]【】]{1,400})[\]】]")
_APART = re.compile(r"[\s,;，；、]+")  # noqa: RUF001
_ALIAS = re.compile(r"C[0-9]{1,9}")
# An id ends where a sentence, a bracket or a list goes on.
_LESSON = re.compile(r"(?<![\w])mem:([^\s\[\]【】()（）,，;；。、!！?？\"'“”]{1,200})")  # noqa: RUF001


def aliases(value: Any) -> list[str]:
    """Every piece that is cited anywhere in the value, by its number."""
    found = {
        part
        for text in _texts(value)
        for group in _BRACKETS.findall(text)
        for part in _APART.split(group)
        if _ALIAS.fullmatch(part)
    }
    return sorted(found, key=lambda alias: (int(alias[1:]), alias))


def cited_lessons(value: Any) -> list[str]:
    """The id of every lesson that is cited anywhere in the value, in order of appearance."""
    found = (match.rstrip(".:*_`<>") for text in _texts(value) for match in _LESSON.findall(text))
    return list(dict.fromkeys(each or "?" for each in found))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += reversed(each.values())
        elif isinstance(each, list):
            waiting += reversed(each)


MAX_CHARS = 400_000
_SHOWN = 20  # names listed in one problem


class Rejected(CodexmemError):
    """The model gave no answer that could be accepted, however often it was told why."""

    code = "output_rejected"


@dataclass(frozen=True, slots=True)
class Problems:
    """What is wrong with an answer."""

    told: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What an answer may cite."""

    pieces: Mapping[str, str]  # alias → reference of every piece that the run was shown
    lessons: Collection[str]  # that it was shown
    queried: bool  # whether the knowledge base was asked at all


def judged(text: str, profile: Profile, count: int, known: Known,
           existing: Callable[[list[str]], Collection[str]]) -> RunOutput | Problems:  # fmt: skip
    """The output, or what is wrong with it; `existing` says which lessons there are of those not shown."""
    if len(text) > MAX_CHARS:
        return Problems((f"the answer is longer than {MAX_CHARS:,} characters",))
    try:
        answer = parsed(text)
        json.dumps(answer, allow_nan=False)  # NaN and the infinities are no JSON
    except UnusableAnswer as unfit:
        return Problems((unfit.problem,))
    except (ValueError, RecursionError):
        return Problems(("the answer holds numbers that JSON does not know, or is nested too deep",))
    told = schemas.problems(profile.answer_schema(count), answer)
    cited, mentioned = aliases(answer), cited_lessons(answer)
    if unknown := [alias for alias in cited if alias not in known.pieces]:
        told.append(
            f"{_listed(unknown)}: no such piece was shown in this run; cite only what kb_query or kb_get returned, "
            "and keep square brackets for citations"
        )
    unseen = [each for each in mentioned if each not in known.lessons]
    there = set(existing(unseen)) if unseen else set()
    if unknown := [f"mem:{each}" for each in unseen if each not in there]:
        told.append(
            f"{_listed(unknown)}: there is no such lesson; cite only what mem_search, mem_get or mem_list returned"
        )
    told += _uncited(answer, profile, known)
    if told:
        return Problems(tuple(told))
    return RunOutput(answer, {alias: known.pieces[alias] for alias in cited}, tuple(mentioned))


def _uncited(answer: Any, profile: Profile, known: Known) -> list[str]:
    """Places that must cite the knowledge base and do not. Who asked and was shown nothing has nothing to cite."""
    if profile.cited is Cited.NOWHERE or not isinstance(answer, dict) or (known.queried and not known.pieces):
        return []
    places: dict[str, object] = {"the answer": answer}
    if profile.cited is Cited.EACH_ITEM:
        items = answer.get(profile.items)
        places = {
            f"{profile.items}[{place}]": each for place, each in enumerate(items if isinstance(items, list) else [])
        }
    return [
        f"{name}: cites no piece of the knowledge base; name at least one that supports it, as [C1]"
        for name, each in places.items()
        if not aliases(each)
    ][:_SHOWN]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(name[:80] for name in names[:_SHOWN]) + more
