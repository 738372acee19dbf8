"""Between rows and domain values: the one place that knows how a memory lies in its columns."""

from sqlalchemy import RowMapping

from codexmem.kernel.model.history import Delta, DeltaStatus, MemoryVersion, Op
from codexmem.kernel.model.memory import Counters, Kind, Memory, Origin, State


def state_columns(state: State) -> dict[str, object]:
    """The columns of `memories` that a write changes: they bear the names of the state's fields."""
    columns = state.to_json()
    return columns | {name: columns.get(name) or None for name in ("uris", "links", "marks", "visibility")}


def memory(row: RowMapping) -> Memory:
    """A row of `memories`."""
    kind = Kind(row["kind"])
    return Memory(
        seq=row["seq"],
        id=row["id"],
        kind=kind,
        state=State.from_json(kind, {**row, "uris": row["uris"] or (), "links": row["links"] or ()}),
        version=row["version"],
        origin=Origin(row["origin"]),
        created_ms=row["created_ms"],
        updated_ms=row["updated_ms"],
        session=row["session"],
        source=row["source"],
        counters=Counters(row["shown"], row["used"], row["valid"], row["invalid"]),
        owner=row["owner"],
    )


def version(kind: Kind, row: RowMapping) -> MemoryVersion:
    """A row of `memory_versions` of a memory of this kind."""
    return MemoryVersion(
        seq=row["seq"],
        version=row["version"],
        op=Op(row["op"]),
        state=State.from_json(kind, row["state"]),
        actor=row["actor"],
        created_ms=row["created_ms"],
        delta=row["delta_id"],
        source=row["source"],
        note=row["note"],
    )


def delta(row: RowMapping) -> Delta:
    """A row of `deltas`."""
    return Delta(
        id=row["id"],
        subject=row["subject"],
        cause=row["cause"],
        actor=row["actor"],
        status=DeltaStatus(row["status"]),
        created_ms=row["created_ms"],
        reverts=row["reverts"],
    )
