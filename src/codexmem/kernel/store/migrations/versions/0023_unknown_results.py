"""Memories by rules that call a command passed without proof are corrected, as one delta for each tenant.

Why: without an exit code, and before a pipe, "No module named pytest" was remembered as "pytest passed", and told.
Old rows: what rules wrote is compared with its events where they are kept; where they are not, only what agents told
without an exit code is called unknown. What anybody edited since stays. `codexmem undo` takes it all back.
"""

import json
import re
from typing import Any

import sqlalchemy as sa
from alembic import op

from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.memory import Kind, State
from codexmem.kernel.store.postgres.roles import APP_ROLE

# ruff: noqa: RUF001

revision = "0023"
down_revision = "0022"
OLDEST_PROGRAM = "0022"  # older programs read and write the same

DELTA = "delta_unknown_results"
_TOLD_NO_CODE = ("codex", "gemini-cli")
# In both languages: what a run of tests or a command came to.
_RUNNER = (
    r"\b((?:pytest|unittest|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|ava|tap|playwright|cypress|nosetests|behave|"
    r"karma|(?:npm|yarn|pnpm|bun|go|cargo|mvn|gradlew?|dotnet|deno|make|just|swift|mix|sbt|flutter|node|rake|bazel|"
    r"zig) (?:test(?:[:_-]\S{1,40})?|--test|nextest)))"
)
# What was said, and what is said where nobody knows and where it failed.
_CLAIMS = (
    (re.compile(rf"{_RUNNER} passed: (\d{{1,7}}) tests"),
     r"\1 ran, result unknown (it printed \2 passed)", r"\1 failed"),
    (re.compile(rf"{_RUNNER} passed(?=\.|$)", re.MULTILINE), r"\1 ran, result unknown", r"\1 failed"),
    (re.compile(r"(Afterwards .{1,80}) succeeded\."), r"\1 ran, result unknown.", r"\1 failed."),
    (re.compile(rf"{_RUNNER} 通过：(\d{{1,7}}) 项测试"), r"\1 已运行，结果未知（输出为 \2 项通过）", r"\1 失败"),
    (re.compile(rf"{_RUNNER} 通过(?=。|$)", re.MULTILINE), r"\1 已运行，结果未知", r"\1 失败"),
    (re.compile(r"(之后 .{1,80}) 成功。"), r"\1 已运行，结果未知。", r"\1 失败。"),
)  # fmt: skip
_REFUSED = re.compile(
    r"(?:command )?not found|No module named |Missing script|No rule to make target|error\[E\d+\]|could not compile"
)
_PIPED = re.compile(r"[|;\n]|(?<![&>])&(?![&>\d])")
_COMMIT = re.compile(r"^\[[^\]\n]{1,160} [0-9a-f]{4,40}\] (.{1,120})", re.MULTILINE)
_TENANTS = "SELECT DISTINCT tenant FROM memories WHERE kind = 'observation' AND origin = 'tool' ORDER BY tenant"
_ROWS = """
    SELECT * FROM memories WHERE tenant = :tenant AND kind = 'observation' AND origin = 'tool' AND (
        title LIKE '%passed%' OR content LIKE '% passed%' OR content LIKE '% succeeded.%' OR content LIKE '% 成功。%'
        OR title LIKE '%通过%' OR content LIKE '% 通过%' OR title IN ('Committed: ?', '提交：?')
    ) ORDER BY seq
"""
_LAST = "SELECT actor FROM memory_versions WHERE tenant = :tenant AND seq = :seq ORDER BY version DESC LIMIT 1"
_EVENTS = """
    SELECT e.seq, e.session, e.turn, e.tool, e.body, e.at_ms, s.platform FROM captured_events e
    JOIN sessions s ON s.tenant = e.tenant AND s.id = e.session
    WHERE e.tenant = :tenant AND e.kind = 'tool' AND e.seq IN :events ORDER BY e.seq
"""
_OPEN = """
    INSERT INTO deltas (tenant, id, subject, cause, actor, status, reverts, created_ms)
    VALUES (:tenant, :delta, 'upgrade:0023', 'unknown_results', 'upgrade', 'applied', NULL, :now_ms)
"""
_SAVE = """
    UPDATE memories SET version = :version, updated_ms = :now_ms, title = :title, content = :content, attrs = :attrs
    WHERE tenant = :tenant AND seq = :seq
"""
_WRITE = """
    INSERT INTO memory_versions (tenant, seq, version, op, state, delta_id, actor, source, note, created_ms)
    VALUES (:tenant, :seq, :version, :op, :state, :delta, :actor, :source, :note, :at_ms)
"""
# The index of words catches up from here; vectors do it by themselves, because they lag behind the version.
_CATCH_UP = """
    UPDATE vector_targets SET complete = false, position = CASE WHEN position < :before THEN position ELSE :before END
    WHERE tenant = :tenant AND index_name = 'text' AND model = 'words'
"""


def upgrade() -> None:
    """Correct them, tenant by tenant."""
    bind = op.get_bind()
    on_server = bind.dialect.name == "postgresql"
    if on_server:  # the login that migrates owns the table and is kept from its rows by nothing else
        op.execute("ALTER TABLE memories NO FORCE ROW LEVEL SECURITY")
    tenants = list(bind.execute(sa.text(_TENANTS)).scalars())
    if on_server:
        op.execute("ALTER TABLE memories FORCE ROW LEVEL SECURITY")
    for tenant in tenants:
        if on_server:
            op.execute(f"SET LOCAL ROLE {APP_ROLE}")
            bind.execute(sa.text("SELECT set_config('codexmem.tenant', :tenant, true)"), {"tenant": tenant})
            bind.execute(sa.text("SELECT set_config('codexmem.viewer', '*', true)"))  # what is private as well
        _correct(bind, tenant)
        if on_server:
            op.execute("RESET ROLE")


def _correct(bind: sa.Connection, tenant: str) -> None:
    now_ms = SystemClock().now_ms()
    first = None
    for row in bind.execute(sa.text(_ROWS), {"tenant": tenant}).mappings().all():
        key = {"tenant": tenant, "seq": row["seq"]}
        last = bind.execute(sa.text(_LAST), key).scalar()
        attrs = json.loads(row["attrs"])
        if last not in {None, "extraction"} or (said := _corrected(bind, tenant, row, attrs)) is None:
            continue
        if first is None:
            first = row["seq"]
            bind.execute(sa.text(_OPEN), {"tenant": tenant, "delta": DELTA, "now_ms": now_ms})
        if last is None:  # the first version of an observation was only its row
            _write(bind, row, row, version=1, op="add", actor=row["origin"], note="", at_ms=row["created_ms"])
        title, content, facts = said
        now = {**row, "title": title, "content": content, "attrs": _text(attrs | {"facts": facts})}
        version = row["version"] + 1
        told = {name: now[name] for name in ("title", "content", "attrs")}
        bind.execute(sa.text(_SAVE), key | told | {"version": version, "now_ms": now_ms})
        note = "nobody knew that it passed"
        _write(bind, row, now, version=version, op="update", actor="upgrade", note=note, at_ms=now_ms, delta=DELTA)
    if first is not None:
        bind.execute(sa.text(_CATCH_UP), {"tenant": tenant, "before": first - 1})


def _corrected(
    bind: sa.Connection, tenant: str, row: Any, attrs: dict[str, Any]
) -> tuple[str, str, list[str]] | None:  # fmt: skip
    """Title, content and facts as they should be; None if they may stay."""
    numbers = [int(number) for number in attrs.get("events", ())]
    events = sa.text(_EVENTS).bindparams(sa.bindparam("events", expanding=True))
    rows = bind.execute(events, {"tenant": tenant, "events": numbers}).all() if numbers else []
    bodies = [json.loads(each.body) for each in rows if each.body]
    ran = [(str(given["command"]), body.get("response")) for body in bodies
           if isinstance(given := body.get("input"), dict) and "command" in given]  # fmt: skip
    if not ran and not any(each.platform in _TOLD_NO_CODE for each in rows):
        return None
    instead = 2 if any(_REFUSED.search(str(response)) for _, response in ran) else 1
    if ran and all(_proved(*each) for each in ran):
        instead = 0
    subject = next((said.group(1) for _, response in ran if (said := _COMMIT.search(_printed(response)))), "")
    was = [row["title"], row["content"], *map(str, attrs.get("facts", ()))]
    texts = [_corrected_text(text, subject, instead) for text in was]
    return (texts[0], texts[1], texts[2:]) if texts != was else None


def _corrected_text(text: str, subject: str, instead: int) -> str:
    """The text with what is said of unknown results (1) or failures (2) instead, or with neither (0)."""
    for claim, *sayings in _CLAIMS if instead else ():
        text = claim.sub(sayings[instead - 1], text)
    for unnamed in ("Committed: ?", "提交：?"):
        text = text.replace(unnamed, unnamed[:-1] + subject) if subject else text
    return text


def _proved(command: str, response: Any) -> bool:
    """Whether the exit code is known to be 0 and is that of the whole line, and nothing was refused."""
    told = response if isinstance(response, dict) else {}
    codes = [told.get("exit_code"), told.get("exitCode"), (told.get("metadata") or {}).get("exit")]
    of_claude = "stdout" in told and told.get("interrupted") is False and not told.get("backgroundTaskId")
    of_qwen = isinstance(response, str) and response.startswith("Command: ") and "\nExit Code: 0\n" in f"{response}\n"
    ended = 0 in codes or (of_claude and not any(codes)) or of_qwen
    return ended and not _PIPED.search(command.strip()) and not _REFUSED.search(str(response))


def _printed(response: Any) -> str:
    told = response if isinstance(response, dict) else {"output": response}
    return "\n".join(str(told[name]) for name in ("output", "stdout", "stderr") if told.get(name))


def _write(
    bind: sa.Connection, row: Any, now: Any, *, version: int, op: str, actor: str, note: str, at_ms: int,
    delta: str | None = None,
) -> None:  # fmt: skip
    """Add a version with the state that these columns hold."""
    columns = {name: json.loads(now[name] or "null") or () for name in ("attrs", "uris", "links", "marks")}
    columns = {name: value for name, value in columns.items() if value or name != "marks"}
    state = State.from_json(Kind(row["kind"]), {**now, **columns, "attrs": columns["attrs"] or {}}).to_json()
    about = {"tenant": row["tenant"], "seq": row["seq"], "source": row["source"]}
    written = {"version": version, "op": op, "actor": actor, "note": note, "at_ms": at_ms, "delta": delta}
    bind.execute(sa.text(_WRITE), about | written | {"state": _text(state)})


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
