"""The checks of `doctor` about search: words, vectors, the embedder, and whether the indexes keep up.

Without vectors search goes on by words, so what keeps them away is a warning, unless the settings ask for it by name.
"""

from codexmem.console.messages import explain, say
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.store import inspection
from codexmem.operations.cli.doctor.finding import Finding
from codexmem.settings import Settings

_EXTRAS = {"local": "embed", "local-better": "embed-better"}


def words() -> Finding:
    """Whether SQLite has its text index; PostgreSQL needs nothing of the kind."""
    if inspection.lacks_words():
        return Finding("words", "failure", "doctor.words_none")
    return Finding("words", "ok", "doctor.words")


def vectors(settings: Settings) -> Finding:
    """Whether the store can compare vectors."""
    found = inspection.vectors(settings.database_url)
    if settings.on_postgres:
        if found is None:
            return Finding("vectors", "warning", "doctor.pgvector_none")
        return Finding("vectors", "ok", "doctor.pgvector", {"version": found})
    if found is None:
        return Finding("vectors", "warning", "doctor.sqlite_vec_none")
    return Finding("vectors", "ok", "doctor.sqlite_vec", {"version": found})


def embedder(settings: Settings) -> Finding:
    """Whether what turns texts into vectors is there and answers."""
    from codexmem.app import embedder_of

    name = settings.embedder
    found = embedder_of(settings)
    if found is None:
        if name == "none":
            return Finding("embedder", "ok", "doctor.embedder_off")
        return Finding("embedder", "warning", "doctor.embedder_none", {"extra": _EXTRAS["local"]})
    installed = getattr(found, "installed", None)  # of a server nobody can say
    if installed is False:
        extra = _EXTRAS.get(name, "fastembed")
        return Finding("embedder", "failure", "doctor.embedder_missing", {"model": found.model, "extra": extra})
    if name.startswith("fastembed:"):
        # Its first use may fetch a model, and looking must not.
        return Finding("embedder", "ok", "doctor.embedder_installed", {"model": found.model})
    try:
        found.query("memory")
    except CodexmemError as error:
        problem, hint = explain(error)
        values = {"model": found.model, "problem": problem, "hint": hint or say("doctor.embedder_hint")}
        return Finding("embedder", "failure", "doctor.embedder_fails", values)
    return Finding("embedder", "ok", "doctor.embedder", {"model": found.model})


def index(settings: Settings, *, served: bool) -> Finding:
    """Whether every memory has its words and vectors, or somebody is at it."""
    if settings.on_postgres:
        return Finding("index", "ok", "doctor.index_by_tenant")
    if inspection.schema(settings.database_url) != inspection.expected_schema():
        return Finding("index", "ok", "doctor.index_unknown")
    from codexmem.app import open_reading

    reading = open_reading(settings)
    try:
        found, unworded = reading.indexing.status(), reading.indexer.lacks_words()
    finally:
        reading.close()
    values = {"model": found.model or "-", "waiting": f"{found.waiting:,}", "problem": "; ".join(found.notes)}
    if unworded and not served:
        return Finding("index", "warning", "doctor.index_unworded")
    if found.model is None:
        return Finding("index", "ok", "doctor.index_words")
    if found.notes:
        return Finding("index", "failure", "doctor.index_silent", values)
    if found.complete and not found.waiting:
        return Finding("index", "ok", "doctor.index", values)
    if served:
        return Finding("index", "ok", "doctor.index_moving", values)
    return Finding("index", "warning", "doctor.index_behind", values)
