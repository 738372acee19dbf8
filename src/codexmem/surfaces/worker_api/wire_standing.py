"""How the system, its backups and the reasons behind a search are spelled, in the manner of the operator's paths."""

from codexmem.domain.handle import ref
from codexmem.domain.job import JobStatus
from codexmem.domain.memory import Kind
from codexmem.domain.ranking import Ranked
from codexmem.domain.writer import Writer
from codexmem.services.operations.backups import Backups, Commands, Kept, Making, Verified
from codexmem.services.operations.entries import Explained, Result
from codexmem.services.operations.model_watch import Failing
from codexmem.services.operations.standing import Agent, Look, Place, WorkerState
from codexmem.services.status import Health, Readiness
from codexmem.surfaces._kit.moments import iso
from codexmem.surfaces.worker_api import wire_ops
from codexmem.surfaces.worker_api.wire_ops import Row

_TITLE = 200  # characters
_LEXICAL = frozenset({"words", "words_before", "words_after", "coverage"})
_VECTOR = frozenset({"meaning", "meaning_before", "meaning_after"})


def explained(found: Explained) -> Row:
    """One search, with why each of its first results stands where it does."""
    pieces = found.kinds == (Kind.CHUNK.value,)
    return {
        **wire_ops.trace(found.trace),
        "kinds": list(found.kinds),
        "unit": found.unit,
        "offset": found.offset,
        "asOfEpoch": found.as_of_ms,
        "explained": any(each.why is not None for each in found.results),
        "ranked": [_ranked(found.offset + at, each, pieces=pieces) for at, each in enumerate(found.results, 1)],
    }


def _ranked(rank: int, result: Result, *, pieces: bool) -> Row:
    memory, why = result.memory, result.why
    said = memory.state.title or memory.state.content[: 20 * _TITLE] if memory is not None else ""
    return {
        "rank": rank,
        "seq": result.seq,
        "ref": ref(memory) if memory is not None else None,
        "kind": memory.kind.value if memory is not None else Kind.CHUNK.value if pieces else None,
        "title": " ".join(said.split())[:_TITLE] if memory is not None else None,
        "gone": memory is None and not pieces,
        "score": result.score,
        "sum": why.sum if why is not None else None,
        "rankBySum": why.by_sum if why is not None else None,
        "lexical": _listed(why.words) if why is not None else None,
        "vector": _listed(why.meaning) if why is not None else None,
        "rerank": why.rerank if why is not None else None,
        "factors": _factors(why) if why is not None else [],
    }


def _listed(place: tuple[int | None, float] | None) -> Row | None:
    return {"rank": place[0], "score": place[1]} if place is not None else None


def _factors(why: Ranked) -> list[Row]:
    ordered = sorted(why.shares.items(), key=lambda each: (-abs(each[1]), each[0]))
    return [{"name": name, "group": _group(name), "share": share} for name, share in ordered]


def _group(name: str) -> str:
    return "lexical" if name in _LEXICAL else "vector" if name in _VECTOR else "boost"


def system(health: Health, readiness: Readiness, python: str, look: Look) -> Row:
    """The answer to `GET /api/ops/system`."""
    return {
        "at": iso(look.at_ms),
        "atEpoch": look.at_ms,
        "version": health.version,
        "python": python,
        "pid": health.pid,
        "uptimeSec": int(health.uptime_s),
        "phase": readiness.phase.value,
        "engine": {"name": look.engine, "version": look.engine_version, "schema": look.schema},
        "worker": _worker(look.worker),
        "queue": _queue(look),
        "index": wire_ops.index_status(look.index),
        "model": {"metrics": look.metrics, "writer": _writer(look.writer), "failing": _failing(look.failing)},
        "budget": {
            "day": look.spent.day,
            "spentTokens": look.spent.tokens,
            "limitTokens": look.spent.limit,
            "leftTokens": look.spent.left,
        },
        "agents": [_agent(each) for each in look.agents.listed],
        "agentsTruncated": look.agents.truncated,
        "eventsTodayTruncated": look.agents.events_truncated,
        "live": {"clients": look.followers},
        "data": _place(look.place) if look.place is not None else None,
    }


def _writer(writer: Writer) -> Row:
    return {
        "provider": writer.provider,
        "model": writer.model or None,
        "host": writer.host or None,
        "chosen": writer.chosen,
        "leavesMachine": writer.sends,
    }


def _failing(found: Failing | None) -> Row | None:
    if found is None:
        return None
    return {
        "errorClass": found.error_class,
        "error": found.error,
        "since": iso(found.since_ms),
        "sinceEpoch": found.since_ms,
        "count": found.count,
    }


def _worker(state: WorkerState) -> Row:
    return {
        "enabled": state.enabled,
        "running": state.running,
        "pollIntervalSec": state.poll_interval_s,
        "runningJobs": state.jobs,
        "overdueJobs": state.overdue,
        "oldestWaitingMs": state.oldest_ready_ms,
        "lastEndedMs": state.last_end_ms,
    }


def _queue(look: Look) -> Row:
    waiting = look.waiting
    return {
        **{status.value: look.queue[status] for status in JobStatus},
        "countedUpTo": look.counted,
        "oldestWaiting": {"jobId": waiting.id, "kind": waiting.kind, "waitingMs": max(0, look.at_ms - waiting.since_ms)}
        if waiting is not None
        else None,
    }


def _agent(agent: Agent) -> Row:
    newest = agent.newest
    return {
        "platform": newest.platform,
        "sessionDbId": newest.id,
        "sessionKey": newest.key,
        "sessionStatus": newest.status.value,
        "project": newest.project,
        "lastWroteAt": iso(newest.last_ms),
        "lastWroteEpoch": newest.last_ms,
        "eventsToday": agent.events_today,
        "sessionsToday": agent.sessions_today,
    }


def _place(place: Place) -> Row:
    return {
        "directory": place.directory,
        "totalBytes": place.room.total,
        "databaseBytes": place.database,
        "backupsBytes": place.room.backups,
        "truncated": place.room.truncated,
    }


def backups(found: Backups) -> Row:
    """The answer to `GET /api/ops/backups`."""
    shelf, commands = found.shelf(), found.commands
    return {
        "available": found.available,
        "reason": None if found.available else "tenants share this store; whoever runs the server makes its backups",
        "directory": str(commands.directory) if commands.directory is not None else None,
        "command": commands.backup(),
        "running": making(shelf.making) if shelf.making is not None else None,
        "backups": [backup(each, commands) for each in shelf.kept],
        "truncated": shelf.truncated,
    }


def backup(kept: Kept, commands: Commands) -> Row:
    """One backup; of one whose manifest cannot be read, only that."""
    manifest = kept.backup.manifest if kept.backup is not None else None
    return {
        "name": kept.name,
        "at": iso(manifest.created_ms) if manifest is not None else None,
        "atEpoch": manifest.created_ms if manifest is not None else None,
        "sizeBytes": manifest.size if manifest is not None else None,
        "engine": manifest.engine if manifest is not None else None,
        "schema": manifest.schema if manifest is not None else None,
        "version": manifest.version if manifest is not None else None,
        "memories": manifest.counts.get("memories", 0) if manifest is not None else None,
        "cause": kept.cause,
        "verified": verified(kept.verified) if kept.verified is not None else None,
        "problem": kept.problem,
        "restore": {
            "command": commands.restore(kept.name),
            "check": f"{commands.restore(kept.name)} --dry-run",
            "start": commands.serve(),
        },
    }


def making(given: Making) -> Row:
    """A backup on its way."""
    return {
        "name": given.name,
        "startedEpoch": given.started_ms,
        "done": given.done,
        "total": given.total,
        "status": given.status,
        "error": given.error,
        "hint": given.hint,
    }


def verified(found: Verified) -> Row:
    """What a check found."""
    return {"ok": found.ok, "at": iso(found.at_ms), "atEpoch": found.at_ms, "problem": found.problem}
