"""What the hook does, from its arguments to its answer, within its time.

Order of things: what waits in the spool goes first, then this event; whatever cannot be delivered now is put into the
spool. Context is asked for last, with the time that is left. Nothing here raises for anything an agent or a server
does.
"""

from __future__ import annotations

import os

from codexmem import agents
from codexmem.hook import surroundings
from codexmem.hook.spool import Spool, drain, keep_outside, outcome_of, outside
from codexmem.hook.surroundings import Surroundings, monotonic
from codexmem.hook.transport import Away, Server, quoted
from codexmem.kernel.model import quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem.agents import CodingAgent
    from codexmem.hook.spool import Outcome

PATHS = {
    "session-init": "/api/sessions/init",
    "observation": "/api/sessions/observations",
    "summarize": "/api/sessions/summarize",
    "session-complete": "/api/sessions/complete",
}
CONTEXT, DRAIN, STATUS_LINE = "context", "drain", "status-line"
_SPOOLING_S = 0.25  # kept back of the time, to put the event on the disk
_DRAINING_S = 0.15  # of an agent's time for events that are not its own; the server sees to the rest
_DRAIN_ALL_S = 60.0
_INPUT_BYTES = 64 << 20
# In English and in Chinese; what happened, and what to do.
_KEPT = (
    "the server does not answer and {data_dir} cannot be written ({problem}): this event waits in {place} and is "
    "delivered when the server is back. Free some space; for details run codexmem doctor.",
    "服务器没有应答，且无法写入 {data_dir}（{problem}）：此事件暂存于 {place}，"  # noqa: RUF001
    "服务器恢复后投递。请腾出空间；详见 codexmem doctor。",  # noqa: RUF001
)
_LOST = (
    "the server does not answer and neither {data_dir} ({problem}) nor a temporary folder can be written: this event "
    "is lost. Free some space; for details run codexmem doctor.",
    "服务器没有应答，且无法写入 {data_dir}（{problem}）和临时目录：此事件已丢失。"  # noqa: RUF001
    "请腾出空间；详见 codexmem doctor。",  # noqa: RUF001
)
# What a session was told, opened and left, in English and in Chinese; and where nobody can say.
_STATUS = (
    "codexmem: {told} told, {opened} opened, {learned} learned",
    "codexmem：告知 {told}，打开 {opened}，学到 {learned}",  # noqa: RUF001
)
_NO_STATUS = ("codexmem: no server", "codexmem：无服务器")  # noqa: RUF001
_PROMPT = 1_000  # characters of a prompt that context is asked for with: an address must stay short


def run(arguments: Sequence[str], given: bytes | None = None) -> str:
    """Do what these arguments say with what is on standard input; returns what to print."""
    began = monotonic()
    if surroundings.is_internal():
        return ""
    platform, event = [*arguments[:2], "", ""][:2]
    if platform == DRAIN:
        event = DRAIN
    if event == DRAIN:
        _drain_all(began)
        return ""
    if event not in (CONTEXT, STATUS_LINE) and event not in PATHS:
        return ""
    around = surroundings.look()
    if around.warning:
        os.write(2, f"codexmem-hook: {around.warning}\n".encode())
    until = began + around.budget_ms / 1000
    try:
        given = _standard_input(until) if given is None else given
    except OSError:  # there is none: some agents start hooks with it closed
        given = b""
    payload = _payload(given)
    agent = agents.agent_of(platform)
    record = agent.read(payload or {}, around.environ)
    if event == STATUS_LINE:
        return Hook(around, agent, until).status_line(str(record.get("contentSessionId") or ""))
    told = Hook(around, agent, until).handle(event, record)
    answer = agent.answer(event, str(record.get("hook_event_name", "")), told)
    return quick_json.dumps(answer, plain=True) if answer is not None else ""


def tell(text: str) -> None:
    """Print, as bytes: the text is ASCII whatever the terminal thinks."""
    os.write(1, text.encode() + b"\n")


def warn(texts: tuple[str, str], around: Surroundings, problem: str, place: str) -> None:
    """Say on the error output what became of an event, in the user's language."""
    text = texts[around.chinese].format(data_dir=around.data_dir, problem=problem, place=place)
    os.write(2, f"codexmem: {text}\n".encode("utf-8", "replace"))


class Hook:
    """One event of one agent on its way to the server."""

    def __init__(self, around: Surroundings, agent: CodingAgent, until: float) -> None:
        self._around = around
        self._agent = agent
        self._until = until
        self._server = Server(around.base, around.token, until)
        self._spool = Spool(around.data_dir, around.spool_bytes)
        self._outside = outside(around.data_dir, around.environ, around.spool_bytes)
        self._missing = False  # whether nobody listens where the server should be
        self._spoken = False  # whether the server had our event, or could not be reached

    def handle(self, event: str, record: dict[str, object]) -> str:
        """Deliver or keep the event; returns the context for the agent, if this is a moment for it."""
        record.setdefault("cwd", surroundings.working_directory())
        project = str(record.get("project") or _project(str(record["cwd"])))
        prompt = ""
        if event != CONTEXT:
            # Where a session only begins, nothing is captured, and none of the rules for that are loaded.
            from codexmem.hook import processes
            from codexmem.hook.events import body_of, encoded

            calls = self._agent.unreported_calls(record) if event == "summarize" else []
            bodies = [("observation", body_of("observation", record | call, self._around.secrets)) for call in calls]
            bodies.append((event, body := body_of(event, record, self._around.secrets)))
            at = surroundings.now_ns() // 1_000_000
            about = {"project": project, "platform": self._agent.name, "at": at, "process": processes.agent()}
            if surroundings.refusing_file(str(record["cwd"])):
                about["rules_only"] = True
            for name, each in bodies:
                if each is not None:
                    self._deliver(PATHS[name], encoded({**each, **about, "event_id": surroundings.fresh_id()}))
            if body is None:
                return ""
            prompt = str(body.get("prompt", "")).strip()
            wanted = self._around.prompt_context and self._agent.takes_context(event)
            if not wanted or not self._server.connected or not prompt:
                self._start_if_missing()
                return ""
        told = self._context(project, record, prompt)
        self._start_if_missing()
        return told

    def status_line(self, session: str) -> str:
        """What memory was to the session so far, for a line that the agent shows a person."""
        if not session:
            return ""
        try:
            status, text = self._server.request("GET", f"/api/lineage/counts?session={quoted(session)}")
        except Away:
            return _NO_STATUS[self._around.chinese]
        counts = _payload(text) if status == 200 else None
        names = ("told", "opened", "learned")
        if not counts or not all(isinstance(counts.get(name), int) for name in names):
            return ""
        return _STATUS[self._around.chinese].format(**{name: counts[name] for name in names})

    def _deliver(self, path: str, body: bytes) -> None:
        """Send the event, after those that waited; else keep it."""
        self._server.until = self._until - _SPOOLING_S
        outcome: Outcome = "away"
        if all(spool.is_empty() for spool in self.spools) or self._drained():
            outcome = self.send(path, body)
        try:
            if outcome != "taken":
                name = self._spool.add(path, body)
                if outcome == "refused":
                    self._spool.reject(name)
                elif not self._spoken:
                    # Whoever was delivering when we looked may have finished without seeing this one.
                    self._drained()
        except OSError as error:
            kept = keep_outside(self._outside, path, body)
            warn(_KEPT if kept else _LOST, self._around, error.strerror or str(error), kept.root if kept else "")
        self._server.until = self._until

    @property
    def spools(self) -> list[Spool]:
        """Wherever events may wait, in the order in which they are delivered."""
        return [self._spool, *self._outside]

    def send(self, path: str, body: bytes) -> Outcome:
        """One event to the server."""
        self._spoken = True
        try:
            status, _ = self._server.request("POST", path, body)
        except Away as away:
            self._missing = self._missing or away.refused
            return "away"
        return outcome_of(status)

    def _drained(self) -> bool:
        """Deliver what waits, for a part of our time; whether nothing is left."""
        try:
            self._server.open()
        except Away as away:
            self._missing, self._spoken = away.refused, True
            return False
        stop = min(monotonic() + _DRAINING_S, self._server.until)
        return all(drain(spool, self.send, lambda: monotonic() < stop) for spool in self.spools)

    def _context(self, project: str, record: dict[str, object], prompt: str) -> str:
        asked = {"project": project, "cwd": record["cwd"], "session": record.get("contentSessionId", ""),
                 "platform": self._agent.name, "prompt": prompt[:_PROMPT]}  # fmt: skip
        query = "&".join(f"{name}={quoted(str(value))}" for name, value in asked.items() if value)
        try:
            status, text = self._server.request("GET", f"/api/context?{query}")
        except Away as away:
            self._missing = away.refused
            return ""
        return text.decode("utf-8", "replace").strip() if status == 200 else ""

    def _start_if_missing(self) -> None:
        if self._missing and self._around.ours and self._around.may_start:
            from codexmem.hook import starting

            starting.start(self._around.data_dir, self._around.environ)


def _drain_all(began: float) -> None:
    """Deliver everything that waits and end; for the server, which starts us when it comes up."""
    around = surroundings.look()
    until = began + _DRAIN_ALL_S
    hook = Hook(around, agents.UNKNOWN, until)
    for spool in hook.spools:
        while not drain(spool, hook.send, lambda: monotonic() < until):
            lock = spool.take_lock()
            if lock is not None:
                os.close(lock)
                return  # it was not for the lock: the server is away or ill
            if monotonic() >= until:
                return
            surroundings.pause(0.05)


def _payload(given: bytes) -> dict[str, object] | None:
    """The agent's event; None if this is no JSON, or not all of it."""
    try:
        said = quick_json.loads(given.decode("utf-8", "replace").removeprefix("\ufeff"))
    except ValueError:
        return None
    return said if isinstance(said, dict) else {}


def _standard_input(until: float) -> bytes:
    """What the agent says. One that does not close its end is not waited for once it has said something whole."""
    if os.isatty(0):
        return b""
    given, pause = b"", 0.0
    while len(given) < _INPUT_BYTES:
        if os.name == "posix":
            import select

            left = max(0.0, until - _SPOOLING_S - monotonic())
            if not select.select([0], [], [], min(left, pause) if given else left)[0]:
                if left <= pause or _payload(given) is not None:
                    break
                pause = max(0.05, pause * 2)
                continue
        got = os.read(0, 1 << 20)
        if not got:
            break
        given += got
        pause = 0.1
    return given


def _project(cwd: str) -> str:
    from codexmem.kernel.model import project

    return project.identity(cwd, surroundings.text_of)
