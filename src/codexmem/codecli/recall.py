"""What the memory has for a prompt, and what of it the agent is told: never an error, never later than the time-out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from codexmem.codecli import injection, query, surroundings
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.configuration import Config
from codexmem.codecli.injection import RenderedMemory
from codexmem.codecli.memory_client import MemoryClient, RecalledItem
from codexmem.codecli.query import Checkout
from codexmem.codecli.trace import RunTracer
from codexmem.codecli.turns import RecentTurns
from codexmem.kernel.model.clipping import clip
from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.kernel.model.framing import Frame

_LOOKING_SHARE = 1 / 3  # of the time, at most, for what the repository says
_PROMPT = 64_000  # characters of a prompt that a query is made from


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was asked of the memory and what came of it."""

    query: str = ""
    items: tuple[RecalledItem, ...] = ()
    rendered: RenderedMemory = field(default_factory=RenderedMemory)
    problem: CodexmemError | None = None  # why there is nothing
    took_ms: int = 0

    @property
    def top_score(self) -> float | None:
        """How well the best one fits; None if there is none."""
        scores = [item.score for item in self.items if item.score is not None]
        return max(scores) if scores else None


class Recaller:
    """Asks the memory for one project."""

    def __init__(self, config: Config, project: str, cwd: str, memory: MemoryClient | None,
                 turns: RecentTurns | None, redact: Callable[[str], str], trace: RunTracer,
                 note: Callable[[str], None]) -> None:  # fmt: skip
        self._config = config
        self._project = project
        self._cwd = cwd
        self._memory = memory
        self._turns = turns
        self._redact = redact
        self._trace = trace
        self._template = injection.template_of(config.inject.template, note) if memory is not None else ""
        self._checkout: Checkout | None = None

    def recall(self, prompt: str, memory: MemoryClient | None = None, line_bytes: int = 0) -> Recalled:
        """What the memory has for this prompt, on one line if that has a length.

        A client whose time runs already may be given.
        """
        memory = memory or (self._memory.together() if self._memory is not None else None)
        if memory is None or not prompt.strip():
            return Recalled()
        began = surroundings.monotonic()
        asked = self.query(prompt)
        if not asked:
            return Recalled()
        search, inject = self._config.search, self._config.inject
        with self._trace.span("memory.search", query=asked, limit=search.limit, min_score=search.min_score) as span:
            try:
                items = tuple(memory.search(self._project, asked, search.limit, search.min_score))
            except CodexmemError as error:
                span.tell(error=error.message)
                return Recalled(asked, problem=error, took_ms=_since(began))
            span.tell(items=[item.qa_id for item in items], scores=[item.score for item in items])
        with self._trace.span("memory.inject", mode=inject.mode) as span:
            project, template = self._project, self._template
            frame = _frame()
            if line_bytes:
                most = min(line_bytes, inject.max_chars)
                rendered = injection.render_line(items, most, project=project, template=template, frame=frame)
            else:
                most = inject.max_chars
                rendered = injection.render(items, max_chars=most, project=project, template=template, frame=frame)
            span.tell(items=[item.qa_id for item in rendered.items], characters=len(rendered.text))
        return Recalled(asked, items, rendered, took_ms=_since(began))

    def query(self, prompt: str) -> str:
        """The query for a prompt, without secrets: they are masked before anything is cut to size."""
        search = self._config.search
        with self._trace.span("memory.query") as span:
            recent = self._turns.recent(surroundings.now_ms()) if self._turns is not None else []
            made = query.build(
                self._redact(clip(prompt, _PROMPT)),
                recent=[text for turn in recent for text in (turn.asked, turn.said) if text],
                repository=self._looked() if search.repository else None,
                project=self._project if search.repository else "",
                limit=search.query_chars,
            )
            span.tell(characters=len(made))
        return self._redact(made)

    def _looked(self) -> Checkout:
        """The repository as it was when it was first asked about; it does not change much within a run."""
        if self._checkout is None:
            wait_s = min(query.LOOK_S, self._config.memory.timeout_ms / 1000 * _LOOKING_SHARE)
            self._checkout = query.look(self._cwd, wait_s)
        return self._checkout


def _frame() -> Frame:
    """By the key of the audit log, so that the same items give the same bytes; by one of this run where none is."""
    folder = Path(surroundings.state_dir()) / "audit"
    try:
        return Frame(b"frame:" + AuditLog(folder).key()) if (folder / "key").exists() else Frame.of_process()
    except (OSError, Unavailable):
        return Frame.of_process()


def _since(began: float) -> int:
    return round((surroundings.monotonic() - began) * 1000)
