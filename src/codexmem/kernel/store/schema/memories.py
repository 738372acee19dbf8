"""Memories, their versions, and what is derived from them: addresses, facets, links, words and vectors.

Facets, URIs and links are lookup tables derived from a memory's state; the state itself stands in `memories` (now) and
`memory_versions` (then).
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, Table, Text, text
from sqlalchemy.dialects.postgresql import TSVECTOR

from codexmem.kernel.store.schema.columns import Json, metadata, numbered, of_memory, tenant, where
from codexmem.kernel.store.vector_type import Embedding

memories = Table(
    "memories",
    metadata,
    tenant(),
    numbered("seq"),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("session", Text),
    Column("status", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("origin", Text, nullable=False),
    Column("source", Text),
    Column("attrs", Json, nullable=False),
    Column("uris", Json),  # null where there are none, which is almost everywhere
    Column("links", Json),
    Column("marks", Json),
    Column("visibility", Text),  # null for that of the project, which is almost everywhere
    Column("owner", Text),  # the member who made it; null where nobody in particular did
    Column("version", Integer, nullable=False),
    Column("indexed_version", Integer, nullable=False, server_default=text("0")),
    Column("shown", Integer, nullable=False, server_default=text("0")),
    Column("used", Integer, nullable=False, server_default=text("0")),
    Column("valid", Integer, nullable=False, server_default=text("0")),
    Column("invalid", Integer, nullable=False, server_default=text("0")),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    # Two memories must not answer to one id.
    Index("memories_id", "tenant", "id", unique=True),
    # Listing a project, or everything of one status, reads its page and nothing else.
    Index("memories_project", "tenant", "kind", "project", "created_ms", "seq"),
    Index("memories_status", "tenant", "kind", "status", "created_ms", "seq"),
    # A session's page, and undo or forget by session or source, touch only what they change.
    Index("memories_session", "tenant", "session", "created_ms", "seq", **where("session IS NOT NULL")),
    Index("memories_source", "tenant", "source", "seq", **where("source IS NOT NULL")),
)

# Who may see which memories, where that is not whoever may read the project. All of the tenant may see these rows: that
# there is a private memory, of what kind, whose and since when, but not what it says.
memory_visibility = Table(
    "memory_visibility",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("owner", Text),  # to whom it is private; null: everyone sees it
    Column("id", Text, nullable=False),  # the memory's, so that a name that is taken is known to be
    Column("kind", Text, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
    of_memory("seq"),
    # How many private memories somebody has.
    Index("memory_visibility_owner", "tenant", "owner", "seq", **where("owner IS NOT NULL")),
)

memory_versions = Table(
    "memory_versions",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("version", Integer, primary_key=True),  # two writers of one version: the second fails here
    Column("op", Text, nullable=False),
    Column("state", Json, nullable=False),
    Column("delta_id", Text),
    Column("actor", Text, nullable=False),
    Column("source", Text),
    Column("note", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    of_memory("seq"),
    # Rolling back a delta, or undoing a source, reads the versions it wrote and no others.
    Index("memory_versions_delta", "tenant", "delta_id", "seq", "version", **where("delta_id IS NOT NULL")),
    Index("memory_versions_source", "tenant", "source", "seq", "version", **where("source IS NOT NULL")),
)

memory_uris = Table(
    "memory_uris",
    metadata,
    tenant(),
    # One address, one memory. By bytes on both engines: addresses that begin alike stand together.
    Column("uri", Text().with_variant(Text(collation="C"), "postgresql"), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    of_memory("seq"),
    Index("memory_uris_seq", "tenant", "seq"),
)

memory_facets = Table(
    "memory_facets",
    metadata,
    tenant(),
    Column("facet", Text, primary_key=True),
    # By bytes on both engines: labels that begin alike stand together.
    Column("value", Text().with_variant(Text(collation="C"), "postgresql"), primary_key=True),
    Column("created_ms", BigInteger, primary_key=True),  # the memory's, so that a filtered page is read in order
    Column("seq", BigInteger, primary_key=True),
    Column("project", Text, nullable=False),  # the memory's, so that a rare label of a project is found at once
    of_memory("seq"),
    Index("memory_facets_seq", "tenant", "seq"),
    Index("memory_facets_project", "tenant", "facet", "value", "project", "created_ms", "seq"),
)

memory_links = Table(
    "memory_links",
    metadata,
    tenant(),
    Column("from_seq", BigInteger, primary_key=True),
    Column("to_seq", BigInteger, primary_key=True),
    Column("relation", Text, primary_key=True),
    of_memory("from_seq"),
    of_memory("to_seq"),
    Index("memory_links_to", "tenant", "to_seq"),  # what points here
)

# Which sessions were handed which memory: from there to what they wrote afterwards.
memory_tellings = Table(
    "memory_tellings",
    metadata,
    tenant(),
    Column("session", Text, primary_key=True),  # the agent's key of it
    Column("seq", BigInteger, primary_key=True),
    Column("first_ms", BigInteger, nullable=False),
    Column("opened_ms", BigInteger),  # when it first asked for the whole of it
    of_memory("seq"),
    # Whom a memory was told that reads what others were told.
    Index("memory_tellings_seq", "tenant", "seq", "first_ms"),
    Index("memory_tellings_age", "tenant", "first_ms"),
)

# Memories that a person should look at, two at a time: found by a job, decided once.
memory_findings = Table(
    "memory_findings",
    metadata,
    tenant(),
    Column("reason", Text, primary_key=True),  # duplicate, contradiction
    Column("seq", BigInteger, primary_key=True),  # the newer of the two
    Column("other", BigInteger, primary_key=True),
    Column("project", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("found_ms", BigInteger, nullable=False),
    Column("decided", Text),  # what was done about it; null while nobody has
    Column("decided_ms", BigInteger),
    of_memory("seq"),
    of_memory("other"),
    # The queue that reads what was decided long ago.
    Index("memory_findings_open", "tenant", "project", "found_ms", "seq", **where("decided IS NULL")),
    Index("memory_findings_other", "tenant", "other"),
)

# The words of each memory, now and then; `kernel/store/texts.py` says what they are for. On SQLite they are found
# through the FTS5 tables `present_words` and `past_words`, which cannot be declared here.
memory_texts = Table(
    "memory_texts",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("from_ms", BigInteger, nullable=False),  # the state held from here
    Column("to_ms", BigInteger),  # to here; null while it holds
    Column("length", Integer, nullable=False),  # tokens
    Column("words", LargeBinary().with_variant(TSVECTOR(), "postgresql"), nullable=False),
    of_memory("seq"),
    # A memory that says two things at once.
    Index("memory_texts_present", "tenant", "seq", unique=True, **where("to_ms IS NULL")),
)

# PostgreSQL only, as is the next: how many present texts have a word. FTS5 knows by itself.
memory_terms = Table(
    "memory_terms",
    metadata,
    tenant(),
    Column("term", Text, primary_key=True),
    Column("texts", Integer, nullable=False),
)

# Texts that came (+1) or went (-1) and are not yet folded into `memory_terms`: writers add rows here instead of waiting
# for each other's common words.
text_changes = Table(
    "text_changes",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("sign", Integer, primary_key=True),
)

# How many present texts there are and how long they are together. SQLite counts as it writes.
text_counts = Table(
    "text_counts",
    metadata,
    tenant(),
    Column("texts", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
)

memory_vectors = Table(
    "memory_vectors",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("model", Text, primary_key=True),  # vectors of different models mean nothing to each other
    Column("part", Integer, primary_key=True),
    Column("version", Integer, nullable=False),  # of the memory that was read
    Column("project", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("code", LargeBinary),  # one bit per number, for a first pass over many; SQLite only
    Column("embedding", Embedding, nullable=False),
    of_memory("seq"),
    # A comparison that reads vectors of other projects, and a first pass that reads vectors at all.
    Index("memory_vectors_scope", "tenant", "model", "project", "kind", "seq", "part", "code"),
)

# The last notes that were changed, without a look at the others; of other kinds nobody asks that.
Index("memories_changed", memories.c.tenant, memories.c.updated_ms, memories.c.seq, **where("kind = 'note'"))

# What is hidden or out of use in one project, without a look at what is in use there.
PUT_AWAY = "status NOT IN ('candidate', 'active', 'validated')"
Index(
    "memories_put_away", memories.c.tenant, memories.c.project, memories.c.kind, memories.c.status,
    memories.c.created_ms, memories.c.seq, **where(PUT_AWAY),
)  # fmt: skip

# A search for memories without vectors that reads those which have them.
Index("memories_waiting", memories.c.tenant, memories.c.seq, **where("indexed_version < version"))

# What was learned about questions with answers, beside their versions: an undone write leaves it as it is.
qa_beliefs = Table(
    "qa_beliefs",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),  # two learners of one item: the second waits for the first one's row
    Column("good", Float, nullable=False),  # trials, as they stood at `at_ms`
    Column("bad", Float, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("spoken_ms", BigInteger, nullable=False),  # when something last spoke for it; at first, when it was made
    Column("due_ms", BigInteger),  # when to look whether it has expired; null where it cannot
    of_memory("seq"),
    # An expiry that reads items whose time has not come.
    Index("qa_beliefs_due", "tenant", "due_ms", "seq", **where("due_ms IS NOT NULL")),
)

# Signals that name the message they belong to, for as long as a repetition is told from news.
qa_signals = Table(
    "qa_signals",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),
    Column("signal", Text, primary_key=True),
    Column("message", Text, primary_key=True),  # the same signal of one message twice
    Column("at_ms", BigInteger, nullable=False),
    of_memory("seq"),
    # Forgetting old ones that reads those which are kept.
    Index("qa_signals_age", "tenant", "at_ms"),
)

vector_targets = Table(
    "vector_targets",
    metadata,
    tenant(),
    Column("index_name", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("dimension", Integer),
    Column("position", BigInteger, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("redo", Boolean, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

vector_debts = Table(
    "vector_debts",
    metadata,
    tenant(),
    Column("seq", BigInteger, primary_key=True),  # of an erased memory that an index outside the store may still have
)
