"""The toolset of contract 004: sixteen tools on memories under addresses, which an agent keeps in order itself."""

from codexmem.surfaces.mcp import notes_answers as answers
from codexmem.surfaces.mcp import notes_requests as requests
from codexmem.surfaces.mcp.notes_answers import Services
from codexmem.surfaces.mcp.tool import Tool, Toolset, schema_of

_INSTRUCTIONS = (
    "Memories with a URI (domain://path) are yours to keep in order. At the start of a session read "
    "read_memory('system://boot'); before working on a file, a directory, an error or a request, ask preload_memory. "
    "create_memory keeps a new fact, update_memory corrects one: look with search_memory first, so that one thing is "
    "told in one place. Write some://uri in a content to link it to another memory. Every change is a version; "
    "list_rollbacks and rollback_memory take it back, also after delete_memory."
)

NOTES: Toolset[Services] = Toolset(
    "notes",
    (
        Tool(
            "read_memory",
            "Read a memory",
            "Read one memory by its URI: content, priority, disclosure, how often it was read, recent versions, and "
            "what it links to and is linked from. Special addresses are views of many: system://boot (core memories, "
            "read it first in a session), system://index (one line for each memory), system://recent or "
            "system://recent/N (what changed last). To find a URI use search_memory.",
            schema_of(requests.ReadRequest, "uri"),
            answers.read,
        ),
        Tool(
            "create_memory",
            "Create a memory",
            "Keep something new under a URI of your choice, e.g. project://config, user://preferences/editor. Fails if "
            "the URI is in use: then read it and use update_memory. One fact or topic per memory; mention other "
            "memories by their URI to link them. Priority 0-2 only for identity and key facts, because those are told "
            "at every start.",
            schema_of(requests.CreateRequest, "uri", "content"),
            answers.create,
            reads_only=False,
            repeatable=False,
        ),
        Tool(
            "update_memory",
            "Change a memory",
            "Change an existing memory in one of three ways: patch (old_string with new_string; old_string must occur "
            "exactly once), append (append=true with content), or replace (content alone). priority and disclosure "
            "can be given with any of them, or alone. The state before is kept as a version for rollback_memory.",
            schema_of(requests.UpdateRequest, "uri"),
            answers.update,
            reads_only=False,
            repeatable=False,
        ),
        Tool(
            "delete_memory",
            "Delete a memory",
            "Hide a memory that is wrong or no longer wanted; its history is kept and rollback_memory brings it back. "
            "force=true erases it with every version and cannot be undone: only when a person asks for that.",
            schema_of(requests.DeleteRequest, "uri"),
            answers.delete,
            reads_only=False,
            destroys=True,
        ),
        Tool(
            "search_memory",
            "Search memories",
            "Find memories by words in their URI, content or disclosure, in English, Chinese or any language, best "
            "first. Narrow by domain and priority. Returns one line each; read_memory shows one in full. Use this when "
            "you know what you look for; use preload_memory when you are about to do something.",
            schema_of(requests.SearchRequest, "query"),
            answers.search,
        ),
        Tool(
            "preload_memory",
            "Load what bears on this",
            "Before you start: the core memories and those that bear on a file (its path), a directory (its path), an "
            "error (message with traceback) or an intent (what the user wants, in words), each with the reason it was "
            "chosen. Returns whole contents, and nothing beside the core if nothing bears on it.",
            schema_of(requests.PreloadRequest, "context_type", "context_data"),
            answers.preload,
        ),
        Tool(
            "save_session",
            "Save this session",
            "At the end of a session: record it, and keep its summary as a memory under session:// that later sessions "
            "find. Tell what was asked, done, decided and left open.",
            schema_of(requests.SessionRequest),
            answers.save_session,
            reads_only=False,
            repeatable=False,
        ),
        Tool(
            "list_memories",
            "List memories",
            "Memories newest first, one line each, without a query: by domain, status (active, deprecated, archived; "
            "deleted shows what can be brought back) and priority. To look for words use search_memory.",
            schema_of(requests.ListRequest),
            answers.list_memories,
        ),
        Tool(
            "get_memory_stats",
            "Count memories",
            "How many memories there are, by status and by domain, how often they were read and which most.",
            schema_of(requests.NoRequest),
            answers.stats,
        ),
        Tool(
            "export_memories",
            "Export memories",
            "All memories, or those of one domain, as one JSON object that import_memories takes; with their history "
            "(include_versions) and their aliases and links (include_relations) if asked for.",
            schema_of(requests.ExportRequest),
            answers.export,
        ),
        Tool(
            "import_memories",
            "Import memories",
            "Take in what export_memories gave. Memories that exist already are skipped, overwritten or merged. All of "
            "it is one change with an id, which a person can take back as a whole.",
            schema_of(requests.ImportRequest, "data"),
            answers.import_memories,
            reads_only=False,
        ),
        Tool(
            "add_alias",
            "Give a further URI",
            "Let a memory answer to one more URI, e.g. core://agent/my_user also as user://profile. It stays one "
            "memory: reading or changing it by either address is the same. Aliases are also names by which "
            "preload_memory recognises it.",
            schema_of(requests.AliasRequest, "target_uri", "alias_uri"),
            answers.add_alias,
            reads_only=False,
        ),
        Tool(
            "get_memory_versions",
            "History of a memory",
            "The versions of a memory, newest first: when, by whom, and what was changed. Works for deleted memories.",
            schema_of(requests.VersionsRequest, "uri"),
            answers.versions,
        ),
        Tool(
            "rollback_memory",
            "Bring back a version",
            "Let a memory say again what it said in an earlier version; this also brings back a deleted memory. It is "
            "written as a new version, so nothing is lost from history. list_rollbacks says what each would change.",
            schema_of(requests.RollbackRequest, "uri", "version"),
            answers.rollback,
            reads_only=False,
            destroys=True,
            repeatable=False,
        ),
        Tool(
            "diff_versions",
            "Compare two versions",
            "Two versions of a memory: both contents whole, and the difference between them as a unified diff.",
            schema_of(requests.DiffRequest, "uri", "version1", "version2"),
            answers.diff,
        ),
        Tool(
            "list_rollbacks",
            "What can be brought back",
            "The earlier versions of a memory with their first line and what bringing each back would change now. Look "
            "here before rollback_memory.",
            schema_of(requests.VersionsRequest, "uri"),
            answers.rollbacks,
        ),
    ),
    _INSTRUCTIONS,
)
