"""Judged runs, lessons, products and presets, made over HTTP; a scripted model says what there is to learn."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from codexmem.lab import lesson_extractor
from tests._support.lab_bank import Script, said_lessons, said_merging
from tests._support.model_server import Asked, ModelServer, Reply, refused
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web.seeds import lab as lab_seeds
from tests.web.seeds.lab import Lab
from tests.web.visiting import Language

_NUMBERED = re.compile(r"^(\d+)\.(?: \(person\))? (.*)$", re.MULTILINE)
_SUBJECT = re.compile(r"Zx-\w+")
SECOND = "second look"  # how feedback begins that the model learns from; what it is about follows

_numbers = itertools.count(1)


def subject(language: Language, about: str) -> str:
    """What the lessons of one test are about: a word that stands in their text."""
    return f"Zx-{about}{language}"


def new_subject(language: Language, about: str) -> str:
    """One that nothing is about yet, though the test may be tried again."""
    return f"{subject(language, about)}{next(_numbers)}"


def refined(about: str) -> str:
    """What the model makes of the lesson that rules wrote."""
    return f"Loading of {about}: keep it between 0.5 and 2 %, 过低则无 C2H4。"


def fresh(about: str) -> str:
    """What it teaches beside it."""
    return f"Cycling of {about}: the sample fails after the third cycle, 第三次循环后失活。"


def _subject(asked: Asked) -> str:
    # Lessons near to it stand in the same prompt: only the feedback says what this learning is about.
    found = re.search(rf"{SECOND}: (Zx-\w+)", asked.prompt)
    return found.group(1) if found else "Zx-nothing"


def _lessons(asked: Asked) -> Any:
    about = _subject(asked)
    return said_lessons(("Loading", refined(about), "global"), ("Cycling", fresh(about), "mof_expert"))


def _merging(asked: Asked) -> Any:
    new, beside = (
        asked.prompt.rpartition(f"[[{label} lessons ")[2].partition("[[end ")[0] for label in ("new", "known")
    )
    about = _SUBJECT.search(new)
    name = about.group() if about else ""
    same = next((number for number, text in _NUMBERED.findall(beside) if name in text), None)
    refine = ("update", int(same), refined(name)) if same is not None else ("add", 0, "")
    return said_merging(refine, *[("add", 0, "")] * (len(_NUMBERED.findall(new)) - 1))


_TEACHER = Script(_lessons, _merging)


@dataclass
class Bank:
    """A lab whose model knows what to learn."""

    lab: Lab
    server: Server

    def run(self) -> str:
        """A run that has completed and was not judged."""
        return self.lab.finished("Cu 光催化 for the bank")

    def dry_run(self) -> str:
        """Likewise, without a model."""
        return self.lab.finished("nothing is asked", dry_run=True)

    def product(self, name: str) -> str:
        """The id of a new product."""
        reply = self.server.post("/api/v1/products", {"name": name})
        assert reply.status == 200, reply.body
        product_id: str = reply.json["product"]["product_id"]
        return product_id

    def preset(self, name: str, product_ids: list[str]) -> str:
        """The id of a new preset."""
        reply = self.server.post("/api/v1/product_presets", {"name": name, "product_ids": product_ids})
        assert reply.status == 200, reply.body
        preset_id: str = reply.json["preset"]["preset_id"]
        return preset_id

    def judge(self, run_id: str, pros: str) -> None:
        """Say something about a run, and wait until it was learned from."""
        reply = self.server.request("PUT", f"/api/v1/runs/{run_id}/feedback", {"score": 5.0, "pros": pros})
        assert reply.status == 200, reply.body
        eventually(lambda: self.jobs(run_id)[0]["status"] == "completed")

    def jobs(self, run_id: str) -> list[dict[str, Any]]:
        """The learnings of a run."""
        found: list[dict[str, Any]] = self.lab.get(f"/runs/{run_id}/reasoningbank/jobs")["jobs"]
        return found

    def lessons(self, about: str) -> dict[str, str]:
        """What the lessons about this say, by their ids; without those that were taken back."""
        found = self.lab.get("/memories?limit=200")["items"]
        return {each["mem_id"]: each["content"] for each in found if about in each["content"]}

    def delta(self, run_id: str) -> str:
        """The newest delta of a run."""
        delta_id: str = self.lab.get(f"/reasoningbank/deltas?run_id={run_id}")["items"][0]["delta_id"]
        return delta_id


@contextmanager
def bank(server: Server, model: ModelServer) -> Iterator[Bank]:
    """The shared server as a lab that learns, until the block ends."""
    with lab_seeds.lab(server, model) as lab:
        roles = model.script

        def script(asked: Asked) -> Reply | str | None:
            form = asked.body.get("response_format", {}).get("json_schema", {}).get("name", "")
            if form == lesson_extractor.EXTRACTION and f"{SECOND}: " not in asked.prompt:
                return refused(400, "declined")  # rules learn from it
            return (
                _TEACHER(asked)
                if form in {lesson_extractor.EXTRACTION, lesson_extractor.CONSOLIDATION}
                else roles(asked)
            )

        model.script = script
        yield Bank(lab, server)
